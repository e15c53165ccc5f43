"""Clients that send nonsense, too much, too slowly or not at all, and what the server makes of them.

    hostile_clients_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import socket
import struct
import sys
import threading
import time
import unittest

from server_process import Server

TRIREME, MODELS = None, None
MIB = 1 << 20


def start(*options, ranks=1):
    return Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "32MiB", *options, ranks=ranks)


def raw(server, data, limit_s=10, half_close=False):
    """What comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=limit_s) as connection:
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(65536):
                answer += part
        except ConnectionError:
            pass
        return answer


def post(body, path="/v1/completions", extra=""):
    data = json.dumps(body).encode() if not isinstance(body, bytes) else body
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{extra}"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else None


class Malformed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = start().wait_until_ready()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.log()

    def refused(self, fields, field=None):
        body = {"prompt": [5, 6], "max_tokens": 2, **fields} if isinstance(fields, dict) else fields
        status, headers, text = self.server.request("POST", "/v1/completions", body)
        self.assertEqual(status, 400, (fields, text))
        self.assertLessEqual(len(text), 4096)
        error = json.loads(text)["error"]
        self.assertEqual(error["type"], "invalid_request_error")
        if field:
            self.assertEqual(error["param"], field, error)

    def test_fields_of_the_wrong_type_or_range_are_named(self):
        for value in (-1, 2**31, 2**64, 3.9, "5", [], True):
            self.refused({"max_tokens": value}, "max_tokens")
        for value in (-1, 1e30, "1", []):
            self.refused({"temperature": value}, "temperature")
        for name, value in (("top_p", 0), ("top_p", 1.1), ("top_k", -2), ("n", 0), ("n", 10**6), ("logprobs", 10**9), ("seed", -1),
                            ("stop", ""), ("stop", ["x"] * 500_000), ("presence_penalty", 1e6), ("logit_bias", {"x": 1}),
                            ("logit_bias", {"1": 1e6}), ("stream", 1), ("echo", "yes"), ("min_tokens", -1), ("suffix", "x"),
                            ("best_of", 3)):
            self.refused({name: value}, name)
        self.refused({"stream": True, "stream_options": 5}, "stream_options")

    def test_prompts_that_cannot_be(self):
        for prompt in ([], "", [[]], [-1], [2**40], [512], [1.5], None, {}, ["a", [1]], [[1], "a"]):
            status = self.server.post("/v1/completions", {"prompt": prompt, "max_tokens": 1})[0]
            self.assertIn(status, (200, 400) if prompt in ("", ["a", [1]], [[1], "a"]) else (400,), prompt)
        self.refused({"prompt": [1] * 257})
        self.refused({"prompt": [1] * 256})
        status, answer = self.server.post("/v1/completions", {"prompt": [1] * 255, "max_tokens": 5})
        self.assertEqual((status, answer["usage"]["completion_tokens"], answer["choices"][0]["finish_reason"]), (200, 1, "length"))
        for field in ({"logit_bias": {"512": 1}}, {"stop_token_ids": [512]}, {"stop_token_ids": [-1]}):
            self.refused(field)

    def test_text_that_is_no_json_is_not_echoed(self):
        for body in (b"", b"{", b"nonsense-nonsense", b"[" * 100_000, b'{"prompt":"x"} trailing', b'{"prompt":"a","prompt":"b"}',
                     b'{"prompt":"\xff"}', b'{"prompt":"\\ud800"}', b'{"prompt":NaN}', b'{"prompt":"x","temperature":1e999}', b"[]", b"5"):
            status, headers, text = self.server.request("POST", "/v1/completions", body)
            self.assertEqual(status, 400, body[:40])
            self.assertNotIn(b"nonsense-nonsense", text)
            self.assertLess(len(text), 4096)

    def test_requests_that_are_no_http(self):
        for data, wanted in ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", (400, None)), (b"GET /health\r\n\r\n", (400, None)),
                             (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n", (400,)),
                             (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n", (400,)),
                             (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 10737418240\r\n\r\n", (413,)),
                             (post({"prompt": "x"}, extra="Content-Encoding: gzip\r\n"), (415,)),
                             (post({"prompt": "x"}, extra="Expect: a miracle\r\n"), (417,)),
                             (b"GET /health HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", (431,)),
                             (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", (431, 400))):
            self.assertIn(status_of(raw(self.server, data)), wanted, data[:60])
        for size in (b"ffffffffffffffff", b"-2", b"fffffffffffffffffffff", b"zz"):
            answer = raw(self.server, b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
                                      b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n")
            self.assertIn(status_of(answer), (400, 413), size)

    def test_claims_of_size_take_no_memory(self):
        before = self.server.memory_bytes()
        open_connections = []
        for _ in range(100):
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{")
            open_connections.append(connection)
        time.sleep(0.5)
        self.assertLess(self.server.memory_bytes() - before, 32 * MIB)
        for connection in open_connections:
            connection.close()

    def test_the_server_goes_on_unharmed(self):
        status, answer = self.server.post("/v1/completions", {"prompt": [5, 6], "max_tokens": 2, "ignore_eos": True})
        self.assertEqual((status, answer["usage"]["completion_tokens"]), (200, 2))

    def test_requests_of_one_connection_may_follow_each_other_closely(self):
        one = post({"prompt": [5, 6], "max_tokens": 2})
        answer = raw(self.server, one * 3 + post({"prompt": [7], "max_tokens": 1}, extra="Connection: close\r\n"))
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 4)

    def test_a_client_that_waits_for_leave_to_send_its_body_gets_it(self):
        body = json.dumps({"prompt": [5], "max_tokens": 1}).encode()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as connection:
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
                               b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 100 Continue"))
            connection.sendall(body)
            self.assertIn(b"200 OK", connection.recv(10_000))


class Slow(unittest.TestCase):
    def test_those_who_drip_or_fall_silent_are_closed_in_time_and_hinder_nobody(self):
        options = ["--server.header_limit_ms", "1000", "--server.body_limit_ms", "1000", "--server.idle_limit_ms", "1500"]
        with start(*options) as server:
            silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
            drips = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
            bodies = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
            for connection in bodies:
                connection.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
            worst = 0.0
            for letter in b"GET /health HTTP":
                for connection in drips:
                    try:
                        connection.send(bytes([letter]))
                    except OSError:
                        pass
                begin = time.monotonic()
                self.assertEqual(server.get("/health")[0], 200)
                worst = max(worst, time.monotonic() - begin)
                time.sleep(0.12)
            for connection in drips + bodies:
                connection.settimeout(10)
                try:
                    answer = connection.recv(1000)
                except ConnectionError:
                    answer = b""
                self.assertIn(status_of(answer), (408, None))
            for connection in silent:
                connection.settimeout(10)
                self.assertEqual(connection.recv(10), b"")
            print(f"worst /health: {worst * 1000:.1f} ms", file=sys.stderr)

    def test_a_reader_of_one_byte_a_second_is_dropped_and_others_go_on(self):
        options = ["--server.stream_buffer_bytes", "8kB", "--server.write_limit_ms", "1000"]
        with start(*options) as server:
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(post({"prompt": [5], "max_tokens": 250, "n": 32, "stream": True, "ignore_eos": True, "temperature": 1, "logprobs": 5}))
            status, answer = server.post("/v1/completions", {"prompt": [7, 8], "max_tokens": 200, "ignore_eos": True})
            self.assertEqual((status, answer["usage"]["completion_tokens"]), (200, 200))
            server.wait_for_log("closed", limit_s=20)
            server.wait_for_metric("trireme_num_requests_running", 0)
            server.wait_for_metric("trireme_kv_cache_usage_perc", 0)
            slow.close()


class Leaving(unittest.TestCase):
    def test_whoever_leaves_stops_the_work_and_leaves_nothing_behind(self):
        with start(ranks=2) as server:
            def begin(fields):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
                connection.sendall(post({"prompt": [5, 6] * 40, "max_tokens": 170, "ignore_eos": True, "temperature": 1, **fields}))
                return connection

            def leave(way):
                if way == "during prefill":
                    begin({}).close()
                elif way == "after the first token":
                    connection = begin({"stream": True})
                    connection.recv(300)
                    connection.close()
                elif way == "half":
                    connection = begin({})
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(10)
                    connection.close()
                elif way == "reset":
                    connection = begin({"stream": True})
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()
                else:
                    connection = begin({"stream": True, "n": 4})
                    connection.recv(300)
                    connection.close()

            ways = ["during prefill", "after the first token", "half", "reset", "four choices"]
            for i in range(20):
                leave(ways[i % len(ways)])
            server.wait_for_metric("trireme_num_requests_running", 0)
            for i in range(200):
                leave(ways[i % len(ways)])
            server.wait_for_metric("trireme_num_requests_running", 0)
            server.wait_for_metric("trireme_num_requests_waiting", 0)
            server.wait_for_metric("trireme_kv_cache_usage_perc", 0)
            self.assertGreater(server.metric("trireme_requests_cancelled_total"), 100)


class Overload(unittest.TestCase):
    def test_more_than_it_can_take_is_refused_at_once_and_the_rest_is_unharmed(self):
        with start("--server.max_waiting", "8", "--scheduler.max_batch", "4") as server:
            results, lock = [], threading.Lock()

            def client():
                for _ in range(6):
                    begin = time.monotonic()
                    status, headers, text = server.request("POST", "/v1/completions", {"prompt": [5, 6], "max_tokens": 40,
                                                                                      "temperature": 1, "ignore_eos": True})
                    with lock:
                        results.append((status, headers, text, time.monotonic() - begin))

            threads = [threading.Thread(target=client) for _ in range(40)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            taken = [result for result in results if result[0] == 200]
            refused = [result for result in results if result[0] == 429]
            self.assertEqual(len(taken) + len(refused), len(results))
            self.assertGreater(len(refused), 20)
            self.assertGreater(len(taken), 20)
            for status, headers, text, seconds in refused:
                self.assertIn("Retry-After", headers)
                self.assertEqual(json.loads(text)["error"]["type"], "rate_limit_error")
            for status, headers, text, seconds in taken:
                self.assertEqual(json.loads(text)["usage"]["completion_tokens"], 40)
            self.assertEqual(server.post("/v1/completions", {"prompt": [5, 6], "max_tokens": 2})[0], 200)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
