#!/usr/bin/env python3
"""Compares Trireme's tokenizers with PyPI's `tokenizers` and `sentencepiece`, on random texts of many scripts.

Small tokenizers of every kind are trained on the spot. Needs `pip install tokenizers sentencepiece==0.1.97` (Debian's
version: others break ties between segmentations of equal score differently), and the program encode_lines
(cmake --build --preset release --target encode_lines):
  compare_with_reference.py build/release/tests/runtime/tokenizer/encode_lines [--texts 2000] [--seed 1] [--only NAME]
Ends with 1 if one id differs.
"""
import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unicodedata

from reference_tokenizers import SPECIAL, TOKENIZERS, train_sentencepiece

SCRIPTS = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x600, 0x6FF),
           (0x900, 0x97F), (0xE01, 0xE5B), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x20BF),
           (0x2100, 0x218F), (0x2460, 0x24FF), (0x3000, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xAD00), (0xF900, 0xFAFF),
           (0xFB00, 0xFB4F), (0xFF00, 0xFFEF), (0x1D400, 0x1D4FF), (0x1F100, 0x1F1FF), (0x1F600, 0x1F64F),
           (0x20000, 0x20100), (0xE000, 0xE010), (0x0, 0x1F), (0x7F, 0x9F)]
WORDS = ["the", "The", "don't", "we'll", "I'M", "rowing", "stroke", "unhappiness", "naïve", "façade", "Übermut", "İstanbul",
         "Straße", "ΟΔΥΣΣΕΥΣ", "привет", "мир", "שלום", "مرحبا", "नमस्ते", "สวัสดี", "你好", "世界", "こんにちは", "안녕하세요", "ﬁne",
         "①②", "½", "3.14", "2024", "1,000,000", "a_b", "x+y=z", "$5", "C++", "e.g.", "...", "!?", "  ", "\t", "\n", "\r\n",
         "\u3000", "👍🏽", "👨‍👩‍👧", "🇩🇪", "q̇", "Å", "\ufeff", "\u200d", "<x>", "[a]", "##", "▁", "</w>"]


def random_text(random_source, with_special):
    parts = []
    for _ in range(random_source.randint(1, 12)):
        kind = random_source.random()
        if kind < 0.55:
            parts.append(random_source.choice(WORDS))
        elif kind < 0.9:
            first, last = random_source.choice(SCRIPTS)
            count = random_source.randint(1, 6)
            parts.append("".join(chr(random_source.randint(first, last)) for _ in range(count)))
        elif kind < 0.95 and with_special:
            parts.append(random_source.choice(SPECIAL))
        else:
            parts.append(random_source.choice("aA .\n中") * random_source.randint(1, 30))
        if random_source.random() < 0.4:
            parts.append(" ")
    return "".join(parts)


def texts(seed, count, accept):
    random_source = random.Random(seed)
    result = []
    while len(result) < count:
        text = random_text(random_source, with_special=True)
        # Libraries differ in their version of Unicode: characters that not all of them know are left out.
        if accept(text) and all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in text):
            result.append(text)
    return result


def run_ours(program, path, lines):
    completed = subprocess.run([program, path], input="".join(json.dumps(text) + "\n" for text in lines), text=True,
                               capture_output=True, check=False, encoding="utf-8")
    if completed.returncode != 0:
        sys.exit(f"{path}: {completed.stderr}")
    return [json.loads(line) for line in io.StringIO(completed.stdout, newline="\n").read().rstrip("\n").split("\n")]


def count_differences(name, lines, ours, reference):
    """`reference(text)`: what is expected of some of the keys of encode_lines."""
    differences = 0
    for text, got in zip(lines, ours):
        expected = reference(text)
        wrong = [key for key in expected if got.get(key) != expected[key]]
        differences += bool(wrong)
        if wrong and differences <= 3:
            print(f"{name}: {text!r}")
            for key in wrong:
                print(f"  {key}: {got.get(key, got)}\n  expected {expected[key]}")
    print(f"{name}: {len(lines)} texts, {differences} differ", flush=True)
    return differences


def compare_json(name, build, options, corpus, folder):
    tokenizer = build(corpus)
    path = os.path.join(folder, "tokenizer.json")
    tokenizer.save(path)
    # Where a text begins with the token that the post-processor adds, we add no second one.
    lines = texts(options.seed, options.texts, lambda text: not text.lstrip().startswith(tuple(SPECIAL)))

    def reference(text):
        ids = tokenizer.encode(text).ids
        expected = {"ids": ids}
        decoded = tokenizer.decode(ids, skip_special_tokens=True)
        if "\ufffd" not in decoded:  # halves of characters are replaced one by one here, as a whole there
            expected["decoded"] = decoded
        if not any(token in text for token in SPECIAL):
            expected["text_ids"] = ids
        return expected

    return count_differences(name, lines, run_ours(options.program, path, lines), reference)


def compare_sentencepiece(name, model_type, options, corpus, folder):
    import sentencepiece
    path = os.path.join(folder, "tokenizer.model")
    train_sentencepiece(corpus, model_type, path)
    processor = sentencepiece.SentencePieceProcessor(model_file=path)
    lines = texts(options.seed, options.texts, lambda text: not any(token in text for token in SPECIAL))
    bos = [processor.bos_id()]
    return count_differences(name, lines, run_ours(options.program, path, lines),
                             lambda text: {"ids": bos + processor.encode(text)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    corpus = [random_text(random.Random(f"corpus {i}"), with_special=False) for i in range(3000)]
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, build in TOKENIZERS.items():
            if options.only in name:
                differences += compare_json(name, build, options, corpus, folder)
        for model_type in ("bpe", "unigram"):
            name = f"sentencepiece-{model_type}"
            if options.only in name:
                differences += compare_sentencepiece(name, model_type, options, corpus, folder)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
