"""Who may in, and what others cost who may: users, wrong secrets, half heads."""
import os
import select
import signal
import socket
import subprocess
import time

from gridhook_kit import PATIENCE, SECRET, Hook, Skip, equal, has_answer, own_address, read_answer, run

NOBODY, DAEMON = 65534, 1
LONG_SECRET = "0123456789abcdef"
JSON = "Content-Type: application/json"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'

def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can be another user")


class sender:  # pylint: disable=invalid-name
    """A process of this user that has sent, and waits for the answer's status."""

    def __init__(self, hook, user, data, host="127.0.0.1", source="", wait=True):
        self.pipe, end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
                if source:
                    sock.bind((source, 0))
                sock.connect((host, hook.port))
                sock.sendall(data)
                os.write(end, b"s")
                if wait:
                    os.write(end, sock.recv(65536).split(b" ")[1])
            finally:
                os._exit(0)
        os.close(end)
        equal(os.read(self.pipe, 1), b"s", "could not send")

    def is_over(self):
        return select.select([self.pipe], [], [], 0)[0] != []

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        os.waitpid(self.pid, 0)

    def end(self):
        answer = os.read(self.pipe, 100)
        os.close(self.pipe)
        os.waitpid(self.pid, 0)
        return int(answer or 0)


def status(process):
    return process.end()


def post(path, body, *headers):
    return ("\r\n".join(("POST %s HTTP/1.1" % path, "Host: localhost", "Content-Length: %d" % len(body)) + headers) +
            "\r\n\r\n").encode() + body


PUSH = post("/assistant/hook", b"{}")
CALL = post("/mcp", PING, JSON)
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def guess(secret="wrong"):
    return post("/assistant/hook", b"{}", "X-Service-Secret: " + secret)


def stored(hook):
    return hook.tool("get_app_status")["structuredContent"]["stored_events"]


def has_six():
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
        return True
    except OSError:
        return False


class OwnHook(Hook):
    """One that runs as another user."""

    def start(self, wait=True):
        for folder, names, files in os.walk(self.folder):
            for name in [folder] + [os.path.join(folder, n) for n in names + files]:
                os.chown(name, NOBODY, NOBODY)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [os.environ.get("GRIDHOOK", os.path.join(os.environ.get("abs_top_builddir", "."),
                                                         "tools/gridhook/gridhook")), "--config", self.config],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment(), user=NOBODY, group=NOBODY,
                extra_groups=[])
        if wait:
            self.wait_listening()
        return self


def other_users_programs_are_refused_without_a_secret():
    need_root()
    six = [("::1", ["::1"]), ("::", ["127.0.0.1", "127.0.0.9", "::1"])] if has_six() else []
    for listens, hosts in [("", ["127.0.0.1"])] + six:
        with Hook({"server": {"host": listens}}, start=False) as hook:
            hook.start(wait=False)
            hook.wait_log("listening: host=")
            for host in hosts:
                for data in (PUSH, CALL):
                    equal(status(sender(hook, NOBODY, data, host)), 403, host)
                    equal(status(sender(hook, 0, data, host)), 200, host)
                equal(status(sender(hook, NOBODY, HEALTH, host)), 200, "health is open")
            if "127.0.0.1" in hosts:
                equal(stored(hook), len(hosts))
            hook.wait_log("another user's program ([server] same_user): remote=")
    with Hook({"server": {"same_user": "no"}}) as hook:
        equal(status(sender(hook, NOBODY, PUSH)), 200)
    with Hook(secret=SECRET) as hook:
        equal(status(sender(hook, NOBODY, guess(SECRET))), 200, "who has the secret may")


def its_own_user_and_root_may():
    need_root()
    try:
        with OwnHook(start=False) as hook:
            hook.start()
            equal([status(sender(hook, user, CALL)) for user in (NOBODY, 0, DAEMON)], [200, 200, 403])
    except PermissionError as why:
        raise Skip("user %d cannot run it here: %s" % (NOBODY, why)) from None


def who_sends_and_closes_is_not_taken_for_another():
    """A socket that nobody holds any more looks like root's to older kernels."""
    need_root()
    with Hook() as hook:
        hook.process.send_signal(signal.SIGSTOP)
        senders = [sender(hook, NOBODY, PUSH, wait=False) for _ in range(20)]
        for process in senders:
            equal(process.end(), 0)
        hook.process.send_signal(signal.SIGCONT)
        equal(hook.push({}).status, 200, "the last in the queue")
        equal(stored(hook), 1)


def other_users_cannot_pose_as_another_machine():
    need_root()
    with Hook() as hook:
        equal(status(sender(hook, NOBODY, PUSH, source=own_address())), 403)
        equal(status(sender(hook, 0, PUSH, source=own_address())), 200)


def need_slowing_down(secret):
    with Hook({"limits": {"guess_rate": 5, "guess_burst": 5}}, secret=secret) as hook:
        began = time.monotonic()
        with hook.connect() as sock:
            for i in range(20):
                sock.sendall(guess("wrong%d" % i).replace(b"\r\n\r\n{}", b"\r\n\r\n").replace(b"Length: 2", b"Length: 0"))
                answer = read_answer(sock)
                equal((answer.status, answer.json()), (401, {"error": "Unauthorized"}))
        took = time.monotonic() - began
        assert took > 2.5, "20 guesses of 5 at once and 5 a second took %.1f s" % took
        # None of what asks without a secret counts, nor is it slowed down.
        with hook.connect() as sock:
            for i in range(50):
                sock.sendall(post("/mcp", b""))
                equal(read_answer(sock).status, 401)


def wrong_secrets_are_slowed_down():
    for secret in (SECRET, LONG_SECRET):
        need_slowing_down(secret)


def short_secret_gets_its_turn_after_wrong_ones():
    with Hook({"limits": {"guess_rate": 1, "guess_burst": 1}}, secret=SECRET) as hook:
        with hook.connect() as trusted:
            trusted.sendall(guess(SECRET))
            equal(read_answer(trusted).status, 200)
            socks = hook.take_turns(post("/assistant/hook", b"", "X-Service-Secret: wrong"))
            # Held, body and all, with a request behind it; then both answered.
            held = hook.connect()
            held.sendall(guess(SECRET) + HEALTH)
            # Who has shown the secret on a connection does not wait on it.
            trusted.sendall(guess(SECRET))
            equal(read_answer(trusted).status, 200)
            assert not has_answer(held), "not held"
            answer = read_answer(held)
            equal((answer.status, answer.json()), (200, {"ok": True, "events": 1}))
            equal(read_answer(held, answer.rest).json()["ok"], True)
            for sock in socks + [held]:
                sock.close()


def many_that_wait_are_refused():
    with Hook({"limits": {"guess_rate": 1, "guess_burst": 1}}, secret=SECRET) as hook:
        socks = [hook.connect() for _ in range(30)]
        for sock in socks:
            sock.sendall(guess())
        over = 0
        while over < 15:
            for sock in select.select(socks, [], [], PATIENCE)[0]:
                answer = read_answer(sock)
                over += answer.status == 429
                if answer.status == 429:
                    assert int(answer.headers["retry-after"]) > 0, answer.headers
                socks.remove(sock)
                sock.close()
        hook.wait_log("too many wrong secrets before this one: remote=127.0.0.1:")
        for sock in socks:
            sock.close()


def long_secret_is_neither_slowed_nor_refused():
    """40 senders with wrong secrets keep all turns of the address taken, with one turn a second."""
    with Hook({"limits": {"guess_rate": 1, "guess_burst": 1}}, secret=LONG_SECRET) as hook:
        socks = [hook.connect() for _ in range(40)]
        wrong = post("/assistant/hook", b"", "X-Service-Secret: " + LONG_SECRET[:-1] + "x")
        statuses, began = [], time.monotonic()

        def guess_on(wait):
            for sock in select.select(socks, [], [], wait)[0]:
                answer = read_answer(sock)
                statuses.append(answer.status)
                if answer.status == 429:
                    assert int(answer.headers["retry-after"]) > 0, answer.headers
                sock.sendall(wrong)

        for sock in socks:
            sock.sendall(wrong)
        while statuses.count(429) < 20:
            guess_on(PATIENCE)
        for _ in range(20):
            equal(hook.raw(guess(LONG_SECRET)).status, 200)
            guess_on(0)
        took = time.monotonic() - began
        assert took < 15, "20 pushes with the right secret took %.1f s" % took
        equal(set(statuses), {401, 429})
        hook.wait_log("too many wrong secrets before this one: remote=127.0.0.1:")
        for sock in socks:
            sock.close()
        hook.stop()
        assert "refusals that were not shown: remote=127.0.0.1:" in hook.log(), hook.log()


def other_users_guesses_hold_up_nobody():
    need_root()
    with Hook({"limits": {"guess_rate": 1, "guess_burst": 1}}, secret=SECRET) as hook:
        guesses = [sender(hook, NOBODY, guess(), source="127.0.0.%d" % (i + 1)) for i in range(40)]
        hook.wait_log("too many wrong secrets before this one")
        for _ in range(20):
            began = time.monotonic()
            equal(hook.raw(guess(SECRET)).status, 200)
            equal(hook.raw(HEALTH).status, 200)
        still = [process for process in guesses if not process.is_over()]
        assert still, "the guesses were over in %.1f s" % (time.monotonic() - began)
        for process in guesses:
            process.kill()


def refusals_are_summed_up_in_the_log():
    with Hook({"limits": {"guess_rate": 1000, "guess_burst": 1000}}, secret=SECRET) as hook:
        for i in range(60):
            equal(hook.raw(guess()).status, 401)
        equal(hook.raw(b"GARBAGE\r\n\r\n").status, 400)
        hook.stop()
        equal(hook.log().count("unauthorized: remote=127.0.0.1:"), 10)
        assert "refusals that were not shown: remote=127.0.0.1:" in hook.log()
        assert " count=51" in hook.log() and "request refused" not in hook.log(), hook.log()


HALVES = {"connections": "32", "first_byte": "600s", "head": "600s", "linger": "60s", "write": "600s", "idle": "600s", "body": "600s",
          "guess_rate": "1000", "guess_burst": "1000"}


def half_heads_hold_nobody_up():
    with Hook({"limits": HALVES}, secret=SECRET) as hook:
        half = hook.connect()  # of a request that was let in
        half.sendall(post("/assistant/hook", b"{ }", "X-Service-Secret: " + SECRET)[:-1])
        hook.wait_read(1)
        for kind in (b"POST ", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ",
                     post("/nothing", b"x" * 1000)[:-1], guess()[:-1], HEALTH * 20000):
            socks = []
            for _ in range(40):
                sock = hook.connect()
                sock.settimeout(0.1)
                try:
                    sock.sendall(kind)
                except OSError:
                    pass
                socks.append(sock)
                if len(socks) % 10 == 0:
                    equal(hook.push({}).status, 200, kind[:40])
            equal(hook.raw(HEALTH).status, 200, kind[:40])
            for sock in socks:
                sock.close()
        half.sendall(b"}")
        equal(read_answer(half).json(), {"ok": True, "events": 1}, "the one that was let in")
        half.close()


def one_address_takes_no_place_from_others():
    address = own_address()
    with Hook({"limits": HALVES}, secret=SECRET) as hook:
        with socket.create_connection((address, hook.port), PATIENCE) as other:
            request = guess(SECRET)
            other.sendall(request[:20])
            hook.wait_read(1)
            socks = [hook.connect() for _ in range(100)]
            for sock in socks:
                try:
                    sock.sendall(b"POST ")
                except OSError:
                    pass
            equal(hook.push({}).status, 200)
            other.sendall(request[20:])
            equal(read_answer(other).status, 200, "the oldest, but of another address")
        for sock in socks:
            sock.close()


run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and not isinstance(value, type)
     and value.__code__.co_argcount == 0 and name not in ("need_root", "has_six")])
