#!/usr/bin/env python3
"""Measures CTranslate2 (int8) as bench_llama_cpp.py does llama.cpp.

    python3 -m venv VENV && VENV/bin/pip install ctranslate2
    python3 -m venv EXPORT && EXPORT/bin/pip install ctranslate2 torch transformers accelerate gguf     # gigabytes; once, to convert
    EXPORT/bin/python dequantise_gguf.py MODEL.gguf HF_DIR
    EXPORT/bin/ct2-transformers-converter --model HF_DIR --output_dir CT2_DIR --quantization int8
    VENV/bin/python bench_ctranslate2.py CT2_DIR [--threads 2] [--batch 1,16,32] [--json FILE]

A batch cannot be driven step by step, so decoding is a generation minus one of a single token.
"""
import json
import os
import random
import time

import ctranslate2
from peer_report import CONTEXT, parser, report


def main():
    options = parser(__doc__).parse_args()
    generator = ctranslate2.Generator(options.model, device="cpu", compute_type="int8", intra_threads=options.threads, inter_threads=1)
    with open(os.path.join(options.model, "vocabulary.json")) as file:
        vocabulary = json.load(file)
    random_numbers = random.Random(1)

    def generation_s(batch, prompt, output):
        rows = [[vocabulary[random_numbers.randrange(100, len(vocabulary) - 100)] for _ in range(prompt)] for _ in range(batch)]
        start = time.perf_counter()
        generator.generate_batch(rows, max_length=output, min_length=output, include_prompt_in_result=False, sampling_topk=1, end_token=[],
                                 max_batch_size=0)
        return time.perf_counter() - start

    report(options, lambda: generation_s(1, options.prompt, 1),
           lambda batch: generation_s(batch, CONTEXT, options.decode + 1) - generation_s(batch, CONTEXT, 1))


if __name__ == "__main__":
    main()
