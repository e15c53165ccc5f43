"""The `openai` package against the server.

    openai_client_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import asyncio
import shutil
import sys
import unittest

import openai

from server_process import Server, chat_model

TRIREME, MODELS = None, None


class OpenAiClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, model = chat_model(MODELS)
        cls.server = Server(TRIREME, model, "--kv-memory", "32MiB").wait_until_ready()
        cls.url = f"http://127.0.0.1:{cls.server.port}/v1"
        cls.client = openai.OpenAI(base_url=cls.url, api_key="none", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        assert cls.server.stop() == 0, cls.server.log()
        shutil.rmtree(cls.folder)

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["llama"])

    def test_chat_whole_and_streamed(self):
        fields = {"model": "llama", "messages": [{"role": "user", "content": "hello"}], "max_completion_tokens": 12, "temperature": 0,
                  "logprobs": True, "top_logprobs": 2}
        whole = self.client.chat.completions.create(**fields)
        chunks = list(self.client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True}))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)
        self.assertEqual(len(whole.choices[0].logprobs.content[0].top_logprobs), 2)

    def test_completions_with_token_ids_and_several_prompts(self):
        whole = self.client.completions.create(model="llama", prompt=[[5, 6], [7, 8, 9]], max_tokens=8, n=2, seed=1, temperature=0.7,
                                               logprobs=1, echo=True)
        self.assertEqual([choice.index for choice in whole.choices], [0, 1, 2, 3])
        self.assertIsNone(whole.choices[0].logprobs.token_logprobs[0])
        self.assertEqual(whole.usage.prompt_tokens, 5)

    def test_mistakes_raise_what_the_package_has_for_them(self):
        message = [{"role": "user", "content": "x"}]
        with self.assertRaises(openai.BadRequestError) as raised:
            self.client.chat.completions.create(model="llama", messages=message, temperature=-1)
        self.assertEqual(raised.exception.param, "temperature")
        with self.assertRaises(openai.BadRequestError):
            self.client.chat.completions.create(model="llama", messages=message, tools=[{"type": "function", "function": {"name": "f"}}])
        with self.assertRaises(openai.NotFoundError):
            self.client.completions.create(model="other", prompt="x")

    def test_many_at_once(self):
        async def ask_all():
            async with openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
                async def ask(i):
                    stream = await client.completions.create(model="llama", prompt=[i + 1, 5], max_tokens=10, temperature=0, stream=True)
                    return "".join([chunk.choices[0].text async for chunk in stream])
                return await asyncio.gather(*(ask(i % 10) for i in range(60)))

        texts = asyncio.run(ask_all())
        self.assertEqual(texts[:10] * 6, texts)

    def test_a_stream_that_is_closed_stops_the_work(self):
        stream = self.client.completions.create(model="llama", prompt=[5], max_tokens=250, stream=True, temperature=1, n=8,
                                                extra_body={"ignore_eos": True})
        next(iter(stream))
        stream.close()
        self.server.wait_for_metric("trireme_num_requests_running", 0)

    def test_the_request_id_is_the_clients(self):
        raw = self.client.completions.with_raw_response.create(model="llama", prompt=[5], max_tokens=1,
                                                               extra_headers={"X-Request-Id": "mine-1"})
        self.assertEqual(raw.headers["x-request-id"], "mine-1")


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
