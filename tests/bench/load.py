#!/usr/bin/env python3
"""What the server holds under load: throughput and latency beside llama.cpp's servers, a long prompt among short ones, overload,
a thousand streams; every text compared with what 'trireme batch' gives for the request, and some with 'trireme generate'.

    tests/bench/peers/install.sh MODEL.gguf PEERS            # once; a peer that is not there is left out, and named
    tests/bench/load.py --model MODEL.gguf [--peers PEERS] [--build build/release] [--json FILE]
        [--only load,long-prompt,overload,streams] [--rounds 3] [--weights int8] [--aiperf VENV/bin/aiperf]

The load generator needs the standard library alone. `load` measures int8 and q8, the others the mode of --weights. With --aiperf,
`load` is measured a second time through that program (python3 -m venv VENV && VENV/bin/pip install aiperf), with the tokenizer of
PEERS/models/float32. Needs a quiet machine.
"""
import argparse
import sys

import runs
from serving import long_prompt, overload, streams, throughput

MODES = {"load": (throughput.run, "10 minutes, of which llama.cpp's servers eight"), "long-prompt": (long_prompt.run, "1 minute"),
         "overload": (overload.run, "2 minutes"), "streams": (streams.run, "3 minutes")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peers", metavar="FOLDER", help="where peers/install.sh has put them")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--only", default=",".join(MODES), metavar="MODES")
    parser.add_argument("--rounds", type=int, default=3, help="of load")
    parser.add_argument("--weights", default="int8", help="of the other modes")
    parser.add_argument("--aiperf", metavar="PROGRAM")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.trireme = runs.trireme_path(options.build)
    unknown = set(options.only.split(",")) - set(MODES)
    if unknown:
        parser.error(f"--only: no such mode: {', '.join(sorted(unknown))}")
    if options.aiperf and not options.peers:
        parser.error("--aiperf needs --peers, for a tokenizer")
    results, bars = {}, []
    for mode in options.only.split(","):
        measure, duration = MODES[mode]
        print(f"{mode}: about {duration}", file=sys.stderr, flush=True)
        results[mode], mode_bars = measure(options)
        bars += mode_bars
        runs.write_json(options.json, {"modes": results, "table": runs.bars_json(bars)})
    print()
    runs.print_bars(bars)


if __name__ == "__main__":
    main()
