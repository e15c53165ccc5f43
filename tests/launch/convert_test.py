"""trireme convert as a user types it: the same numbers as from the source, and no half file whatever happens.

    convert_test.py TRIREME MODELS FILE_FAULT     FILE_FAULT: tests/support/file_fault.cc as a library
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TRIREME, MODELS, FILE_FAULT = None, None, None
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]
ENOSPC = 28


def run(*arguments, ranks=1, environment=None):
    launcher = [] if ranks == 1 else [*MPIRUN, str(ranks)]
    return subprocess.run([*launcher, TRIREME, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(environment or {})})


def source(name):
    return os.path.join(MODELS, name)


def without_timing(text):
    answer = json.loads(text)
    answer.pop("timing", None)
    return answer


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.target = os.path.join(self.folder.name, "m.h5")

    def tearDown(self):
        self.folder.cleanup()

    def convert(self, name, *options, environment=None):
        return run("convert", source(name), self.target, *options, environment=environment)

    def answers(self, path, *options, ranks=1):
        common = ["--model", path, "--threads", "1", "--kv-memory", "16MiB", *options]
        result = run("generate", *common, "--prompt-ids", "5,6,7,8,9", "--max-tokens", "8", "--logprobs", "3", "--prompt-logprobs",
                     "--json", ranks=ranks)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = os.path.join(self.folder.name, "text")
        with open(text, "w") as file:
            file.write("the quick brown fox jumps over the lazy dog " * 8)
        score = run("score", *common, "--file", text, "--window", "32", "--max-windows", "2", "--json", ranks=ranks)
        self.assertEqual(score.returncode, 0, score.stderr)
        return without_timing(result.stdout), json.loads(score.stdout)

    def test_gives_the_same_bits_as_the_source_on_any_number_of_ranks(self):
        for name, weights in (("llama", "int8"), ("llama", "q4"), ("gemma3", "q8"), ("gpt2", "f16")):
            result = self.convert(name, "--weights", weights, "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("100 %", result.stderr)
            expected = self.answers(source(name), "--weights", weights)
            for ranks in (1, 2):
                self.assertEqual(self.answers(self.target, ranks=ranks), expected, (name, weights, ranks))

    def test_inspect_tells_what_it_is(self):
        self.assertEqual(self.convert("llama", "--weights", "int8").returncode, 0)
        result = run("inspect", self.target, "--tensors")
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("HDF5 of 'trireme convert'", "--weights int8", "trireme convert ", "layers/0/qkv  int8", "from llama ("):
            self.assertIn(part, result.stdout)

    def test_mistakes_are_one_line(self):
        self.assertEqual(self.convert("llama").returncode, 0)
        with open(self.target, "rb") as file:
            before = file.read()
        for arguments in ([source("llama"), self.target], [self.target, self.target + "2"], ["/no/such", self.target, "--force"],
                          [source("llama"), "/no/such/folder/m.h5"], [source("llama"), self.folder.name, "--force"]):
            result = run("convert", *arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertEqual(len([line for line in result.stderr.splitlines() if "[info]" not in line]), 1, result.stderr)
        with open(self.target, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(os.listdir(self.folder.name), ["m.h5"])

    def fault(self, kind, at):
        return {"LD_PRELOAD": FILE_FAULT, "FILE_FAULT_PREFIX": self.target, "FILE_FAULT_AT": str(at), "FILE_FAULT": str(kind)}

    def test_a_full_disk_is_told_and_leaves_nothing(self):
        faults = 0
        for at in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377):
            result = self.convert("llama", "--weights", "q8", environment=self.fault(ENOSPC, at))
            if result.returncode == 0:
                break
            faults += 1
            self.assertEqual(result.returncode, 1, (at, result.stderr))
            self.assertIn("m.h5", result.stderr)
            self.assertFalse(os.path.exists(self.target), at)
        self.assertGreater(faults, 3)

    def test_a_killed_conversion_leaves_no_half_file(self):
        kills = 0
        for at in (2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377):
            result = self.convert("llama", "--weights", "q8", environment=self.fault("kill", at))
            if result.returncode == 0:
                break
            kills += 1
            self.assertFalse(os.path.exists(self.target), at)
        self.assertGreater(kills, 3)
        self.assertEqual(self.convert("llama", "--force").returncode, 0)
        self.assertEqual(os.listdir(self.folder.name), ["m.h5"])

    def test_an_altered_file_is_refused_naming_the_tensor_by_all_ranks(self):
        self.assertEqual(self.convert("llama", "--weights", "int8").returncode, 0)
        size = os.path.getsize(self.target)
        marks = 0
        for place in range(5000, size, size // 12):
            with open(self.target, "r+b") as file:
                file.seek(place)
                byte = file.read(1)
                file.seek(place)
                file.write(bytes([byte[0] ^ 1]))
            result = run("generate", "--model", self.target, "--prompt-ids", "1", "--kv-memory", "16MiB", ranks=2)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("altered", result.stderr)
            marks += "layers/" in result.stderr
            with open(self.target, "r+b") as file:
                file.seek(place)
                file.write(byte)
        self.assertGreater(marks, 0)

    def test_calibration_keeps_sensitive_matrices_and_reports(self):
        text, report = (os.path.join(self.folder.name, name) for name in ("text.txt", "report.json"))
        with open(text, "w") as file:
            for number in range(300):
                file.write(f"line {number}: the quick brown fox jumps over {number * 7} lazy dogs\n")
        options = ["--weights", "int8", "--calibration", text, "--samples", "4", "--tolerance", "0"]
        result = self.convert("llama", *options, "--keep-sensitive", "0.05", "--report", report)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("held-out tokens", result.stderr)
        with open(report) as file:
            told = json.load(file)
        kept = {matrix["matrix"] for matrix in told["matrices"] if matrix["kept_in"] != matrix["format"]}
        self.assertEqual(len(kept), told["kept_matrices"])
        self.assertGreater(len(kept), 0)
        self.assertLessEqual(told["after"]["bytes"], 1.05 * told["before"]["bytes"])
        with open(os.path.join(self.folder.name, "report.svg")) as file:
            self.assertIn("</svg>", file.read())
        listed = run("inspect", self.target, "--tensors").stdout
        for matrix in told["matrices"]:
            self.assertIn(f"  {matrix['matrix']}  {matrix['kept_in']}  ", listed)
        self.assertEqual(self.answers(self.target), self.answers(self.target, ranks=2))

    def test_calibration_that_cannot_work_writes_nothing(self):
        text = os.path.join(self.folder.name, "text.txt")
        with open(text, "w") as file:
            file.write("too little")
        for options in (["--calibration", text], ["--calibration", "/no/such"], ["--samples", "3"]):
            self.assertEqual(self.convert("llama", "--weights", "int8", *options).returncode, 2, options)
        self.assertEqual(os.listdir(self.folder.name), ["text.txt"])


if __name__ == "__main__":
    FILE_FAULT, MODELS, TRIREME = (os.path.abspath(sys.argv.pop()) for _ in range(3))
    unittest.main(verbosity=2)
