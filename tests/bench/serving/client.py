"""A load generator: streamed completions over plain asyncio sockets, with the time of every token. Standard library alone."""
import asyncio
import json
import time
from dataclasses import dataclass, field

PATH = "/v1/completions"


@dataclass
class Outcome:
    """What became of one request; times are of time.perf_counter()."""
    start: float
    status: int = 0               # 0: no answer
    text: str = ""
    token_times: list = field(default_factory=list)
    usage: dict = field(default_factory=dict)
    retry_after: str = None
    complete: bool = False        # the stream's mark of the end has come
    error: str = ""
    end: float = 0.0

    def time_to_first_token(self):
        return self.token_times[0] - self.start

    def intervals(self):
        """(begin, end) between consecutive tokens."""
        return list(zip(self.token_times, self.token_times[1:]))

    def num_tokens(self):
        return self.usage.get("completion_tokens", len(self.token_times))


async def _read_header(reader):
    """(status, headers with lower-case names)."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    return int(lines[0].split()[1]), {name.lower(): value for name, value in headers.items()}


async def _read_parts(reader, headers):
    """The body as it comes, without the framing of chunked transfer."""
    if headers.get("transfer-encoding", "").lower() != "chunked":
        while part := await reader.read(1 << 16):
            yield part
        return
    while size := int((await reader.readline()).split(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)


async def _read_events(reader, headers):
    """The data of each server-sent event."""
    pending = b""
    async for part in _read_parts(reader, headers):
        *lines, pending = (pending + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield line[len(b"data: "):].strip()


async def _read_answer(reader, outcome):
    outcome.status, headers = await _read_header(reader)
    outcome.retry_after = headers.get("retry-after")
    if outcome.status != 200:
        outcome.error = (b"".join([part async for part in _read_parts(reader, headers)])).decode(errors="replace")
        return
    parts = []
    async for data in _read_events(reader, headers):
        if data == b"[DONE]":
            outcome.complete = True
            break
        event = json.loads(data)
        if "error" in event:
            outcome.error = str(event["error"])
        for choice in event.get("choices", []):
            if choice["text"] or not choice.get("finish_reason"):  # the reason alone is not a token
                outcome.token_times.append(time.perf_counter())
                parts.append(choice["text"])
        outcome.usage = event.get("usage") or outcome.usage
    outcome.text = "".join(parts)


async def connect(port):
    return await asyncio.open_connection("127.0.0.1", port)


async def stream(port, body, connection=None):
    """Sends one request, on a connection of its own that may be open already, and reads its stream to the end. Never raises what
    the network does: an Outcome without `complete` tells of it."""
    outcome = Outcome(time.perf_counter())
    writer = None
    try:
        reader, writer = connection or await connect(port)
        data = json.dumps({**body, "stream": True}).encode()
        writer.write(f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await _read_answer(reader, outcome)
    except (OSError, EOFError, ValueError) as failure:
        outcome.error = outcome.error or f"{type(failure).__name__}: {failure}"
    finally:
        if writer:
            writer.close()
    outcome.end = time.perf_counter()
    return outcome


async def closed_loop(port, bodies, concurrency):
    """All requests, so many at a time; outcomes in the order of requests."""
    outcomes = [None] * len(bodies)
    remaining = iter(enumerate(bodies))

    async def worker():
        for index, body in remaining:
            outcomes[index] = await stream(port, body)

    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return outcomes
