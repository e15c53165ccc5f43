"""trireme batch as a user runs it: alone and under mpirun, killed at every point, on a full disk, told to end.

    batch_e2e_test.py TRIREME MODELS FAULT     FAULT: the library that makes file operations fail (tests/support/file_fault.cc)
"""
import csv
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import mpi_job

TRIREME, MODELS, FAULT = None, None, None
SUCCESS, FAILURE, USAGE, UNFINISHED, SOME_FAILED = 0, 1, 2, 3, 4


def request(number, **fields):
    return json.dumps({"id": f"r{number}", "prompt_ids": [5 + number % 90, 6, 7 + number % 11], "ignore_eos": True,
                       "temperature": float(number % 2), **fields})


class BatchTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.output = self.path("out.jsonl")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_input(self, lines, name="in.jsonl", end="\n"):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines) + end)

    def command(self, *options, output=None, name="in.jsonl"):
        return [TRIREME, "batch", "--model", os.path.join(MODELS, "llama"), "--threads", "1", "--kv-memory", "16MiB", "--input",
                self.path(name), "--output", output or self.output, *options]

    def run_batch(self, *options, ranks=1, output=None, environment=None, name="in.jsonl"):
        return subprocess.run([*mpi_job.launcher(ranks), *self.command(*options, output=output, name=name)], capture_output=True, text=True,
                              timeout=120, env={**os.environ, **(environment or {})})

    def rows(self, output=None):
        """The rows by line; fails on a line that has two. Times of creation are the job's own."""
        rows = {}
        with open(output or self.output, encoding="utf-8") as file:
            for text in file:
                self.assertTrue(text.endswith("\n"))
                row = json.loads(text)
                line = row["line"] if "line" in row else int(row["id"].removeprefix("batch_req_"))
                self.assertNotIn(line, rows)
                body = (row.get("response") or {}).get("body")
                if body:
                    body.pop("created", None)
                rows[line] = row
        return rows

    def errors(self, result):
        return mpi_job.error_lines(result.stderr)


class Results(BatchTest):
    def test_rows_are_the_same_over_any_ranks_and_replicas_and_equal_to_generate(self):
        self.write_input([request(i, max_tokens=8 + i % 5, logprobs=1 if i == 3 else None, n=2 if i == 4 else 1) for i in range(24)])
        reference = None
        for ranks, options in [(1, []), (2, []), (3, []), (2, ["--replicas", "2"]), (4, ["--replicas", "2"])]:
            output = self.path(f"out{ranks}{len(options)}.jsonl")
            result = self.run_batch(*options, ranks=ranks, output=output)
            self.assertEqual(result.returncode, SUCCESS, result.stderr)
            rows = self.rows(output)
            reference = reference or rows
            self.assertEqual(rows, reference)
        self.assertEqual(sorted(reference), list(range(1, 25)))
        for line in (4, 6):
            row = reference[line]
            alone = subprocess.run([TRIREME, "generate", "--model", os.path.join(MODELS, "llama"), "--threads", "1", "--prompt-ids",
                                    ",".join(map(str, row["prompt_token_ids"])), "--seed", str(row["seed"]), "--temperature",
                                    str((line - 1) % 2), "--max-tokens", str(8 + (line - 1) % 5), "--ignore-eos", "--json"],
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(json.loads(alone.stdout)["token_ids"], row["token_ids"])
            self.assertEqual(json.loads(alone.stdout)["text"], row["text"])

    def test_the_openai_form_is_answered_in_its_form(self):
        body = {"prompt": [5, 6, 7], "max_tokens": 3, "model": "boat", "logprobs": 1}
        self.write_input([
            json.dumps({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": body}),
            json.dumps({"custom_id": "b", "method": "POST", "url": "/v1/completions", "body": {**body, "max_tokens": "3"}}),
            "nonsense"])
        result = self.run_batch()
        self.assertEqual(result.returncode, SOME_FAILED, result.stderr)
        rows = self.rows()
        for row in rows.values():
            self.assertEqual(set(row), {"id", "custom_id", "response", "error"})
        self.assertEqual(rows[1]["custom_id"], "a")
        self.assertEqual(rows[1]["response"]["status_code"], 200)
        self.assertEqual(rows[1]["response"]["body"]["object"], "text_completion")
        self.assertEqual(rows[1]["response"]["body"]["usage"]["completion_tokens"], 3)
        self.assertEqual(rows[2]["response"]["status_code"], 400)
        self.assertEqual(rows[2]["response"]["body"]["error"]["param"], "max_tokens")
        self.assertIsNone(rows[3]["custom_id"])

    def test_bad_lines_are_error_rows_and_the_rest_is_done(self):
        good = [request(i, max_tokens=3) for i in range(4)]
        self.write_input([good[0] + "\r", "", "nonsense", good[1], request(1, max_tokens=2), '{"id": "x"}', '{"prompt": "' + "y" * 100_000_000 + '"}',
                          json.dumps({"prompt_ids": [1] * 300}), json.dumps({"prompt_ids": [512]}), "[" * 100000, good[2], "   ", good[3], "", ""], end="")
        result = self.run_batch()
        self.assertEqual(result.returncode, SOME_FAILED, result.stderr)
        rows = self.rows()
        self.assertEqual(sorted(rows), list(range(1, 14)))
        self.assertEqual([line for line, row in rows.items() if "error" not in row], [line for line in rows if line in (1, 4, 11, 13)])
        self.assertIn("id", rows[5]["error"]["message"])
        self.assertEqual(rows[5]["id"], "r1")
        self.assertIn("MiB", rows[7]["error"]["message"])
        self.assertIn("9 of 13 rows", result.stderr)
        again = self.run_batch()
        self.assertEqual(again.returncode, SOME_FAILED, again.stderr)
        self.assertEqual(self.rows(), rows)

    def test_an_empty_input_is_done_at_once(self):
        self.write_input([""])
        self.assertEqual(self.run_batch().returncode, SUCCESS)
        self.assertEqual(self.rows(), {})

    def test_the_report_tells_of_times_ranks_and_memory(self):
        self.write_input([request(i, max_tokens=4) for i in range(10)])
        result = self.run_batch("--report", self.path("report.json"), "--steps", self.path("steps.csv"), ranks=2)
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        with open(self.path("report.json")) as file:
            report = json.load(file)
        self.assertEqual((report["completed"], report["failed"], report["unfinished"]), (10, 0, 0))
        self.assertEqual(report["total_output_tokens"], 40)
        self.assertGreaterEqual(report["p99_ttft_ms"], report["median_ttft_ms"])
        self.assertEqual([rank["stage"] for rank in report["ranks"]], [0, 1])
        for rank in report["ranks"]:
            self.assertGreater(rank["peak_private_bytes"], 1 << 20)
            self.assertGreater(rank["busy_s"], 0)
        with open(self.path("steps.csv"), newline="") as file:
            steps = list(csv.DictReader(file))
        first_stage = [step for step in steps if step["stage"] == "0"]
        self.assertEqual(len(steps), 2 * len(first_stage))
        self.assertEqual(sum(int(step["prefill_tokens"]) + int(step["decode_tokens"]) for step in first_stage), 10 * (3 + 3))
        self.assertIn("requests/s", result.stderr)


class Resume(BatchTest):
    def reference(self, *options):
        output = self.path("reference.jsonl")
        self.assertEqual(self.run_batch(*options, output=output).returncode, SUCCESS)
        return self.rows(output)

    def test_a_kill_at_every_file_operation_leaves_a_job_that_completes(self):
        self.write_input([request(i, max_tokens=3) for i in range(5)])
        reference = self.reference()
        point = 0
        while True:
            point += 1
            self.assertLess(point, 200)
            fault = {"LD_PRELOAD": FAULT, "FILE_FAULT_PREFIX": self.folder, "FILE_FAULT_AT": str(point), "FILE_FAULT": "kill"}
            killed = self.run_batch(environment=fault)
            if killed.returncode == SUCCESS:
                break
            self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
            result = self.run_batch()
            self.assertEqual(result.returncode, SUCCESS, f"point {point}: {result.stderr}")
            self.assertEqual(self.rows(), reference, f"point {point}")
            for name in ("out.jsonl", "out.jsonl.journal", "out.jsonl.journal.new"):
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
        self.assertGreater(point, 12)

    def test_random_kills_of_any_process_lose_and_repeat_nothing(self):
        self.write_input([request(i, max_tokens=40 + i % 30) for i in range(120)])
        reference = self.reference()
        generator = random.Random(7)
        for ranks, options in [(1, []), (2, []), (3, []), (2, ["--replicas", "2"])]:
            with self.subTest(ranks=ranks, options=options):
                kills = 0
                while self.killed_after_some_rows(ranks, options, generator.randrange(1, 40), generator.randrange(-1, ranks)):
                    kills += 1
                self.assertGreater(kills, 1)
                self.assertEqual(self.rows(), reference)
                self.assertEqual(self.run_batch(*options, ranks=ranks).returncode, SUCCESS)
                self.assertEqual(self.rows(), reference)
            for name in ("out.jsonl", "out.jsonl.journal"):
                os.remove(self.path(name))

    def num_rows(self):
        try:
            with open(self.output, "rb") as file:
                return file.read().count(b"\n")
        except FileNotFoundError:
            return 0

    def killed_after_some_rows(self, ranks, options, num_rows, victim):
        """Kills rank `victim`, or mpirun (-1), once so many rows are new. False: the job was quicker."""
        limit = self.num_rows() + num_rows
        job = mpi_job.Job(["-n", str(ranks), *self.command("--scheduler.max_batch", "4", *options)])
        try:
            while job.process.poll() is None and self.num_rows() < limit:
                time.sleep(0.001)
            if job.process.poll() is None:
                mpi_job.send(job.process.pid if victim < 0 else job.pid_of_rank(victim), signal.SIGKILL)
            code, _ = job.finish(60)
        finally:
            job.kill()
        self.wait_for_release()
        return code != SUCCESS

    def wait_for_release(self):
        """Ranks outlive a killed mpirun for a moment."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            holders = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.holds_output(pid)]
            if not holders:
                return
            time.sleep(0.05)
        self.fail("the output is still open")

    def holds_output(self, pid):
        try:
            return any(os.readlink(f"/proc/{pid}/fd/{fd}") == self.output for fd in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            return False

    def test_another_job_is_refused(self):
        self.write_input([request(i, max_tokens=3) for i in range(3)])
        rows = self.reference()
        shutil.copy(self.path("reference.jsonl"), self.output)
        shutil.copy(self.path("reference.jsonl.journal"), self.output + ".journal")
        self.write_input([request(i, max_tokens=3) for i in range(4)], name="other.jsonl")
        for options, part in [({"name": "other.jsonl"}, "another input"), ({"extra": ["--seed", "1"]}, "--seed was 0"),
                              ({"extra": ["--model", os.path.join(MODELS, "llama-tied-mha")]}, "another model"),
                              ({"extra": ["--weights", "f32"]}, "model.weights")]:
            result = self.run_batch(*options.get("extra", []), name=options.get("name", "in.jsonl"), ranks=2)
            self.assertEqual(result.returncode, USAGE, result.stderr)
            self.assertEqual(len(self.errors(result)), 1, result.stderr)
            self.assertIn(part, result.stderr)
            self.assertIn(self.output, result.stderr)
            self.assertEqual(self.rows(), rows)
        result = self.run_batch("--overwrite", name="other.jsonl")
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        self.assertEqual(sorted(self.rows()), [1, 2, 3, 4])

    def test_a_job_with_other_adapters_is_refused(self):
        adapters = os.path.join(MODELS, "..", "adapters")
        first, second = os.path.join(adapters, "a"), os.path.join(adapters, "b")
        self.write_input([request(i, max_tokens=3, adapter="x") for i in range(3)])
        self.assertEqual(self.run_batch("--adapter", "x=" + first).returncode, SUCCESS)
        rows = self.rows()
        for options, part in [(["--adapter", "x=" + second], "another model"), ([], "another model"),
                              (["--adapter", "y=" + first], "names of --adapter")]:
            result = self.run_batch(*options)
            self.assertEqual(result.returncode, USAGE, result.stderr)
            self.assertEqual(len(self.errors(result)), 1, result.stderr)
            self.assertIn(part, self.errors(result)[0])
            self.assertEqual(self.rows(), rows)
        self.assertEqual(self.run_batch("--adapter", "x=" + first).returncode, SUCCESS)


class Disk(BatchTest):
    def test_a_disk_that_is_full_ends_the_job_and_a_restart_completes_it(self):
        self.write_input([request(i, max_tokens=3) for i in range(6)])
        self.assertEqual(self.run_batch(output=self.path("reference.jsonl")).returncode, SUCCESS)
        reference = self.rows(self.path("reference.jsonl"))
        for code in (errno.ENOSPC, errno.EIO):
            for point in range(1, 30):
                fault = {"LD_PRELOAD": FAULT, "FILE_FAULT_PREFIX": self.output, "FILE_FAULT_AT": str(point), "FILE_FAULT": str(code)}
                result = self.run_batch(environment=fault)
                if result.returncode == SUCCESS:
                    break
                self.assertIn(result.returncode, (FAILURE, USAGE), result.stderr)
                self.assertEqual(len(self.errors(result)), 1, result.stderr)
                self.assertIn(self.output, self.errors(result)[0])
                self.assertIn(os.strerror(code), self.errors(result)[0])
                result = self.run_batch()
                self.assertEqual(result.returncode, SUCCESS, result.stderr)
                self.assertEqual(self.rows(), reference)
                for name in ("out.jsonl", "out.jsonl.journal", "out.jsonl.journal.new"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
            self.assertGreater(point, 8)
            self.assertEqual(self.rows(), reference)

    def test_the_last_durable_row_is_named(self):
        self.write_input([request(i, max_tokens=2) for i in range(50)])
        result = subprocess.run(["prlimit", "--fsize=4096", *self.command()], capture_output=True, text=True, timeout=60,
                                preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(result.returncode, FAILURE, result.stderr)
        num_rows = len(self.rows())
        self.assertGreater(num_rows, 0)
        self.assertIn(f"{num_rows} rows are durable, the last of line", self.errors(result)[0])

    def test_outputs_that_cannot_be_written_are_refused_before_the_model_is_loaded(self):
        self.write_input([request(0)])
        os.mkdir(self.path("folder"))
        for output in (self.path("none/out.jsonl"), self.path("folder"), "/dev/full"):
            result = self.run_batch(output=output, ranks=2)
            self.assertEqual(result.returncode, USAGE, result.stderr)
            self.assertIn(output, self.errors(result)[0])
            self.assertNotIn("loading", result.stderr)
        readonly = {"LD_PRELOAD": FAULT, "FILE_FAULT_PREFIX": self.output, "FILE_FAULT_AT": "1", "FILE_FAULT": str(errno.EROFS)}
        result = self.run_batch(environment=readonly)
        self.assertEqual(result.returncode, USAGE, result.stderr)
        self.assertIn("Read-only", self.errors(result)[0])


class Stop(BatchTest):
    def long_job(self, *options, ranks=2):
        self.write_input([request(i, max_tokens=200) for i in range(2000)])
        job = mpi_job.Job(["-n", str(ranks), *self.command("--max-context", "256", *options)])
        self.addCleanup(job.kill)
        job.wait_for_log("max_batch")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not os.path.exists(self.output) or os.path.getsize(self.output) == 0):
            time.sleep(0.01)
        return job

    def expect_unfinished(self, job):
        code, _ = job.finish(60)
        self.assertEqual(code, UNFINISHED, job.stderr())
        num_rows = len(self.rows())
        self.assertGreater(num_rows, 0)
        self.assertIn(f"{2000 - num_rows} lines left", job.stderr())

    def test_sigusr1_to_mpirun_drains_and_the_rest_is_done_later(self):
        job = self.long_job("--drain", "30")
        job.process.send_signal(signal.SIGUSR1)
        self.expect_unfinished(job)

    def test_sigusr1_without_time_to_drain_gives_up_what_runs(self):
        job = self.long_job("--drain", "0", ranks=3)
        job.process.send_signal(signal.SIGUSR1)
        self.expect_unfinished(job)

    def test_sigterm_ends_at_once_with_what_is_finished(self):
        job = self.long_job(ranks=1)
        os.kill(job.pid_of_rank(0), signal.SIGTERM)
        self.expect_unfinished(job)

    def test_sigterm_to_mpirun_keeps_what_is_finished(self):
        job = self.long_job()
        job.process.send_signal(signal.SIGTERM)
        code, _ = job.finish(60)
        self.assertNotEqual(code, SUCCESS)
        self.assertGreater(len(self.rows()), 0)

    def test_the_time_limit_ends_the_job(self):
        self.write_input([request(i, max_tokens=200) for i in range(20000)])
        result = self.run_batch("--time-limit", "4", "--drain", "1")
        self.assertEqual(result.returncode, UNFINISHED, result.stderr)
        self.assertLess(len(self.rows()), 20000)


if __name__ == "__main__":
    FAULT, MODELS, TRIREME = (os.path.abspath(sys.argv.pop()) for _ in range(3))
    unittest.main(verbosity=2)
