"""Damaged models end to end: every rank ends within 10 s, non-zero, and one line names the file and the reason.

    hostile_model_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import mpi_job

TRIREME, MODELS = None, None


def safetensors(header, data=b"", header_bytes=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if header_bytes is None else header_bytes) + text + data


class HostileModel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = os.path.join(self.folder.name, "model")
        shutil.copytree(os.path.join(MODELS, "llama"), self.model)
        self.weights = os.path.join(self.model, "model.safetensors")
        with open(self.weights, "rb") as file:
            self.good = file.read()
        self.data_begin = 8 + struct.unpack("<Q", self.good[:8])[0]
        self.header = json.loads(self.good[8:self.data_begin])

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, content):
        with open(os.path.join(self.model, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else json.dumps(content).encode())

    def assert_refused(self, *expected, ranks=(1, 2)):
        for count in ranks:
            result = subprocess.run([*mpi_job.launcher(count), TRIREME, "generate", "--model", self.model, "--threads", "1", "--kv-memory", "16MiB",
                                     "--prompt-ids", "1"], capture_output=True, text=True, timeout=60, check=False)
            self.assertGreater(result.returncode, 0, result.stderr)
            self.assertLess(result.returncode, 128, result.stderr)  # not by a signal
            errors = mpi_job.error_lines(result.stderr)
            self.assertEqual(len(errors), 1, result.stderr)
            for part in (self.model, *expected):
                self.assertIn(part, errors[0])

    def with_header(self, change):
        header = json.loads(json.dumps(self.header))
        change(header)
        self.write("model.safetensors", safetensors(header, self.good[self.data_begin:]))

    def test_the_good_model_runs(self):
        result = subprocess.run([TRIREME, "generate", "--model", self.model, "--threads", "1", "--kv-memory", "16MiB", "--prompt-ids",
                                 "1", "--max-tokens", "1"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_header_lengths_that_the_file_does_not_have(self):
        for length in (0, 1 << 63, len(self.good), 200 << 20):
            self.write("model.safetensors", safetensors(b"{}", self.good[8:], header_bytes=length))
            self.assert_refused("model.safetensors", ranks=(1,))

    def test_unknown_types_of_tensors_by_name(self):
        for dtype in ("F8_E4M3", "I4", "XYZ"):
            self.with_header(lambda header, dtype=dtype: header["model.norm.weight"].update(dtype=dtype))
            self.assert_refused("model.safetensors", "model.norm.weight", dtype)

    def test_files_cut_in_the_header_within_a_tensor_and_at_the_last_byte(self):
        for size in (4, self.data_begin // 2, self.data_begin + 1000, len(self.good) - 1):
            self.write("model.safetensors", self.good[:size])
            self.assert_refused("model.safetensors")

    def test_shards_outside_the_folder_or_missing(self):
        os.rename(self.weights, os.path.join(self.model, "a.safetensors"))
        for shard in ("../model/a.safetensors", "missing.safetensors"):
            self.write("model.safetensors.index.json", {"weight_map": {name: shard for name in self.header if name != "__metadata__"}})
            self.assert_refused(shard.split("/")[-1], ranks=(1,))

    def test_a_head_that_is_neither_there_nor_tied(self):
        with open(os.path.join(self.model, "config.json")) as file:
            config = json.load(file)
        config["tie_word_embeddings"] = False
        self.write("config.json", config)
        self.with_header(lambda header: header.update({"other.weight": header.pop("lm_head.weight")}))
        self.assert_refused("lm_head.weight")

    def test_a_layer_that_is_missing(self):
        self.with_header(lambda header: header.update(
            {name.replace("layers.1.", "layers.9."): header.pop(name) for name in list(header) if ".layers.1." in name}))
        self.assert_refused("layers.1.")

    def test_weights_that_are_not_finite(self):
        begin = self.data_begin + self.header["model.norm.weight"]["data_offsets"][0]
        self.write("model.safetensors", self.good[:begin] + struct.pack("<f", float("nan")) + self.good[begin + 4:])
        self.assert_refused("model.safetensors", "model.norm.weight", "not finite")

    def test_a_tied_head_that_is_in_the_file_too_changes_nothing(self):
        outputs = []
        for with_head in (False, True):
            shutil.rmtree(self.model)
            shutil.copytree(os.path.join(MODELS, "llama-tied-mha"), self.model)
            with open(self.weights, "rb") as file:
                good = file.read()
            begin = 8 + struct.unpack("<Q", good[:8])[0]
            header, data = json.loads(good[8:begin]), good[begin:]
            header.pop("lm_head.weight", None)
            if with_head:
                embedding = header["model.embed_tokens.weight"]
                copy = data[slice(*embedding["data_offsets"])]
                header["lm_head.weight"] = {**embedding, "data_offsets": [len(data), len(data) + len(copy)]}
                data += copy
            self.write("model.safetensors", safetensors(header, data))
            result = subprocess.run([TRIREME, "generate", "--model", self.model, "--threads", "1", "--kv-memory", "16MiB", "--prompt-ids",
                                     "1,2,3", "--max-tokens", "4", "--logprobs", "3", "--json"], capture_output=True, text=True,
                                    timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(result.stdout)
            answer.pop("timing")
            outputs.append(answer)
        self.assertEqual(outputs[0], outputs[1])

    def test_tokenizers_that_contradict_themselves(self):
        with open(os.path.join(self.model, "tokenizer.json")) as file:
            good = json.load(file)
        for key, value in (("vocab", {"a": 0, "b": 0}), ("merges", [["no", "such"]])):
            bad = json.loads(json.dumps(good))
            bad["model"][key] = value
            self.write("tokenizer.json", bad)
            self.assert_refused("tokenizer.json", "model." + key, ranks=(1,))

    def test_a_chat_template_that_does_not_parse(self):
        self.write("chat_template.jinja", b"{% if %}")
        result = subprocess.run([TRIREME, "generate", "--model", self.model, "--threads", "1", "--kv-memory", "16MiB", "--chat",
                                 "--prompt", "x"], capture_output=True, text=True, timeout=60, check=False)
        self.assertGreater(result.returncode, 0)
        self.assertIn("chat template", result.stderr)


if __name__ == "__main__":
    MODELS, TRIREME = os.path.abspath(sys.argv.pop()), os.path.abspath(sys.argv.pop())
    unittest.main(verbosity=2)
