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
import subprocess
import tempfile
import threading
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n"]
MIB = 1 << 20
POOL_OPTIONS = ["--kv-memory", "256MiB"]


def command(arguments, ranks):
    return arguments if ranks == 1 else [*MPIRUN, str(ranks), *arguments]


def private_memory(pid):
    """RssAnon of a process in bytes; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def bench(options, ranks, *more, limits):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        arguments = [options.trireme, "bench", "--model", options.model, "--weights", "f16", "--threads", str(2 // ranks), "--batch",
                     "1,16,32", "--repetitions", str(options.repetitions), "--json", file.name, *more]
        subprocess.run(command(arguments + ([] if limits else ["--no-limits"]), ranks), check=True, stdout=subprocess.DEVNULL)
        return json.load(file)


def decode_rate(figures, batch):
    return next(entry["tokens_per_s"] for entry in figures["decode"] if entry["batch"] == batch)


def rates(options):
    one = bench(options, 1, limits=True)
    stages = bench(options, 2, limits=False)
    replicas = bench(options, 2, "--replicas", "2", limits=False)
    single = one["decode"][0]
    own_ratio = decode_rate(one, 16) / (decode_rate(one, 32))
    return {"one_rank": one, "two_stages": stages, "two_replicas": replicas}, [
        ("decode, 1 sequence, of the memory's rate", single["of_limit"], ">=", 0.75),
        ("prefill of 512, of the best float32 GEMM", one["prefill"]["of_limit"], ">=", 0.55),
        ("2 stages of 1 thread, 32 sequences, against 1 rank of 2, 16", decode_rate(stages, 32) / decode_rate(one, 16), ">=", 0.95),
        ("2 stages against 1 rank, 32 sequences, over the rank's own 16 : 32", decode_rate(stages, 32) / decode_rate(one, 32) / own_ratio,
         ">=", 0.95),
        ("2 replicas of 1 thread, 32 sequences, against 1 rank of 2, 16", decode_rate(replicas, 32) / decode_rate(one, 16), ">=", 0.95),
    ]


def transfers(options):
    result = subprocess.run(command([options.message_latency], 2), check=True, capture_output=True, text=True)
    sizes = json.loads(result.stdout)["sizes"]
    ratios = [(size["bytes"], size["transport"]["median_us"] / size["mpi"]["median_us"]) for size in sizes]
    return sizes, [(f"transfer of {bytes // 1024} KiB, of half a raw ping-pong", ratio, "<=", 1.5) for bytes, ratio in ratios]


def plan_cost(options):
    arguments = [options.scheduler_bench, "--benchmark_filter=BM_DecodeStep/64/0", "--benchmark_format=json", "--benchmark_repetitions=5"]
    result = subprocess.run(arguments, check=True, capture_output=True, text=True)
    runs = [run for run in json.loads(result.stdout)["benchmarks"] if run["run_type"] == "iteration"]
    unit = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
    microseconds = statistics.median(run["real_time"] * unit[run["time_unit"]] for run in runs)
    return microseconds, [("plan of 64 sequences: schedule, encode, take the result, in us", microseconds, "<=", 300.0)]


def memory_and_start(options):
    """One generation: the highest RssAnon per rank, and seconds from the start to 'max_batch …', when all is loaded."""
    peak = 0
    arguments = [options.trireme, "generate", "--model", options.model, "--weights", "f16", "--threads", "2", *POOL_OPTIONS,
                 "--prompt-ids", ",".join(str(100 + i) for i in range(512)), "--max-tokens", "64", "--ignore-eos", "--json"]
    start = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    def sample():
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, private_memory(process.pid))
            time.sleep(0.02)
    sampler = threading.Thread(target=sample)
    sampler.start()
    ready, lines = None, []
    for line in process.stderr:
        lines.append(line)
        if ready is None and "max_batch" in line:
            ready = time.monotonic() - start
    process.stdout.read()
    sampler.join()
    if process.returncode != 0 or ready is None:
        raise RuntimeError("generate failed: " + "".join(lines))
    with open(options.model, "rb") as file:  # from the page cache, as the start has just read it
        begin = time.monotonic()
        while file.read(16 * MIB):
            pass
        read = time.monotonic() - begin
    return {"peak_rss_anon_bytes": peak, "ready_s": ready, "read_s": read}


def memory_lines(figures, one_rank):
    tokens, layers_bytes = 576, 18432  # of the request; of a token's keys and values as the plan prints them
    allowed = one_rank["weight_bytes_per_step"] + tokens * layers_bytes + 150e6
    return [("private memory of one rank, MB", figures["peak_rss_anon_bytes"] / 1e6, "<=", allowed / 1e6),
            ("ready, seconds after the start", figures["ready_s"], "<=", figures["read_s"] + 2.0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.trireme = os.path.realpath(os.path.join(options.build, "launch/trireme"))
    options.message_latency = os.path.join(options.build, "tests/bench/parallel/message_latency")
    options.scheduler_bench = os.path.join(options.build, "tests/bench/scheduler/scheduler_bench")

    rate_figures, lines = rates(options)
    sizes, transfer_lines = transfers(options)
    microseconds, plan_lines = plan_cost(options)
    start_figures = memory_and_start(options)
    lines += transfer_lines + plan_lines + memory_lines(start_figures, rate_figures["one_rank"])
    print("| what | measured | must be | |\n|---|---|---|---|")
    for what, value, relation, bound in lines:
        holds = value >= bound if relation == ">=" else value <= bound
        print(f"| {what} | {value:.3g} | {relation} {bound:.3g} | {'yes' if holds else '**no**'} |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rates": rate_figures, "transfers": sizes, "plan_us": microseconds, "start": start_figures,
                       "table": [dict(zip(("what", "measured", "relation", "bound"), line)) for line in lines]}, file, indent=1)


if __name__ == "__main__":
    main()
