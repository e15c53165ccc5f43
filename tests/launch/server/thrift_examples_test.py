"""The example clients say the same, which is what `trireme generate` says.

    thrift_examples_test.py TRIREME MODELS COMPILER IDL CLIENT.py CLIENT
"""
import os
import subprocess
import sys
import tempfile

from server_process import Server


def run(*command, cwd=None):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def main(trireme, models, compiler, idl, python_client, client):
    model = os.path.join(models, "llama")
    with Server(trireme, model, "--kv-memory", "64MiB") as server, tempfile.TemporaryDirectory() as folder:
        run(compiler, "--gen", "py", "-out", folder, idl)
        port = str(server.thrift_port)
        from_python = run(sys.executable, python_client, port, "hello", cwd=folder)
        from_cpp = run(client, port, "hello")
        text = run(trireme, "generate", "--model", model, "--kv-memory", "64MiB", "--threads", "1", "--prompt", "hello",
                   "--max-tokens", "32")
        assert from_python.startswith("model llama"), from_python
        assert from_cpp.startswith(from_python), (from_cpp, from_python)
        assert from_python.split("\n", 1)[1].strip() in text, (from_python, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
