"""What the peers' scripts share: their options, how often they measure, and what they print."""
import argparse
import json
import statistics

CONTEXT = 128  # tokens before the first that is decoded


def parser(description):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--prompt", type=int, default=512, help="tokens of the prompt whose prefill is timed")
    options.add_argument("--decode", type=int, default=64, help="tokens that each sequence decodes")
    options.add_argument("--batch", default="1,16,32", help="numbers of sequences that decode in lock-step")
    options.add_argument("--repeat", type=int, default=3, help="measurements of each figure after one to warm up; the median is told")
    options.add_argument("--json", metavar="FILE")
    return options


def report(options, prefill_s, decode_s):
    """prefill_s(): seconds of a prompt to its first token; decode_s(batch): seconds of `decode` tokens of each sequence."""
    def rate(tokens, seconds, *arguments):
        seconds(*arguments)
        return tokens / statistics.median(seconds(*arguments) for _ in range(options.repeat))

    figures = {"prefill": {"tokens": options.prompt, "tokens_per_s": rate(options.prompt, prefill_s)}, "decode": []}
    print(f"prefill {options.prompt} tokens: {figures['prefill']['tokens_per_s']:.1f} tokens/s", flush=True)
    for batch in map(int, options.batch.split(",")):
        figures["decode"].append({"batch": batch, "tokens_per_s": rate(batch * options.decode, decode_s, batch)})
        print(f"decode, {batch} sequences: {figures['decode'][-1]['tokens_per_s']:.1f} tokens/s", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file)
