"""Runs a Python test that needs packages from PyPI, in an environment of its own.

    with_packages.py ENVIRONMENT PACKAGE[,PACKAGE…] TEST.py ARGUMENT…

The environment is made the first time. Where it cannot be (no network, say), the test is skipped: exit code 77.
"""
import os
import subprocess
import sys
import venv

SKIPPED = 77


def main(environment, packages, *test):
    python = os.path.join(environment, "bin", "python")
    done = os.path.join(environment, "installed")
    wanted = packages.split(",")
    if not os.path.exists(done) or open(done).read() != packages:
        venv.create(environment, with_pip=True, clear=True)
        result = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", *wanted],
                                capture_output=True, text=True)
        if result.returncode != 0:
            print(f"skipped: {packages} cannot be installed here:\n{result.stderr}")
            return SKIPPED
        with open(done, "w") as file:
            file.write(packages)
    return subprocess.run([python, *test]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
