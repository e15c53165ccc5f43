"""Requests with random prompts, and the texts that `trireme` gives for them outside of a server."""
import json
import os
import random
import re
import tempfile

import runs

TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/eval-text.txt")
NUM_GENERATED = 3  # requests of a workload that are also compared with 'trireme generate'; all are with 'trireme batch'


class Workload:
    """Bodies of completion requests, each with a seed of its own, and what their texts must be."""

    def __init__(self, bodies):
        self.bodies = bodies
        self.texts = None

    def compute_texts(self, options, weights):
        """Runs all through 'trireme batch', some through 'trireme generate', which must agree."""
        self.texts = _batch_texts(options, weights, self.bodies)
        for index in range(0, len(self.bodies), max(1, len(self.bodies) // NUM_GENERATED)):
            generated = _generated_text(options, weights, self.bodies[index])
            if generated != self.texts[index]:
                raise SystemExit(f"batch and generate differ: {self.texts[index]!r}, {generated!r}")
        return self

    def share_right(self, outcomes, indices=None):
        """The share of outcomes that are whole and have the text of their request."""
        indices = range(len(outcomes)) if indices is None else indices
        right = [outcome.complete and outcome.text == self.texts[index] for outcome, index in zip(outcomes, indices)]
        return sum(right) / len(right)


def _body(prompt, output_tokens, seed):
    return {"prompt": prompt, "max_tokens": output_tokens, "temperature": 0.8, "seed": seed, "ignore_eos": True,
            "stream_options": {"include_usage": True}}


def of_token_ids(num_requests, prompt_tokens, output_tokens, seed):
    """Prompts of exactly so many random token ids."""
    numbers = random.Random(seed)
    return Workload([_body([numbers.randrange(100, 40000) for _ in range(prompt_tokens)], output_tokens, seed + i)
                     for i in range(num_requests)])


def of_words(options, num_requests, mean_tokens, spread, output_tokens, seed):
    """Prompts of random words, of mean_tokens * (1 +- spread) tokens or so, evenly: texts, as every server takes them."""
    with open(TEXT, encoding="utf-8") as file:
        words = re.findall(r"[A-Za-z]+", file.read())
    numbers = random.Random(seed)
    sample = " ".join(numbers.choices(words, k=2000))
    tokens = runs.output_of([options.trireme, "tokenize", "--model", options.model, "--text", sample]).split()
    words_per_token = 2000 / len(tokens)
    return Workload([
        _body(" ".join(numbers.choices(words, k=round(words_per_token * mean_tokens * numbers.uniform(1 - spread, 1 + spread)))),
              output_tokens, seed + i) for i in range(num_requests)])


def _batch_texts(options, weights, bodies):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in.jsonl"), os.path.join(folder, "out.jsonl")
        with open(source, "w") as file:
            for body in bodies:
                fields = {name: value for name, value in body.items() if name not in ("prompt", "stream_options")}
                file.write(json.dumps({**fields, "prompt" if isinstance(body["prompt"], str) else "prompt_ids": body["prompt"]}) + "\n")
        runs.output_of([options.trireme, "batch", "--model", options.model, "--weights", weights, "--threads", "2", "--input", source,
                        "--output", target])
        with open(target) as file:
            rows = [json.loads(line) for line in file]
    texts = {row["line"]: row["text"] for row in rows}
    return [texts[line] for line in range(1, len(bodies) + 1)]


def _generated_text(options, weights, body):
    prompt = ["--prompt", body["prompt"]] if isinstance(body["prompt"], str) else ["--prompt-ids", ",".join(map(str, body["prompt"]))]
    return json.loads(runs.output_of([options.trireme, "generate", "--model", options.model, "--weights", weights, "--threads", "2", *prompt,
                                      "--max-tokens", body["max_tokens"], "--temperature", body["temperature"], "--seed", body["seed"],
                                      "--ignore-eos", "--json"]))["text"]
