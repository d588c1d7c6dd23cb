"""gridhook run: a job's output passes through, and its end is pushed."""
import json
import os
import signal
import socket
import subprocess
import time

from gridhook_kit import PATIENCE, PROGRAM, SECRET, Hook, equal, run


def job(hook, *command, options=()):
    done = subprocess.run([PROGRAM, "--config", hook.config, "run", "--job", "nightly", *options, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                          env=hook.environment())
    return done.returncode, done.stdout, done.stderr


def pushed(hook):
    """The events until now, as a window gets them."""
    path = os.path.join(hook.folder, "run", "interface.sock")
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(PATIENCE)
    sock.connect(path)
    file = sock.makefile("rw", encoding="utf-8")
    file.write('{"t":"hello","proto":1,"client":"test"}\n')
    file.flush()
    welcome = json.loads(file.readline())
    got = []
    while len(got) < welcome["next"] - welcome["first"]:
        line = json.loads(file.readline())
        if line["t"] == "event":
            got.append(line["event"])
    sock.close()
    return got


def success_passes_through_and_is_pushed():
    with Hook(secret=SECRET) as hook:
        code, out, err = job(hook, "sh", "-c", "echo first; echo last; echo to the side >&2")
        equal((code, out, err), (0, b"first\nlast\n", b"to the side\n"))
        event = pushed(hook)[-1]
        equal((event["kind"], event["status"], event["speak"]), ("job", "ok", None))
        equal((event["job"]["name"], event["job"]["exit_code"]), ("nightly", 0))
        assert event["job"]["duration_ms"] >= 0
        equal(sorted(event["text"].split("\n")), ["first", "last", "to the side"])


def failure_is_told_with_its_last_line():
    with Hook() as hook:
        equal(job(hook, "sh", "-c", "echo one; echo no space left; exit 3")[0], 3)
        event = pushed(hook)[-1]
        equal((event["status"], event["speak"], event["priority"]), ("error", True, "high"))
        equal((event["job"]["exit_code"], event["job"]["error"]), (3, "exit status 3: no space left"))
        equal(job(hook, "sh", "-c", "kill -KILL $$")[0], 128 + 9)
        event = pushed(hook)[-1]
        equal((event["status"], event["job"]["error"]), ("error", "ended by signal KILL"))
        code, _, err = job(hook, "/nonexistent/program", "argument")
        equal((code, b"cannot be started" in err), (127, True))
        equal(pushed(hook)[-1]["status"], "error")


def long_and_strange_output():
    with Hook() as hook:
        code, out, _ = job(hook, "sh", "-c", "seq 1 200000; printf '\\377\\376 end'")
        equal((code, len(out)), (0, sum(len(str(i)) + 1 for i in range(1, 200001)) + 6))
        text = pushed(hook)[-1]["text"]
        assert text.endswith("200000\n\ufffd\ufffd end") and len(text) < 8200, text[-100:]
        equal(text.split("\n")[0].isdigit(), True)


def what_the_job_leaves_behind_is_not_waited_for():
    with Hook() as hook:
        before = time.monotonic()
        equal(job_alone(hook, "sleep 30 & echo started")[0], 0)
        assert time.monotonic() - before < 20
        equal(pushed(hook)[-1]["text"], "started")


def job_alone(hook, script):
    """Without a pipe of ours, which the one that is left behind would hold."""
    done = subprocess.run([PROGRAM, "--config", hook.config, "run", "--job", "nightly", "--", "sh", "-c", script],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=PATIENCE, env=hook.environment())
    return done.returncode, None


def what_the_job_leaves_running_writes_on():
    """It gets no SIGPIPE, and its lines come through; the push does not wait."""
    with Hook() as hook:
        gate = os.path.join(hook.folder, "gate")
        done = os.path.join(hook.folder, "done")
        os.mkfifo(gate)
        script = "(read line <%s; echo late; echo aside >&2; echo >%s) & echo early" % (gate, done)
        process = subprocess.Popen([PROGRAM, "--config", hook.config, "run", "--job", "nightly", "--", "sh", "-c", script],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=hook.environment())
        equal(process.wait(PATIENCE), 0)
        equal(pushed(hook)[-1]["text"], "early")
        with open(gate, "w", encoding="utf-8") as file:
            file.write("go\n")
        # Both pipes end when the last process that holds them has ended.
        out, err = process.communicate(timeout=PATIENCE)
        equal((out, err), (b"early\nlate\n", b"aside\n"))
        assert os.path.exists(done), "it was ended before its own end"


def signals_are_passed_on():
    with Hook() as hook:
        process = subprocess.Popen([PROGRAM, "--config", hook.config, "run", "--job", "nightly", "--", "sh", "-c",
                                    "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done"],
                                   stdout=subprocess.PIPE, env=hook.environment())
        equal(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        equal(process.wait(PATIENCE), 5)
        process.stdout.close()
        equal(pushed(hook)[-1]["job"]["exit_code"], 5)


def only_failures_when_asked():
    with Hook() as hook:
        equal(job(hook, "true", options=["--only-failures"])[0], 0)
        equal(job(hook, "false", options=["--only-failures"])[0], 1)
        equal([e["status"] for e in pushed(hook)], ["error"])


def job_runs_without_a_gridhook():
    with Hook(start=False) as hook:
        code, out, err = job(hook, "sh", "-c", "echo done; exit 4", options=["--timeout", "2"])
        equal((code, out), (4, b"done\n"))
        assert b"gridhook run: not pushed" in err, err
        with open(hook.config, "a", encoding="utf-8") as file:
            file.write("[nonsense]\na = b\n")
        code, out, err = job(hook, "sh", "-c", "echo done; exit 4")
        equal((code, out), (4, b"done\n"))
        assert b"its end is not pushed" in err, err


def wrong_command_lines():
    with Hook(start=False) as hook:
        equal(hook.run("run", "--", "true")[0], 2)
        equal(hook.run("run", "--job", "x")[0], 2)


run([success_passes_through_and_is_pushed, failure_is_told_with_its_last_line, long_and_strange_output,
     what_the_job_leaves_behind_is_not_waited_for,
     what_the_job_leaves_running_writes_on, signals_are_passed_on, only_failures_when_asked,
     job_runs_without_a_gridhook, wrong_command_lines])
