"""A rank that dies, hangs, is stopped or starved, or that sees something else than the others, ends the whole job, non-zero,
with one line that names it. Deadlines have threefold slack over what is promised (10 s).

    failure_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
The environment variable TRIREME_INJECT_FAULT holds the path of the library built from inject_fault.cc.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mpi_job

TRIREME, MODELS = None, None
LIMIT_S = 30
READY = "max_batch"  # rank 0 logs it when the pipeline stands


def long_job(num_ranks, *options, max_tokens=250, mpi_options=()):
    """With the default, computes for about a minute."""
    return mpi_job.Job([*mpi_options, "-n", str(num_ranks), TRIREME, "generate", "--model", os.path.join(MODELS, "llama"), "--threads", "1",
                        "--prompt-ids", "5,6,7", "--n", "1024", "--max-tokens", str(max_tokens), "--ignore-eos", "--temperature", "1", *options])


def short_command(model):
    return [TRIREME, "generate", "--model", model, "--prompt-ids", "5,6,7", "--max-tokens", "4", "--threads", "1"]


class LostRank(unittest.TestCase):
    def expect_one_line(self, job, rank, cause):
        code, _ = job.finish(LIMIT_S)
        self.assertNotEqual(code, 0, job.stderr())
        errors = job.errors()
        self.assertEqual(len(errors), 1, job.stderr())
        for part in (f"rank {rank} (host ", f"stage {rank}", cause):
            self.assertIn(part, errors[0])

    def test_a_killed_rank_is_named(self):
        for rank in (0, 1, 2):
            with self.subTest(rank=rank):
                job = long_job(3)
                self.addCleanup(job.kill)
                job.wait_for_log(READY)
                time.sleep(0.5)
                os.kill(job.pid_of_rank(rank), signal.SIGKILL)
                self.expect_one_line(job, rank, "connection")

    def test_a_stopped_rank_is_named(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                job = long_job(2)
                self.addCleanup(job.kill)
                job.wait_for_log(READY)
                os.kill(job.pid_of_rank(rank), signal.SIGSTOP)
                self.expect_one_line(job, rank, "no heartbeat")

    def test_a_hanging_thread_is_named(self):
        # Plain kernels, so that the compute thread is nearly always busy.
        for name in ("compute", "trireme"):
            with self.subTest(thread=name):
                job = long_job(2, "--device", "reference")
                self.addCleanup(job.kill)
                job.wait_for_log(READY)
                time.sleep(0.5)
                mpi_job.freeze_thread(mpi_job.thread_named(job.pid_of_rank(1), name))
                self.expect_one_line(job, 1, "no progress")

    def hurt_from_inside(self, rank, number, cause):
        job = long_job(2, mpi_options=("-x", "LD_PRELOAD=" + os.environ["TRIREME_INJECT_FAULT"]))
        self.addCleanup(job.kill)
        job.wait_for_log(READY)
        time.sleep(0.5)
        os.kill(job.pid_of_rank(rank), number)
        self.expect_one_line(job, rank, cause)

    def test_a_rank_that_exits_with_0_has_failed(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                self.hurt_from_inside(rank, signal.SIGUSR1, "connection")

    def test_a_rank_that_throws_names_its_cause(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                self.hurt_from_inside(rank, signal.SIGUSR2, "out of memory")

    def test_a_thread_that_hangs_before_its_work_comes_is_named(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        model = shutil.copytree(os.path.join(MODELS, "llama"), os.path.join(folder, "model"))
        with open(os.path.join(model, "chat_template.jinja"), "w") as template:
            template.write("{% for message in messages %}{{ message.content }}{% endfor %}")
        job = mpi_job.Job(["-n", "2", TRIREME, "generate", "--model", model, "--threads", "1", "--chat"], stdin=subprocess.PIPE)
        self.addCleanup(job.kill)
        job.wait_for_log(READY)
        time.sleep(0.5)
        mpi_job.freeze_thread(mpi_job.thread_named(job.pid_of_rank(1), "compute"))
        job.write_line("hello")
        self.expect_one_line(job, 1, "no progress")

    def test_a_rank_killed_while_it_starts_ends_the_job(self):
        job = long_job(3)
        self.addCleanup(job.kill)
        os.kill(job.pid_of_rank(1), signal.SIGKILL)
        code, _ = job.finish(LIMIT_S)
        self.assertNotEqual(code, 0)

    def test_a_model_file_that_is_cut_while_it_serves_hurts_nothing(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        model = shutil.copytree(os.path.join(MODELS, "llama"), os.path.join(folder, "model"))
        arguments = ["-n", "2", TRIREME, "generate", "--threads", "1", "--prompt-ids", "5,6,7", "--n", "64", "--max-tokens", "100",
                     "--ignore-eos", "--temperature", "1", "--seed", "1", "--json"]
        outputs = []
        for cut in (False, True):
            job = mpi_job.Job([*arguments, "--model", model])
            self.addCleanup(job.kill)
            job.wait_for_log(READY)
            if cut:
                os.truncate(os.path.join(model, "model.safetensors"), 1000)
            code, output = job.finish(120)
            self.assertEqual(code, 0, job.stderr())
            outputs.append(json.loads(output)["token_ids"])
        self.assertEqual(*outputs)

    def test_a_slow_rank_is_not_taken_for_a_dead_one(self):
        job = long_job(2, max_tokens=30)
        self.addCleanup(job.kill)
        job.wait_for_log(READY)
        slow = job.pid_of_rank(1)
        for _ in range(6):
            mpi_job.send(slow, signal.SIGSTOP)
            time.sleep(0.9)
            mpi_job.send(slow, signal.SIGCONT)
            time.sleep(0.1)
        code, _ = job.finish(120)
        self.assertEqual(code, 0, job.stderr())


class RefusedStart(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def expect_refusal(self, arguments, *parts):
        job = mpi_job.Job(arguments)
        self.addCleanup(job.kill)
        code, output = job.finish(LIMIT_S)
        self.assertNotEqual(code, 0, job.stderr())
        self.assertEqual(output, "")
        self.assertEqual(len(job.errors()), 1, job.stderr())
        for part in parts:
            self.assertIn(part, job.errors()[0])

    def copy_model(self, place):
        target = os.path.join(self.folder, place, "model")
        shutil.copytree(os.path.join(MODELS, "llama"), target)
        return target

    def in_folders(self, first, second):
        """Rank 0 in one working directory, rank 1 in another, both with the same command."""
        command = short_command("model")
        return ["-n", "1", "-wdir", os.path.join(self.folder, first), *command, ":", "-n", "1", "-wdir",
                os.path.join(self.folder, second), *command]

    def test_more_ranks_than_layers(self):
        self.expect_refusal(["-n", "5", *short_command(os.path.join(MODELS, "llama"))], "5 ", "4 layers")

    def test_a_missing_model(self):
        self.expect_refusal(["-n", "2", *short_command("/no/such/model")], "/no/such/model")

    def test_a_model_that_one_rank_lacks(self):
        self.copy_model("a")
        os.mkdir(os.path.join(self.folder, "b"))
        self.expect_refusal(self.in_folders("a", "b"), "rank 1: ")

    def test_ranks_that_see_different_models(self):
        self.copy_model("a")
        other = os.path.join(self.copy_model("b"), "model.safetensors")
        with open(other, "r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(b"\x01\x02\x03\x04")
        self.expect_refusal(self.in_folders("a", "b"), "ranks 0 and 1", "different model files")

    def test_ranks_with_different_settings(self):
        model = os.path.join(MODELS, "llama")
        self.expect_refusal(["-n", "1", *short_command(model), ":", "-n", "1", *short_command(model), "--kv-memory", "1MiB"],
                            "rank 1", "kv_cache.memory_bytes")

    def test_a_pool_that_holds_nothing(self):
        self.expect_refusal(["-n", "2", *short_command(os.path.join(MODELS, "llama")), "--kv-memory", "16KiB"], "--kv-memory")

    def test_a_rank_without_memory(self):
        model = os.path.join(MODELS, "llama")
        starved = ["prlimit", "--as=700000000", *short_command(model), "--kv-memory", "2GiB"]
        job = mpi_job.Job(["-n", "1", *short_command(model), "--kv-memory", "2GiB", ":", "-n", "1", *starved])
        self.addCleanup(job.kill)
        code, _ = job.finish(LIMIT_S)
        self.assertNotEqual(code, 0)
        self.assertEqual(len(job.errors()), 1, job.stderr())
        self.assertIn("rank 1", job.errors()[0])
        self.assertIn("memory", job.errors()[0])


if __name__ == "__main__":
    MODELS, TRIREME = os.path.abspath(sys.argv.pop()), os.path.abspath(sys.argv.pop())
    unittest.main(verbosity=2)
