"""A thousand streams at a time: none is lost, none gets what is another's.

    many_streams_test.py TRIREME MODELS     MODELS: the folder of small models (tests/data/models)
"""
import asyncio
import json
import os
import resource
import sys
import unittest

from server_process import Server

TRIREME, MODELS = None, None
STREAMS, TOKENS = 1000, 12


async def stream(port, prompt):
    """The text of a stream, and how many chunks it came in."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"prompt": prompt, "max_tokens": TOKENS, "temperature": 0, "stream": True, "ignore_eos": True,
                       "logit_bias": {"3": 0.0}}).encode()
    writer.write(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                 % len(body) + body)
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
    events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith(b"data: {")]
    assert b"data: [DONE]" in answer
    return "".join(event["choices"][0]["text"] for event in events), len(events)


class ManyStreams(unittest.TestCase):
    def test_all_at_once_get_what_each_gets_alone(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 2 * STREAMS:
            self.skipTest(f"only {hard} open files are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        options = ["--kv-memory", "64MiB", "--server.max_waiting", "2000", "--server.response_cache_entries", "0"]
        prompts = [[i % 500 + 1, i // 500 + 1, 7] for i in range(STREAMS)]
        with Server(TRIREME, os.path.join(MODELS, "llama"), *options) as server:
            async def one_by_one():
                return [await stream(server.port, prompt) for prompt in prompts[::50]]

            async def together():
                return await asyncio.gather(*(stream(server.port, prompt) for prompt in prompts))

            alone = asyncio.run(one_by_one())
            asyncio.run(together())
            memory = server.memory_bytes()
            for _ in range(2):
                answers = asyncio.run(together())
                self.assertEqual(answers[::50], alone)
                self.assertEqual({chunks for text, chunks in answers}, {TOKENS})
            server.wait_for_metric("trireme_num_requests_running", 0)
            self.assertLess(server.memory_bytes() - memory, 16 << 20)


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
