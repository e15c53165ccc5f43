#!/usr/bin/env python3
"""Measures OpenVINO GenAI (int8, continuous batching) as bench_llama_cpp.py does llama.cpp.

    python3 -m venv VENV && VENV/bin/pip install openvino-genai numpy
    python3 -m venv EXPORT && EXPORT/bin/pip install optimum-intel nncf openvino torch transformers accelerate gguf     # gigabytes; once
    EXPORT/bin/python dequantise_gguf.py MODEL.gguf HF_DIR
    EXPORT/bin/optimum-cli export openvino --model HF_DIR --task text-generation-with-past --weight-format int8 OV_DIR
    VENV/bin/python bench_openvino.py OV_DIR [--threads 2] [--batch 1,16,32] [--json FILE]

Decoding is a generation minus one of a single token.
"""
import random
import time

import numpy
import openvino
import openvino_genai
from peer_report import CONTEXT, parser, report

TOKEN_IDS = range(100, 40000)


def pipeline(options):
    scheduler = openvino_genai.SchedulerConfig()
    scheduler.cache_size = 2  # GB
    scheduler.max_num_batched_tokens, scheduler.max_num_seqs = 512, 64
    scheduler.enable_prefix_caching, scheduler.dynamic_split_fuse = False, True
    return openvino_genai.ContinuousBatchingPipeline(options.model, scheduler, "CPU", {"INFERENCE_NUM_THREADS": options.threads})


def main():
    options = parser(__doc__).parse_args()
    generator = pipeline(options)
    random_numbers = random.Random(1)

    def generation_s(batch, prompt, output):
        settings = openvino_genai.GenerationConfig()
        settings.max_new_tokens, settings.ignore_eos, settings.do_sample, settings.eos_token_id = output, True, False, -1
        rows = [openvino.Tensor(numpy.array([random_numbers.choices(TOKEN_IDS, k=prompt)], dtype=numpy.int64)) for _ in range(batch)]
        start = time.perf_counter()
        generator.generate(rows, [settings] * batch)
        return time.perf_counter() - start

    report(options, lambda: generation_s(1, options.prompt, 1),
           lambda batch: generation_s(batch, CONTEXT, options.decode + 1) - generation_s(batch, CONTEXT, 1))


if __name__ == "__main__":
    main()
