# bootlap: `make demo` runs the whole loop, `make test` passes the tests. Both
# install what they miss (scripts/setup says what and why) and need no network
# the second time.

CARGO ?= cargo
BOOTLAP = target/release/bootlap

.PHONY: demo test build lint web web-test fuzz tables clean help

help:
	@echo "make demo    boot the example, find what slows it, change it, prove it"
	@echo "make test    lints and all tests, real boots and a real browser included"
	@echo "make build   build $(BOOTLAP)"
	@echo "make web     bundle the report's viewer again (web/dist)"
	@echo "make tables  measure docs/tables/ again"
	@echo "make fuzz    fuzz the parsers, for ten minutes altogether"

demo: build
	@scripts/setup demo
	$(BOOTLAP) demo

build:
	@scripts/setup build
	$(CARGO) build --release --locked -p bootlap

test: lint
	@scripts/setup test
	$(CARGO) test --locked --workspace
	$(MAKE) web-test

lint:
	@scripts/setup build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet

# The viewer inside the HTML report. Its bundle is checked in: only those who
# change it need Node.
web:
	@scripts/setup web
	cd web && npm run --silent check:types && npm run --silent build

web-test:
	@scripts/setup web-test
	$(CARGO) build --locked -p bootlap
	cd web && npm run --silent check && npm run --silent test && npm run --silent browser

tables: build
	@scripts/setup test
	scripts/table-probe-cost > docs/tables/probe-cost.md.new
	mv docs/tables/probe-cost.md.new docs/tables/probe-cost.md
	scripts/table-verdicts > docs/tables/verdicts.md.new
	mv docs/tables/verdicts.md.new docs/tables/verdicts.md
	scripts/table-board-model > docs/tables/board-model.md.new
	mv docs/tables/board-model.md.new docs/tables/board-model.md
	scripts/table-bootloaders > docs/tables/bootloaders.md.new
	mv docs/tables/bootloaders.md.new docs/tables/bootloaders.md
	scripts/table-tune > docs/tables/tune.md.new
	mv docs/tables/tune.md.new docs/tables/tune.md
	scripts/table-check > docs/tables/check.md.new
	mv docs/tables/check.md.new docs/tables/check.md
	scripts/table-source-speed --slow > docs/tables/source-speed.md.new
	mv docs/tables/source-speed.md.new docs/tables/source-speed.md
	@scripts/setup web-test
	scripts/table-viewer > docs/tables/viewer.md.new
	mv docs/tables/viewer.md.new docs/tables/viewer.md
	scripts/table-capture > docs/tables/capture.md.new
	mv docs/tables/capture.md.new docs/tables/capture.md

fuzz:
	@scripts/setup fuzz
	scripts/fuzz

clean:
	$(CARGO) clean
