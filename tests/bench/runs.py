"""What the scripts of this folder share: runs of trireme, what they print, memory of processes, and tables of what must hold."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../launch"))
import mpi_job

MPIRUN = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n"]
MIB = 1 << 20


def trireme_path(build):
    return os.path.realpath(os.path.join(build, "launch/trireme"))


def under_mpirun(arguments, ranks):
    return arguments if ranks == 1 else [*MPIRUN, str(ranks), *arguments]


def output_of(arguments, ranks=1):
    """Standard output; ends this script with the command and its log where it fails."""
    arguments = [str(argument) for argument in arguments]
    result = subprocess.run(under_mpirun(arguments, ranks), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def bench(trireme, *arguments, ranks=1):
    """The figures of one 'trireme bench'."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        output_of([trireme, "bench", *arguments, "--json", file.name], ranks)
        return json.load(file)


def decode_of(figures, batch):
    """What 'trireme bench' found of decoding so many sequences."""
    return next(entry for entry in figures["decode"] if entry["batch"] == batch)


@dataclass
class Plan:
    """What 'trireme inspect' says of a model over some ranks; lists have an entry per rank."""
    weight_bytes: list
    kv_bytes_per_token: list  # of storage, in chunks
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    has_windows: bool

    def read_bytes_per_token(self, key, value):
        """What attention reads of one earlier token in all layers: keys and values, each int8 vector with a float32 scale."""
        def vector(dtype):
            return {"fp32": 4, "fp16": 2, "int8": 1}[dtype] * self.head_dim + (4 if dtype == "int8" else 0)
        return self.num_layers * self.num_kv_heads * (vector(key) + vector(value))

    def prefill_attention_flops(self, tokens):
        """Multiply-adds of scores and of weighted values, two operations each; a token sees itself and those before."""
        return 4.0 * self.num_layers * self.num_heads * self.head_dim * tokens * (tokens + 1) / 2


def inspect(trireme, model, weights, ranks=1):
    text = output_of([trireme, "inspect", model, "--weights", weights, "--ranks", ranks])
    heads, kv_heads, head_dim = map(int, re.search(r"(\d+) heads, (\d+) KV heads, head_dim (\d+)", text).groups())
    return Plan([round(float(mib) * MIB) for mib in re.findall(r"^ +rank .*?, weights ([\d.]+) MiB;", text, re.MULTILINE)],
                [int(count) for count in re.findall(r"(\d+) bytes per token of full attention", text)],
                int(re.search(r"^layers +(\d+)", text, re.MULTILINE).group(1)), heads, kv_heads, head_dim,
                " with a window of " in text)


def private_memory(pid):
    """RssAnon of a process in bytes; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def pids_of_ranks(process, ranks):
    """{rank: pid} of the processes that mpirun has started so far; one rank is the process itself."""
    if ranks == 1:
        return {0: process.pid}
    environments = {pid: mpi_job.environment(pid) for pid in mpi_job.children(process.pid)}
    return {int(variables["OMPI_COMM_WORLD_RANK"]): pid for pid, variables in environments.items() if "OMPI_COMM_WORLD_RANK" in variables}


class MemorySampler(threading.Thread):
    """Peak RssAnon of each rank of a job, looked at every 20 ms until the job ends."""

    def __init__(self, process, ranks):
        super().__init__()
        self._process, self._ranks = process, ranks
        self.peak_bytes = [0] * ranks
        self.start()

    def run(self):
        pids = {}
        while self._process.poll() is None:
            if len(pids) < self._ranks:
                pids = pids_of_ranks(self._process, self._ranks)
            for rank, pid in pids.items():
                self.peak_bytes[rank] = max(self.peak_bytes[rank], private_memory(pid))
            time.sleep(0.02)


MEMORY_PROMPT, MEMORY_OUTPUT = 512, 64


def generate_and_watch(trireme, model, weights, ranks=1):
    """One generation of MEMORY_PROMPT + MEMORY_OUTPUT tokens: peak private bytes of each rank, and seconds until all is loaded."""
    arguments = [trireme, "generate", "--model", model, "--weights", weights, "--threads", str(2 // ranks), "--kv-memory", "256MiB",
                 "--prompt-ids", ",".join(str(100 + i) for i in range(MEMORY_PROMPT)), "--max-tokens", str(MEMORY_OUTPUT), "--ignore-eos",
                 "--json"]
    start = time.monotonic()
    process = subprocess.Popen(under_mpirun(arguments, ranks), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sampler = MemorySampler(process, ranks)
    ready_s, lines = None, []
    for line in process.stderr:
        lines.append(line)
        if ready_s is None and "max_batch" in line:
            ready_s = time.monotonic() - start
    process.stdout.read()
    sampler.join()
    if process.returncode != 0 or ready_s is None:
        sys.exit("generate failed: " + "".join(lines))
    return sampler.peak_bytes, ready_s


def allowed_memory(plan, tokens, rank):
    """Packed weights, the part of the KV pool that so many tokens use, and 150 MB."""
    return plan.weight_bytes[rank] + tokens * plan.kv_bytes_per_token[rank] + 150e6


@dataclass
class Bar:
    """A figure, and what it must be."""
    what: str
    measured: float
    relation: str  # ">=", "<="
    bound: float

    def margin(self):
        """How far a figure above zero meets its bound: 1 and more is met."""
        return self.measured / self.bound if self.relation == ">=" else self.bound / self.measured

    def met(self):
        return self.measured >= self.bound if self.relation == ">=" else self.measured <= self.bound

    def verdict(self):
        return "met" if self.met() else "**MISSED**"


def print_bars(bars):
    print("| what | measured | must be | |\n|---|---|---|---|")
    for bar in bars:
        print(f"| {bar.what} | {bar.measured:.3g} | {bar.relation} {bar.bound:.3g} | {bar.verdict()} |")


def bars_json(bars):
    return [{**asdict(bar), "met": bar.met()} for bar in bars]


def write_json(path, value):
    if path:
        with open(path, "w") as file:
            json.dump(value, file, indent=1)
