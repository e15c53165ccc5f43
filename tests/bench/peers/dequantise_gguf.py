#!/usr/bin/env python3
"""Makes a Hugging Face directory in float32 of a GGUF file, for peers that read nothing else.

    pip install torch transformers accelerate gguf
    dequantise_gguf.py MODEL.gguf OUT_DIR
"""
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(source, target):
    folder, name = os.path.split(os.path.abspath(source))
    loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # a model marked as quantised would refuse to be saved
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(target)


if __name__ == "__main__":
    main(*sys.argv[1:3])
