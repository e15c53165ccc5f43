"""The HTTP endpoint's answers, over a plain client.

    http_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import unittest

from server_process import Server, chat_model

TRIREME, MODELS = None, None
LIMITS = ["--kv-memory", "32MiB"]
PROMPT = [5, 6, 7, 8]


class WithServer(unittest.TestCase):
    options = []
    ranks = 1

    @classmethod
    def setUpClass(cls):
        cls.folder, cls.model = chat_model(MODELS)
        cls.server = Server(TRIREME, cls.model, *LIMITS, *cls.options, ranks=cls.ranks).wait_until_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        shutil.rmtree(cls.folder)
        assert code == 0, cls.server.log()

    def complete(self, **fields):
        status, answer = self.server.post("/v1/completions", {"prompt": PROMPT, "max_tokens": 12, **fields})
        self.assertEqual(status, 200, answer)
        return answer

    def generate(self, *arguments):
        result = subprocess.run([TRIREME, "generate", "--model", self.model, "--threads", "1", *LIMITS, "--prompt-ids",
                                 ",".join(map(str, PROMPT)), "--json", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


class SameBits(WithServer):
    options = ["--server.response_cache_entries", "0"]

    def test_the_output_is_that_of_generate_bit_for_bit_also_under_load(self):
        wanted = self.generate("--max-tokens", "24", "--temperature", "0.9", "--seed", "3", "--logprobs", "2", "--n", "2")
        fields = {"temperature": 0.9, "seed": 3, "logprobs": 2, "n": 2, "max_tokens": 24}
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            load = [pool.submit(self.complete, prompt=[i % 50 + 1] * (i % 90 + 1), max_tokens=30, temperature=1) for i in range(40)]
            answers = [pool.submit(self.complete, **fields) for _ in range(6)]
            answers = [answer.result() for answer in answers]
            for one in load:
                one.result()
        for answer in answers:
            self.assertEqual([choice["text"] for choice in answer["choices"]], wanted["text"])
            got = [choice["logprobs"]["token_logprobs"] for choice in answer["choices"]]
            self.assertEqual(got, wanted["token_logprobs"])


class SameBitsOfTwoRanks(SameBits):
    ranks = 2


class Completions(WithServer):
    def test_an_answer_has_the_fields_that_clients_read(self):
        answer = self.complete(temperature=0)
        self.assertTrue(answer["id"].startswith("cmpl-"))
        self.assertEqual(answer["object"], "text_completion")
        self.assertEqual(answer["model"], "llama")
        self.assertIsInstance(answer["created"], int)
        self.assertEqual(answer["choices"][0]["index"], 0)
        self.assertIn(answer["choices"][0]["finish_reason"], ("stop", "length"))
        usage = answer["usage"]
        self.assertEqual(usage["prompt_tokens"], 4)
        self.assertEqual(usage["total_tokens"], 4 + usage["completion_tokens"])
        self.assertIn("cached_tokens", usage["prompt_tokens_details"])

    def test_a_stream_is_the_whole_answer_one_chunk_per_token(self):
        fields = {"prompt": PROMPT, "max_tokens": 20, "temperature": 0.8, "seed": 5, "n": 2, "ignore_eos": True, "logprobs": 1,
                  "stream_options": {"include_usage": True}}
        events = self.server.stream("/v1/completions", fields)
        del fields["stream_options"]
        whole = self.complete(**fields)
        self.assertEqual(events[-1]["choices"], [])
        self.assertEqual(events[-1]["usage"]["completion_tokens"], 40)
        for index in (0, 1):
            chunks = [event["choices"][0] for event in events[:-1] if event["choices"][0]["index"] == index]
            self.assertEqual(len(chunks), 20)
            self.assertEqual("".join(chunk["text"] for chunk in chunks), whole["choices"][index]["text"])
            self.assertEqual([chunk["finish_reason"] for chunk in chunks], [None] * 19 + ["length"])
            for field in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
                joined = sum((chunk["logprobs"][field] for chunk in chunks), [])
                self.assertEqual(joined, whole["choices"][index]["logprobs"][field], field)

    def test_usage_comes_in_every_chunk_if_asked_for(self):
        events = self.server.stream("/v1/completions", {"prompt": PROMPT, "max_tokens": 3, "ignore_eos": True,
                                                        "stream_options": {"continuous_usage_stats": True}})
        self.assertEqual([event["usage"]["completion_tokens"] for event in events], [1, 2, 3])

    def test_log_likelihoods_are_asked_for_as_lm_eval_does(self):
        prompts = [[5, 6, 7, 8, 9], [3, 1, 4, 1, 5, 9, 2, 6]]
        answer = self.complete(prompt=prompts, max_tokens=1, logprobs=1, echo=True, temperature=0, seed=1234)
        self.assertEqual(len(answer["choices"]), 2)
        for choice, prompt in zip(sorted(answer["choices"], key=lambda choice: choice["index"]), prompts):
            scores = choice["logprobs"]
            self.assertEqual(len(scores["token_logprobs"]), len(prompt) + 1)
            self.assertIsNone(scores["token_logprobs"][0])
            self.assertIsNone(scores["top_logprobs"][0])
            ids = ",".join(map(str, prompt))
            result = subprocess.run([TRIREME, "generate", "--model", self.model, "--threads", "1", *LIMITS, "--prompt-ids", ids,
                                     "--max-tokens", "1", "--logprobs", "1", "--prompt-logprobs", "--json"],
                                    capture_output=True, text=True, timeout=60)
            wanted = json.loads(result.stdout)
            self.assertEqual(scores["token_logprobs"][:-1], wanted["prompt_logprobs"])
            self.assertEqual(scores["token_logprobs"][-1:], wanted["token_logprobs"])
            for logprob, top in zip(scores["token_logprobs"][1:], scores["top_logprobs"][1:]):
                self.assertIn(logprob, top.values())
                self.assertLessEqual(logprob, max(top.values()))

    def test_parameters_have_their_effect(self):
        likeliest = self.generate("--max-tokens", "1", "--logprobs", "1")["token_ids"][0]
        fields = {"temperature": 0, "logprobs": 0, "max_tokens": 1}
        free = self.complete(**fields)["choices"][0]["logprobs"]["tokens"]
        banned = self.complete(**fields, logit_bias={str(likeliest): -100})["choices"][0]["logprobs"]["tokens"]
        self.assertNotEqual(banned, free)
        self.assertEqual(self.complete(ignore_eos=True, max_tokens=60)["usage"]["completion_tokens"], 60)
        self.assertGreaterEqual(self.complete(min_tokens=30, max_tokens=60)["usage"]["completion_tokens"], 30)
        text = self.complete(temperature=0, max_tokens=40, ignore_eos=True)["choices"][0]["text"]
        stop = text[10:12]
        cut = self.complete(temperature=0, max_tokens=40, ignore_eos=True, stop=[stop])["choices"][0]
        self.assertEqual(cut["text"], text[:text.index(stop)])
        self.assertEqual(cut["finish_reason"], "stop")
        self.assertEqual(self.complete(max_tokens=0, echo=True, logprobs=0)["usage"]["completion_tokens"], 0)

    def test_without_a_seed_answers_differ_and_with_one_they_do_not(self):
        free = {self.complete(temperature=1.5, ignore_eos=True)["choices"][0]["text"] for _ in range(4)}
        self.assertGreater(len(free), 1)
        seeded = {self.complete(temperature=1.5, ignore_eos=True, seed=7)["choices"][0]["text"] for _ in range(4)}
        self.assertEqual(len(seeded), 1)


class ResponseCache(WithServer):
    """A server of its own: others' hits may still be on their way to the metric."""

    def test_an_equal_determined_request_is_answered_from_the_cache_also_as_a_stream(self):
        fields = {"prompt": [9, 9, 9, 1], "max_tokens": 15, "temperature": 0, "ignore_eos": True}
        first = self.complete(**fields)
        self.assertEqual(self.complete(**fields)["choices"], first["choices"])
        events = self.server.stream("/v1/completions", fields)
        self.assertEqual("".join(event["choices"][0]["text"] for event in events), first["choices"][0]["text"])
        self.assertEqual(len(events), 15)
        self.server.wait_for_metric("trireme_response_cache_hits_total", 2)


class Chat(WithServer):
    MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]

    def test_an_answer_and_its_stream_agree(self):
        fields = {"messages": self.MESSAGES, "max_completion_tokens": 16, "temperature": 0, "logprobs": True, "top_logprobs": 2}
        status, whole = self.server.post("/v1/chat/completions", fields)
        self.assertEqual(status, 200, whole)
        self.assertEqual(whole["object"], "chat.completion")
        message = whole["choices"][0]["message"]
        self.assertEqual((message["role"], message["refusal"]), ("assistant", None))
        events = self.server.stream("/v1/chat/completions", fields)
        self.assertEqual({event["object"] for event in events}, {"chat.completion.chunk"})
        self.assertEqual(events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        self.assertEqual("".join(event["choices"][0]["delta"]["content"] for event in events), message["content"])
        content = sum((event["choices"][0]["logprobs"]["content"] for event in events if event["choices"][0]["logprobs"]), [])
        self.assertEqual(content, whole["choices"][0]["logprobs"]["content"])
        self.assertEqual(len(content[0]["top_logprobs"]), 2)

    def test_what_is_not_supported_is_refused_and_not_ignored(self):
        for fields in ({"tools": [{"type": "function"}]}, {"response_format": {"type": "json_object"}}, {"functions": []},
                       {"stream_options": {"include_usage": True}}, {"messages": []}, {"messages": [{"role": "user", "content": None}]},
                       {"top_logprobs": 3}, {"logprobs": True, "top_logprobs": 21}):
            body = {"messages": self.MESSAGES, **fields}
            status, answer = self.server.post("/v1/chat/completions", body)
            self.assertEqual(status, 400, (fields, answer))
            self.assertEqual(answer["error"]["type"], "invalid_request_error")
            self.assertIsNotNone(answer["error"]["param"], fields)
        status, answer = self.server.post("/v1/chat/completions", {"messages": self.MESSAGES, "response_format": {"type": "text"},
                                                                   "max_tokens": 1, "not_a_field": 1})
        self.assertEqual(status, 200, answer)


class Around(WithServer):
    options = ["--model-name", "first,second", "--metrics-compat", "vllm"]

    def test_health_version_and_models(self):
        self.assertEqual(self.server.get("/health")[0], 200)
        self.assertIn("version", json.loads(self.server.get("/version")[2]))
        models = json.loads(self.server.get("/v1/models")[2])
        self.assertEqual([model["id"] for model in models["data"]], ["first", "second"])
        self.assertEqual(models["data"][0]["max_model_len"], 256)
        for name, status in (("first", 200), ("second", 200), ("third", 404)):
            got, answer = self.server.post("/v1/completions", {"model": name, "prompt": "x", "max_tokens": 1})
            self.assertEqual(got, status, answer)
            if got == 200:
                self.assertEqual(answer["model"], name)

    def test_text_becomes_tokens_and_text_again(self):
        status, answer = self.server.post("/tokenize", {"prompt": "hello world", "return_token_strs": True})
        self.assertEqual(status, 200)
        self.assertEqual(answer["count"], len(answer["tokens"]))
        self.assertEqual(len(answer["token_strs"]), answer["count"])
        plain = self.server.post("/tokenize", {"prompt": "hello world", "add_special_tokens": False})[1]
        self.assertEqual(self.server.post("/detokenize", {"tokens": plain["tokens"]})[1], {"prompt": "hello world"})
        self.assertEqual(self.server.post("/tokenize", {"messages": Chat.MESSAGES})[0], 200)
        self.assertEqual(self.server.post("/detokenize", {"tokens": [10**9]})[0], 400)

    def test_a_request_id_is_echoed_unless_it_could_do_harm(self):
        for given, kept in (("abc-1", True), ("x" * 5000, False), ("a b", False)):
            headers = self.server.get("/health", headers={"X-Request-Id": given})[1]
            self.assertEqual(headers["X-Request-Id"] == given, kept)

    def test_the_metrics_are_what_prometheus_reads(self):
        self.server.post("/v1/completions", {"prompt": "x", "max_tokens": 3, "ignore_eos": True})
        status, headers, text = self.server.get("/metrics")
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        text = text.decode()
        for name in ("trireme_num_requests_running", "vllm:num_requests_waiting", 'vllm:kv_cache_usage_perc{',
                     "trireme_time_to_first_token_seconds_bucket", "trireme_stage_busy_seconds_total", "vllm:request_success_total"):
            self.assertIn(name, text)
        self.assertIn('model_name="first"', text)
        if shutil.which("promtool"):
            own = "".join(line + "\n" for line in text.splitlines() if "vllm:" not in line)
            lint = subprocess.run(["promtool", "check", "metrics"], input=own, capture_output=True, text=True)
            self.assertEqual((lint.returncode, lint.stdout + lint.stderr), (0, ""))

    def test_paths_and_methods_that_do_not_exist(self):
        self.assertEqual(self.server.get("/nothing")[0], 404)
        self.assertEqual(self.server.get("/v1/completions")[0], 405)
        self.assertEqual(self.server.request("POST", "/v1/completions", b"{}", headers={"Content-Type": "text/plain"})[0], 415)


class Adapters(unittest.TestCase):
    def test_an_adapter_is_a_model_of_its_own_name(self):
        model, adapters = os.path.join(MODELS, "llama"), []
        for name in "ab":
            adapters += ["--adapter", f"{name}={os.path.join(MODELS, '..', 'adapters', name)}"]
        with Server(TRIREME, model, *LIMITS, *adapters) as server:
            listed = json.loads(server.get("/v1/models")[2])["data"]
            self.assertEqual([(entry["id"], entry["parent"]) for entry in listed],
                             [("llama", None), ("a", "llama"), ("b", "llama")])
            texts = {}
            for name in ("llama", "a", "b"):
                body = {"model": name, "prompt": PROMPT, "max_tokens": 24, "temperature": 0}
                status, answer = server.post("/v1/completions", body)
                self.assertEqual((status, answer["model"]), (200, name), answer)
                texts[name] = answer["choices"][0]["text"]
                use = [] if name == "llama" else ["--use-adapter", name]
                result = subprocess.run([TRIREME, "generate", "--model", model, "--threads", "1", *LIMITS, *adapters, *use,
                                         "--prompt-ids", ",".join(map(str, PROMPT)), "--json", "--max-tokens", "24"],
                                        capture_output=True, text=True, timeout=60)
                self.assertEqual(json.loads(result.stdout)["text"], texts[name])
            self.assertEqual(len(set(texts.values())), 3, texts)
            status, answer = server.post("/v1/completions", {"model": "a", "adapter": "b", "prompt": PROMPT})
            self.assertEqual((status, answer["error"]["param"]), (400, "adapter"))

    def test_an_adapter_with_the_name_of_the_model_is_refused_before_it_is_loaded(self):
        result = subprocess.run([TRIREME, "serve", "--model", os.path.join(MODELS, "llama"), "--adapter", "llama=anywhere"],
                                capture_output=True, text=True, timeout=60)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("adapter 'llama' has the name of the model", result.stderr)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
