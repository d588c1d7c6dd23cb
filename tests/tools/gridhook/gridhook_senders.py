"""Senders that cannot send the shared secret: signatures, tokens, HTTP Basic."""
import base64
import hashlib
import hmac
import os
import time

from gridhook_kit import SECRET, Hook, equal, has_answer, read_answer, run

LONG = "0123456789abcdef0123"
WHSEC = base64.b64encode(b"twenty-four bytes of key").decode()
FILE = """# who pushes
github  github  %s
forgejo forgejo short
gitlab  gitlab  %s
shop    standard-webhooks whsec_%s
pay     stripe  %s
apprise basic   ann:%s
""" % (LONG, LONG, WHSEC, LONG, LONG)
BODY = b'{"text":"signed"}'


class Signed:
    """A gridhook with a shared secret and the file above."""

    def __init__(self, secret=SECRET, **limits):
        self.hook = Hook({"server": {"senders_file": "FILE"}, "limits": limits}, secret=secret, start=False)
        path = os.path.join(self.hook.folder, "senders")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FILE)
        os.chmod(path, 0o600)
        with open(self.hook.config, encoding="utf-8") as file:
            text = file.read().replace("FILE", path)
        with open(self.hook.config, "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        return self.hook.start()

    def __exit__(self, *args):
        return self.hook.__exit__(*args)


def sign(key, *parts):
    return hmac.new(key if isinstance(key, bytes) else key.encode(), b"".join(parts), hashlib.sha256)


def to(hook, name, *headers, body=BODY):
    return hook.ask("POST", "/assistant/hook" + name, body, headers, secret=False).status


def standard(now, key=WHSEC):
    made = sign(base64.b64decode(key), b"msg_1.%d." % now, BODY).digest()
    return ("webhook-id: msg_1", "webhook-timestamp: %d" % now,
            "webhook-signature: v1," + base64.b64encode(made).decode())


def stripe(now):
    return "Stripe-Signature: t=%d,v1=%s" % (now, sign(LONG, b"%d." % now, BODY).hexdigest())


def each_scheme_lets_its_sender_in():
    now = int(time.time())
    with Signed() as hook:
        equal(to(hook, "/github", "X-Hub-Signature-256: sha256=" + sign(LONG, BODY).hexdigest()), 200)
        equal(to(hook, "/github/o/r?source=x", "X-Hub-Signature-256: sha256=" + sign(LONG, BODY).hexdigest()), 200)
        equal(to(hook, "/forgejo", "X-Forgejo-Signature: " + sign("short", BODY).hexdigest()), 200)
        equal(to(hook, "/gitlab", "X-Gitlab-Token: " + LONG), 200)
        equal(to(hook, "/shop", *standard(now)), 200)
        equal(to(hook, "/pay", stripe(now)), 200)
        basic = base64.b64encode(("ann:" + LONG).encode()).decode()
        equal(to(hook, "/apprise", "Authorization: Basic " + basic), 200)
        equal(to(hook, "/github", "X-Service-Secret: " + SECRET), 200, "the shared secret is good as before")
        texts = [m["text"] for m in hook.tool("get_conversation_history")["structuredContent"]["messages"]]
        equal(texts, ["signed"] * 8)


def others_are_refused():
    now = int(time.time())
    good = "X-Hub-Signature-256: sha256=" + sign(LONG, BODY).hexdigest()
    with Signed(guess_burst=1000) as hook:
        equal(to(hook, "/github"), 401, "nothing")
        equal(to(hook, "/github", good, body=b'{"text":"other"}'), 401, "another body")
        equal(to(hook, "/github", "X-Hub-Signature-256: sha256=" + "0" * 64), 401, "another signature")
        equal(to(hook, "/github", good[:-1]), 401, "a cut signature")
        equal(to(hook, "/github", "X-Hub-Signature-256: " + good.split("=")[1]), 401, "no prefix")
        equal(to(hook, "/gitlab", good), 401, "another sender's scheme")
        equal(to(hook, "/other", good), 401, "an unknown sender")
        equal(to(hook, "", good), 401, "no name in the address")
        equal(to(hook, "/github", good, "X-Service-Secret: wrong"), 401, "the shared secret comes first")
        equal(to(hook, "/gitlab", "X-Gitlab-Token: " + LONG[:-1]), 401)
        equal(to(hook, "/shop", *standard(now - 400)), 401, "too old")
        equal(to(hook, "/shop", *standard(now + 400)), 401, "too early")
        equal(to(hook, "/pay", stripe(now - 400)), 401)
        equal(to(hook, "/apprise", "Authorization: Basic " + base64.b64encode(b"ann:x").decode()), 401)
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        equal(hook.ask("POST", "/mcp", body, ["X-Hub-Signature-256: sha256=" + sign(LONG, body).hexdigest(),
                                              "Content-Type: application/json"], secret=False).status, 401, "tools")
        equal(to(hook, "/github", good), 200, "a right one still passes")
        assert LONG not in hook.log(), "a secret is in the log"
        hook.wait_log("the signature does not fit the body")


def short_secrets_of_senders_are_slowed():
    def push(hook, signature):
        return hook.request("POST", "/assistant/hook/forgejo", BODY, ["X-Forgejo-Signature: " + signature], secret=False)

    with Signed(guess_rate=1, guess_burst=1) as hook:
        socks = hook.take_turns(push(hook, "0" * 64))
        with hook.connect() as held:
            held.sendall(push(hook, sign("short", BODY).hexdigest()))
            equal(to(hook, "/github", "X-Hub-Signature-256: sha256=" + sign(LONG, BODY).hexdigest()), 200)
            assert not has_answer(held), "a short one did not wait, or a long one waits"
            equal(read_answer(held).status, 200)
        for sock in socks:
            equal(read_answer(sock).status, 401)
            sock.close()


def off_by_default():
    with Hook(secret=SECRET) as hook:
        equal(to(hook, "/github", "X-Hub-Signature-256: sha256=" + sign(LONG, BODY).hexdigest()), 401)


def wrong_file_is_told():
    hook = Hook({"server": {"senders_file": "/nonexistent/senders"}}, secret=SECRET, start=False)
    with hook:
        code, _, text = hook.run("--check")
        equal((code, "/nonexistent/senders: the senders cannot be read" in text), (1, True), text)


def forms_are_explained():
    with Hook() as hook:
        form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8"
        equal(hook.push(b"payload=%7B%7D", "/assistant/hook/github", [form]).status, 400)
        hook.wait_log("a push came as a form, and gridhook takes JSON")


run([each_scheme_lets_its_sender_in, others_are_refused, short_secrets_of_senders_are_slowed,
     off_by_default, wrong_file_is_told, forms_are_explained])
