"""The dashboard as a browser shows it.

    dashboard_test.py TRIREME MODELS [SCREENSHOT.png]     MODELS: the folder of small models (tests/data/models)
"""
import os
import sys
import threading
import unittest

import browser
from server_process import Server

TRIREME, MODELS, SCREENSHOT = None, None, None
LONG = {"prompt": [5, 6], "max_tokens": 200, "ignore_eos": True, "n": 8, "temperature": 1}
# A histogram at two moments: 10 observations to 1 s in the first; then 10 more, 5 of them from 1 s to 2 s, 5 above.
HISTOGRAM = """new Snapshot(['1', '2', '+Inf'].map((le, i) =>
    `trireme_x_bucket{le="${le}",model_name="a\\\\"b"} ${%s[i]}`).join('\\n'), %d)"""


def text_of(id):
    return f"(document.getElementById('{id}') || {{}}).innerText"


class Load:
    """Requests all the time, of which there is one more than can run."""

    def __init__(self, server):
        self._server, self._stop = server, threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(index,)) for index in range(3)]
        for thread in self._threads:
            thread.start()

    def _run(self, index):
        count = 0
        while not self._stop.is_set():
            count += 1
            self._server.post("/v1/completions", {**LONG, "prompt": [5, index, count % 50]})

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


@unittest.skipUnless(browser.PROGRAM, "Debian's package chromium is not installed")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name = "<img src=x onerror=alert(1)>"
        cls.server = Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "32MiB", "--model-name", cls.name,
                            "--scheduler.max_batch", "16", ranks=2).wait_until_ready()
        cls.browser = browser.Browser()
        cls.url = f"http://127.0.0.1:{cls.server.port}/"
        cls.browser.open(cls.url)
        cls.browser.wait_for(text_of("state") + " === 'serving'")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        assert cls.server.stop() == 0, cls.server.log()

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])
        self.assertEqual([url for url in self.browser.urls if not url.startswith((self.url, "data:", "about:"))], [])

    def test_shows_what_the_pipeline_does(self):
        load = Load(self.server)
        try:
            number = "parseFloat(document.querySelector('#tile-%s .value').innerText)"
            self.browser.wait_for(f"{number % 'running'} >= 2 && {number % 'waiting'} >= 1")
            self.browser.wait_for(f"{number % 'tokens'} > 0 && {number % 'first'} > 0 && {number % 'next'} > 0")
            self.browser.wait_for(f"{number % 'kv'} > 0")
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('#pipeline .stage').length"), 2)
            self.browser.wait_for("[...document.querySelectorAll('#pipeline .stage .bar:not(.thin)')].every(bar => "
                                  "parseFloat(bar.firstChild.style.width) > 0)")
            self.browser.wait_for("/[1-9].*B\\/s/.test(document.querySelector('#pipeline .link').innerText)")
            # Lines of several points: output tokens, running requests, each percentile of the three latencies.
            self.browser.wait_for("document.querySelectorAll('#charts path[d*=L]').length >= 10", limit_s=60)
            if SCREENSHOT:
                self.browser.screenshot(SCREENSHOT)
        finally:
            load.stop()
        self.browser.wait_for(f"{number % 'running'} === 0 && {number % 'waiting'} === 0")

    def test_the_shares_of_a_stage_make_no_more_than_the_whole(self):
        sums = self.browser.evaluate("[...document.querySelectorAll('#pipeline .stage .bar')].map(bar => "
                                     "[...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0))")
        self.assertEqual(len(sums), 4)
        for total in sums:
            self.assertLessEqual(total, 100.1)

    def test_names_are_text_and_not_markup(self):
        self.assertEqual(self.browser.wait_for(text_of("model")), self.name)
        self.assertEqual(self.browser.evaluate("document.images.length"), 0)

    def test_percentiles_are_those_of_the_time_between_two_snapshots(self):
        history = ("(() => { const h = new History(600); h.add(%s); h.add(%s); return [0.25, 0.5, 0.9].map(q => "
                   "h.quantile(1, 30, 'x', q)).concat(h.quantile(0, 30, 'x', 0.5)); })()")
        same = HISTOGRAM % ("[10, 10, 10]", 0)
        self.assertEqual(self.browser.evaluate(history % (same, HISTOGRAM % ("[10, 15, 20]", 2))), [1.5, 2, 2, None])
        self.assertEqual(self.browser.evaluate(history % (same, HISTOGRAM % ("[10, 10, 10]", 2))), [None] * 4)

    def test_the_page_may_load_nothing_from_elsewhere(self):
        status, headers, page = self.server.get("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn(b"http://", page.replace(b"http://www.w3.org/2000/svg", b""))  # the name of SVG's elements
        self.assertNotIn(b"https://", page)

    def ask(self, prompt, max_tokens):
        self.browser.evaluate(f"document.getElementById('prompt').value = {prompt!r}; "
                              f"document.getElementById('max-tokens').value = {max_tokens}; document.getElementById('send').click()")
        self.browser.wait_for("!document.getElementById('send').disabled")
        return self.browser.evaluate("document.getElementById('answer').textContent")

    def test_the_model_can_be_tried(self):
        status, reference = self.server.post("/v1/completions", {"prompt": "hello", "max_tokens": 24, "temperature": 0})
        self.assertEqual(self.ask("hello", 24), reference["choices"][0]["text"])
        self.assertIn("tokens in", self.browser.evaluate(text_of("answer-figures")))

    def test_a_refused_try_says_why(self):
        answer = self.ask("hello " * 2000, 24)
        self.assertIn("context", answer)
        self.assertEqual(self.browser.evaluate("document.getElementById('answer').className"), "error")
        self.browser.wait_for("true")
        self.browser.errors = [error for error in self.browser.errors if "400" not in error.get("text", "")]


@unittest.skipUnless(browser.PROGRAM, "Debian's package chromium is not installed")
class End(unittest.TestCase):
    def test_a_server_that_has_gone_is_shown_as_such(self):
        server = Server(TRIREME, os.path.join(MODELS, "llama"), "--kv-memory", "32MiB").wait_until_ready()
        with browser.Browser() as page:
            page.open(f"http://127.0.0.1:{server.port}/")
            page.wait_for(text_of("state") + " === 'serving'")
            self.assertEqual(server.stop(), 0)
            page.wait_for(text_of("state") + " === 'no answer from the server'")


if __name__ == "__main__":
    TRIREME, MODELS = sys.argv[1:3]
    SCREENSHOT = sys.argv[3] if len(sys.argv) > 3 else None
    unittest.main(argv=[sys.argv[0]], warnings="ignore")
