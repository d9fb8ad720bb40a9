"""A project, a configuration and a state folder of their own, the program run in them, and what its log says."""

import json
import os
import signal
import subprocess
import time

# How a turn may end, with the exit code of each.
EXITS = {
    "answered": 0,
    "planned": 0,
    "no_plan": 1,
    "no_answer": 1,
    "steps_open": 1,
    "unproven": 1,
    "failing": 1,
    "not_approved": 3,
    "model": 5,
    "check_failed": 6,
    "limit": 53,
    "loop": 54,
    "interrupted": 130,
}


class World:
    def __init__(self, binary, folder):
        self.binary = os.path.abspath(binary)
        self.folder = folder
        self.root = os.path.join(folder, "project")
        code = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return add(a, a)\n"
        self.write("project/src/sums.py", code)
        self.write("project/README.md", "# Sums\n\nTwo functions that add.\n")
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.env = {
            "HOME": folder,
            "XDG_CONFIG_HOME": os.path.join(folder, "config"),
            "XDG_STATE_HOME": os.path.join(folder, "state"),
            "PATH": os.environ["PATH"],
        }

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def configure(self, text):
        self.write("config/tandem/config.toml", text)

    def start(self, *args):
        return Running(
            subprocess.Popen(
                [self.binary, "-C", self.root, *args],
                env=self.env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )

    def run(self, *args, stdin="", seconds):
        """Runs it to its end; one that takes longer is interrupted and counts as a fault."""
        with subprocess.Popen(
            [self.binary, "-C", self.root, *args],
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                out, err = process.communicate(stdin, timeout=max(seconds, 1))
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"`{' '.join(args)}` took longer than {seconds:.0f} s\n{tail(out)}\n{tail(err)}")
        return Ran(process.returncode, out, err)

    def tree(self):
        """Every file of the project but git's own, with its content."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.root)] = file.read()
        return found

    def log(self, session):
        """The records of a session, oldest first."""
        ran = self.run("sessions", "export", session, seconds=20)
        ran.expect(0)
        return Log([json.loads(line) for line in ran.out.splitlines()])


class Running:
    """A run that is watched while it goes on, with `--output-format stream-json`."""

    def __init__(self, process):
        self.process = process
        self.heard = []

    def hear_until(self, count, kind):
        """Reads events until `count` of a kind came."""
        seen = 0
        for line in self.process.stdout:
            event = json.loads(line)
            self.heard.append((time.monotonic(), event))
            seen += event["type"] == kind
            if seen == count:
                return
        raise AssertionError(f"it ended after {seen} of {count} events {kind}:\n{tail(self.process.stderr.read())}")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self, seconds):
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it did not end within {seconds} s") from None
        self.heard += [(time.monotonic(), json.loads(line)) for line in out.splitlines()]
        return Ran(self.process.returncode, out, err)

    def events(self, kind):
        return [event["payload"] for _, event in self.heard if event["type"] == kind]


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def expect(self, *codes):
        expect(self.code in codes, f"exit code {self.code} instead of {codes}\n{tail(self.out)}\n{tail(self.err)}")
        return self

    def report(self):
        """The report at the end of `--output-format json` or `stream-json`."""
        last = json.loads(self.out.splitlines()[-1])
        return last["payload"]["report"] if "payload" in last else last

    def events(self, kind):
        lines = [json.loads(line) for line in self.out.splitlines()]
        return [line["payload"] for line in lines if line["type"] == kind]


class Log:
    """A session's log, and what must hold of any."""

    def __init__(self, entries):
        self.entries = entries
        expect([entry["seq"] for entry in entries] == list(range(len(entries))), "the log has gaps")

    def of(self, kind):
        return [entry for entry in self.entries if entry["record"] == kind]

    def ends(self):
        return [entry["end"]["end"] for entry in self.of("turn_closed")]

    def expect_spoken(self, code, turns):
        """Each turn ended with words, cut or not, and the exit code is that of the last one."""
        ends = self.ends()
        expect(len(ends) == turns and set(ends) <= {"answered", "no_answer"}, f"{self.of('turn_closed')}")
        expect(code == EXITS[ends[-1]], f"exit code {code} for {ends}")

    def calls(self):
        return [call for reply in self.of("replied") for call in reply["calls"]]

    def expect_one_result_for_each_call(self):
        """Each call has one result, after its reply and before the next one."""
        open_calls, seen = [], set()
        for entry in self.entries:
            if entry["record"] == "replied":
                expect(not open_calls, f"no result came for {open_calls}")
                open_calls = [call["id"] for call in entry["calls"]]
                expect(not seen & set(open_calls), f"an id of {open_calls} names two calls")
                seen |= set(open_calls)
            elif entry["record"] == "stepped":
                expect(entry["call_id"] in open_calls, f"a result for {entry['call_id']}, which is not open")
                open_calls.remove(entry["call_id"])
        expect(not open_calls, f"no result came for {open_calls}")

    def tokens(self):
        """Requests, prompt tokens and cached ones among them, of the model that acts, as the server counts them."""
        spent = [reply["spent"] for reply in self.of("replied")]
        expect(not any(one["estimated"] for one in spent), "some tokens are estimated")
        usage = [one["usage"] for one in spent]
        expect(all(0 <= one["cached"] <= one["prompt"] for one in usage), f"{usage}")
        return len(usage), sum(one["prompt"] for one in usage), sum(one["cached"] for one in usage)


def expect(is_so, text):
    if not is_so:
        raise AssertionError(text)


def tail(text):
    return text[-600:]
