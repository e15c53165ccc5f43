"""Sixteen concurrent streams, of random prompts of about 200 tokens, 64 tokens out: Trireme in both 8-bit modes, and llama.cpp's
servers. Each is started anew in every round; figures are medians of the rounds."""
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile

from runs import Bar
from serving import servers, workload
from serving.client import closed_loop
from serving.summary import summary

CONCURRENCY, REQUESTS, WARM_UP = 16, 64, 16
MEAN_PROMPT, SPREAD, OUTPUT = 200, 0.7, 64


def _own_load(work):
    def measure(server, figures):
        outcomes = asyncio.run(_after_warm_up(server.port, work.bodies))
        figures.append(summary(outcomes))
        return outcomes
    return measure


async def _after_warm_up(port, bodies):
    await closed_loop(port, bodies[REQUESTS:], CONCURRENCY)
    return await closed_loop(port, bodies[:REQUESTS], CONCURRENCY)


def _aiperf(options, model_name):
    """Load by aiperf, whose figures get the same names as ours; but its P99 is of the requests' mean times between tokens. It takes a
    part of the cores itself."""
    tokenizer = os.path.realpath(os.path.join(options.peers, "models/float32"))

    def measure(server, figures):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.aiperf, "profile", "--model", model_name, "--url", f"http://127.0.0.1:{server.port}", "--endpoint-type",
                            "completions", "--streaming", "--concurrency", str(CONCURRENCY), "--request-count", str(REQUESTS),
                            "--warmup-request-count", str(WARM_UP), "--synthetic-input-tokens-mean", str(MEAN_PROMPT),
                            "--synthetic-input-tokens-stddev", str(round(SPREAD * MEAN_PROMPT / 3 ** 0.5)), "--output-tokens-mean", str(OUTPUT),
                            "--extra-inputs", "ignore_eos:true", "--tokenizer", tokenizer, "--random-seed", "1", "--artifact-dir", folder,
                            "--ui", "none"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(os.path.join(folder, "profile_export_aiperf.json")) as file:
                found = json.load(file)
        figures.append({"completed": found["request_count"]["avg"], "output_throughput": found["output_token_throughput"]["avg"],
                        "mean_ttft_ms": found["time_to_first_token"]["avg"], "mean_itl_ms": found["inter_token_latency"]["avg"],
                        "p99_itl_ms": found["inter_token_latency"]["p99"]})
    return measure


def _medians(rounds):
    return {name: statistics.median(figures[name] for figures in rounds) for name in rounds[0]}


def _measure_all(options, contenders, measure_of):
    """{name: medians}; contenders: {name: (a function that starts it, its workload or None)}."""
    rounds = {name: [] for name in contenders}
    right = {}
    for number in range(options.rounds):
        for name, (start, work) in contenders.items():
            with start() as server:
                outcomes = measure_of(name)(server, rounds[name])
            if work and outcomes:
                right[name] = min(right.get(name, 1.0), work.share_right(outcomes))
            print(f"round {number + 1} of {options.rounds}: {name}: {rounds[name][-1]['output_throughput']:.1f} tokens/s", file=sys.stderr)
    return {name: _medians(figures) for name, figures in rounds.items()}, right


def _bars(own, peer_name, peer):
    return [Bar(f"output tokens/s, of {peer_name}", own["output_throughput"] / peer["output_throughput"], ">=", 2.2),
            Bar("mean time to first token, of it", own["mean_ttft_ms"] / peer["mean_ttft_ms"], "<=", 0.5),
            Bar("P99 inter-token latency, of it", own["p99_itl_ms"] / peer["p99_itl_ms"], "<=", 0.5)]


def _print(title, figures):
    print(f"\n| {title} | output tokens/s | mean TTFT, ms | mean ITL, ms | P99 ITL, ms |\n|---|---|---|---|---|")
    for name, one in figures.items():
        print(f"| {name} | {one['output_throughput']:.1f} | {one['mean_ttft_ms']:.0f} | {one['mean_itl_ms']:.1f} | {one['p99_itl_ms']:.1f} |")


def run(options):
    # Longer than measured by what warms up: the same requests for everybody.
    work = workload.of_words(options, REQUESTS + WARM_UP, MEAN_PROMPT, SPREAD, OUTPUT, seed=1)
    peers, left_out = servers.installed_peers(options.peers)
    contenders = {}
    for weights in ("int8", "q8"):
        texts = workload.Workload(work.bodies).compute_texts(options, weights)
        contenders[f"Trireme {weights}"] = (lambda weights=weights: servers.trireme(options, weights), texts)
    for name, start in peers.items():
        contenders[name] = (lambda start=start: start(options.peers), None)
    figures, right = _measure_all(options, contenders, lambda name: _own_load(contenders[name][1] or work))
    _print(f"{REQUESTS} requests, {CONCURRENCY} at a time", figures)
    result = {"figures": figures, "left_out": left_out}
    if options.aiperf:
        result["aiperf"] = _measure_all(options, contenders, lambda name: _aiperf(options, _model_name(options, name)))[0]
        _print("the same through aiperf", result["aiperf"])
    for name, why in left_out.items():
        print(f"left out: {name} ({why})")
    best = max((name for name in figures if name.startswith("Trireme")), key=lambda name: figures[name]["output_throughput"])
    bars = _bars(figures[best], *next((name, figures[name]) for name in peers)) if peers else []
    return result, bars + [Bar(f"texts as generate gives them, {name}", share, ">=", 1.0) for name, share in right.items()]


def _model_name(options, contender):
    """What a request must call the model; llama.cpp's servers take any name."""
    return os.path.splitext(os.path.basename(options.model))[0] if contender.startswith("Trireme") else "model"
