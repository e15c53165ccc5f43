"""A real Prometheus reads the server, and every query of the dashboard and the alerts gives a figure.

    prometheus_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from server_process import Server

TRIREME, MODELS = None, None
MONITORING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../configs/monitoring")
CONFIG = """
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: [%s]
scrape_configs:
  - job_name: trireme
    static_configs: [{targets: ["127.0.0.1:%d"]}]
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def rules_file():
    return os.path.join(MONITORING, "alerts.yml")


def dashboard_queries():
    with open(os.path.join(MONITORING, "grafana-dashboard.json")) as file:
        dashboard = json.load(file)
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "Debian's package prometheus is not installed")
class Prometheus(unittest.TestCase):
    def query(self, port, expression):
        url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(url, timeout=20) as response:
            return json.load(response)["data"]["result"]

    def wait_for(self, port, expression, limit_s=60):
        deadline = time.monotonic() + limit_s
        while True:
            try:
                result = self.query(port, expression)
            except OSError:
                result = []
            if result or time.monotonic() > deadline:
                return result
            time.sleep(0.5)

    def test_every_query_of_dashboard_and_alerts_gives_a_figure(self):
        self.assertEqual(subprocess.run(["promtool", "check", "rules", rules_file()], capture_output=True).returncode, 0)
        with Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "16MiB") as server, tempfile.TemporaryDirectory() as folder:
            port = free_port()
            path = os.path.join(folder, "prometheus.yml")
            with open(path, "w") as file:
                file.write(CONFIG % (rules_file(), server.port))
            process = subprocess.Popen(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
                                        f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                self.assertTrue(self.wait_for(port, "trireme_generation_tokens_total"))
                for i in range(8):
                    server.post("/v1/completions", {"prompt": [5, 6] * 20, "max_tokens": 6, "temperature": 0, "ignore_eos": True})
                    time.sleep(0.3)
                self.assertTrue(self.wait_for(port, "rate(trireme_generation_tokens_total[1m]) > 0"))
                for expression in dashboard_queries():
                    expression = expression.replace("$__rate_interval", "1m").replace("$model", ".*")
                    self.assertTrue(self.wait_for(port, expression), expression)
                with open(rules_file()) as file:
                    expressions = re.findall(r"expr: (?:>-)?((?:.|\n)*?)\n        for:", file.read())
                self.assertEqual(len(expressions), 4)
                for expression in expressions:
                    figure = re.sub(r" > [0-9.]+$", "", " ".join(expression.split())).replace("[5m]", "[1m]")
                    self.assertTrue(self.wait_for(port, figure), figure)
            finally:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
