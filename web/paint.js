// How the timeline is drawn: one frame at a time, only what can be seen.

const FONT = '12px ui-sans-serif, system-ui, "Segoe UI", sans-serif';

class Painter {
  /** @param {Timeline} timeline */
  constructor(timeline) {
    this.timeline = timeline;
    this.width = timeline.width();
    this.start = timeline.view[0];
    this.end = timeline.view[1];
    this.scale = this.width / (this.end - this.start);
    const rows = timeline.lanes.reduce((sum, lane) => sum + lane.rows.length + 1, 0);
    this.height = OVERVIEW + AXIS + rows * ROW + timeline.lanes.length * LANE_GAP;
    this.context = this.prepare(timeline.canvas);
    /** @type {Map<string, string>} */
    this.colors = new Map();
  }

  /** The canvas in the size of the screen's own pixels. @param {HTMLCanvasElement} canvas */
  prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.height = `${this.height}px`;
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = FONT;
    context.direction = "ltr";
    context.textBaseline = "middle";
    return context;
  }

  /** @param {string} name of a custom property */
  color(name) {
    let color = this.colors.get(name);
    if (color === undefined) {
      color = css(name) || "gray";
      this.colors.set(name, color);
    }
    return color;
  }

  /** @param {number} ns */
  x(ns) {
    return (ns - this.start) * this.scale;
  }

  paint() {
    this.overview();
    this.axis();
    let top = OVERVIEW + AXIS;
    for (const lane of this.timeline.lanes) {
      this.lane(lane, top);
      top += ROW * (lane.rows.length + 1) + LANE_GAP;
    }
    this.marks();
  }

  /** The whole boot as a strip, and the window onto it. */
  overview() {
    const { context, timeline } = this;
    const [first, last] = timeline.whole;
    const x = (/** @type {number} */ ns) => ((ns - first) / (last - first)) * this.width;
    context.globalAlpha = 0.35;
    for (const phase of timeline.report.phases) {
      context.fillStyle = this.color(`--${phase.name}`);
      context.fillRect(x(phase.start_ns), 3, Math.max(1, x(phase.end_ns) - x(phase.start_ns)), OVERVIEW - 6);
    }
    context.globalAlpha = 1;
    const [left, right] = [x(this.start), x(this.end)];
    context.strokeStyle = this.color("--ink");
    context.lineWidth = 1.5;
    context.strokeRect(Math.max(1, left), 1, Math.max(3, Math.min(right, this.width - 1) - Math.max(1, left)), OVERVIEW - 2);
  }

  axis() {
    const { context } = this;
    const step = tickStep((this.end - this.start) / (this.width / 110));
    context.textAlign = "left";
    for (let tick = Math.ceil(this.start / step) * step; tick <= this.end; tick += step) {
      const x = Math.round(this.x(tick)) + 0.5;
      context.strokeStyle = this.color("--line");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, OVERVIEW + 6);
      context.lineTo(x, this.height);
      context.stroke();
      context.fillStyle = this.color("--faint");
      context.fillText(tick === 0 ? "0" : moment(tick, step), x + 4, OVERVIEW + 12);
    }
  }

  /** Moments with a name: flags on the axis, as far as there is room. */
  marks() {
    const { context } = this;
    let free = -Infinity;
    const marks = this.timeline.report.marks.filter((mark) => mark.at_ns !== null);
    for (const mark of marks.sort((a, b) => a.at_ns - b.at_ns)) {
      const x = Math.round(this.x(mark.at_ns)) + 0.5;
      if (x < -1 || x > this.width + 1) continue;
      context.strokeStyle = this.color("--accent");
      context.globalAlpha = 0.55;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x, OVERVIEW + 22);
      context.lineTo(x, this.height);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
      const name = visible(mark.name);
      const width = context.measureText(name).width + 8;
      const left = x + width > this.width ? x - width : x;
      if (left < free) continue;
      context.fillStyle = this.color("--accent");
      context.textAlign = "left";
      context.fillText(name, left + 4, OVERVIEW + 29);
      free = left + width + 4;
    }
  }

  /** @param {Lane} lane @param {number} top */
  lane(lane, top) {
    const { context } = this;
    context.fillStyle = this.color("--faint");
    context.textAlign = "left";
    context.fillText(lane.title, 2, top + ROW / 2 + 2);
    lane.rows.forEach((row, at) => this.row(row, top + ROW * (at + 1), lane.beside));
  }

  /** @param {Item[]} row @param {number} top @param {boolean} beside */
  row(row, top, beside) {
    const { timeline } = this;
    // Sub-pixel items on top of one another are drawn once.
    let drawn = -Infinity;
    for (let at = Math.max(0, firstVisible(row, this.start) - 1); at < row.length; at++) {
      const item = row[at];
      if (item.start > this.end) break;
      const left = Math.max(this.x(item.start), -2);
      const right = Math.min(this.x(item.end), this.width + 2);
      if (right < 0) continue;
      const marked = item === timeline.selected || (timeline.search !== "" && timeline.matches(item));
      if (right < drawn && !marked && item.kind !== "silence") continue;
      this.item(item, left, right, top);
      drawn = Math.max(drawn, Math.floor(left) + 1);
      this.label(item, left, right, top, beside ? this.roomBeside(row, at) : 0);
    }
  }

  /** How far the text of a line may reach. @param {Item[]} row @param {number} at */
  roomBeside(row, at) {
    if (row[at].kind !== "line") return 0;
    return at + 1 < row.length ? this.x(row[at + 1].start) : this.width;
  }

  /** @param {Item} item @param {number} left @param {number} right @param {number} top */
  item(item, left, right, top) {
    const { context, timeline } = this;
    const width = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
    const quiet = timeline.search !== "" && !timeline.matches(item);
    context.globalAlpha = quiet ? 0.2 : item.open ? 0.5 : 1;
    context.fillStyle = this.color(item.color);
    if (item.kind === "silence") {
      context.globalAlpha *= 0.16;
      context.fillRect(left, top + 3, width, ROW - 6);
    } else {
      context.beginPath();
      context.roundRect(left, top + 2, width, ROW - 4, Math.min(3, width / 2));
      context.fill();
    }
    context.globalAlpha = 1;
    if (item === timeline.selected) {
      context.strokeStyle = this.color("--ink");
      context.lineWidth = 2;
      context.strokeRect(left - 1, top + 1, width + 2, ROW - 2);
    }
  }

  /** @param {Item} item @param {number} left @param {number} right @param {number} top @param {number} room */
  label(item, left, right, top, room) {
    const { context, timeline } = this;
    const beside = item.kind === "line";
    const from = beside ? Math.max(right, 0) + 4 : Math.max(left, 0) + 5;
    const until = beside ? room : right - 3;
    if (until - from < 24 || (timeline.search !== "" && !timeline.matches(item))) return;
    const text = this.fitting(visible(item.name.trim().slice(0, 300)), until - from);
    context.fillStyle = this.color(item.kind === "block" ? "--on-color" : "--quiet");
    context.fillText(text, from, top + ROW / 2 + 0.5);
  }

  /** `text` cut to a width; nothing if only a stump would be left.
   * @param {string} text @param {number} width */
  fitting(text, width) {
    const whole = this.context.measureText(text).width;
    if (whole <= width) return text;
    const kept = Math.floor((text.length * (width - 10)) / whole);
    return kept < 6 ? "" : `${text.slice(0, kept).trimEnd()}…`;
  }
}

/** The round number next above `least`: 1, 2 or 5 times a power of ten.
 * @param {number} least */
function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}
