"""The Thrift interface for tests: modules made of the IDL, and a client."""
import importlib
import subprocess
import sys
import tempfile

_FOLDER = tempfile.TemporaryDirectory(prefix="trireme-idl-")


def load(compiler, idl):
    """(types, service) of the IDL."""
    subprocess.run([compiler, "--gen", "py", "-out", _FOLDER.name, idl], check=True, capture_output=True)
    sys.path.insert(0, _FOLDER.name)
    return importlib.import_module("trireme_api.ttypes"), importlib.import_module("trireme_api.Inference")


def transport_error():
    """What a client raises whose server closes."""
    from thrift.transport.TTransport import TTransportException
    return TTransportException


class Client:
    """A connection; its attributes are the methods of the service."""

    def __init__(self, service, port, timeout_s=60, tls=None):
        from thrift.protocol import TCompactProtocol
        from thrift.transport import TSocket, TSSLSocket, TTransport
        socket = TSocket.TSocket("127.0.0.1", port) if tls is None else TSSLSocket.TSSLSocket("127.0.0.1", port, ca_certs=tls)
        socket.setTimeout(timeout_s * 1000)
        self.transport = TTransport.TFramedTransport(socket)
        self._client = service.Client(TCompactProtocol.TCompactProtocol(self.transport))
        self.transport.open()

    def __getattr__(self, name):
        return getattr(self._client, name)

    def close(self):
        self.transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
