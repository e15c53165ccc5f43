// The stages as a picture: boxes in the order in which hidden states pass them, a bar for where the time went.
const STAGE_TIMES = [
  {name: "busy", counter: "stage_busy_seconds_total", color: "green", help: "computing"},
  {name: "receiving", counter: "stage_wait_seconds_total", color: "violet", help: "waiting for hidden states on their way"},
  {name: "sending", counter: "stage_send_seconds_total", color: "blue", help: "waiting to send hidden states on"},
  {name: "bubble", counter: "stage_bubble_seconds_total", color: "orange", help: "nothing to compute: no plan, or the stage before was busy"},
];

function draw_pipeline_legend(parent) {
  const entries = STAGE_TIMES.concat([{name: "idle", color: "grey", help: "no step in this time"}]);
  parent.replaceChildren(...entries.map(({name, color, help}) => {
    const mark = element("i");
    mark.style.background = `var(--${color})`;
    return element("li", "", "", [mark, `${name}: ${help}`]);
  }));
}

// Shares of the time since the snapshot before. Steps are counted when they end, so a long one can exceed that time.
function stage_shares(history, index, window_s, labels) {
  const then = history.before(index, window_s);
  if (!then) return STAGE_TIMES.map(() => 0);
  const now = history.snapshots[index];
  const grown = STAGE_TIMES.map(({counter}) => now.sum(counter, labels) - then.sum(counter, labels));
  const whole = Math.max(now.time - then.time, grown.reduce((sum, value) => sum + value, 0));
  return grown.map((value) => value / whole);
}

function bar(shares, colors, class_name) {
  return element("div", class_name, "", shares.map((share, i) => {
    const part = element("span");
    part.style.width = `${(share * 100).toFixed(2)}%`;
    part.style.background = `var(--${colors[i]})`;
    return part;
  }));
}

function stage_box(history, index, window_s, labels) {
  const shares = stage_shares(history, index, window_s, labels);
  const kv = history.last().sum("kv_cache_usage_perc", labels);
  const rows = history.rate(index, window_s, "stage_rows_total", labels);
  const figures = element("dl");
  const figure = (name, value) => figures.append(element("dt", "", name), element("dd", "", value));
  STAGE_TIMES.forEach(({name}, i) => figure(name, format_share(shares[i])));
  figure("tokens/s", format_number(rows));
  figure("KV cache", format_share(kv));
  const title = element("div", "title", "", [element("span", "", `Stage ${labels.stage}`), element("span", "", `${format_share(shares[0])} busy`)]);
  return element("div", "stage", "", [title, bar(shares, STAGE_TIMES.map(({color}) => color), "bar"), figures, bar([kv], ["blue"], "bar thin")]);
}

function draw_pipeline(parent, history, window_s) {
  const index = history.snapshots.length - 1;
  const replicas = new Map();
  for (const {labels} of history.last().all("stage_busy_seconds_total")) {
    if (!replicas.has(labels.replica)) replicas.set(labels.replica, []);
    replicas.get(labels.replica).push({replica: labels.replica, stage: labels.stage});
  }
  const rows = [...replicas].map(([replica, stages]) => {
    const row = element("div", "replica");
    stages.forEach((labels, i) => {
      row.append(stage_box(history, index, window_s, labels));
      if (i + 1 < stages.length) {
        row.append(element("div", "link", format_bytes(history.rate(index, window_s, "stage_sent_bytes_total", labels)) + "/s"));
      }
    });
    return element("div", "", "", replicas.size > 1 ? [element("p", "muted", `Replica ${replica}`), row] : [row]);
  });
  parent.replaceChildren(...(rows.length ? rows : [element("p", "muted", "no step has been computed yet")]));
}
