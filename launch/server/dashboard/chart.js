// A line chart of values over the last minutes.
class LineChart {
  // `lines`: [{name, color}]; `format`: of a value, for axis and legend.
  constructor(parent, title, lines, format) {
    this.lines = lines;
    this.format = format;
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.values = lines.map(() => element("b"));
    const legend = element("ul", "legend", "", lines.map((line, i) => {
      const mark = element("i");
      mark.style.background = `var(--${line.color})`;
      return element("li", "", "", [mark, line.name, this.values[i]]);
    }));
    parent.append(element("div", "chart", "", [element("h3", "", title), this.svg, legend]));
  }

  // `points`: for each line, a value or null at each of `times`, in seconds.
  draw(times, points) {
    const width = this.svg.clientWidth || 380, height = 150;
    const area = {left: 52, right: width - 8, top: 12, bottom: height - 20};
    const top = LineChart.round_up(Math.max(0, ...points.flat().filter((value) => value !== null)));
    const end = times[times.length - 1];
    const span = LineChart.SPANS.find(({length_s}) => end - times[0] <= length_s) || LineChart.SPANS[LineChart.SPANS.length - 1];
    const x = (time) => area.right - (end - time) / span.length_s * (area.right - area.left);
    const y = (value) => area.bottom - value / top * (area.bottom - area.top);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    for (const share of [0, 0.5, 1]) {
      const level = y(top * share);
      this.add("line", {class: "grid", x1: area.left, x2: area.right, y1: level, y2: level});
      this.add("text", {x: area.left - 6, y: level + 4, "text-anchor": "end"}, this.format(top * share));
    }
    for (let ago = 0; ago <= span.length_s; ago += span.step_s) {
      const label = ago === 0 ? "now" : span.step_s < 60 ? `−${ago} s` : `−${ago / 60} min`;
      this.add("text", {x: x(end - ago), y: height - 5, "text-anchor": ago ? "middle" : "end"}, label);
    }
    points.forEach((values, i) => {
      this.draw_line(times.map(x), values.map((value) => value === null ? null : y(value)), this.lines[i].color);
      this.values[i].textContent = this.format(values[values.length - 1]);
    });
    if (points.every((values) => values.every((value) => value === null))) {
      this.add("text", {class: "empty", x: (area.left + area.right) / 2, y: (area.top + area.bottom) / 2 - 8}, "nothing to show yet");
    }
  }

  // Null values are gaps; a value between two gaps is a dot.
  draw_line(xs, ys, color) {
    let path = "", alone = true;
    ys.forEach((y, i) => {
      if (y === null) return;
      const begins = i === 0 || ys[i - 1] === null;
      alone = begins && (i === ys.length - 1 || ys[i + 1] === null);
      path += `${begins ? "M" : "L"}${xs[i].toFixed(1)},${y.toFixed(1)}` + (alone ? "h0.1" : "");
    });
    this.add("path", {d: path, fill: "none", stroke: `var(--${color})`, "stroke-width": 1.8, "stroke-linecap": "round", "stroke-linejoin": "round"});
  }

  add(tag, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    this.svg.append(node);
  }

  // To 1, 2, 4, 5 or 10 times a power of ten, so that the half is round, too.
  static round_up(value) {
    if (!(value > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 4, 5, 10].find((step) => step * power >= value * 0.9999) * power;
  }
}

// What the time axis can be wide; the narrowest that takes all there is.
LineChart.SPANS = [{length_s: 120, step_s: 30}, {length_s: 300, step_s: 60}, {length_s: 600, step_s: 120}];
