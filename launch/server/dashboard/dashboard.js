const PERIOD_S = 2, KEEP_S = 600, WINDOW_S = 30, PIPELINE_WINDOW_S = 10;
const LATENCIES = {first: "time_to_first_token_seconds", next: "inter_token_latency_seconds", whole: "e2e_request_latency_seconds"};
const PERCENTILES = [{name: "P50", q: 0.5, color: "green"}, {name: "P90", q: 0.9, color: "orange"}, {name: "P99", q: 0.99, color: "red"}];

const format_seconds = (value) => format_time(value).join(" ").trim();

// Of a point in time: what the charts have lines for.
function values_at(history, index) {
  const now = history.snapshots[index];
  const rate = (name) => history.rate(index, WINDOW_S, name);
  const percentiles = (name) => PERCENTILES.map(({q}) => history.quantile(index, WINDOW_S, name, q));
  return {
    time: now.time,
    requests: [now.sum("num_requests_running"), now.sum("num_requests_waiting")],
    tokens: [rate("generation_tokens_total"), rate("prompt_tokens_total")],
    first: percentiles(LATENCIES.first),
    next: percentiles(LATENCIES.next),
    whole: percentiles(LATENCIES.whole),
    errors: [rate("request_errors_total"), rate("endpoint_errors_total"), rate("requests_cancelled_total")],
    kv: now.all("kv_cache_usage_perc").map(({value}) => value),
  };
}

function make_charts(parent) {
  const percentiles = PERCENTILES.map(({name, color}) => ({name, color}));
  return {
    tokens: new LineChart(parent, "Tokens per second", [{name: "output", color: "blue"}, {name: "prompts", color: "violet"}], format_number),
    requests: new LineChart(parent, "Requests", [{name: "running", color: "blue"}, {name: "waiting", color: "orange"}], format_number),
    first: new LineChart(parent, "Time to first token", percentiles, format_seconds),
    next: new LineChart(parent, "Between two tokens", percentiles, format_seconds),
    whole: new LineChart(parent, "From arrival to end", percentiles, format_seconds),
    errors: new LineChart(parent, "Errors per second", [{name: "refused or broken off", color: "red"}, {name: "error answers", color: "orange"},
                                                       {name: "given up by clients", color: "violet"}], format_number),
  };
}

// Errors that are not the client's own fault, of all requests that ended in this time; as the alerts have it.
function error_share(history, index) {
  const failed = (history.rate(index, WINDOW_S, "request_errors_total") ?? 0) - (history.rate(index, WINDOW_S, "request_errors_total", {kind: "invalid"}) ?? 0);
  const ended = failed + (history.rate(index, WINDOW_S, "request_success_total") ?? 0);
  return ended > 0 ? failed / ended : null;
}

function draw_tiles(parent, history, values) {
  const index = history.snapshots.length - 1;
  const share = (hits, queries) => {
    const asked = history.rate(index, WINDOW_S, queries);
    return asked ? history.rate(index, WINDOW_S, hits) / asked : null;
  };
  const tiles = [
    ["running", "Running", format_number(values.requests[0]), ""],
    ["waiting", "Waiting", format_number(values.requests[1]), ""],
    ["tokens", "Output", format_number(values.tokens[0]), "tokens/s"],
    ["first", "First token, P99", ...format_time(values.first[2])],
    ["next", "Next token, P99", ...format_time(values.next[2])],
    ["kv", "KV cache, fullest", format_share(values.kv.length ? Math.max(...values.kv) : null), ""],
    ["prefix", "Prefix cache hits", format_share(share("prefix_cache_hits_total", "prefix_cache_queries_total")), ""],
    ["errors", "Failed", format_share(error_share(history, index)), ""],
  ];
  parent.replaceChildren(...tiles.map(([id, name, value, unit]) => {
    const tile = element("div", "tile", "", [element("div", "name", name), element("span", "value", value), element("span", "unit", unit)]);
    tile.id = "tile-" + id;
    return tile;
  }));
}

class Dashboard {
  constructor(page) {
    this.page = page;
    this.history = new History(KEEP_S + WINDOW_S);
    this.points = [];
    this.charts = make_charts(page.getElementById("charts"));
    draw_pipeline_legend(page.getElementById("pipeline-legend"));
    new TryIt(page.getElementById("try"));
  }

  set_state(name, text) {
    const state = this.page.getElementById("state");
    state.className = "state " + name;
    state.textContent = text;
  }

  async update() {
    try {
      const [metrics, health] = await Promise.all([fetch("metrics"), fetch("health")]);
      const snapshot = new Snapshot(await metrics.text(), performance.now() / 1000);
      const status = await health.json();
      this.set_state(health.ok ? "live" : "wait", health.ok ? "serving" : status.error.message.toLowerCase());
      if (snapshot.all("num_requests_running").length) this.show(snapshot);
    } catch {
      this.set_state("lost", "no answer from the server");
    }
  }

  show(snapshot) {
    this.history.add(snapshot);
    const model = snapshot.all("num_requests_running")[0].labels.model_name;
    if (model) this.page.getElementById("model").textContent = model;
    const index = this.history.snapshots.length - 1;
    if (index === 0) this.points = [];
    const values = values_at(this.history, index);
    this.points = [...this.points.filter(({time}) => time >= values.time - KEEP_S), values];
    draw_tiles(this.page.getElementById("tiles"), this.history, values);
    draw_pipeline(this.page.getElementById("pipeline"), this.history, PIPELINE_WINDOW_S);
    const times = this.points.map(({time}) => time);
    for (const [name, chart] of Object.entries(this.charts)) {
      chart.draw(times, chart.lines.map((line, i) => this.points.map((point) => point[name][i])));
    }
  }

  async run() {
    for (;;) {
      await this.update();
      await new Promise((resolve) => setTimeout(resolve, PERIOD_S * 1000));
    }
  }
}

new Dashboard(document).run();
