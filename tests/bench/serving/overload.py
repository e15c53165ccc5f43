"""Ten times as many requests as the server can answer, for a minute: what it cannot take it refuses at once, what it takes it answers
as if nothing were, and soon after the load has gone it is as quick as before."""
import asyncio
import random
import sys
import time

from runs import Bar
from serving import servers, workload
from serving.client import closed_loop, stream
from serving.summary import mean, percentile

PROMPT, OUTPUT, DISTINCT = 32, 32, 64
MAX_BATCH, MAX_WAITING = 16, 16          # little enough that what waits is answered within seconds
FACTOR, SECONDS, SETTLED = 10, 60, 1.5   # settled: a time to first token of at most so much of the idle server's
REJECTED_MS = 100


async def _capacity(port, bodies):
    """Requests/s of as many clients as run at once."""
    begin = time.perf_counter()
    outcomes = await closed_loop(port, bodies, MAX_BATCH)
    return len(outcomes) / (time.perf_counter() - begin)


async def _idle_s(port, bodies):
    """Time to the first token of a request that is alone."""
    return sorted([(await stream(port, body)).time_to_first_token() for body in bodies])[len(bodies) // 2]


async def _arrivals(port, bodies, rate):
    """Requests at random times, whatever becomes of them; (index, outcome) of each."""
    numbers = random.Random(1)
    begin = due = time.perf_counter()
    tasks = []
    while due < begin + SECONDS:
        due += numbers.expovariate(rate)
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(stream(port, bodies[len(tasks) % len(bodies)])))
    return tasks, time.perf_counter()


async def _recovery_s(port, bodies, end, idle_s):
    """Seconds from the end of the load to the start of the first request that is answered as quickly as by an idle server."""
    for index in range(1000):
        probe = await stream(port, bodies[index % len(bodies)])
        if probe.token_times and probe.time_to_first_token() <= SETTLED * idle_s + 0.02:
            return probe.start - end
        await asyncio.sleep(0.1)
    return float("inf")


async def _overload(port, bodies):
    idle_s = await _idle_s(port, bodies[:9])
    capacity = await _capacity(port, bodies)
    print(f"the server answers {capacity:.1f} requests/s; {FACTOR} times that for {SECONDS} s", file=sys.stderr)
    tasks, end = await _arrivals(port, bodies, FACTOR * capacity)
    recovery_s = await _recovery_s(port, bodies, end, idle_s)
    return capacity, idle_s, recovery_s, [await task for task in tasks]


def run(options):
    work = workload.of_token_ids(DISTINCT, PROMPT, OUTPUT, seed=2000).compute_texts(options, options.weights)
    limits = ["--scheduler.max_batch", str(MAX_BATCH), "--server.max_waiting", str(MAX_WAITING), "--kv_cache.prefix_cache", "false"]
    with servers.trireme(options, options.weights, *limits) as server:
        before = servers.private_bytes(server)
        capacity, idle_s, recovery_s, outcomes = asyncio.run(_overload(server.port, work.bodies))
        growth_mb = (servers.private_bytes(server) - before) / 1e6
    accepted = [(index % DISTINCT, outcome) for index, outcome in enumerate(outcomes) if outcome.status == 200]
    rejected = [outcome for outcome in outcomes if outcome.status == 429]
    rejection_ms = [1e3 * (outcome.end - outcome.start) for outcome in rejected] or [float("inf")]
    figures = {"capacity_per_s": capacity, "idle_ttft_ms": 1e3 * idle_s, "sent": len(outcomes), "accepted": len(accepted),
               "rejected": len(rejected), "others": [outcome.error for outcome in outcomes if outcome.status not in (200, 429)][:10],
               "rejection_ms": {"mean": mean(rejection_ms), "p99": percentile(rejection_ms, 0.99)}, "memory_growth_mb": growth_mb,
               "accepted_p99_ms": 1e3 * percentile([outcome.end - outcome.start for _, outcome in accepted], 0.99),
               "accepted_per_s": len(accepted) / SECONDS, "recovery_s": recovery_s}
    print(f"\n{len(outcomes)} requests in {SECONDS} s: {len(accepted)} accepted (P99 of latency {figures['accepted_p99_ms'] / 1e3:.2f} s), "
          f"{len(rejected)} refused after {figures['rejection_ms']['mean']:.1f} ms (P99 {figures['rejection_ms']['p99']:.1f} ms)")
    return figures, [
        Bar("answered or refused, of all", (len(accepted) + len(rejected)) / len(outcomes), ">=", 1.0),
        Bar("refusals with Retry-After, of all refusals", mean([float(outcome.retry_after is not None) for outcome in rejected] or [0.0]), ">=",
            1.0),
        Bar("P99 of the time to a refusal, ms", figures["rejection_ms"]["p99"], "<=", REJECTED_MS),
        Bar("accepted requests with the text of generate", work.share_right([outcome for _, outcome in accepted], [i for i, _ in accepted]),
            ">=", 1.0),
        Bar("accepted requests/s, of the capacity", figures["accepted_per_s"] / capacity, ">=", 0.8),
        Bar("recovery, s", recovery_s, "<=", 5.0), Bar("growth of private memory, MB", growth_mb, "<=", 64.0)]
