"""`trireme bench --ladder` as a user runs it, alone and over ranks.

    ladder_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import mpi_job  # noqa: E402

TRIREME, MODELS = None, None
KEYS = ["baseline", "weights", "batching", "cache", "reuse", "ranks"]
SHAPE = ["--requests", "24", "--clients", "8", "--short-prompt", "6", "--short-output", "4", "--static-batches", "2,4"]
ROW = re.compile(r"^(?P<number>\d) (?P<name>.{42}) +(?P<batch>\d*) +(?P<tokens_per_s>[\d.]+) +(?P<ratio>[\d.]+) +(?P<step>[\d.]+) +(?P<mean>[\d.]+)"
                 r" +(?P<mean_ratio>[\d.]+) +(?P<p99>[\d.]+) +(?P<p99_ratio>[\d.]+) +(?P<padding>[\d.]+) % +(?P<prefix>[\d.]+) %"
                 r" +(?P<answers>[\d.]+) % +(?P<memory>[\d.]+) +(?P<perplexity>[\d.]+|same)$")


def ladder(*options, ranks=1, name="llama"):
    command = [*mpi_job.launcher(ranks), TRIREME, "bench", "--ladder", "--model", os.path.join(MODELS, name), "--threads", "1", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class Ladder(unittest.TestCase):
    def climb(self, *options, ranks=1, name="llama"):
        """The rows of the table, the JSON object and the SVG picture."""
        with tempfile.TemporaryDirectory() as folder:
            files = os.path.join(folder, "ladder.json"), os.path.join(folder, "ladder.svg")
            result = ladder(*SHAPE, "--json", files[0], "--chart", files[1], *options, ranks=ranks, name=name)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(files[0]) as file:
                figures = json.load(file)
            picture = xml.etree.ElementTree.parse(files[1]).getroot()
        return [row for row in map(ROW.match, result.stdout.splitlines()) if row], figures, picture

    def check(self, rows, figures):
        """That table and JSON tell the same, and that nothing was lost on the way."""
        rungs = figures["rungs"]
        self.assertEqual([rung["key"] for rung in rungs], KEYS[:len(rungs)])
        self.assertEqual(len(rows), len(rungs))
        for row, rung in zip(rows, rungs):
            ratios = rung["ratio_to_first"]
            self.assertEqual(row["name"].strip(), rung["name"])
            self.assertEqual(row["batch"], str(rung.get("batch", "")))
            for column, value, digits in [("tokens_per_s", rung["tokens_per_s"], 1), ("ratio", ratios["tokens_per_s"], 2),
                                          ("step", rung["ratio_to_before"]["tokens_per_s"], 2),
                                          ("mean", rung["mean_latency_s"], 2), ("mean_ratio", ratios["mean_latency_s"], 2),
                                          ("p99", rung["p99_latency_s"], 2), ("p99_ratio", ratios["p99_latency_s"], 2),
                                          ("padding", 100 * rung["padding_waste"], 1), ("prefix", 100 * rung["prefix_hit_rate"], 1),
                                          ("answers", 100 * rung["response_hit_rate"], 1),
                                          ("memory", max(rung["peak_memory_bytes"]) / 2**20, 1)]:
                self.assertAlmostEqual(float(row[column]), value, delta=0.51 * 10**-digits, msg=(rung["key"], column))
            self.assertEqual(row["perplexity"], f"{rung['perplexity']:.3f}" if "perplexity" in rung else "same")
            self.assertEqual(rung["answered"], 24)
            self.assertEqual(len(rung["peak_memory_bytes"]), rung["ranks"])
            self.assertGreater(min(rung["peak_memory_bytes"]), 0)
            self.assertGreaterEqual(rung["p99_latency_s"], rung["mean_latency_s"])
            self.assertEqual(rung.get("differing_outputs", 0), 0)

    def check_optimisations(self, rungs):
        by_key = {rung["key"]: rung for rung in rungs}
        for key in ("baseline", "weights"):
            self.assertEqual([trial["batch"] for trial in by_key[key]["static_batches"]], [2, 4])
            best = max(by_key[key]["static_batches"], key=lambda trial: trial["tokens_per_s"])
            self.assertEqual(by_key[key]["batch"], best["batch"])
            self.assertGreater(by_key[key]["padding_waste"], 0.1)
        self.assertEqual(by_key["batching"]["padding_waste"], 0)
        self.assertLess(by_key["batching"]["computed_rows"], by_key["weights"]["computed_rows"])
        self.assertEqual(by_key["cache"]["computed_rows"], by_key["batching"]["computed_rows"])
        self.assertLess(by_key["reuse"]["computed_rows"], by_key["cache"]["computed_rows"])
        self.assertGreater(by_key["reuse"]["response_hit_rate"], 0)
        self.assertEqual([key for key in by_key if "perplexity" in by_key[key]], ["baseline", "weights", "cache"])
        # Where numerics stay, outputs were compared.
        self.assertEqual([key for key in KEYS[2:] if "differing_outputs" in by_key.get(key, {})],
                         [key for key in ("batching", "reuse", "ranks") if key in by_key])

    def test_alone_all_rungs_of_one_rank_are_told(self):
        rows, figures, picture = self.climb()
        self.assertEqual(len(figures["rungs"]), 5)
        self.assertEqual(figures["workload"]["repeated"], 8)
        self.check(rows, figures)
        self.check_optimisations(figures["rungs"])
        bars = [element for element in picture if element.tag.endswith("rect") and "x" in element.attrib]
        self.assertEqual(len(bars), 3 * 5)

    def test_the_ranks_given_are_a_rung_of_their_own(self):
        rows, figures, _ = self.climb(ranks=2)
        self.assertEqual([rung["ranks"] for rung in figures["rungs"]], [1] * 5 + [2])
        threads = [rung["threads_per_rank"] for rung in figures["rungs"]]
        self.assertEqual(threads[-1], 1)
        self.assertGreaterEqual(threads[0], threads[-1])  # those of both ranks, where there are as many cores
        self.assertEqual(threads[:5], threads[:1] * 5)
        self.assertEqual(figures["rungs"][-1]["stages"], 2)
        self.check(rows, figures)
        self.check_optimisations(figures["rungs"])

    def test_replicas_and_formats_are_those_that_are_asked_for(self):
        rows, figures, _ = self.climb("--weights", "q8", "--replicas", "2", "--kv-key", "int8", ranks=2, name="gemma3")
        self.check(rows, figures)
        self.assertEqual((figures["rungs"][-1]["replicas"], figures["rungs"][-1]["stages"]), (2, 1))
        self.assertEqual([rung["weights"] for rung in figures["rungs"]], ["f32"] + ["q8"] * 5)
        self.assertEqual(figures["rungs"][3]["kv_cache"]["key"], "int8")

    def test_a_text_of_the_users_is_scored(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
            text.write("the quick brown fox jumps over the lazy dog, again and again " * 4)
            text.flush()
            _, figures, _ = self.climb("--file", text.name)
            scored = subprocess.run([TRIREME, "score", "--model", os.path.join(MODELS, "llama"), "--threads", "1", "--weights", "f32",
                                     "--kv-key", "fp32", "--kv-value", "fp32", "--file", text.name, "--window", "49", "--max-windows", "12",
                                     "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(figures["perplexity_text"], text.name)
        self.assertAlmostEqual(figures["rungs"][0]["perplexity"], json.loads(scored.stdout)["perplexity"], places=6)

    def test_what_fails_on_one_rank_ends_all(self):
        for ranks in (1, 2):
            result = ladder(*SHAPE, "--kv-memory", "1024", ranks=ranks)  # the memory of the fourth rung
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(len([line for line in result.stdout.splitlines() if ROW.match(line)]), 3)
            errors = mpi_job.error_lines(result.stderr)
            self.assertEqual(len(errors), 1, result.stderr)
            self.assertIn("KV pool", errors[0])

    def test_a_converted_model_has_no_full_precision_to_begin_with(self):
        with tempfile.TemporaryDirectory() as folder:
            packed = os.path.join(folder, "packed.h5")
            subprocess.run([TRIREME, "convert", os.path.join(MODELS, "llama"), packed, "--weights", "int8"], check=True, capture_output=True,
                           timeout=60)
            result = ladder(*SHAPE, name=packed)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("converted", mpi_job.error_lines(result.stderr)[0])

    def test_mistakes_are_one_line_on_any_number_of_ranks(self):
        for ranks in (1, 2):
            for options, words in [(["--short-prompt", "100000"], "context"), (["--file", "/no/such/file"], "/no/such/file"),
                                   (["--chart", "/no/such/folder/x.svg"], "--chart")]:
                result = ladder(*options, ranks=ranks)
                self.assertEqual(result.returncode, 2, (options, result.stderr))
                errors = mpi_job.error_lines(result.stderr)
                self.assertEqual(len(errors), 1, result.stderr)
                self.assertIn(words, errors[0])
                self.assertEqual(result.stdout, "")
        result = subprocess.run([TRIREME, "bench", "--chart", "x.svg"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--ladder", result.stderr)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
