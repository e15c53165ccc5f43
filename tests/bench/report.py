#!/usr/bin/env python3
"""The table of what must hold, measured in one run on this machine: rates of one rank, two stages and two replicas next
to the machine's limits, transfers next to raw MPI, the cost of a plan, private memory, and the time until ready.

    tests/bench/report.py --model PATH [--build build/release] [--json FILE] [--repetitions 5]

Measures with f16 weights, 2 threads in all. Needs a quiet machine of at least 2 cores, and the targets trireme,
message_latency and scheduler_bench.
"""
import argparse
import json
import os
import statistics
import time

import runs
from runs import Bar

WEIGHTS = "f16"


def rates(options):
    def bench(ranks, *more):
        return runs.bench(options.trireme, "--model", options.model, "--weights", WEIGHTS, "--threads", 2 // ranks, "--batch", "1,16,32",
                          "--repetitions", options.repetitions, *more, ranks=ranks)

    def decode_rate(figures, batch):
        return runs.decode_of(figures, batch)["tokens_per_s"]

    one = bench(1)
    stages = bench(2, "--no-limits")
    replicas = bench(2, "--no-limits", "--replicas", "2")
    own_ratio = decode_rate(one, 16) / decode_rate(one, 32)
    return {"one_rank": one, "two_stages": stages, "two_replicas": replicas}, [
        Bar("decode, 1 sequence, of the memory's rate", runs.decode_of(one, 1)["of_limit"], ">=", 0.75),
        Bar("prefill of 512, of the best float32 GEMM", one["prefill"]["of_limit"], ">=", 0.55),
        Bar("2 stages of 1 thread, 32 sequences, against 1 rank of 2, 16", decode_rate(stages, 32) / decode_rate(one, 16), ">=", 0.95),
        Bar("2 stages against 1 rank, 32 sequences, over the rank's own 16 : 32", decode_rate(stages, 32) / decode_rate(one, 32) / own_ratio,
            ">=", 0.95),
        Bar("2 replicas of 1 thread, 32 sequences, against 1 rank of 2, 16", decode_rate(replicas, 32) / decode_rate(one, 16), ">=", 0.95),
    ]


def transfers(options):
    sizes = json.loads(runs.output_of([os.path.join(options.build, "tests/bench/parallel/message_latency")], ranks=2))["sizes"]
    return sizes, [Bar(f"transfer of {size['bytes'] // 1024} KiB, of half a raw ping-pong",
                       size["transport"]["median_us"] / size["mpi"]["median_us"], "<=", 1.5) for size in sizes]


def plan_cost(options, sizes):
    """scheduler_bench times what rank 0 computes; sending is counted as the transfer of the next larger message there is a figure of."""
    text = runs.output_of([os.path.join(options.build, "tests/bench/scheduler/scheduler_bench"), "--benchmark_filter=BM_DecodeStep/64/0",
                           "--benchmark_format=json", "--benchmark_repetitions=5"])
    steps = [run for run in json.loads(text)["benchmarks"] if run["run_type"] == "iteration"]
    unit = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
    computed = statistics.median(run["real_time"] * unit[run["time_unit"]] for run in steps)
    sent = next(size for size in sizes if size["bytes"] >= steps[0]["plan_bytes"])
    total = computed + sent["transport"]["median_us"]
    figures = {"computed_us": computed, "plan_bytes": steps[0]["plan_bytes"], "sent_as_bytes": sent["bytes"],
               "send_us": sent["transport"]["median_us"]}
    return figures, [Bar("plan of 64 sequences: schedule, encode, send, take the result, in us", total, "<=", 300.0)]


def memory_and_start(options):
    plan = runs.inspect(options.trireme, options.model, WEIGHTS)
    (peak,), ready_s = runs.generate_and_watch(options.trireme, options.model, WEIGHTS)
    with open(options.model, "rb") as file:  # from the page cache, as the start has just read it
        begin = time.monotonic()
        while file.read(16 * runs.MIB):
            pass
        read_s = time.monotonic() - begin
    allowed = runs.allowed_memory(plan, runs.MEMORY_PROMPT + runs.MEMORY_OUTPUT, rank=0)
    return {"peak_rss_anon_bytes": peak, "ready_s": ready_s, "read_s": read_s}, [
        Bar("private memory of one rank, MB", peak / 1e6, "<=", allowed / 1e6), Bar("ready, seconds after the start", ready_s, "<=", read_s + 2.0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.trireme = runs.trireme_path(options.build)

    rate_figures, bars = rates(options)
    sizes, transfer_bars = transfers(options)
    plan_figures, plan_bars = plan_cost(options, sizes)
    start_figures, start_bars = memory_and_start(options)
    bars += transfer_bars + plan_bars + start_bars
    runs.print_bars(bars)
    runs.write_json(options.json, {"rates": rate_figures, "transfers": sizes, "plan": plan_figures, "start": start_figures,
                                   "table": runs.bars_json(bars)})


if __name__ == "__main__":
    main()
