"""How a server starts, whom it lets in, and how it ends.

    serve_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from server_process import Server  # makes mpi_job known
import mpi_job

TRIREME, MODELS = None, None
LONG = {"prompt": [5, 6], "max_tokens": 240, "n": 64, "temperature": 1, "ignore_eos": True}


def start(*options, ranks=1):
    return Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "64MiB", *options, ranks=ranks)


def in_background(function):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    return thread, answers


class Start(unittest.TestCase):
    def refused(self, *options, ranks=1):
        """Before the model is even looked for; the one line that says why."""
        result = subprocess.run([*mpi_job.launcher(ranks), TRIREME, "serve", "--model", "/nonexistent", *options], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        errors = mpi_job.error_lines(result.stderr)
        self.assertEqual(len(errors), 1, result.stderr)
        return errors[0]

    def test_a_port_in_use_is_found_before_the_model_is_loaded(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for ranks in (1, 2):
                self.assertIn("in use", self.refused("--port", port, ranks=ranks))

    def test_so_are_a_bad_address_and_missing_or_open_key_files(self):
        self.assertIn("server.host", self.refused("--host", "nowhere.invalid"))
        self.assertIn("no such file", self.refused("--api-keys", "/nonexistent"))
        self.assertIn("/nonexistent.pem", self.refused("--port", "0", "--tls-cert", "/nonexistent.pem", "--tls-key", "/nonexistent.key"))
        self.assertIn("need each other", self.refused("--port", "0", "--tls-cert", "/nonexistent.pem"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            with open(path, "w") as file:
                file.write("sk-a\n")
            os.chmod(path, 0o644)
            self.assertIn("chmod 600", self.refused("--api-keys", path))


class Keys(unittest.TestCase):
    def test_every_path_but_health_and_metrics_needs_a_key(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write("alice sk-a\nbob sk-b\n")
            with start("--api-keys", path) as server:
                body = {"prompt": [5], "max_tokens": 1}
                for authorization in (None, "Bearer wrong", "Bearer SK-A", "Bearer sk-a ", "sk-a", "Basic sk-a", "bearer"):
                    headers = {"Authorization": authorization} if authorization else {}
                    for method, route in (("POST", "/v1/completions"), ("POST", "/v1/chat/completions"), ("GET", "/v1/models"),
                                          ("POST", "/tokenize"), ("POST", "/detokenize")):
                        status, answered, text = server.request(method, route, body if method == "POST" else None, headers=headers)
                        if authorization == "Bearer sk-a ":
                            continue  # blanks at the end of a header's value are not part of it
                        self.assertEqual(status, 401, (route, authorization))
                        self.assertEqual(json.loads(text)["error"]["type"], "authentication_error")
                for route in ("/health", "/metrics", "/version"):
                    self.assertEqual(server.get(route)[0], 200)
                for key in ("sk-a", "sk-b"):
                    headers = {"Authorization": f"Bearer {key}"}
                    self.assertEqual(server.post("/v1/completions", body, headers=headers)[0], 200)

    def test_tls_serves_those_who_speak_it_and_closes_on_the_others(self):
        if not shutil.which("openssl"):
            self.skipTest("the openssl program is not installed")
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
            with start("--tls-cert", certificate, "--tls-key", key) as server:
                context = ssl.create_default_context(cafile=certificate)
                connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=20)
                for _ in range(2):
                    body = json.dumps({"prompt": [5], "max_tokens": 30, "stream": True, "ignore_eos": True})
                    connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
                    text = connection.getresponse().read()
                    self.assertTrue(text.endswith(b"data: [DONE]\n\n"), text[-100:])
                with socket.create_connection(("127.0.0.1", server.port), timeout=20) as plain:
                    plain.sendall(b"GET /health HTTP/1.1\r\n\r\n")
                    while plain.recv(1000):
                        pass
                old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
                old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    old.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=20))


class End(unittest.TestCase):
    def drains(self, server, send_signal):
        thread, answers = in_background(lambda: server.post("/v1/completions", LONG))
        while server.metric("trireme_num_requests_running") == 0:
            time.sleep(0.01)
        send_signal()
        server.wait_for_log("draining")
        self.assertEqual(server.get("/health")[0], 503)
        status, headers, text = server.request("POST", "/v1/completions", {"prompt": [5], "max_tokens": 1})
        self.assertEqual(status, 503)
        self.assertIn("Retry-After", headers)
        thread.join()
        status, answer = answers[0]
        self.assertEqual((status, answer["usage"]["completion_tokens"]), (200, 240 * 64))
        self.assertEqual(server.process.wait(timeout=30), 0)

    def test_sigterm_drains(self):
        server = start().wait_until_ready()
        self.drains(server, lambda: server.signal(signal.SIGTERM))

    def test_sigusr1_to_mpirun_drains_all_ranks(self):
        server = start(ranks=2).wait_until_ready()
        self.drains(server, lambda: server.signal(signal.SIGUSR1))

    def test_a_second_signal_ends_at_once(self):
        server = start().wait_until_ready()
        thread, answers = in_background(lambda: server.request("POST", "/v1/completions", {**LONG, "stream": True}))
        while server.metric("trireme_num_requests_running") == 0:
            time.sleep(0.01)
        server.signal(signal.SIGTERM)
        server.wait_for_log("draining")
        server.signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=30), 143)
        thread.join()
        status, headers, text = answers[0]
        self.assertIn(b'"code":503', text)
        self.assertTrue(text.endswith(b"data: [DONE]\n\n"))

    def test_what_takes_longer_than_the_limit_is_ended_and_told(self):
        server = start("--server.drain_limit_ms", "50").wait_until_ready()
        thread, answers = in_background(lambda: server.request("POST", "/v1/completions", LONG))
        while server.metric("trireme_num_requests_running") == 0:
            time.sleep(0.01)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=30), 0)
        thread.join()
        self.assertEqual(answers[0][0], 503)


class Deadline(unittest.TestCase):
    def test_a_request_that_takes_too_long_is_told_so(self):
        with start("--server.request_limit_ms", "100") as server:
            status, headers, text = server.request("POST", "/v1/completions", LONG)
            self.assertEqual(status, 408)
            self.assertEqual(headers["x-should-retry"], "false")
            server.wait_for_metric("trireme_num_requests_running", 0)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
