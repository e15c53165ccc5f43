"""A `trireme serve` for tests, alone or under mpirun, and a plain HTTP client."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import mpi_job

# The small model of the tests has no template of its own.
TEMPLATE = ("{% for message in messages %}{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}")


class Server:
    def __init__(self, trireme, model, *options, ranks=1, threads=1):
        self._lines = []
        self.process = subprocess.Popen(
            [*mpi_job.launcher(ranks), trireme, "serve", "--model", model, "--port", "0", "--threads", str(threads), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self._reader = threading.Thread(target=lambda: self._lines.extend(iter(self.process.stderr.readline, "")), daemon=True)
        self._reader.start()
        self.port = int(self.wait_for_log(r"HTTP on \S+ port (\d+)").group(1))

    def log(self):
        return "".join(self._lines)

    def wait_for_log(self, pattern, limit_s=60):
        deadline = time.monotonic() + limit_s
        while True:
            found = re.search(pattern, self.log())
            if found:
                return found
            if time.monotonic() > deadline or self.process.poll() is not None:
                time.sleep(0.1)
                raise AssertionError(f"no '{pattern}' in the log:\n{self.log()}")
            time.sleep(0.02)

    def wait_until_ready(self):
        self.wait_for_log("serving ")
        return self

    def request(self, method, path, body=None, headers=None, timeout=60):
        """(status, headers, body); a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), text

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body, **options):
        status, headers, text = self.request("POST", path, body, **options)
        return status, json.loads(text)

    def stream(self, path, body):
        """The JSON of each server-sent event, without the mark of the end, which must be there."""
        status, headers, text = self.request("POST", path, {**body, "stream": True})
        assert status == 200, text
        events = [line[len("data: "):] for line in text.decode().split("\n\n") if line]
        assert events[-1] == "[DONE]", events[-1]
        return [json.loads(event) for event in events[:-1]]

    def metric(self, name):
        """The sum of all samples of this name."""
        text = self.get("/metrics")[2].decode()
        values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                  if line.split("{")[0].split(" ")[0] == name]
        assert values, f"{name} is not among the metrics"
        return sum(values)

    def wait_for_metric(self, name, value, limit_s=10):
        deadline = time.monotonic() + limit_s
        while self.metric(name) != value:
            assert time.monotonic() < deadline, f"{name} is {self.metric(name)}, not {value}"
            time.sleep(0.05)

    def memory_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def stop(self, limit_s=30):
        """Ends it in order; its exit code."""
        if self.process.poll() is None:
            self.signal(signal.SIGUSR1)
        try:
            return self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the server did not end:\n{self.log()}")

    def __enter__(self):
        return self.wait_until_ready()

    def __exit__(self, *_):
        self.stop()


def chat_model(models):
    """A copy of the small model that has a chat template; the caller removes the folder."""
    folder = tempfile.mkdtemp(prefix="trireme-test-")
    model = os.path.join(folder, "llama")
    shutil.copytree(os.path.join(models, "llama"), model)
    with open(os.path.join(model, "chat_template.jinja"), "w") as file:
        file.write(TEMPLATE)
    return folder, model
