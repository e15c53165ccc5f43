// What /metrics says at one moment.
class Snapshot {
  constructor(text, time) {
    this.time = time;  // seconds
    this.samples = new Map();  // name → [{labels, value}]
    for (const line of text.split("\n")) {
      const found = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line);
      if (!found) continue;
      const labels = {};
      for (const [, key, value] of (found[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value;
      const value = found[3] === "+Inf" ? Infinity : Number(found[3]);
      if (!this.samples.has(found[1])) this.samples.set(found[1], []);
      this.samples.get(found[1]).push({labels, value});
    }
  }

  all(name) {
    return this.samples.get("trireme_" + name) || [];
  }

  // Of all samples of this name that have these labels.
  sum(name, labels = {}) {
    const wanted = Object.entries(labels);
    let total = 0;
    for (const sample of this.all(name)) {
      if (wanted.every(([key, value]) => sample.labels[key] === value)) total += sample.value;
    }
    return total;
  }

  // [upper bound, observations up to it], by bound.
  buckets(name) {
    const result = this.all(name + "_bucket").map(({labels, value}) => [labels.le === "+Inf" ? Infinity : Number(labels.le), value]);
    return result.sort((a, b) => a[0] - b[0]);
  }
}

// The snapshots of the last minutes, and what changed between them.
class History {
  constructor(keep_s) {
    this.keep_s = keep_s;
    this.snapshots = [];
  }

  // A server that was started anew counts from zero: what was before says nothing about it.
  add(snapshot) {
    const last = this.last();
    if (last && snapshot.sum("prompt_tokens_total") < last.sum("prompt_tokens_total")) this.snapshots = [];
    this.snapshots.push(snapshot);
    while (this.snapshots[0].time < snapshot.time - this.keep_s) this.snapshots.shift();
  }

  last() {
    return this.snapshots[this.snapshots.length - 1];
  }

  // The newest snapshot that is `window_s` older than `index`, or the oldest there is; null if there is no other.
  before(index, window_s) {
    let first = index - 1;
    while (first > 0 && this.snapshots[index].time - this.snapshots[first].time < window_s) --first;
    return first < 0 ? null : this.snapshots[first];
  }

  // Growth per second of a counter; null where it cannot be known.
  rate(index, window_s, name, labels = {}) {
    const now = this.snapshots[index], then = this.before(index, window_s);
    return then && (now.sum(name, labels) - then.sum(name, labels)) / (now.time - then.time);
  }

  // Interpolated within its bucket, as Prometheus' histogram_quantile() does; null without observations.
  quantile(index, window_s, name, q) {
    const then = this.before(index, window_s);
    if (!then) return null;
    const earlier = then.buckets(name);
    const counts = this.snapshots[index].buckets(name).map(([bound, count], i) => [bound, count - (earlier[i] ? earlier[i][1] : 0)]);
    const total = counts.length ? counts[counts.length - 1][1] : 0;
    if (!(total > 0)) return null;
    let lower = 0, below = 0;
    for (const [bound, count] of counts) {
      if (count >= q * total) {
        if (bound === Infinity) return lower;
        return count === below ? bound : lower + (bound - lower) * (q * total - below) / (count - below);
      }
      lower = bound;
      below = count;
    }
    return lower;
  }
}
