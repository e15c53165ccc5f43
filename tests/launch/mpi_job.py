"""A trireme job under mpirun, for tests: its ranks' processes, its outcome, and ways to hurt it."""
import ctypes
import os
import signal
import subprocess
import threading
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def launcher(num_ranks):
    """What goes before a command; nothing for one rank."""
    return [] if num_ranks == 1 else [*MPIRUN, "-n", str(num_ranks)]


def error_lines(log):
    """The lines that trireme logged as errors."""
    return [line.strip() for line in log.splitlines() if "[error]" in line]


class Job:
    def __init__(self, arguments, stdin=subprocess.DEVNULL):
        """arguments: what follows mpirun's own options, e.g. ["-n", "2", "trireme", "generate", …]. stdin=PIPE: for write_line."""
        self._stderr, self._stdout = [], []
        self.process = subprocess.Popen(MPIRUN + arguments, stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True)
        self._reader = self._start_reader(self.process.stderr, self._stderr)
        self._output_reader = self._start_reader(self.process.stdout, self._stdout)

    @staticmethod
    def _start_reader(stream, lines):
        reader = threading.Thread(target=lambda: lines.extend(iter(stream.readline, "")), daemon=True)
        reader.start()
        return reader

    def stderr(self):
        return "".join(self._stderr)

    def errors(self):
        return error_lines(self.stderr())

    def wait_for_log(self, text, limit_s=60):
        deadline = time.monotonic() + limit_s
        while text not in self.stderr():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"no '{text}' in the log:\n{self.stderr()}")
            time.sleep(0.02)

    def write_line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def pid_of_rank(self, rank, limit_s=30):
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            for pid in children(self.process.pid):
                if environment(pid).get("OMPI_COMM_WORLD_RANK") == str(rank):
                    return pid
            time.sleep(0.01)
        raise AssertionError(f"rank {rank} has not started")

    def finish(self, limit_s):
        """Waits for the end; returns (exit code, standard output). Kills the job and fails beyond the limit."""
        try:
            self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the job did not end within {limit_s} s:\n{self.stderr()}")
        self._reader.join(5)
        self._output_reader.join(5)
        self._close()
        return self.process.returncode, "".join(self._stdout)

    def kill(self):
        for pid in children(self.process.pid):
            send(pid, signal.SIGCONT)
            send(pid, signal.SIGKILL)
        send(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def _close(self):
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry))
    return found


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return dict(item.split("=", 1) for item in file.read().decode().split("\0") if "=" in item)
    except (OSError, UnicodeDecodeError):
        return {}


def thread_named(pid, name):
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm") as comm:
            if comm.read().strip() == name:
                return int(thread)
    raise AssertionError(f"process {pid} has no thread {name}")


def freeze_thread(thread):
    """Stops one thread of another process for as long as this process lives (ptrace), the others run on."""
    seize, interrupt = 0x4206, 0x4207
    libc = ctypes.CDLL(None, use_errno=True)
    for request in (seize, interrupt):
        if libc.ptrace(request, thread, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
