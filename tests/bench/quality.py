#!/usr/bin/env python3
"""What rounding costs: perplexity against float32, in one table, for models on this machine.

    tests/bench/quality.py MODEL... [--build build/release] [--text tests/data/eval-text.txt] [--windows 12] [--samples 64]
        [--json FILE]

The first part of the text is scored, in windows of 512 tokens; the rest is what 'trireme convert' calibrates with. Rows with
float32 keys and values change the weights alone; the last rows change the cache, too.
"""
import argparse
import json
import os
import tempfile

import runs

EXACT_CACHE = ["--kv-key", "fp32", "--kv-value", "fp32"]
SCORED_SHARE = 0.45


def split(path, folder):
    """Two files: what is scored, and what is calibrated with."""
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    size, cut, done = sum(map(len, lines)), 0, 0
    while done < SCORED_SHARE * size:
        done += len(lines[cut])
        cut += 1
    paths = os.path.join(folder, "scored.txt"), os.path.join(folder, "calibration.txt")
    for part, name in ((lines[:cut], paths[0]), (lines[cut:], paths[1])):
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(part)
    return paths


def perplexity(options, model, text, *more):
    output = runs.output_of([options.trireme, "score", "--model", model, "--file", text, "--window", "512", "--max-windows", options.windows,
                             "--json", *more])
    return json.loads(output)["perplexity"]


def calibrate(options, model, text, folder):
    target, report = os.path.join(folder, "calibrated.h5"), os.path.join(folder, "report.json")
    runs.output_of([options.trireme, "convert", model, target, "--weights", "int8", "--calibration", text, "--samples", options.samples,
                    "--report", report, "--force"])
    with open(report) as file:
        return target, json.load(file)


def measure(options, model):
    with tempfile.TemporaryDirectory() as folder:
        scored, calibration = split(options.text, folder)
        rows = [(name, perplexity(options, model, scored, "--weights", weights, *EXACT_CACHE))
                for name, weights in (("f32", "f32"), ("int8", "int8"), ("q8", "q8"), ("auto", "auto"))]
        target, report = calibrate(options, model, calibration, folder)
        more = report["after"]["bytes"] / report["before"]["bytes"] - 1
        name = f"int8 calibrated ({report['kept_matrices']} of {len(report['matrices'])} matrices kept, {100 * more:+.1f} % bytes, {report['seconds']:.0f} s)"
        rows.append((name, perplexity(options, target, scored, *EXACT_CACHE)))
        rows.append(("f32, default cache", perplexity(options, model, scored, "--weights", "f32")))
        rows.append(("int8 calibrated, default cache", perplexity(options, target, scored)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--text", default=os.path.join(os.path.dirname(__file__), "../data/eval-text.txt"))
    parser.add_argument("--windows", type=int, default=12)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.trireme = runs.trireme_path(options.build)
    table = {}
    for model in options.models:
        rows = measure(options, model)
        exact = rows[0][1]
        print(f"\n| {os.path.basename(model)} | perplexity | against f32 |\n|---|---|---|")
        for name, value in rows:
            print(f"| {name} | {value:.3f} | {100 * (value / exact - 1):+.2f} % |", flush=True)
        table[os.path.basename(model)] = dict(rows)
    runs.write_json(options.json, table)


if __name__ == "__main__":
    main()
