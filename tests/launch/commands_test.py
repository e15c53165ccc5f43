"""The commands as a user types them, alone and under mpirun.

    commands_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import mpi_job

TRIREME, MODELS = None, None


def run(*arguments, ranks=1, stdin=""):
    return subprocess.run([*mpi_job.launcher(ranks), TRIREME, *arguments], input=stdin, capture_output=True, text=True, timeout=60)


def model(name):
    return ["--model", os.path.join(MODELS, name), "--threads", "1", "--kv-memory", "16MiB"]


class Generate(unittest.TestCase):
    def test_any_number_of_ranks_gives_the_same_object(self):
        outputs = []
        for ranks, options in [(1, []), (2, []), (3, []), (2, ["--replicas", "2"]), (4, ["--replicas", "2"]), (2, ["--split", "1"])]:
            result = run("generate", *model("llama"), "--prompt-ids", "5,6,7,8", "--max-tokens", "12", "--temperature", "0.9", "--seed",
                         "3", "--n", "2", "--logprobs", "2", "--prompt-logprobs", "--json", *options, ranks=ranks)
            self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(result.stdout)
            answer.pop("timing")
            outputs.append(answer)
        for answer in outputs[1:]:
            self.assertEqual(answer, outputs[0])
        self.assertEqual(outputs[0]["prompt_token_ids"], [5, 6, 7, 8])
        self.assertEqual(len(outputs[0]["token_ids"]), 2)
        self.assertIsNone(outputs[0]["prompt_logprobs"][0])
        self.assertEqual(len(outputs[0]["prompt_logprobs"]), 4)
        self.assertEqual(outputs[0]["usage"]["prompt_tokens"], 4)

    def test_streamed_text_is_the_text_of_the_object(self):
        options = ["generate", *model("llama"), "--prompt", "hello", "--max-tokens", "20", "--ignore-eos"]
        streamed = run(*options, ranks=2)
        whole = json.loads(run(*options, "--json").stdout)
        self.assertEqual(streamed.stdout, whole["text"] + "\n")
        self.assertIsNone(whole["token_logprobs"])

    def test_weights_and_caches_of_every_format_run(self):
        for weights in ("auto", "f32", "f16", "bf16", "int8", "q8", "q4"):
            for key, value in (("fp32", "fp32"), ("fp16", "int8"), ("int8", "int8"), ("fp16", "fp16")):
                result = run("generate", *model("gemma3"), "--prompt-ids", "5,6", "--max-tokens", "4", "--weights", weights, "--kv-key",
                             key, "--kv-value", value, "--json")
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_mistakes_are_one_line_and_exit_with_2(self):
        for arguments in (["--prompt", "x", "--temprature", "1"], ["--prompt", "x", "--prompt-ids", "1"], ["--prompt-ids", "999999"],
                          ["--prompt-ids", ",".join(["1"] * 300)], ["--chat", "--prompt", "x"], ["--prompt", "\udcff"]):
            result = run("generate", *model("llama"), *arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertEqual(result.stdout, "")
            errors = [line for line in result.stderr.splitlines() if "[info]" not in line]
            self.assertEqual(len(errors), 1, result.stderr)

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([TRIREME, "generate", *model("llama"), "--prompt-ids", "1", "--json"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)


class OtherCommands(unittest.TestCase):
    def test_tokens_become_the_text_again(self):
        ids = json.loads(run("tokenize", *model("llama"), "--text", "hello <|im_end|>", "--json").stdout)["token_ids"]
        self.assertIn(2, ids)
        text = run("tokenize", *model("llama"), "--ids", ",".join(map(str, ids))).stdout
        self.assertEqual(text.strip(), "hello <|im_end|>")
        plain = json.loads(run("tokenize", *model("llama"), "--text", "hello <|im_end|>", "--special-as-text", "--json").stdout)
        self.assertNotIn(2, plain["token_ids"])

    def test_score_is_the_same_alone_and_on_ranks(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
            text.write("the quick brown fox jumps over the lazy dog, again and again " * 4)
            text.flush()
            options = ["score", *model("llama"), "--file", text.name, "--window", "32", "--max-windows", "2", "--json"]
            alone, ranks = run(*options), run(*options, ranks=2)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(json.loads(alone.stdout), json.loads(ranks.stdout))
        self.assertEqual(len(json.loads(alone.stdout)["mean_nll_per_window"]), 2)
        self.assertEqual(run("score", *model("llama"), "--file", "/no/such/file").returncode, 2)

    def test_bench_measures_pipelines_and_replicas(self):
        options = ["bench", *model("llama"), "--prompt", "40", "--context", "8", "--decode", "4", "--batch", "1,3", "--repetitions", "2"]
        for ranks, more in [(1, []), (2, []), (2, ["--replicas", "2"])]:
            with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
                result = run(*options, *more, "--no-limits", "--json", file.name, ranks=ranks)
                self.assertEqual(result.returncode, 0, result.stderr)
                figures = json.load(file)
            self.assertIn("prefill", result.stdout)
            self.assertEqual(figures["ranks"], ranks)
            self.assertGreater(figures["prefill"]["tokens_per_s"], 0)
            self.assertEqual([decode["batch"] for decode in figures["decode"]], [1, 3])
            self.assertEqual(len(figures["decode"][0]["stages"]), figures["stages"])
            self.assertNotIn("limits", figures)

    def test_doctor_looks_at_every_rank_and_link(self):
        for ranks in (1, 2):
            result = run("doctor", "--json", ranks=ranks)
            self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
            health = json.loads(result.stdout)
            self.assertEqual(len(health["ranks"]), ranks)
            self.assertEqual(len(health["pairs"]), ranks - 1)
            self.assertTrue(all(pair["latency_us"] > 0 and pair["gb_per_s"] > 0 for pair in health["pairs"]))
            self.assertNotIn("error", [finding["severity"] for finding in health["findings"]])
        self.assertIn("memory: ", run("doctor").stdout)

    def test_bench_refuses_what_does_not_fit_before_and_after_loading(self):
        options = ["bench", *model("llama"), "--no-limits"]
        self.assertEqual(run(*options, "--json", "/no/such/folder/x.json", ranks=2).returncode, 2)
        result = run(*options, "--prompt", "100000")
        self.assertEqual(result.returncode, 2)
        self.assertIn("context", result.stderr)

    def test_inspect_shows_the_split_without_loading(self):
        result = run("inspect", os.path.join(MODELS, "gemma3"), "--ranks", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("gemma3", "rank 0: ", "rank 1: ", "stage 1"):
            self.assertIn(part, result.stdout)
        self.assertIn("tokenizer     byte-level BPE, 512 tokens", result.stdout)
        self.assertIn("chat template none", result.stdout)
        self.assertEqual(run("inspect", "/no/such/model").returncode, 1)

    def test_inspect_says_of_any_file_what_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            def write(name, text):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
                return path

            adapter = os.path.dirname(write("adapter/adapter_config.json", json.dumps(
                {"peft_type": "LORA", "r": 4, "target_modules": ["q_proj"], "base_model_name_or_path": "llama"})))
            shutil.copy(os.path.join(MODELS, "llama", "model.safetensors"), os.path.join(adapter, "adapter_model.safetensors"))
            tokenizers = os.path.join(os.path.dirname(MODELS), "tokenizers")
            for path, expected in [
                    (os.path.join(MODELS, "llama", "tokenizer.json"), "tokenizer: byte-level BPE, 512 tokens"),
                    (os.path.join(tokenizers, "sentencepiece-model-bpe", "tokenizer.model"), "SentencePiece model"),
                    (os.path.join(tokenizers, "word-piece"), "tokenizer: WordPiece"),
                    (write("good.yaml", "device:\n  threads: 2\n"), "configuration: sets 1 of"), (adapter, "LoRA adapter (PEFT): rank 4 on q_proj"),
                    (write("good.jinja", "{{ messages[0].content }}"), "chat template")]:
                result = run("inspect", path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(expected, result.stdout)
                self.assertIn("usable", result.stdout)
                self.assertEqual(len(result.stdout.splitlines()), 1)
            for name, text in [("bad.yaml", "devise: 1"), ("bad.jinja", "{{ 1 | nope }}"), ("bad.json", "{}"), ("bad.model", "x")]:
                result = run("inspect", write(name, text))
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(name, result.stderr)


if __name__ == "__main__":
    MODELS, TRIREME = os.path.abspath(sys.argv.pop()), os.path.abspath(sys.argv.pop())
    unittest.main(verbosity=2)
