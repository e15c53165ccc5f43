"""A thousand streams at a time on loopback: none is lost, none gets what is another's, and the server's memory stays flat."""
import asyncio
import resource
import threading
import time

from runs import Bar
from serving import servers, workload
from serving.client import connect, stream
from serving.summary import summary

STREAMS, PROMPT, OUTPUT, TURNS = 1000, 16, 16, 3
KV_MEMORY = "512MiB"  # so little that the first turn touches all of it


async def _together(port, bodies):
    """All connections are open before the first request is sent."""
    connections = [await connect(port) for _ in bodies]
    return await asyncio.gather(*(stream(port, body, connection) for body, connection in zip(bodies, connections)))


class MemoryWatch(threading.Thread):
    """The server's private bytes, every 50 ms."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self._server, self._done = server, threading.Event()
        self.bytes = []
        self.start()

    def run(self):
        while not self._done.wait(0.05):
            self.bytes.append(servers.private_bytes(self._server))

    def peak(self):
        self._done.set()
        self.join()
        return max(self.bytes)


def run(options):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * STREAMS:
        raise SystemExit(f"only {hard} open files are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    work = workload.of_token_ids(STREAMS, PROMPT, OUTPUT, seed=5000).compute_texts(options, options.weights)
    outcomes, peaks, rates, idle = [], [], [], []
    with servers.trireme(options, options.weights, "--server.max_waiting", str(2 * STREAMS), kv_memory=KV_MEMORY) as server:
        for _ in range(TURNS):
            watch = MemoryWatch(server)
            turn = asyncio.run(_together(server.port, work.bodies))
            peaks.append(watch.peak())
            time.sleep(0.5)
            idle.append(servers.private_bytes(server))
            rates.append(summary(turn)["output_throughput"])
            outcomes += turn
    answered = [outcome for outcome in outcomes if outcome.complete]
    at_once = sum(1 for outcome in outcomes[-STREAMS:] if outcome.start <= min(other.end for other in outcomes[-STREAMS:]))
    figures = {"streams": STREAMS, "turns": TURNS, "open_at_once": at_once, "peak_private_mb": [peak / 1e6 for peak in peaks],
               "idle_private_mb": [one / 1e6 for one in idle], "output_throughput": rates,
               "errors": [outcome.error for outcome in outcomes if not outcome.complete][:10]}
    print(f"\n{TURNS} times {STREAMS} streams, {at_once} open at once: {', '.join(f'{rate:.0f}' for rate in rates)} tokens/s; private memory at "
          f"most {', '.join(f'{peak / 1e6:.0f}' for peak in peaks)} MB, between turns {', '.join(f'{one / 1e6:.0f}' for one in idle)} MB")
    indices = [index % STREAMS for index in range(len(outcomes))]
    return figures, [Bar("streams that ended whole, of all", len(answered) / len(outcomes), ">=", 1.0),
                     Bar("streams with the text of generate, of all", work.share_right(outcomes, indices), ">=", 1.0),
                     Bar("streams open at once", float(at_once), ">=", float(STREAMS)),
                     Bar("growth of peak private memory from the first turn to the last, MB", (peaks[-1] - peaks[0]) / 1e6, "<=", 16.0)]
