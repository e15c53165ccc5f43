"""A client of `trireme serve` in Python: says which model it found, then streams a completion.

    pip install thrift
    thrift --gen py -out . launch/server/trireme.thrift     # makes trireme_api/
    python3 examples/thrift_client.py PORT PROMPT [API_KEY]
"""
import sys

from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

sys.path.insert(0, ".")
from trireme_api import Inference  # noqa: E402
from trireme_api.ttypes import GenerateRequest, Overloaded, Prompt  # noqa: E402


def stream(client, prompt, api_key):
    """The pieces of text as they come."""
    request_id = client.submit(GenerateRequest(prompt=Prompt(text=prompt), max_tokens=32), api_key)
    next_seq, finished = 0, False
    while not finished:
        part = client.poll(request_id, next_seq, 10_000, api_key)
        yield from (piece.text for piece in part.pieces)
        next_seq, finished = part.next_seq, part.finished


def main(port, prompt, api_key=""):
    socket = TSocket("127.0.0.1", int(port))
    socket.setTimeout(60_000)
    transport = TFramedTransport(socket)
    transport.open()
    client = Inference.Client(TCompactProtocol(transport))
    model = client.listModels(api_key)[0]
    print(f"model {model.name}, context of {model.max_context} tokens")
    try:
        for text in stream(client, prompt, api_key):
            print(text, end="", flush=True)
        print()
    except Overloaded as error:
        sys.exit(f"overloaded: again after {error.retry_after_ms} ms")
    finally:
        transport.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
