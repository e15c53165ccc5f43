"""Chromium without a window, driven over its debugging pipe."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, width=1400, height=1500):
        self._folder = tempfile.TemporaryDirectory(prefix="trireme-browser-", ignore_cleanup_errors=True)
        to_browser, self._write_end = os.pipe()
        self._read_end, from_browser = os.pipe()

        def take_pipes():
            # Above 4 first: either end may be 3 or 4 already.
            commands, answers = os.dup(to_browser), os.dup(from_browser)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}",
             "--remote-debugging-pipe"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._input, self._id, self._session = b"", 0, None
        self.urls, self.errors = [], []  # requested by the page; what it complained of
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._id:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _read(self):
        while b"\0" not in self._input:
            part = os.read(self._read_end, 1 << 16)
            assert part, "the browser has ended"
            self._input += part
        text, self._input = self._input.split(b"\0", 1)
        message = json.loads(text)
        parameters = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.urls.append(parameters["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        elif message.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"])
        return message

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, expression, limit_s=30):
        """Its value, once it is true."""
        deadline = time.monotonic() + limit_s
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, f"not true: {expression}\n{self.evaluate('document.documentElement.innerText')}"
            time.sleep(0.1)
        return value

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def close(self):
        self._session = None
        self.call("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write_end)
        os.close(self._read_end)
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
