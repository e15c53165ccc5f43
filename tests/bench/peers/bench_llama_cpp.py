#!/usr/bin/env python3
"""Measures llama.cpp on a GGUF file: prefill of one prompt, and decoding in lock-step after 128 tokens each.

    python3 -m venv VENV && VENV/bin/pip install llama-cpp-python         # compiles: 20 minutes on two cores
    VENV/bin/python bench_llama_cpp.py --quantise Q8_0 MODEL.gguf OUT.gguf   # or Q4_0: its fastest formats
    VENV/bin/python bench_llama_cpp.py OUT.gguf [--threads 2] [--batch 1,16,32] [--json FILE]
"""
import ctypes
import random
import sys
import time

import llama_cpp
from peer_report import CONTEXT, parser, report

MAX_BATCH, MICRO_BATCH = 2048, 512


def quantise(kind, source, target):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = {"Q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, "Q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0}[kind]
    parameters.allow_requantize = True
    return llama_cpp.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(parameters))


class Peer:
    def __init__(self, options):
        self._options = options
        self._model = llama_cpp.llama_model_load_from_file(options.model.encode(), llama_cpp.llama_model_default_params())
        if not self._model:
            sys.exit(f"{options.model}: llama.cpp cannot load it")
        vocab_size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model))
        random_numbers = random.Random(1)
        self._token = lambda: random_numbers.randrange(100, vocab_size - 100)

    def _context(self, num_tokens, num_sequences):
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx, parameters.n_batch, parameters.n_ubatch = num_tokens, MAX_BATCH, MICRO_BATCH
        parameters.n_seq_max = num_sequences
        parameters.n_threads = parameters.n_threads_batch = self._options.threads
        return llama_cpp.llama_init_from_model(self._model, parameters)

    def _compute(self, context, rows):
        """rows: (position, sequence, wants logits), each with a random token."""
        batch = llama_cpp.llama_batch_init(len(rows), 0, 1)
        batch.n_tokens = len(rows)
        for i, (position, sequence, wants_logits) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = self._token(), position, 1, wants_logits
            batch.seq_id[i][0] = sequence
        if llama_cpp.llama_decode(context, batch) != 0:
            sys.exit("llama_decode failed")
        llama_cpp.llama_batch_free(batch)

    def prefill_s(self):
        tokens = self._options.prompt
        context = self._context(tokens + 16, 1)
        start = time.perf_counter()
        self._compute(context, [(i, 0, i == tokens - 1) for i in range(tokens)])
        seconds = time.perf_counter() - start
        llama_cpp.llama_free(context)
        return seconds

    def decode_s(self, batch):
        context = self._context((CONTEXT + self._options.decode + 16) * batch, batch)
        for sequence in range(batch):
            self._compute(context, [(i, sequence, i == CONTEXT - 1) for i in range(CONTEXT)])
        start = time.perf_counter()
        for step in range(self._options.decode):
            self._compute(context, [(CONTEXT + step, sequence, True) for sequence in range(batch)])
        seconds = time.perf_counter() - start
        llama_cpp.llama_free(context)
        return seconds


def main():
    quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    if sys.argv[1:2] == ["--quantise"]:
        return quantise(*sys.argv[2:5])
    options = parser(__doc__).parse_args()
    if options.prompt > MAX_BATCH:
        sys.exit(f"--prompt: at most {MAX_BATCH}")
    peer = Peer(options)
    report(options, peer.prefill_s, peer.decode_s)


if __name__ == "__main__":
    sys.exit(main())
