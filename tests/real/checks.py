"""The checks against real servers. The model has no wits: what is asserted is what must hold whatever it says."""

import json
import os
import shutil
import sys
import tempfile
import time
import traceback

from server import Server, wait_until
from world import EXITS, World, expect

HERE = os.path.dirname(os.path.abspath(__file__))

TOTAL_S = 340  # for everything; what is left over when it is used up fails
WINDOW = 8192  # what the model was trained with
SMALL_WINDOW = 1280  # less than a request under a schema needs, and enough for a few short replies
ROUNDS = 15  # of a plan's execution, at most
EXECUTION_S = 80  # the same in time: a busy machine gets fewer rounds, and the run ends by its limit
LONG_SESSION_ROUNDS = 20

STREAM = ("--output-format", "stream-json")
QUICK = ("--set", "thinking.mode=off")
WIDE = ("--set", "roles.planner.context_window=100000")  # more than any of the servers has
COUNTING = "one two three four five six seven eight nine ten "  # eleven tokens


class Real:
    """What the checks share: the world, the servers, and the sessions of earlier checks."""

    def __init__(self, world, a, b, small, deadline):
        self.world, self.a, self.b, self.small = world, a, b, small
        self.deadline = deadline
        with open(os.path.join(HERE, "config.toml"), encoding="utf-8") as file:
            self.config = file.read()
        for name, server in (("a", a), ("b", b), ("small", small)):
            self.config = self.config.replace(f"@{name}@", server.url)
        world.configure(self.config)
        self.interrupted = self.executed = None

    def run(self, *args, stdin="", most=90):
        """Runs the program within what is left of the time."""
        return self.world.run(*args, stdin=stdin, seconds=min(most, self.deadline - time.monotonic()))


def models_answer(real):
    rows = [json.loads(line) for line in real.run("models", "--output-format", "json").expect(0).out.splitlines()]
    expect({row["state"] for row in rows} == {"answers"}, f"{rows}")
    bound = {row["role"]: row["model"] for row in rows}
    expect(bound["planner"] == "a/smol-a" and bound["executor"] == "schema-b/smol-b", f"{bound}")


def doctor_examines(real):
    ran = real.run("doctor", "--role", "planner", "--output-format", "json").expect(0)
    [endpoint] = json.loads(ran.out)["endpoints"]
    found = {finding["probe"]: finding for finding in endpoint["findings"]}
    expect(endpoint["works"], f"{endpoint}")
    for probe in ("models", "streaming", "usage", "system", "json schema"):
        expect(found[probe]["verdict"] == "good", f"{found[probe]}")
    expect("[DONE]" in found["streaming"]["found"], f"{found['streaming']}")
    # What it prints is configuration.
    real.world.configure(real.config + endpoint["config"])
    real.run("config", "show").expect(0)
    real.world.configure(real.config)
    return f"{endpoint['requests']} requests; tool_protocol {endpoint['tool_protocol']}; {found['keep-alive']['found']}"


def answer_streams(real):
    before = real.world.tree()
    started = time.monotonic()
    running = real.world.start("-p", "Say something about the sea.", *STREAM)
    running.hear_until(2, "delta")
    expect(running.process.poll() is None, "the first words came when all was over")
    ran = running.end(60)
    report = running.events("done")[0]["report"]
    log = real.world.log(report["session"])
    text = "".join(delta["text"] for delta in running.events("delta"))
    log.expect_spoken(ran.code, turns=1)
    expect(text and text == "".join(reply["text"] for reply in log.of("replied")), f"{text!r} {report}")
    expect(text.endswith(report["answer"]) and not running.events("retry"), f"{report} {ran.err}")
    expect(real.world.tree() == before, "the project changed")
    first = next(at for at, event in running.heard if event["type"] == "delta")
    return f"{len(running.events('delta'))} pieces, the first after {first - started:.1f} s"


def print_mode_prints_the_answer(real):
    ran = real.run("-p", "Say something about the sea.", *QUICK)
    log = real.world.log(newest(real))
    log.expect_spoken(ran.code, turns=1)
    expect(ran.out.strip() == log.of("replied")[-1]["text"].strip(), f"{ran.out!r} {ran.err!r}")


def interrupt_stops_the_server(real):
    running = real.world.start(
        "--planner-model", "endless/smol-a", "run", "Tell a long story.", *STREAM,
        "--set", "roles.planner.max_tokens=4000",
    )
    running.hear_until(5, "delta")
    expect(not real.a.is_idle(), "the server is idle while it streams")
    running.interrupt()
    at = time.monotonic()
    running.end(10).expect(130)
    took = time.monotonic() - at
    expect(real.a.wait_until_idle(10), "the server goes on writing after the interrupt")
    report = running.events("done")[0]["report"]
    log = real.world.log(report["session"])
    text = "".join(delta["text"] for delta in running.events("delta"))
    expect(log.ends() == ["interrupted"], f"{log.ends()}")
    kept = log.of("replied")[-1]
    expect((kept["text"], kept["finish"]) == (text, "interrupted"), f"{kept} {text!r}")
    real.interrupted = report["session"]
    return f"ended after {took:.2f} s"


def resume_goes_on(real):
    expect(real.interrupted, "there is no interrupted session")
    before = real.world.log(real.interrupted)
    counted = real.a.count("prompt_tokens_cached")
    ran = real.run("resume", real.interrupted, "And then?", "--output-format", "json")
    expect(ran.report()["session"] == real.interrupted, ran.out)
    log = real.world.log(real.interrupted)
    expect(log.entries[: len(before.entries)] == before.entries, "resuming changed what was in the log")
    expect(log.ends()[:-1] == ["interrupted"] and log.ends()[-1] in ("answered", "no_answer"), f"{log.ends()}")
    expect(ran.code == EXITS[log.ends()[-1]], f"exit code {ran.code} for {log.ends()}")
    cached = real.a.count("prompt_tokens_cached") - counted
    expect(cached > 500, f"{cached:.0f} tokens came from the server's cache, but all up to the interrupt should")
    return f"{cached:.0f} prompt tokens came from its cache"


def overflow_of_the_first_request(real):
    """Nothing can be left out of a first request: it is no use to ask again."""
    ran = real.run("--model", "schema-small/small", "-p", "Hello.", "--output-format", "json", *QUICK).expect(5)
    return overflow(ran)


def overflow_by_a_long_prompt(real):
    ran = real.run("run", "--output-format", "json", *QUICK, *WIDE, stdin=COUNTING * 1200).expect(5)
    return overflow(ran)


def overflow(ran):
    end = ran.report()["end"]
    expect(end["end"] == "model" and "too long for the model" in end["error"], f"{end}")
    return end["error"][:140]


def overflow_in_a_session_is_healed(real):
    """Where the window is taken for larger than it is, the refusal makes room, and the turn goes on."""
    limit = ("--set", "roles.planner.max_tokens=200")
    ran = real.run("--planner-model", "endless-small/small", *limit, *QUICK, *WIDE, stdin="Tell a long story.\n")
    log = real.world.log(newest(real))
    log.expect_spoken(ran.code, turns=1)
    expect(log.of("compacted"), "nothing was summarised")
    return f"{len(log.of('compacted'))} summaries, {len(log.of('replied'))} replies"


def roles_go_to_their_servers(real):
    """Both servers write: the first one until the switch, the other one after it."""
    script = "Say something about rain.\n/model planner b/smol-b\nSay something about snow.\nexit\n"
    written = [real.a.count("tokens_predicted"), real.b.count("tokens_predicted")]
    ran = real.run(*QUICK, stdin=script)
    log = real.world.log(newest(real))
    log.expect_spoken(ran.code, turns=2)
    models = [reply["model"] for reply in log.of("replied")]
    expect(set(models) == {"a/smol-a", "b/smol-b"} and models == sorted(models), f"{models}")
    now = [real.a.count("tokens_predicted"), real.b.count("tokens_predicted")]
    expect(all(before < after for before, after in zip(written, now)), f"tokens written: {written}, then {now}")


def planner_in_schema(real):
    before = real.world.tree()
    ran = real.run(
        "plan", "Make add in src/sums.py add.", "--planner-model", "schema-a/smol-a",
        "--max-rounds", "4", "--timeout", "50",
        "--set", "roles.planner.temperature=0.7", *QUICK, *STREAM,
    )
    return settled(real, ran, before, {"planned", "no_plan", "limit", "loop", "failing"}, 4)


def executor_in_schema(real):
    plan = os.path.join(HERE, "plan.md")
    cassette = os.path.join(real.world.folder, "execution.jsonl")
    before = real.world.tree()
    ran = real.run(
        "exec", plan, "--yes", "--approval", "strict", "--max-rounds", str(ROUNDS), "--timeout", str(EXECUTION_S),
        "--record", cassette, *STREAM, most=EXECUTION_S + 15,
    )
    words = {"answered", "no_answer", "steps_open", "check_failed", "not_approved", "unproven"}
    ends = words | {"limit", "loop", "failing"}
    said = settled(real, ran, before, ends, ROUNDS)
    real.executed = newest(real)
    with open(cassette, encoding="utf-8") as file:
        exchanges = [json.loads(line) for line in file][1:]
    asked = [exchange for exchange in exchanges if exchange["role"] == "executor"]
    models = {(exchange["role"], exchange["request"]["model"]) for exchange in exchanges}
    expect(models <= {("executor", "smol-b"), ("thinking", "smol-a"), ("compaction", "smol-b")}, f"{models}")
    forms = {}
    for exchange in asked:
        offered = exchange["request"]["response_format"]["json_schema"]["schema"]["anyOf"]
        expect(any("answer" in one["properties"] for one in offered), f"no answer is among {offered}")
        tools = [one["properties"] for one in offered if "tool" in one["properties"]]
        forms |= {one["tool"]["const"]: one["arguments"] for one in tools}
    for call in real.world.log(real.executed).calls():
        given, form = set(json.loads(call["arguments"])), forms[call["name"]]
        expect(set(form.get("required", [])) <= given <= set(form["properties"]), f"{call} for {form}")
    return said


def settled(real, ran, before, ends, rounds):
    """What must hold of a run in which the model calls tools under a schema, whatever it does."""
    opened = json.loads(ran.out.splitlines()[0])
    log = real.world.log(opened["id"])
    [end] = log.ends()
    expect(end in ends, f"it ended by {end}: {log.of('turn_closed')}\n{ran.err}")
    expect(ran.code == EXITS[end], f"exit code {ran.code} for the end {end}")
    replies = log.of("replied")
    expect(replies, "no reply came in time")
    # The wrap-up after the limit is one more.
    expect(len(replies) <= rounds + 1, f"{len(replies)} rounds of {rounds}")
    tools = [line.split("(")[0] for line in real.run("tool", "list").out.splitlines() if "(" in line]
    offered = {name for name in tools if name.isidentifier()}
    writing = {"edit_file", "write_file", "run_command", "update_step"}
    for reply in replies:
        if reply["finish"] == "stop":
            expect(len(reply["calls"]) <= 1 and not (reply["calls"] and reply["text"]), f"{reply}")
        expect(reply["finish"] in ("stop", "length", "interrupted"), f"{reply}")
        for call in reply["calls"]:
            expect(call["name"] in offered, f"{call}")
            expect(reply["role"] == "executor" or call["name"] not in writing, f"the planner was offered {call}")
            expect(isinstance(json.loads(call["arguments"]), dict), f"{call}")
    log.expect_one_result_for_each_call()
    faults = [event["reason"] for event in ran.events("retry")]
    expect(not faults, f"replies were asked for again: {faults}")
    after = real.world.tree()
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    allowed = {"src/sums.py"} if replies[0]["role"] == "executor" else set()
    expect(changed <= allowed, f"changed outside the plan: {changed - allowed}")
    requests, prompt, cached = log.tokens()
    return f"ended by {end} after {len(replies)} rounds with {len(log.calls())} calls; {share(cached, prompt)}"


def long_session_is_cached(real):
    """The execution goes on until it has had enough rounds."""
    expect(real.executed, "nothing was executed")
    log = real.world.log(real.executed)
    for attempt in range(LONG_SESSION_ROUNDS):
        missing = LONG_SESSION_ROUNDS - len(log.of("replied"))
        if missing <= 0:
            break
        ran = real.run(
            "resume", real.executed, f"Look at the files, for the time {attempt}.", "--no-plan",
            "--approval", "strict", "--max-rounds", str(missing), *QUICK, most=100,
        )
        log = real.world.log(real.executed)
        end = log.ends()[-1]
        expect(ran.code == EXITS[end] and end != "model", f"exit code {ran.code} for {end}\n{ran.err}")
    log.expect_one_result_for_each_call()
    requests, prompt, cached = log.tokens()
    usages = [reply["spent"]["usage"] for reply in log.of("replied")]
    print("       cached/prompt by round: " + " ".join(f"{usage['cached']}/{usage['prompt']}" for usage in usages))
    expect(requests >= LONG_SESSION_ROUNDS, f"{requests} rounds")
    return f"{requests} rounds, {share(cached, prompt)}"


def server_dies_in_mid_stream(real):
    running = real.world.start(
        "--planner-model", "endless-small/small", "run", "Tell a long story.", *STREAM, *QUICK
    )
    running.hear_until(3, "delta")
    real.small.kill()
    running.end(40).expect(5)
    report = running.events("done")[0]["report"]
    expect(report["end"]["end"] == "model", f"{report['end']}")
    expect(running.events("retry"), "it was not tried again")
    expect(real.world.log(report["session"]).ends() == ["model"], "the log says something else")


def servers_stop(real):
    for server in (real.a, real.b, real.small):
        server.stop()
        expect(wait_until(server.is_gone, 5), f"{server.alias} still answers")
    real.run("models", "--output-format", "json").expect(5)


CHECKS = [
    ("tandem models: each role's server answers and lists its model", models_answer),
    ("tandem doctor: the server is examined, and what it prints is configuration", doctor_examines),
    ("a one-shot answer streams, and log, events and report agree", answer_streams),
    ("-p prints the answer alone", print_mode_prints_the_answer),
    ("an interrupt in mid-stream ends with 130, and the server stops writing", interrupt_stops_the_server),
    ("the interrupted session goes on, with the server's cache of it", resume_goes_on),
    ("a first request over the window ends with 5 and says why", overflow_of_the_first_request),
    ("a prompt over the window ends with 5 and says why", overflow_by_a_long_prompt),
    ("a session that outgrows the server's window is summarised and goes on", overflow_in_a_session_is_healed),
    ("a server that dies in mid-stream is tried again, then the run ends with 5", server_dies_in_mid_stream),
    ("the planner's model is switched in mid-session to another server", roles_go_to_their_servers),
    (f"a plan executed under a schema for up to {ROUNDS} rounds, in bounds", executor_in_schema),
    ("a planner under a schema: valid replies, one result a call, nothing changes", planner_in_schema),
    (f"a session of {LONG_SESSION_ROUNDS} rounds, cached tokens as the server counts them", long_session_is_cached),
    ("the servers stop, and no server is exit code 5", servers_stop),
]


def newest(real):
    rows = real.run("sessions", "list", "--output-format", "json").expect(0).out.splitlines()
    return json.loads(rows[-1])["id"]


def share(cached, prompt):
    return f"cached_tokens {cached} of {prompt} prompt tokens ({100 * cached / max(prompt, 1):.0f} %)"


def main(binary):
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="tandem-real-")
    servers = []
    passed = failed = 0
    only = os.environ.get("TANDEM_REAL_ONLY", "")
    try:
        for alias, window in (("smol-a", WINDOW), ("smol-b", WINDOW), ("small", SMALL_WINDOW)):
            servers.append(Server(alias, window, os.path.join(folder, f"{alias}.log")))
        world = World(binary, folder)
        real = Real(world, *servers, deadline=started + TOTAL_S)
        for name, check in CHECKS:
            if only not in check.__name__:
                continue
            since = time.monotonic()
            try:
                expect(since < real.deadline, f"the {TOTAL_S} s were used up before it")
                said = check(real)
                passed += 1
                verdict = "ok"
            except Exception as fault:
                failed += 1
                verdict = "FAILED"
                place = traceback.extract_tb(fault.__traceback__)
                line = next((row.lineno for row in reversed(place) if row.filename == __file__), 0)
                said = f"{type(fault).__name__} at line {line}: {fault}"
            print(f"{verdict:<6} {name} ({time.monotonic() - since:.1f} s){': ' + said if said else ''}", flush=True)
    finally:
        for server in servers:
            server.stop()
        if failed:
            print(f"the servers' logs, the configuration and the sessions are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"real server: {passed} passed, {failed} failed ({time.monotonic() - started:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
