// The timeline: a canvas that zooms and pans over ten thousand spans.

const ROW = 20;
const LANE_GAP = 10;
const AXIS = 40;
const OVERVIEW = 14;
/** The closest look: this many ns over the whole width. */
const CLOSEST = 2_000;

class Timeline {
  /** @param {ReportDocument} report */
  constructor(report) {
    this.report = report;
    this.lanes = lanesOf(report);
    const [start, end] = extentOf(report);
    const spare = Math.max(1, (end - start) * 0.01);
    this.whole = /** @type {[number, number]} */ ([start - spare, end + spare]);
    /** @type {[number, number]} */
    this.view = this.whole;
    /** @type {Item | null} */
    this.selected = null;
    this.search = "";
    this.frame = 0;
    this.canvas = /** @type {HTMLCanvasElement} */ (el("canvas", {
      tabindex: "0", role: "application",
      "aria-label": "Timeline. Arrow keys move and zoom, n and p step through spans, 0 shows the whole boot.",
    }));
    this.input = /** @type {HTMLInputElement} */ (el("input", {
      type: "search", placeholder: "find a span or a console line", "aria-label": "find",
    }));
    this.details = el("div", { class: "details", "aria-live": "polite" });
    this.element = section("timeline", "timeline",
      "Click into it; then scroll to zoom, drag to move. Keys: arrows, 0 for the whole boot, n and p for the next and previous span.",
      this.controls(), el("div", { class: "canvas" }, this.canvas), this.details);
    this.listen();
  }

  controls() {
    const button = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ click) =>
      el("button", { type: "button", title, on: { click } }, label);
    const input = this.input;
    input.addEventListener("input", () => { this.search = input.value.toLowerCase(); this.draw(); });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1, true); });
    return el("div", { class: "controls" }, input,
      button("−", "zoom out", () => this.zoom(1.6)), button("+", "zoom in", () => this.zoom(1 / 1.6)),
      button("whole boot", "show the whole boot", () => this.show(...this.whole)));
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.listenPointer();
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement ?? canvas);
    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(query).addEventListener("change", () => this.paint());
    }
  }

  listenPointer() {
    const canvas = this.canvas;
    /** @type {{x: number, moved: boolean, view: [number, number], overview: boolean} | null} */
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const overview = event.offsetY < OVERVIEW;
      drag = { x: event.offsetX, moved: overview, view: this.view, overview };
      if (overview) this.center(event.offsetX);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) {
        const item = this.at(event.offsetX, event.offsetY);
        canvas.style.cursor = item ? "pointer" : "grab";
        canvas.title = item ? visible(`${item.name.trim().slice(0, 200)}\n${duration(item.end - item.start)}`) : "";
        return;
      }
      drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
      if (drag.overview) this.center(event.offsetX);
      else if (drag.moved) {
        canvas.style.cursor = "grabbing";
        const ns = ((drag.x - event.offsetX) * (drag.view[1] - drag.view[0])) / this.width();
        this.show(drag.view[0] + ns, drag.view[1] + ns);
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.select(this.at(event.offsetX, event.offsetY));
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("dblclick", () => {
      if (this.selected) this.reveal(this.selected.start, this.selected.end);
    });
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    // Scrolling the page past the timeline must not get caught in it.
    const active = document.activeElement === this.canvas || event.ctrlKey || event.metaKey;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan(event.deltaX / this.width());
    } else if (active) {
      event.preventDefault();
      const step = event.deltaMode === 0 ? event.deltaY : event.deltaY * 30;
      this.zoom(Math.exp(Math.max(-1, Math.min(1, step / 400))), this.time(event.offsetX));
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15),
      ArrowUp: () => this.zoom(1 / 1.4), ArrowDown: () => this.zoom(1.4),
      "+": () => this.zoom(1 / 1.4), "=": () => this.zoom(1 / 1.4), "-": () => this.zoom(1.4),
      0: () => this.show(...this.whole), Home: () => this.show(...this.whole),
      n: () => this.step(1), p: () => this.step(-1), Escape: () => this.select(null),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  width() {
    return Math.max(1, this.canvas.clientWidth);
  }

  /** @param {number} x */
  time(x) {
    return this.view[0] + (x / this.width()) * (this.view[1] - this.view[0]);
  }

  /** Shows this interval, kept within the boot. @param {number} start @param {number} end */
  show(start, end) {
    const [first, last] = this.whole;
    const length = Math.min(Math.max(end - start, CLOSEST), last - first);
    const from = Math.min(Math.max(start, first), last - length);
    this.view = [from, from + length];
    this.draw();
  }

  /** @param {number} share of the width */
  pan(share) {
    const by = share * (this.view[1] - this.view[0]);
    this.show(this.view[0] + by, this.view[1] + by);
  }

  /** @param {number} factor @param {number} [around] */
  zoom(factor, around = (this.view[0] + this.view[1]) / 2) {
    const [start, end] = this.view;
    const length = Math.min(Math.max((end - start) * factor, CLOSEST), this.whole[1] - this.whole[0]);
    const from = around - ((around - start) / (end - start)) * length;
    this.show(from, from + length);
  }

  /** Moves the view to a place in the overview. @param {number} x */
  center(x) {
    const [first, last] = this.whole;
    const middle = first + (x / this.width()) * (last - first);
    const half = (this.view[1] - this.view[0]) / 2;
    this.show(middle - half, middle + half);
  }

  /** Shows an interval with some room around it. @param {number} start @param {number} end */
  reveal(start, end) {
    const room = Math.max((end - start) * 0.15, (this.whole[1] - this.whole[0]) / 1000);
    this.show(start - room, end + room);
  }

  /** For other sections: brings an interval into view. @param {number} start @param {number} end */
  visit(start, end) {
    this.reveal(start, end);
    this.element.scrollIntoView({ behavior: "smooth", block: "start" });
  }

  /** @param {number} x @param {number} y @returns {Item | null} */
  at(x, y) {
    let top = OVERVIEW + AXIS;
    const slack = (4 * (this.view[1] - this.view[0])) / this.width();
    for (const lane of this.lanes) {
      const row = Math.floor((y - top - ROW) / ROW);
      if (row >= 0 && row < lane.rows.length) return itemAt(lane.rows[row], this.time(x), slack);
      top += ROW * (lane.rows.length + 1) + LANE_GAP;
    }
    return null;
  }

  /** Selects the next or previous item: of the same row, or that matches the
   * search. @param {number} by @param {boolean} [searching] */
  step(by, searching = false) {
    const rows = this.lanes.flatMap((lane) => lane.rows);
    let row = rows.find((row) => this.selected && row.includes(this.selected)) ?? rows[0] ?? [];
    if (searching) {
      if (!this.search) return;
      row = rows.flat().filter((item) => this.matches(item)).sort((a, b) => a.start - b.start);
    }
    if (row.length === 0) return;
    const now = this.selected ? row.indexOf(this.selected) : by > 0 ? -1 : row.length;
    const item = row[(now + by + row.length) % row.length];
    this.select(item);
    if (item.end < this.view[0] || item.start > this.view[1] || searching) this.reveal(item.start, item.end);
  }

  /** Selects the first item of this name. @param {string} text */
  find(text) {
    this.input.value = text;
    this.search = text.toLowerCase();
    this.step(1, true);
  }

  /** @param {Item} item */
  matches(item) {
    return item.name.toLowerCase().includes(this.search);
  }

  /** @param {Item | null} item */
  select(item) {
    this.selected = item;
    this.details.replaceChildren(...(item ? detailsOf(this.report, item) : []));
    this.draw();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  paint() {
    new Painter(this).paint();
  }
}

/** What is known of an item. @param {ReportDocument} report @param {Item} item @returns {Node[]} */
function detailsOf(report, item) {
  const took = item.open ? "end unknown" : duration(item.end - item.start);
  const span = item.span;
  const within = span && span.err_ns > 0 ? ` ± ${duration(span.err_ns)}` : "";
  const facts = [["took", took], ["from", moment(item.start) + within], ["to", item.open ? "–" : moment(item.end)],
    ...item.facts];
  const nodes = [el("h3", {}, item.name.trim() || "(blank)"),
    el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))];
  if (span) nodes.push(evidenceOf(span.evidence));
  return nodes;
}

/** The place and what stands there. @param {Evidence} evidence */
function evidenceOf(evidence) {
  const lines = (evidence.text ?? "").split(/\r*\n/);
  return el("figure", { class: "evidence" },
    el("figcaption", {}, `${evidence.file}:${evidence.line}`),
    evidence.text !== null && el("pre", {}, ...lines.map((line) => el("span", {}, line))));
}
