"""The Thrift endpoint as PyPI's client sees it.

    thrift_test.py TRIREME MODELS COMPILER IDL     MODELS: the folder of small models (tests/data/models)
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import thrift_client
from server_process import Server, chat_model, self_signed_certificate

TRIREME, MODELS = None, None
types, service = None, None
LONG = dict(max_tokens=240, num_choices=64, ignore_eos=True)


def start(*options, model=None):
    return Server(TRIREME, model or os.path.join(MODELS, "llama"), "--kv-memory", "64MiB", *options)


def request(prompt=(5, 6), **fields):
    source = types.Prompt(text=prompt) if isinstance(prompt, str) else types.Prompt(tokens=list(prompt))
    sampling = fields.pop("sampling", {})
    return types.GenerateRequest(prompt=source, sampling=types.SamplingParams(**sampling), **fields)


def ids(choice):
    return [token.id for token in choice.tokens]


def poll_all(client, id, key="", wait_ms=5000):
    """(the pieces, the last answer)."""
    pieces, seq = [], 0
    while True:
        answer = client.poll(id, seq, wait_ms, key)
        pieces += answer.pieces
        seq = answer.next_seq
        if answer.finished:
            return pieces, answer


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, model = chat_model(MODELS)
        cls.model = model
        cls.server = start(model=model).wait_until_ready()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.log()

    def setUp(self):
        self.client = thrift_client.Client(service, self.server.thrift_port)
        self.addCleanup(self.client.close)

    def test_generates_what_the_command_generates(self):
        sampling = dict(temperature=0.9, top_p=0.95, seed=7)
        command = [TRIREME, "generate", "--model", self.model, "--kv-memory", "64MiB", "--threads", "1", "--json", "--prompt", "hello",
                   "--max-tokens", "24", "--temperature", "0.9", "--top-p", "0.95", "--seed", "7"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = json.loads(result.stdout)
        choice = self.client.generate(request("hello", max_tokens=24, sampling=sampling), "").choices[0]
        self.assertEqual((choice.text, ids(choice)), (expected["text"], expected["token_ids"]))
        # Streamed, and computed again: another number of tokens is another question to the response cache.
        id = self.client.submit(request("hello", max_tokens=23, sampling=sampling), "")
        pieces, _ = poll_all(self.client, id)
        self.assertEqual([piece.token.id for piece in pieces if piece.token], expected["token_ids"][:23])
        self.assertTrue(choice.text.startswith("".join(piece.text for piece in pieces)))

    def test_answers_as_the_http_endpoint_does(self):
        sampling = dict(temperature=1.0, seed=11, logprobs=2)
        answer = self.client.generate(request(max_tokens=12, num_choices=2, sampling=sampling, ignore_eos=True), "")
        body = {"prompt": [5, 6], "max_tokens": 12, "n": 2, "temperature": 1, "seed": 11, "logprobs": 2, "ignore_eos": True}
        status, reference = self.server.post("/v1/completions", body)
        self.assertEqual(status, 200)
        for choice, expected in zip(answer.choices, reference["choices"]):
            self.assertEqual(choice.text, expected["text"])
            self.assertEqual(choice.finish_reason, types.FinishReason.LENGTH)
            for token, logprob in zip(choice.tokens, expected["logprobs"]["token_logprobs"]):
                self.assertAlmostEqual(token.logprob, logprob, places=5)
                self.assertEqual(len(token.top), 2)
        self.assertEqual((answer.usage.prompt_tokens, answer.usage.output_tokens), (2, 24))

    def test_chats(self):
        prompt = types.Prompt(messages=[types.ChatMessage("user", "hello")])
        answer = self.client.generate(types.GenerateRequest(prompt=prompt, max_tokens=6), "")
        body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 6, "temperature": 0}
        status, reference = self.server.post("/v1/chat/completions", body)
        self.assertEqual(answer.choices[0].text, reference["choices"][0]["message"]["content"])

    def test_tokens_and_back(self):
        tokens = self.client.tokenize(types.Prompt(text="hello"), False, "")
        self.assertEqual(self.client.detokenize(tokens, ""), b"hello")
        for wrong in ([-1], [2**31 - 1]):
            with self.assertRaises(types.InvalidRequest):
                self.client.detokenize(wrong, "")

    def test_scores(self):
        scores = self.client.scoreTokens(types.Prompt(tokens=[5, 6, 7, 8]), "")
        body = {"prompt": [5, 6, 7, 8], "max_tokens": 0, "echo": True, "logprobs": 0}
        status, reference = self.server.post("/v1/completions", body)
        self.assertEqual(scores.tokens, [5, 6, 7, 8])
        expected = reference["choices"][0]["logprobs"]["token_logprobs"][1:]
        self.assertEqual(len(scores.logprobs), 3)
        for logprob, value in zip(scores.logprobs, expected):
            self.assertAlmostEqual(logprob, value, places=5)

    def test_base_service_tells_of_itself(self):
        self.assertEqual((self.client.getName(), self.client.getStatus()), ("trireme", types.Status.ALIVE))
        self.assertLessEqual(self.client.aliveSince(), time.time())
        self.assertGreaterEqual(self.client.getCounters()["connections"], 1)
        self.assertEqual(self.client.getCounter("no such"), 0)
        self.assertEqual(self.client.listModels("")[0].name, "llama")

    def test_wrong_requests_are_told_which_field(self):
        cases = [("prompt", types.GenerateRequest(prompt=types.Prompt())), ("prompt", request([])), ("prompt", request([10**6])),
                 ("temperature", request(sampling=dict(temperature=-1.0))),
                 ("temperature", request(sampling=dict(temperature=float("nan")))), ("top_p", request(sampling=dict(top_p=2.0))),
                 ("seed", request(sampling=dict(seed=-1))), ("max_tokens", request(max_tokens=-1)),
                 ("num_choices", request(num_choices=0)), ("stop", request(stop=[""])),
                 ("time_limit_ms", request(time_limit_ms=0)), ("logit_bias", request(sampling=dict(logit_bias={-1: 1.0}))),
                 ("template_variables", request(template_variables="[")),
                 ("stop_token_ids", request(stop_token_ids=[-5]))]
        for field, wrong in cases:
            with self.assertRaises(types.InvalidRequest) as caught:
                self.client.generate(wrong, "")
            self.assertEqual(caught.exception.field, field, caught.exception)
        with self.assertRaises(types.NotFound):
            self.client.generate(request(model="another"), "")
        with self.assertRaises(types.NotFound):
            self.client.generate(request(dialogue="another"), "")
        self.assertEqual(len(self.client.generate(request(max_tokens=1), "").choices), 1)

    def test_a_poll_waits_and_can_be_repeated(self):
        id = self.client.submit(request(**LONG, sampling=dict(temperature=1.0)), "")
        first = self.client.poll(id, 0, 5000, "")
        self.assertGreater(len(first.pieces), 0)
        self.assertEqual(self.client.poll(id, 0, 0, "").pieces[:len(first.pieces)], first.pieces)
        self.assertGreater(len(self.client.poll(id, first.next_seq, 5000, "").pieces), 0)
        for wrong in (-1, 0, 10**9):  # what has been acknowledged is forgotten
            with self.assertRaises(types.InvalidRequest):
                self.client.poll(id, wrong, 0, "")
        self.client.cancel(id, "")
        with self.assertRaises(types.NotFound):
            self.client.poll(id, 0, 0, "")
        self.server.wait_for_metric("trireme_num_requests_running", 0)

    def test_more_polls_wait_than_there_are_threads(self):
        blockers = [self.client.submit(request([5, 6, index], **LONG, sampling=dict(temperature=1.0)), "") for index in range(4)]
        waiting = [self.client.submit(request([6, index], max_tokens=2), "") for index in range(16)]
        results = {}

        def read(id):
            with thrift_client.Client(service, self.server.thrift_port) as own:
                results[id] = poll_all(own, id)

        threads = [threading.Thread(target=read, args=(id,)) for id in waiting]
        for thread in threads:
            thread.start()
        begin = time.monotonic()
        self.client.tokenize(types.Prompt(text="hello"), False, "")  # a worker is free
        for id in blockers:
            self.client.cancel(id, "")
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 16)
        for pieces, last in results.values():
            self.assertLessEqual(last.usage.output_tokens, 2)
        self.assertLess(time.monotonic() - begin, 60)

    def test_cancel_answers_the_poll_that_waits(self):
        id = self.client.submit(request(**LONG, sampling=dict(temperature=1.0)), "")
        errors = []

        def read():
            with thrift_client.Client(service, self.server.thrift_port) as own:
                try:
                    poll_all(own, id)
                except (types.Aborted, types.NotFound) as error:
                    errors.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        self.client.cancel(id, "")
        thread.join()
        self.assertEqual(len(errors), 1)
        self.server.wait_for_metric("trireme_num_requests_running", 0)

    def test_a_client_who_leaves_stops_its_work(self):
        leaver = thrift_client.Client(service, self.server.thrift_port)
        leaver.send_generate(request(**LONG, sampling=dict(temperature=1.0)), "")
        while self.server.metric("trireme_num_requests_running") == 0:
            time.sleep(0.01)
        leaver.close()
        self.server.wait_for_metric("trireme_num_requests_running", 0, limit_s=2)

    def test_a_dialogue_keeps_its_turns_until_it_ends(self):
        dialogue = self.client.beginDialogue("")
        turn = list(range(5, 5 + 128))
        self.client.generate(request(turn, max_tokens=2, dialogue=dialogue), "")
        again = self.client.generate(request(turn + [9], max_tokens=2, dialogue=dialogue), "")
        self.assertGreater(again.usage.cached_prompt_tokens, 0)
        self.client.endDialogue(dialogue, "")
        for call in (lambda: self.client.endDialogue(dialogue, ""),
                     lambda: self.client.generate(request(dialogue=dialogue), "")):
            with self.assertRaises(types.NotFound):
                call()

    def test_time_limits_are_kept(self):
        with self.assertRaises(types.Aborted) as caught:
            self.client.generate(request(**LONG, time_limit_ms=50, sampling=dict(temperature=1.0)), "")
        self.assertEqual(caught.exception.reason, types.AbortReason.DEADLINE)


class Settings(unittest.TestCase):
    def test_every_call_of_the_model_needs_a_key_and_tenants_are_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write("alice sk-a\nbob sk-b\n")
            with start("--api-keys", path) as server, thrift_client.Client(service, server.thrift_port) as client:
                for key in ("", "wrong", "SK-A"):
                    for call in (lambda: client.generate(request(), key), lambda: client.submit(request(), key),
                                 lambda: client.poll("x", 0, 0, key), lambda: client.cancel("x", key),
                                 lambda: client.tokenize(types.Prompt(text="x"), True, key), lambda: client.detokenize([5], key),
                                 lambda: client.scoreTokens(types.Prompt(tokens=[5]), key), lambda: client.beginDialogue(key),
                                 lambda: client.endDialogue("x", key), lambda: client.listModels(key)):
                        with self.assertRaises(types.Unauthorized):
                            call()
                id = client.submit(request(max_tokens=2), "sk-a")
                dialogue = client.beginDialogue("sk-a")
                for call in (lambda: client.poll(id, 0, 0, "sk-b"), lambda: client.cancel(id, "sk-b"),
                             lambda: client.endDialogue(dialogue, "sk-b")):
                    with self.assertRaises(types.NotFound):
                        call()
                self.assertTrue(poll_all(client, id, "sk-a")[1].finished)
                client.endDialogue(dialogue, "sk-a")

    def test_a_full_queue_says_when_to_come_again(self):
        with start("--server.max_waiting", "1", "--scheduler.max_batch", "1") as server:
            with thrift_client.Client(service, server.thrift_port) as client:
                submitted, overloaded = [], None
                for index in range(8):
                    try:
                        submitted.append(client.submit(request([5, index], **{**LONG, "num_choices": 1}), ""))
                    except types.Overloaded as error:
                        overloaded = error
                self.assertIsNotNone(overloaded)
                self.assertGreater(overloaded.retry_after_ms, 0)
                for id in submitted:
                    client.cancel(id, "")

    def test_tls_serves_those_who_speak_it_and_closes_on_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = self_signed_certificate(folder)
            with start("--tls-cert", certificate, "--tls-key", key) as server:
                with thrift_client.Client(service, server.thrift_port, tls=certificate) as client:
                    id = client.submit(request(max_tokens=20, ignore_eos=True), "")
                    self.assertEqual(poll_all(client, id)[1].usage.output_tokens, 20)
                with thrift_client.Client(service, server.thrift_port, timeout_s=20) as plain:
                    with self.assertRaises((thrift_client.transport_error(), OSError)):
                        plain.getName()

    def test_what_nobody_polls_is_cancelled(self):
        with start("--server.unpolled_limit_ms", "20") as server, thrift_client.Client(service, server.thrift_port) as client:
            id = client.submit(request(**LONG, sampling=dict(temperature=1.0)), "")
            server.wait_for_metric("trireme_requests_cancelled_total", 1)
            server.wait_for_metric("trireme_num_requests_running", 0)
            with self.assertRaises(types.NotFound):
                client.poll(id, 0, 0, "")

    def test_what_runs_is_delivered_before_the_server_ends(self):
        server = start().wait_until_ready()
        with thrift_client.Client(service, server.thrift_port) as client:
            id = client.submit(request(max_tokens=200, num_choices=8, ignore_eos=True, sampling=dict(temperature=1.0)), "")
            client.poll(id, 0, 5000, "")
            server.signal()
            server.wait_for_log("draining")
            if client.getStatus() == types.Status.STOPPING:
                with self.assertRaises(types.Unavailable):
                    client.submit(request(), "")
            # The first pieces again: they have not been acknowledged.
            pieces, last = poll_all(client, id)
            self.assertEqual(last.usage.output_tokens, 8 * 200)
        self.assertEqual(server.process.wait(timeout=30), 0)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    types, service = thrift_client.load(*sys.argv[3:5])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], warnings="ignore")
