"""Bytes that are no honest message, and what the Thrift endpoint makes of them. Needs no Thrift library.

    thrift_hostile_clients_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import os
import select
import socket
import struct
import sys
import threading
import time
import unittest

from server_process import Server

TRIREME, MODELS = None, None
MIB = 1 << 20
BOOL, BYTE, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 3, 5, 6, 7, 8, 9, 10, 11, 12  # of the compact protocol


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def call(method, arguments):
    return bytes([0x82, 0x21, 1]) + varint(len(method)) + method + arguments


def frame(message):
    return struct.pack(">I", len(message)) + message


def list_of(element, size):
    return bytes([0xF0 | element]) + varint(size)


def field(delta, type):
    return bytes([delta << 4 | type])


def raw(port, data, limit_s=20):
    """What comes back until the server closes; None if it keeps the connection open."""
    with socket.create_connection(("127.0.0.1", port), timeout=limit_s) as connection:
        answer = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                answer += part
        except socket.timeout:
            return None
        except ConnectionError:
            pass
        return answer


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "32MiB", "--server.body_limit_ms", "1500",
                            "--server.idle_limit_ms", "3000", "--server.max_connections", "300").wait_until_ready()
        cls.alive(cls.server)
        cls.memory = cls.server.memory_bytes()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.log()

    @staticmethod
    def alive(server):
        with socket.create_connection(("127.0.0.1", server.thrift_port), timeout=20) as connection:
            connection.sendall(frame(call(b"getName", b"\0")))
            answer = b""
            while b"trireme" not in answer:
                part = connection.recv(4096)
                assert part, "the server closed"
                answer += part

    def tearDown(self):
        self.alive(self.server)
        self.assertLess(self.server.memory_bytes() - self.memory, 32 * MIB)

    def closed_without_answer(self, data):
        self.assertEqual(raw(self.server.thrift_port, data), b"", data[:80])

    def test_containers_that_claim_more_than_the_message_holds(self):
        for size in (2**31 - 1, 2**30, 2**28, 2**31, 2**32 - 1, 10**6):
            for element in (BOOL, BYTE, I32, I64, DOUBLE, BINARY, LIST, MAP, STRUCT):
                # detokenize(tokens: list), and a field that no method has
                self.closed_without_answer(frame(call(b"detokenize", field(1, LIST) + list_of(element, size))))
                self.closed_without_answer(frame(call(b"detokenize", field(9, LIST) + list_of(element, size))))
                self.closed_without_answer(frame(call(b"detokenize", field(9, SET) + list_of(element, size))))
            pairs = field(9, MAP) + varint(size) + bytes([I32 << 4 | STRUCT])
            self.closed_without_answer(frame(call(b"detokenize", pairs)))

    def test_many_objects_in_few_bytes(self):
        # tokenize(prompt: {messages: 4 million}), as many bytes as messages
        prompt = field(1, STRUCT) + field(3, LIST) + list_of(STRUCT, 4 * MIB) + b"\0" * (4 * MIB)
        for _ in range(3):
            self.closed_without_answer(frame(call(b"tokenize", prompt)))

    def test_many_numbers(self):
        # generate(request: {sampling: {logit_bias: 900,000 pairs}}), and tokens for each byte of the message
        pairs = b"".join(varint(2 * id) + b"\0" * 8 for id in range(900_000))
        sampling = field(2, STRUCT) + field(8, MAP) + varint(900_000) + bytes([I32 << 4 | DOUBLE]) + pairs
        self.closed_without_answer(frame(call(b"generate", field(1, STRUCT) + sampling)))
        for size in (8_000_000, 1 << 18):
            tokens = list_of(I32, size) + b"\2" * size + b"\0"
            for method, arguments in ((b"detokenize", field(1, LIST)), (b"tokenize", field(1, STRUCT) + field(2, LIST)),
                                      (b"scoreTokens", field(1, STRUCT) + field(2, LIST))):
                raw(self.server.thrift_port, frame(call(method, arguments + tokens + b"\0\0")), limit_s=2)

    def test_strings_that_claim_more_than_there_is(self):
        for size in (99 * MIB, 2**31 - 1, 2**31, 2**32 - 1, 7 * MIB):
            self.closed_without_answer(frame(call(b"getCounter", field(1, BINARY) + varint(size))))
            self.closed_without_answer(frame(bytes([0x82, 0x21, 1]) + varint(size)))

    def test_frames_that_are_too_long_or_empty(self):
        for length in (0, 8 * MIB + 1, 2**31 - 1, 2**31, 2**32 - 1):
            self.closed_without_answer(struct.pack(">I", length))

    def test_deep_nesting(self):
        for depth in (100, 100_000):
            self.closed_without_answer(frame(call(b"getName", field(1, STRUCT) * depth)))
            self.closed_without_answer(frame(call(b"getName", field(1, LIST) + bytes([0x10 | LIST]) * depth)))

    def test_other_protocols(self):
        binary = struct.pack(">I", 0x80010001) + struct.pack(">I", 7) + b"getName" + struct.pack(">I", 1) + b"\0"
        for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
                     frame(binary), binary, os.urandom(4096), frame(b"\x82"), frame(call(b"getName", b""))):
            self.closed_without_answer(data)

    def test_an_unknown_method_gets_an_answer(self):
        with socket.create_connection(("127.0.0.1", self.server.thrift_port), timeout=20) as connection:
            connection.sendall(frame(call(b"noSuchMethod", b"\0")))
            self.assertIn(b"noSuchMethod", connection.recv(4096))

    def test_http_port_closes_on_a_thrift_message(self):
        self.assertIsNotNone(raw(self.server.port, frame(call(b"getName", b"\0")) + b"\r\n\r\n"))

    def test_claimed_frames_that_never_come_take_no_memory_and_are_closed(self):
        connections = [socket.create_connection(("127.0.0.1", self.server.thrift_port), timeout=20) for _ in range(200)]
        for connection in connections:
            connection.sendall(struct.pack(">I", 8 * MIB) + b"\x82")
        self.assertLess(self.server.memory_bytes() - self.memory, 32 * MIB)
        self.alive(self.server)
        for connection in connections:
            self.assertEqual(connection.recv(1), b"")
            connection.close()

    def test_connections_beyond_the_limit_are_closed_at_once(self):
        connections = [socket.create_connection(("127.0.0.1", self.server.thrift_port), timeout=20) for _ in range(320)]
        closed, begin = [], time.monotonic()
        while len(closed) < 20 and time.monotonic() - begin < 2.5:  # idle ones are closed after 3 s
            time.sleep(0.05)
            closed = select.select(connections, [], [], 0)[0]
        self.assertGreaterEqual(len(closed), 20)
        self.assertLess(len(closed), 100)
        for connection in connections:
            connection.close()

    def test_idle_and_dripping_connections_are_closed(self):
        self.closed_without_answer(b"")
        with socket.create_connection(("127.0.0.1", self.server.thrift_port), timeout=20) as connection:
            try:
                connection.sendall(struct.pack(">I", 1000))
                for _ in range(100):
                    connection.sendall(b"\x82")
                    time.sleep(0.1)
                self.fail("a message may come as slowly as its client likes")
            except ConnectionError:
                pass

    def test_messages_behind_one_another_are_answered_in_order(self):
        with socket.create_connection(("127.0.0.1", self.server.thrift_port), timeout=20) as connection:
            num_messages = 20_000
            sender = threading.Thread(target=connection.sendall, args=(frame(call(b"getName", b"\0")) * num_messages,))
            sender.start()
            answers = b""
            while answers.count(b"trireme") < num_messages:
                part = connection.recv(1 << 20)
                self.assertTrue(part)
                answers += part
            sender.join()


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
