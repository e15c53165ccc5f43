"""The servers that are measured: trireme serve, and llama.cpp's two."""
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import runs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../launch/server"))
from server_process import Server

THREADS = 2
NUM_SLOTS = 16


def trireme(options, weights, *more, kv_memory="3GiB"):
    """A running 'trireme serve' without a response cache, so that every request is computed."""
    return Server(options.trireme, options.model, "--weights", weights, "--server.response_cache_entries", "0", "--kv-memory", kv_memory, *more,
                  threads=THREADS)


def private_bytes(server):
    return runs.private_memory(server.process.pid)


class Peer:
    """Another program's server, until the end of a with statement."""

    def __init__(self, *arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([*arguments, "--port", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)

    def _ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def __enter__(self):
        deadline = time.monotonic() + 120
        while not self._ready():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.process.kill()
                raise SystemExit(f"{self.process.args[0]} did not start")
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def llama_server(peers):
    """llama.cpp's server of its own: a slot for each concurrent request."""
    return Peer(os.path.join(peers, "llama-server/build/bin/llama-server"), "--model", os.path.join(peers, "models/Q8_0.gguf"), "--threads",
                str(THREADS), "--parallel", str(NUM_SLOTS), "--ctx-size", str(NUM_SLOTS * 1024), "--host", "127.0.0.1")


def llama_cpp_python(peers):
    """llama-cpp-python's server: one request at a time, the others wait."""
    return Peer(os.path.join(peers, "llama_cpp/bin/python"), "-m", "llama_cpp.server", "--model", os.path.join(peers, "models/Q8_0.gguf"),
                "--n_threads", str(THREADS), "--n_threads_batch", str(THREADS), "--n_ctx", "1024", "--n_batch", "512", "--interrupt_requests",
                "false", "--host", "127.0.0.1")


def installed_peers(peers):
    """{name: a function that starts it}, and {name: why it is left out}."""
    wanted = {"llama-server Q8_0, 16 slots": ("llama-server/build/bin/llama-server", llama_server),
              "llama_cpp.server Q8_0, 1 slot": ("llama_cpp/bin/uvicorn", llama_cpp_python)}
    found = {name: start for name, (path, start) in wanted.items() if peers and os.path.exists(os.path.join(peers, path))}
    return found, {name: f"no {path} in {peers or '--peers'}" for name, (path, _) in wanted.items() if name not in found}
