#!/usr/bin/env python3
"""How fast Trireme is beside its peers and the machine's limits: one table, measured in one run.

    tests/bench/peers/install.sh MODEL.gguf PEERS            # once; a peer that is not there is left out, and named
    tests/bench/speed.py --model MODEL.gguf [--peers PEERS] [--build build/release] [--rounds 3] [--json FILE]

In each round every program runs once, and each figure is the median of the rounds, so that noise meets all alike. Two threads in
all. A round takes about four minutes on two cores, of which Trireme one. Needs a quiet machine and a model without sliding windows.

How figures that no program prints are derived:
- attention at 8k context: time per token after 8,000 tokens minus that after 128 is what attention takes for the tokens between;
  what it reads of them (keys, values and scales, without the chunks' padding) per second is its rate.
- prefill's limit: Linear operations at oneDNN's u8 * s8 rate, plus attention's operations at the best float32 GEMM's rate.
- two stages against one rank at equal rows per plan: two stages keep two plans in flight, so 32 sequences against 16.
- private memory: RssAnon; the bound counts of the KV pool only what the request has used.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import runs
from runs import Bar

LONG_CONTEXT, SHORT_CONTEXT = 8000, 128
KV_CACHE = ("fp16", "int8")


@dataclass(frozen=True)
class Peer:
    name: str
    bits: int
    environment: str  # folders below the one of --peers
    model: str

    def script(self):
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", f"bench_{self.environment}.py")

    def python(self, folder):
        return os.path.join(folder, self.environment, "bin/python")

    def model_path(self, folder):
        return os.path.join(folder, "models", self.model)

    def missing(self, folder):
        if not folder:
            return "no --peers"
        return next((f"no {path}" for path in (self.python(folder), self.model_path(folder)) if not os.path.exists(path)), None)

    def measure(self, folder):
        """Its figures; None where it fails, which is told."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            result = subprocess.run([self.python(folder), self.script(), self.model_path(folder), "--threads", "2", "--repeat", "1", "--json",
                                     file.name], capture_output=True, text=True)
            if result.returncode != 0:
                print(f"{self.name} failed: {result.stderr[-500:]}", file=sys.stderr)
                return None
            return json.load(file)


PEERS = [Peer("llama.cpp Q8_0", 8, "llama_cpp", "Q8_0.gguf"), Peer("llama.cpp Q4_0", 4, "llama_cpp", "Q4_0.gguf"),
         Peer("CTranslate2 int8", 8, "ctranslate2", "ctranslate2"), Peer("OpenVINO int8", 8, "openvino", "openvino")]

# What 'trireme bench' runs in each round: ranks, and arguments beside the model.
OWN_RUNS = {
    "int8": (1, ["--weights", "int8", "--batch", "1,16,32"]),
    "q8": (1, ["--weights", "q8", "--batch", "1"]),
    "q4": (1, ["--weights", "q4", "--batch", "1"]),
    "two stages": (2, ["--weights", "int8", "--batch", "32", "--no-limits"]),
    "8k context": (1, ["--weights", "int8", "--batch", "1", "--context", str(LONG_CONTEXT)]),
}


def own_figures(options, name):
    ranks, arguments = OWN_RUNS[name]
    return runs.bench(options.trireme, "--model", options.model, "--threads", 2 // ranks, "--repetitions", "1", "--kv-memory", "1GiB",
                      "--kv-key", KV_CACHE[0], "--kv-value", KV_CACHE[1], *arguments, ranks=ranks)


def measure(options, peers):
    """Figures of every round by who gave them."""
    rounds = {name: [] for name in [*OWN_RUNS, *(peer.name for peer in peers)]}
    for number in range(options.rounds):
        for name in OWN_RUNS:
            rounds[name].append(own_figures(options, name))
        for peer in peers:
            figures = peer.measure(options.peers)
            if figures is not None:
                rounds[peer.name].append(figures)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return {name: figures for name, figures in rounds.items() if figures}


class Figures:
    """Medians over the rounds."""

    def __init__(self, rounds):
        self._rounds = rounds

    def median(self, name, value):
        return statistics.median(value(figures) for figures in self._rounds[name])

    def decode(self, name, batch):
        return self.median(name, lambda figures: runs.decode_of(figures, batch)["tokens_per_s"])

    def prefill(self, name):
        return self.median(name, lambda figures: figures["prefill"]["tokens_per_s"])

    def limit(self, name, which):
        return self.median(name, lambda figures: figures["limits"][which])

    def best_peer(self, rate, bits=(4, 8)):
        """(tokens/s, name); None without peers."""
        return max(((rate(peer.name), peer.name) for peer in PEERS if peer.bits in bits and peer.name in self._rounds), default=None)


@dataclass
class Row:
    what: str
    value: float
    unit: str
    bars: list
    peer: tuple = None         # (its figure, its name)
    of_limit: float = None

    def margin(self):
        return min((bar.margin() for bar in self.bars), default=0.0)

    def text(self):
        beside = f"{self.peer[0]:.1f}, {self.peer[1]} | {self.value / self.peer[0]:.2f}" if self.peer else "|"
        limit = f"{100 * self.of_limit:.0f} %" if self.of_limit is not None else ""
        bars = "; ".join(f"{bar.what} {bar.relation} {bar.bound:.4g}: {bar.measured:.4g}, {bar.verdict()}" for bar in self.bars)
        return f"| {self.what} | {self.value:.4g} {self.unit} | {beside} | {limit} | {bars or 'not measured'} |"


def against_peer(value, peer, factor):
    return [Bar("of the best peer", value / peer[0], ">=", factor)] if peer else []


def decode_row(figures, mode, batch, bits, factor, limit=None):
    value, peer = figures.decode(mode, batch), figures.best_peer(lambda name: figures.decode(name, batch), bits)
    bound = figures.median(mode, lambda one: runs.decode_of(one, batch)["limit_tokens_per_s"])
    bars = against_peer(value, peer, factor) + ([Bar("of the limit", value / bound, ">=", limit)] if limit else [])
    return Row(f"decode, {batch} sequence{'s' if batch > 1 else ''}, {mode}", value, "tokens/s", bars, peer, value / bound)


def prefill_row(figures, plan):
    value, peer = figures.prefill("int8"), figures.best_peer(figures.prefill)
    tokens = figures.median("int8", lambda one: one["prefill"]["tokens"])
    linear = figures.median("int8", lambda one: one["prefill"]["gflops"] * tokens / one["prefill"]["tokens_per_s"])  # 1e9 operations
    limit_s = linear / figures.limit("int8", "gemm_int8_gops") + (
        plan.prefill_attention_flops(tokens) * 1e-9 / figures.limit("int8", "gemm_f32_gflops"))
    of_limit = limit_s * value / tokens
    return Row("prefill of 512, int8", value, "tokens/s", against_peer(value, peer, 1.4) + [Bar("of the limit", of_limit, ">=", 0.6)], peer,
               of_limit)


def long_context_row(figures, plan):
    seconds = 1.0 / figures.decode("8k context", 1) - 1.0 / figures.decode("int8", 1)
    gigabytes = plan.read_bytes_per_token(*KV_CACHE) * (LONG_CONTEXT - SHORT_CONTEXT) * 1e-9
    rate = gigabytes / seconds
    of_limit = rate / figures.limit("8k context", "read_gb_per_s")
    return Row(f"attention of decoding at 8k context ({figures.decode('8k context', 1):.1f} tokens/s)", rate, "GB/s",
               [Bar("of the limit", of_limit, ">=", 0.8)], None, of_limit)


def stages_row(figures):
    value, one_rank = figures.decode("two stages", 32), figures.decode("int8", 16)
    return Row("2 stages of 1 thread, 32 sequences, int8", value, "tokens/s", [Bar("of 1 rank of 2 threads, 16", value / one_rank, ">=", 0.95)])


def memory_row(options, ranks):
    """Of the rank that is nearest to its bound."""
    plan = runs.inspect(options.trireme, options.model, "int8", ranks)
    peaks, _ = runs.generate_and_watch(options.trireme, options.model, "int8", ranks)
    bars = [Bar("MB", peak / 1e6, "<=", runs.allowed_memory(plan, runs.MEMORY_PROMPT + runs.MEMORY_OUTPUT, rank) / 1e6)
            for rank, peak in enumerate(peaks)]
    worst = min(bars, key=Bar.margin)
    return Row(f"peak private memory, {'one rank' if ranks == 1 else f'each of {ranks} ranks'}, int8", worst.measured, "MB", [worst])


def table(options, rounds):
    figures = Figures(rounds)
    plan = runs.inspect(options.trireme, options.model, "int8")
    if plan.has_windows:
        sys.exit("speed.py wants a model without sliding windows: what attention reads is counted for full attention")
    one = max((decode_row(figures, mode, 1, (8,), 1.25, 0.85) for mode in ("int8", "q8")), key=Row.margin)
    return [one, decode_row(figures, "q4", 1, (4,), 1.3, 0.75),
            decode_row(figures, "int8", 16, (4, 8), 1.9), decode_row(figures, "int8", 32, (4, 8), 1.9),
            prefill_row(figures, plan), long_context_row(figures, plan), stages_row(figures),
            memory_row(options, 1), memory_row(options, 2)]


def rates_table(rounds):
    """Everybody's figures, for whoever wants to see them all."""
    figures = Figures(rounds)
    names = ["int8", *(peer.name for peer in PEERS if peer.name in rounds)]
    print("\n| tokens/s | prefill of 512 | decode, 1 | 16 | 32 |\n|---|---|---|---|---|")
    for name in names:
        print(f"| {'Trireme int8' if name == 'int8' else name} | {figures.prefill(name):.0f} | "
              + " | ".join(f"{figures.decode(name, batch):.1f}" for batch in (1, 16, 32)) + " |")
    print(f"\nmemory {figures.limit('int8', 'read_gb_per_s'):.1f} GB/s, float32 GEMM {figures.limit('int8', 'gemm_f32_gflops'):.0f} GFLOP/s, "
          f"int8 GEMM {figures.limit('int8', 'gemm_int8_gops'):.0f} GOP/s; {rounds['int8'][0]['cpu']}, {rounds['int8'][0]['kernels']} kernels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peers", metavar="FOLDER", help="where peers/install.sh has put them")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.trireme = runs.trireme_path(options.build)
    absent = {peer.name: peer.missing(options.peers) for peer in PEERS if peer.missing(options.peers)}
    rounds = measure(options, [peer for peer in PEERS if peer.name not in absent])
    rows = table(options, rounds)
    print("| figure | Trireme | best peer | ratio | of the limit | must be |\n|---|---|---|---|---|---|")
    for row in rows:
        print(row.text())
    rates_table(rounds)
    for name, why in absent.items():
        print(f"left out: {name} ({why})")
    runs.write_json(options.json, {
        "table": [{"what": row.what, "value": row.value, "unit": row.unit, "best_peer": row.peer and {"name": row.peer[1], "value": row.peer[0]},
                   "of_limit": row.of_limit, "bars": runs.bars_json(row.bars)} for row in rows],
        "rounds": rounds, "left_out": absent})


if __name__ == "__main__":
    main()
