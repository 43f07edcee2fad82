# bootlap: `make demo` runs the whole loop, `make test` all tests. Both install
# missing dependencies (scripts/setup says what and why) and need no network the
# second time.

CARGO ?= cargo
# Or debug: what the tests and the demo run.
PROFILE ?= release
BOOTLAP = target/$(PROFILE)/bootlap

.PHONY: book install uninstall release release-test agent agent-test demo setup-filesystems setup-images test test-built test-images build lint remote remote-test web web-test fuzz tables \
	benchmarks clean help

help:
	@echo "make demo    boot the example, find what slows it, change it, prove it"
	@echo "make test    lints and all tests, real boots and a real browser included"
	@echo "make test-built  tests that build kernels and U-Boot first (half an hour)"
	@echo "make test-images  disks as people ship them, imported and booted (half an hour)"
	@echo "make build   build $(BOOTLAP)"
	@echo "make install  bootlap, its manual and its completions, below PREFIX ($(PREFIX)) and DESTDIR"
	@echo "make book    the documentation as a site, searched offline"
	@echo "make release  what others install: static programs, Debian packages, Python wheels"
	@echo "make remote  build target/$(PROFILE)/bootlap-remote, for stores on S3, GCS, Azure, HTTP"
	@echo "make remote-test  its tests, with a real S3 server"
	@echo "make agent   build bootlap-agent for targets: ARCH=arm64 (CC=... for its libc)"
	@echo "make web     bundle the report's viewer again (web/dist)"
	@echo "make tables  measure again what others published (docs/tables/)"
	@echo "make benchmarks  measure bootlap itself; make table-NAME makes one of these pages"
	@echo "make fuzz    fuzz the parsers, for ten minutes altogether, or FUZZ_SECONDS=n"

# A release build would take most of the time, and boot the same.
demo: PROFILE = debug
demo: build
	@scripts/setup demo
	$(BOOTLAP) demo $(LAYOUTS:%=--layouts %)

build:
	@scripts/setup build
	$(BUILD-$(PROFILE))

# Libraries that only tests need ask for more of those that bootlap has: built by itself, it would
# be built twice, once for the tests. So the debug build is theirs; it names one small test, as
# cargo asks for nothing that tests need otherwise.
BUILD-release = $(CARGO) build --release --locked -p bootlap
BUILD-debug = $(CARGO) build --locked --workspace --exclude bootlap-remote \
	--bin bootlap --test budgets

# The program that is installed, and the one that says what its manual and completions are: the
# same, unless it is for another architecture.
PREFIX ?= /usr/local
PROGRAM = $(BOOTLAP)
SPEAKER = $(PROGRAM)
INSTALLED = $(DESTDIR)$(PREFIX)
BASH = $(INSTALLED)/share/bash-completion/completions/bootlap
ZSH = $(INSTALLED)/share/zsh/site-functions/_bootlap
FISH = $(INSTALLED)/share/fish/vendor_completions.d/bootlap.fish

# Builds nothing that is there: `make build`, then `sudo make install`.
install: $(PROGRAM)
	install -D -m 755 $(PROGRAM) $(INSTALLED)/bin/bootlap
	$(SPEAKER) man --out $(INSTALLED)/share/man/man1
	mkdir -p $(dir $(BASH) $(ZSH) $(FISH))
	$(SPEAKER) completions bash >$(BASH)
	$(SPEAKER) completions zsh >$(ZSH)
	$(SPEAKER) completions fish >$(FISH)

# The agent's pages lie there, too: only those go that the installed program has.
uninstall:
	pages=$$(mktemp -d) && $(INSTALLED)/bin/bootlap man --out $$pages && \
		for page in $$pages/*; do rm -f $(INSTALLED)/share/man/man1/$${page##*/}; done && \
		rm -r $$pages
	rm -f $(INSTALLED)/bin/bootlap $(BASH) $(ZSH) $(FISH)

$(BOOTLAP):
	$(MAKE) build

# docs/install.md. The test installs each in a system of its own, looks at this machine with it,
# boots, and removes it again.
release:
	@scripts/setup release
	scripts/release

release-test: release
	scripts/try-release target/dist

# One more than there are CPUs: some tests wait, as for a node that does not answer.
TEST_THREADS = $(shell echo $$(($$(nproc) + 1)))
test: lint
	@scripts/setup test
	RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test --locked --workspace --exclude bootlap-remote
	python3 -B -m unittest discover -q -s scripts/tests
	scripts/python-tests
	$(MAKE) agent-test
	$(MAKE) web-test

# What speaks to servers is built from as many crates as all else, so it has targets of its
# own.
remote:
	@scripts/setup build
	$(CARGO) build $(if $(filter release,$(PROFILE)),--release) --locked -p bootlap-remote

remote-test:
	@scripts/setup remote-test
	$(BUILD-debug)
	$(CARGO) clippy --locked -p bootlap-remote --all-targets -- -D warnings
	$(CARGO) test --locked -p bootlap-remote

# Makes four disks as people ship them, as root the first time, and boots each twice: half an
# hour.
test-images:
	@scripts/setup images
	$(CARGO) test --locked --workspace --exclude bootlap-remote --test whole \
		import:: -- --ignored
	$(CARGO) test --locked --workspace --exclude bootlap-remote --test whole \
		user_space:: -- --ignored

# Builds kernels and U-Boot from source: half an hour the first time.
test-built:
	@scripts/setup test
	@scripts/setup kernel
	$(CARGO) test --locked -p bootlap --test whole built:: -- --ignored --test-threads 1

# The program for targets; agent/Makefile says more.
agent:
	@scripts/setup agent
	$(MAKE) -C agent $(ARCH:%=ARCH=%)

# Runs its tests under sanitizers, here and on a big-endian machine; checks that it
# starts on each architecture and builds inside other build systems. Debian has no musl
# for riscv64 and mips.
AGENT_ARCHES = arm:arm arm64:aarch64 mips:mips mipsel:mipsel riscv64:riscv64 x86-64:x86_64
agent-test:
	@scripts/setup agent-test
	$(MAKE) -j2 -C agent check
	$(MAKE) -j2 -C agent check-on ARCH=mips CC=mips-linux-gnu-gcc
	@for arch in $(AGENT_ARCHES); do \
		cc=; case $${arch%%:*} in \
			mips | riscv64) cc=CC=$${arch%%:*}-linux-gnu-gcc ;; \
		esac; \
		$(MAKE) -s -C agent ARCH=$${arch%%:*} $$cc || exit; \
		qemu-$${arch##*:}-static agent/build/$${arch%%:*}/bootlap-agent --version || exit; \
	done
	integrations/check

lint:
	@scripts/setup lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --exclude bootlap-remote --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --exclude bootlap-remote \
		--no-deps --quiet
	CARGO=$(CARGO) scripts/check-dependencies
	scripts/book --check

# The documentation as a site that is searched without a network: target/book/index.html.
book:
	@scripts/setup book
	scripts/book

# The viewer inside the HTML report. Its bundle is checked in: only those who
# change it need Node.
web:
	@scripts/setup web
	cd web && npm run --silent check:types && npm run --silent build

web-test:
	@scripts/setup web-test
	$(BUILD-debug)
	cd web && npm run --silent check && npm run --silent test && npm run --silent browser

# The longest tables keep their boots in target/tables, so an interrupted one goes on.
# Simulated boots are the same on any host; some benchmarks compare times of this host,
# which should be idle.
TABLES = references references-modelled calibrated bootloaders board-model splash modelled waits \
	filesystems programs kexec cpu-time
BENCHMARKS = boots disks verdicts probe-cost source-speed viewer capture check tune advise collect power-cuts \
	disk-cuts \
	replay-cost
KEPT = target/tables
table-disks table-disk-cuts: setup-images
setup-images:
	@scripts/setup images
table-filesystems: setup-filesystems
setup-filesystems:
	@scripts/setup filesystems
table-source-speed: OPTIONS = --slow
table-advise: OPTIONS = --keep $(KEPT)/advise --layouts 5 kiosk arm32 $(KEPT)/debian
table-advise: $(KEPT)/debian
table-collect: OPTIONS = --keep $(KEPT)/collect $(KEPT)/debian
table-collect: $(KEPT)/debian
table-replay-cost: OPTIONS = --keep $(KEPT)/replay-cost $(KEPT)/debian
table-replay-cost: $(KEPT)/debian
table-references: OPTIONS = --dir $(KEPT)/references
table-references-modelled: OPTIONS = --dir $(KEPT)/references-modelled

tables: $(TABLES:%=table-%)

benchmarks: $(BENCHMARKS:%=table-%)

table-%: build
	@scripts/setup test
	@scripts/setup web-test
	@scripts/setup kernel
	@mkdir -p $(KEPT)
	scripts/table-$* $(OPTIONS) > docs/tables/$*.md.new
	mv docs/tables/$*.md.new docs/tables/$*.md

fuzz:
	@scripts/setup fuzz
	scripts/fuzz $(FUZZ_SECONDS)
	@scripts/setup agent-test
	$(MAKE) -C agent fuzz FUZZ_SECONDS=10

$(KEPT)/debian:
	@scripts/setup kernel
	@mkdir -p $(KEPT)
	scripts/debian-guest $@

clean:
	$(CARGO) clean
