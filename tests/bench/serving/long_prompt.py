"""A prompt of 4,096 tokens arrives while fifteen clients stream short requests: the time between the short ones' tokens while it is
computed, next to the same before it came. Quiet and disturbed times alternate in one run."""
import asyncio
import time

from runs import Bar
from serving import servers, workload
from serving.client import stream
from serving.summary import percentile

CLIENTS, SHORT_PROMPT, SHORT_OUTPUT, DISTINCT = 15, 64, 64, 60
LONG_PROMPT, LONG_OUTPUT, REPETITIONS, QUIET_S = 4096, 4, 3, 6.0


async def _short_requests(port, bodies, stop, done):
    """One client after another's requests, until told to stop; done: (index of the request, outcome)."""
    pool = iter(range(10 ** 9))

    async def client():
        while not stop.is_set():
            index = next(pool) % len(bodies)
            done.append((index, await stream(port, bodies[index])))

    await asyncio.gather(*(client() for _ in range(CLIENTS)))


async def _alternate(port, short, long):
    """(short outcomes, long outcomes, quiet times as (begin, end))."""
    stop, done, longs, quiet = asyncio.Event(), [], [], []
    load = asyncio.create_task(_short_requests(port, short.bodies, stop, done))
    await asyncio.sleep(2.0)
    for body in long.bodies:
        begin = time.perf_counter()
        await asyncio.sleep(QUIET_S)
        quiet.append((begin, time.perf_counter()))
        longs.append(await stream(port, body))
    stop.set()
    await load
    return done, longs, quiet


def _lengths_within(outcomes, times):
    """Times between tokens of which the second came within one of `times`."""
    return [end - begin for outcome in outcomes for begin, end in outcome.intervals() if any(low <= end <= high for low, high in times)]


def run(options):
    short = workload.of_token_ids(DISTINCT, SHORT_PROMPT, SHORT_OUTPUT, seed=100).compute_texts(options, options.weights)
    long = workload.of_token_ids(REPETITIONS, LONG_PROMPT, LONG_OUTPUT, seed=900).compute_texts(options, options.weights)
    # Prompts repeat, and each time they are to cost the same.
    with servers.trireme(options, options.weights, "--kv_cache.prefix_cache", "false") as server:
        done, longs, quiet = asyncio.run(_alternate(server.port, short, long))
    outcomes = [outcome for _, outcome in done]
    disturbed = [(outcome.start, outcome.token_times[0]) for outcome in longs if outcome.token_times]
    without, beside = _lengths_within(outcomes, quiet), _lengths_within(outcomes, disturbed)
    figures = {"p99_itl_without_ms": 1e3 * percentile(without, 0.99), "p99_itl_beside_ms": 1e3 * percentile(beside, 0.99),
               "num_intervals": [len(without), len(beside)], "long_ttft_ms": [1e3 * outcome.time_to_first_token() for outcome in longs]}
    print(f"\nP99 between tokens of {CLIENTS} short streams: {figures['p99_itl_without_ms']:.1f} ms; while a prompt of {LONG_PROMPT} tokens is "
          f"computed: {figures['p99_itl_beside_ms']:.1f} ms; its first token after {max(figures['long_ttft_ms']) / 1e3:.1f} s at most")
    return figures, [Bar("P99 between tokens beside a long prompt, of without", percentile(beside, 0.99) / percentile(without, 0.99), "<=", 2.0),
                     Bar("texts as generate gives them, short", short.share_right(outcomes, [index for index, _ in done]), ">=", 1.0),
                     Bar("texts as generate gives them, long", long.share_right(longs), ">=", 1.0)]
