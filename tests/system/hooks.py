"""Hooks: receivers that are dead, slow or refuse, and a sender that is killed:
every event arrives at least once, with its id, in order by supplier, and none
after a hook was removed."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import GRIDCTL, Grid  # noqa: E402
from stack import TOP, run_tests, wait_until  # noqa: E402

sys.path.insert(0, os.path.join(TOP, "tests", "tools", "gridhook"))
from gridhook_kit import Hook  # noqa: E402

ALL = "proposed,saved,cancelled,imported,computed,failed"
KILLS = 8


def verified(secret, headers, body):
    """As docs/api.md shows it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b"%s.%s.%s" % (headers["webhook-id"].encode(),
                            headers["webhook-timestamp"].encode(), body)
    want = "v1," + base64.b64encode(
        hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return want in headers["webhook-signature"].split(" ") and \
        abs(time.time() - int(headers["webhook-timestamp"])) < 300


class Receiver:
    """Answers as `status` says (a number, or a function of the event), and
    keeps what it took."""

    def __init__(self, status=204, tls=None):
        self.status, self.secret, self.port = status, None, 0
        self.tls = tls
        self.events, self.tries, self.wrong = [], [], []
        self.sent = []  # headers and body of each, as they came
        self.lock, self.server = threading.Lock(), None
        self.start()

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(self, body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # its sender was killed

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.tls)
            self.server.socket = context.wrap_socket(self.server.socket,
                                                     server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.02,),
                         daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def take(self, request, body):
        event = json.loads(body)
        event["id"] = request.headers["webhook-id"]
        if self.secret and not verified(self.secret, request.headers, body):
            self.wrong.append(event)
        with self.lock:
            self.tries.append(event)
            self.sent.append((dict(request.headers), body.decode()))
        status = self.status(event) if callable(self.status) else self.status
        if 200 <= status < 300:
            with self.lock:
                self.events.append(event)
        request.send_response(status)
        if status == 302:
            request.send_header("Location", self.url("/elsewhere"))
        request.end_headers()

    def url(self, path="/hook"):
        return "http://127.0.0.1:%d%s" % (self.port, path)

    def first(self):
        """Each event once, in the order of its first arrival."""
        seen = {}
        with self.lock:
            for event in self.events:
                seen.setdefault(event["id"], event)
        return list(seen.values())

    def codes(self):
        return [event["data"].get("codein") for event in self.first()]


class Hooks(Grid):
    """A grid with a sender of its own, whose waits are short."""

    def __init__(self, **options):
        self.sender, self.waits = None, ["--first-wait", "20",
                                         "--longest-wait", "1"]
        super().__init__(**options)

    def add(self, name, receiver, events="proposed", *more):
        receiver.secret = self.ctl("hook", "add", name, receiver.url(),
                                   "--events", events, *more).strip()

    def send(self, *more):
        with open(self.path("log/sender.log"), "ab") as log:
            self.sender = subprocess.Popen(
                [GRIDCTL, "--data", self.data, "hook", "deliver"] +
                self.waits + list(more), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={name: value
                                 for name, value in os.environ.items()
                                 if not name.lower().endswith("_proxy")})

    def kill(self, number=signal.SIGKILL):
        self.sender.send_signal(number)
        self.sender.wait()

    def __exit__(self, *words):
        if self.sender and self.sender.poll() is None:
            self.kill(signal.SIGTERM)
        log = self.text_of("log/sender.log")
        super().__exit__(*words)
        assert "Sanitizer" not in log and "runtime error" not in log, log

    def sender_of_gridapi(self):
        for pid in self.workers():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    if b"deliver" in file.read():
                        return pid
            except OSError:
                pass  # housekeeping has ended
        raise AssertionError("no sender")

    def hook(self, name):
        return next(hook for hook in json.loads(
            self.ctl("hook", "list", "--json")) if hook["name"] == name)

    def hook_names(self):
        return [hook["name"] for hook in json.loads(
            self.ctl("hook", "list", "--json"))]

    def number(self):
        """Of the log's last entry, of nodes that share their state."""
        told = []

        def is_told():  # null: a loaded engine is late
            told[:] = [json.loads(self.ctl("cluster", "status", "--json",
                                           check=False).stdout)["state"]]
            return told[0] is not None

        wait_until(is_told, "the log's end is told")
        return told[0]

    def wait_for(self, receiver, count):
        wait_until(lambda: len(receiver.first()) >= count,
                   lambda: "%d events, of %d; %s" % (
                       len(receiver.first()), count,
                       self.text_of("log/sender.log")[-2000:]))

    def propose(self, supplier="S1", codes=None, motif=None):
        """Each of the articles another range than before."""
        self.turn = getattr(self, "turn", 0) + 1
        changes = [(code, "ABCYZ"[(i + self.turn) % 5])
                   for i, code in enumerate(codes or self.articles)]
        answer = self.post(changes, supplier)
        assert answer.status == 200, answer.text

    def computed_at(self, supplier):
        return next(one for one in json.loads(self.ctl(
            "suppliers", "--json")) if one["code"] == supplier)["computedAt"]

    def trail(self, *events):
        return [entry for entry in json.loads(self.ctl(
            "proposals", "log", "--json")) if entry["event"] in events]


def events_are_signed_and_say_what_happened():
    with Hooks() as grid:
        receiver = Receiver()
        one, two = grid.articles[:2]
        grid.put(one, "Y")  # before the hook: not its own
        grid.add("erp", receiver, ALL)
        grid.send()
        grid.put(two, "Z", motif="parce que")
        grid.ctl("proposals", "save", "S1", two)
        grid.ctl("proposals", "cancel", "S1", one)
        grid.ctl("compute", "--quiet", "S2")
        grid.ctl("import", "--quiet", grid.path("csv"))
        grid.wait_for(receiver, 5)
        assert not receiver.wrong, receiver.wrong
        by_type = {event["type"]: event for event in receiver.first()}
        assert sorted(by_type) == ["cancelled", "computed", "imported",
                                   "proposed", "saved"], by_type
        feed = grid.ask("GET", "/api/v1/propositions?order=asc").json["data"]
        for event in receiver.first():
            if event["type"] in ("proposed", "saved", "cancelled"):
                assert event["data"] in feed, event
        assert by_type["proposed"]["data"]["motif"] == "parce que"
        assert by_type["imported"]["data"]["donnees"] == "facts"
        computed = by_type["computed"]["data"]
        assert computed["codeFournisseur"] == "S2", computed
        assert grid.rows("S2")["meta"]["snapshot"] == computed["snapshot"]
        wait_until(lambda: grid.hook("erp")["waiting"] == 0, "all is noted")
        state = grid.hook("erp")
        assert (state["state"], state["givenUp"]) == ("fine", 0), state
        receiver.stop()


def the_test_event_is_answered_at_once():
    with Hooks() as grid:
        receiver = Receiver(202)
        grid.add("erp", receiver)
        assert "it answered 202" in grid.ctl("hook", "test", "erp")
        assert [event["type"] for event in receiver.events] == ["test"]
        assert not receiver.wrong
        receiver.status = 302
        done = grid.ctl("hook", "test", "erp", check=False)
        assert done.returncode == 1, done
        assert "302 (redirects are not followed)" in done.stdout, done
        assert len(receiver.tries) == 2, "a redirect is not followed"
        receiver.stop()
        done = grid.ctl("hook", "test", "erp", check=False)
        assert done.returncode == 1 and "connect" in done.stderr, done


def a_dead_receiver_gets_all_when_it_is_back_and_holds_up_no_other():
    with Hooks() as grid:
        dead, well = Receiver(), Receiver()
        grid.add("dead", dead)
        grid.add("well", well)
        dead.stop()
        grid.send()
        for _ in range(3):
            grid.propose("S1")
            grid.propose("S2", grid.articles[:2])
        grid.wait_for(well, len(grid.trail("proposed", "replaced")))
        assert not dead.first()
        wait_until(lambda: grid.hook("dead")["state"] == "failing", "a try")
        state = grid.hook("dead")
        assert state["waiting"] == len(well.first()), state
        assert state["oldestAt"], state
        dead.start()
        grid.wait_for(dead, len(well.first()))
        for supplier in ("S1", "S2"):
            assert [e["id"] for e in dead.first()
                    if e["data"]["codeFournisseur"] == supplier] == [
                        e["id"] for e in well.first()
                        if e["data"]["codeFournisseur"] == supplier]
        dead.stop()
        well.stop()


def a_refused_event_holds_up_its_supplier_alone():
    with Hooks() as grid:
        refusing = [True]
        receiver = Receiver(lambda event: 500 if refusing[0] and event["data"][
            "codeFournisseur"] == "S1" else 200)
        grid.add("erp", receiver)
        grid.send()
        grid.propose("S1")
        grid.propose("S2", grid.articles[:2])
        grid.wait_for(receiver, 2)
        time.sleep(0.2)  # no further event may come meanwhile
        assert {e["data"]["codeFournisseur"] for e in receiver.first()} == {
            "S2"}
        assert len({e["id"] for e in receiver.tries
                    if e["data"]["codeFournisseur"] == "S1"}) <= 1
        refusing[0] = False
        count = len(grid.trail("proposed", "replaced"))
        grid.wait_for(receiver, count)
        numbers = [e["data"]["numero"] for e in receiver.first()
                   if e["data"]["codeFournisseur"] == "S1"]
        assert numbers == sorted(numbers), numbers
        receiver.stop()


HOUR = ["--first-wait", "3600000", "--longest-wait", "6h"]


def a_success_ends_the_waits_of_all_suppliers():
    with Hooks() as grid:
        receiver = Receiver(500)
        grid.waits = HOUR
        grid.add("erp", receiver, "proposed,imported")
        assert grid.hook("erp")["state"] == "never tried"
        grid.send()
        grid.propose("S1")
        grid.propose("S2", grid.articles[:2])
        wait_until(lambda: grid.hook("erp")["repeated"] == 2, "both wait")
        state = grid.hook("erp")
        assert state["state"] == "failing" and state["nextTryAt"], state
        receiver.status = 200
        grid.ctl("import", "--quiet", grid.path("csv"))
        grid.wait_for(receiver, 1 + len(grid.trail("proposed", "replaced")))
        wait_until(lambda: grid.hook("erp")["waiting"] == 0, "all is noted")
        state = grid.hook("erp")
        assert (state["state"], state["nextTryAt"]) == ("fine", None), state
        receiver.stop()


def a_hook_whose_events_wait_is_not_fine():
    """The refused event is tried once more at the first success, and not at
    each; a wait is over when the operator says so."""
    with Hooks() as grid:
        refused = ["S1"]
        receiver = Receiver(lambda event: 500 if event["data"][
            "codeFournisseur"] in refused else 200)

        def tries():
            return len([event for event in receiver.tries
                        if event["data"]["codeFournisseur"] == "S1"])
        grid.waits = HOUR
        grid.add("erp", receiver)
        grid.send()
        grid.propose("S1", grid.articles[:1])
        wait_until(lambda: grid.hook("erp")["repeated"] == 1, "a failure")
        for turn in range(3):
            grid.propose("S2", grid.articles[:1])
            grid.wait_for(receiver, turn + 1)
            wait_until(lambda: grid.hook("erp")["repeated"] == 2, "a try")
        wait_until(lambda: grid.hook("erp")["delivered"] == 3, "it is noted")
        state = grid.hook("erp")
        assert state["state"] == "catching up" and state["nextTryAt"], state
        assert tries() == 2, receiver.tries
        assert "catching up" in grid.ctl("hook", "list")
        refused.clear()
        grid.kill()  # a later sender, too, sees what the operator said
        said = grid.ctl("hook", "resend", "erp")
        assert "1 waiting events are tried now" in said, said
        grid.send()
        grid.wait_for(receiver, 4)
        receiver.stop()


def what_is_given_up_is_listed_and_sent_again():
    with Hooks() as grid:
        receiver = Receiver(500)
        grid.add("erp", receiver)
        grid.waits = ["--first-wait", "300", "--give-up", "1"]
        grid.send()
        grid.put(grid.articles[0], "Z")
        wait_until(lambda: grid.hook("erp")["givenUp"] == 1, "it is given up")
        lost = json.loads(grid.ctl("hook", "lost", "erp", "--json"))
        assert lost[0]["error"] == "it answered 500", lost
        assert lost[0]["tries"] >= 2 and lost[0]["supplier"] == "S1", lost
        receiver.status = 200
        assert "1 events" in grid.ctl("hook", "resend", "erp")
        grid.wait_for(receiver, 1)
        assert receiver.first()[0]["id"] == lost[0]["id"]
        wait_until(lambda: grid.hook("erp")["givenUp"] == 0, "it is not lost")
        receiver.stop()


def a_receiver_that_is_gone_for_good_stops_its_hook():
    with Hooks() as grid:
        receiver = Receiver(410)
        grid.add("erp", receiver)
        grid.send()
        grid.put(grid.articles[0], "Z")
        wait_until(lambda: grid.hook("erp")["state"] == "stopped", "a stop")
        tries = len(receiver.tries)
        assert "'gridctl hook resend erp' lets" in grid.ctl("hook", "list")
        assert grid.hook("erp")["nextTryAt"] is None
        grid.put(grid.articles[1], "Z")
        wait_until(lambda: grid.hook("erp")["waiting"] == 2, "both wait")
        assert len(receiver.tries) == tries
        receiver.status = 200
        grid.ctl("hook", "resend", "erp")
        grid.wait_for(receiver, 2)
        receiver.stop()


def one_slow_receiver_ends_at_its_time_limit():
    with Hooks() as grid:
        slow = [True]
        end = threading.Event()

        def status(_):
            if slow[0]:
                end.wait(30)
            return 200
        receiver, other = Receiver(status), Receiver()
        grid.add("slow", receiver)
        grid.add("other", other)
        grid.send("--timeout", "1")
        grid.propose("S1")
        grid.wait_for(other, len(grid.trail("proposed")))
        wait_until(lambda: "timed out" in (grid.hook("slow")["lastError"] or
                                           "").lower(), "a time limit")
        slow[0] = False
        end.set()
        grid.wait_for(receiver, len(other.first()))
        receiver.stop()
        other.stop()


def a_try_is_one_request():
    """A receiver that keeps its connections, and ends one in place of an
    answer: libcurl alone would ask again."""
    with Hooks() as grid:
        tries = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                tries.append(self.headers["webhook-id"])
                if len(tries) > 1:
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,),
                         daemon=True).start()
        grid.waits = HOUR
        grid.ctl("hook", "add", "erp", "http://127.0.0.1:%d/" %
                 server.server_address[1], "--events", "proposed")
        grid.send()
        grid.put(grid.articles[0], "Z")
        wait_until(lambda: grid.hook("erp")["delivered"] == 1, "the first")
        grid.put(grid.articles[1], "Z")
        wait_until(lambda: grid.hook("erp")["repeated"] == 1, "a failure")
        assert len(tries) == 2, tries
        server.shutdown()
        server.server_close()


def a_410_ends_a_hook_even_when_time_is_up():
    with Hooks() as grid:
        receiver = Receiver(410)
        grid.waits = HOUR + ["--give-up", "1"]
        grid.add("erp", receiver)
        grid.send()
        grid.put(grid.articles[0], "Z")
        wait_until(lambda: grid.hook("erp")["lastError"], "an answer")
        state = grid.hook("erp")
        assert (state["state"], state["waiting"], state["givenUp"]) == (
            "stopped", 1, 0), state
        receiver.stop()


def none_is_delivered_after_a_removal():
    with Hooks() as grid:
        for turn in range(10):
            receiver = Receiver()
            grid.add("erp", receiver)
            if not grid.sender:
                grid.send()
            grid.propose("S1")
            grid.wait_for(receiver, turn % 4)  # some, not all
            grid.ctl("hook", "remove", "erp")
            tries = len(receiver.tries)
            grid.propose("S1")
            time.sleep(0.05)
            assert len(receiver.tries) == tries, turn
            receiver.stop()
        assert grid.ctl("hook", "remove", "erp", check=False).returncode == 1


def kills_at_random_lose_nothing_and_keep_the_order():
    with Hooks() as grid:
        chance = random.Random()
        seed = int(os.environ.get("GRID_SEED", chance.randrange(1 << 30)))
        chance.seed(seed)
        print("   GRID_SEED=%d" % seed)
        lazy = random.Random(seed + 1)
        receiver = Receiver(
            lambda _: lazy.choice((200, 200, 200, 500, 503, 429)))
        grid.add("erp", receiver, "proposed,saved,cancelled")
        grid.send()
        for turn in range(KILLS):
            grid.propose("S1")
            grid.propose("S2", grid.articles[:2])
            if turn % 3 == 2:
                grid.ctl("proposals", "save", "S2", "--all")
                grid.ctl("proposals", "cancel", "S1", "--all")
            time.sleep(chance.uniform(0, 0.3))
            grid.kill()
            if chance.random() < 0.3:
                receiver.stop()
                receiver.start()
            grid.send()
        want = grid.trail("proposed", "replaced", "validated", "edited",
                          "rejected", "withdrawn")
        grid.wait_for(receiver, len(want))
        wait_until(lambda: grid.hook("erp")["waiting"] == 0, "the end")
        assert not receiver.wrong
        for supplier in ("S1", "S2"):
            got = [e["data"]["numero"] for e in receiver.first()
                   if e["data"]["codeFournisseur"] == supplier]
            assert got == [e["number"] for e in want
                           if e["fournisseur"] == supplier]
        print("   %d events, %d tries" % (len(want), len(receiver.tries)))
        receiver.stop()


def a_second_sender_ends_at_once():
    with Hooks() as grid:
        receiver = Receiver()
        grid.add("erp", receiver)
        grid.send()
        grid.put(grid.articles[0], "Z")
        grid.wait_for(receiver, 1)
        done = grid.ctl("hook", "deliver", check=False)
        assert done.returncode == 3, done
        assert "another process" in done.stderr, done
        receiver.stop()


def other_suppliers_and_bad_words_are_kept_out():
    with Hooks() as grid:
        receiver = Receiver()
        grid.add("s2", receiver, "proposed", "--suppliers", "S2,S3")
        grid.send()
        grid.propose("S1")
        grid.propose("S2", grid.articles[:1])
        grid.wait_for(receiver, 1)
        assert receiver.first()[0]["data"]["codeFournisseur"] == "S2"
        for name, url, why in (
                ("a b", "http://h/", "NAME"), ("a", "ftp://h/", "begins with"),
                ("a", "http://u:p@h/", "user"), ("a", "http://h/#x", "'#'"),
                ("a", "file:///etc/passwd", "begins with"),
                ("a", "http:///", "host"), ("a", "http://h/ x", "space"),
                ("a", "http://h:99999/", "no address"),
                ("a", "http://h/" + 2048 * "x", "2,048")):
            done = grid.ctl("hook", "add", name, url, "--events", "saved",
                            check=False)
            assert done.returncode == 2 and why in done.stderr, (name, done)
        for host, warned in (("127.0.0.1", 0), ("localhost", 0), ("[::1]", 0),
                             ("127.9.9.9:80", 0), ("h", 1), ("127.1.h", 1),
                             ("localhost.h", 1)):
            done = grid.ctl("hook", "add", "warn", "http://%s/x" % host,
                            "--events", "saved", check=False)
            assert done.returncode == 0, done
            assert ("https://" in done.stderr) == bool(warned), (host, done)
            grid.ctl("hook", "remove", "warn")
        done = grid.ctl("hook", "add", "a", "http://h/", check=False)
        assert done.returncode == 2 and "--events" in done.stderr, done
        done = grid.ctl("hook", "add", "a", "http://h/", "--events", "saved",
                        "--secret-file", "-", stdin="geheim", check=False)
        assert done.returncode == 2 and "geheim" not in done.stderr, done
        secret = "whsec_" + base64.b64encode(b"k" * 24).decode()
        done = grid.ctl("hook", "add", "a", "http://h/", "--events", "saved",
                        "--secret-file", "-", stdin=secret + "\n")
        assert done == "", done
        receiver.stop()


def a_list_says_what_a_hook_is_told_of_and_no_password():
    with Hooks() as grid:
        grid.ctl("hook", "add", "erp", "https://h.example/x?token=geheim",
                 "--events", "saved,failed", "--suppliers", "S1,S2")
        for more in ([], ["--json"]):
            listed = grid.ctl("hook", "list", *more)
            assert "geheim" not in listed, listed
            assert "https://h.example/x?\u2026" in listed, listed
            assert "never tried" in listed, listed
        assert "saved,failed of S1,S2" in grid.ctl("hook", "list")


def supplier_codes_are_read_as_they_are_meant():
    """For hooks and for keys: spaces, codes that none has, empty codes."""
    with Hooks() as grid:
        for command, words in (
                ("hook", ["hook", "add", "erp", "https://h/", "--events",
                          "saved"]),
                ("key", ["key", "create", "--name", "erp", "--scope", "read"])):
            for codes in ("S1,,S2", "S1,", " ", "", "S1, ,S2"):
                done = grid.ctl(*words, "--suppliers", codes, check=False)
                assert done.returncode == 2, (command, codes, done)
                assert "empty" in done.stderr, (command, codes, done)
            done = grid.ctl(*words, "--suppliers", " S1 , S9,S2 ",
                            check=False)
            assert done.returncode == 0, (command, done)
            warned = [line for line in done.stderr.splitlines()
                      if "no supplier" in line]
            assert len(warned) == 1 and '"S9"' in warned[0], (command, done)
            kept = next(one for one in json.loads(
                grid.ctl(command, "list", "--json")) if one["name"] == "erp")
            assert kept["suppliers"] == ["S1", "S9", "S2"], (command, kept)


def failures_are_events():
    with Hooks() as grid:
        receiver = Receiver()
        grid.add("erp", receiver, "failed")
        grid.send()
        os.unlink(grid.path("csv/suppliers.csv"))
        assert grid.ctl("import", "--quiet", grid.path("csv"),
                        check=False).returncode == 1
        grid.wait_for(receiver, 1)
        data = receiver.first()[0]["data"]
        assert data["codeFournisseur"] is None, data
        assert data["par"] == "gridctl import" and "fault" in data["raison"]
        receiver.stop()


RECORD = 256  # of lmdb-schema/compute/begun.h: two numbers, and the reason


def is_begun(note, process):
    """Whether the last record is the process's, and it has not ended."""
    try:
        with open(note, "rb") as file:
            records = file.read()
    except OSError:
        return False
    last = records[-RECORD:]
    return len(last) == RECORD and last[16] == 0 and int.from_bytes(
        last[:8], sys.byteorder) & 0x3fffff == process.pid


def is_stopped(process):
    """A signal may take a moment to arrive; or the process has ended."""
    with open("/proc/%d/stat" % process.pid, encoding="ascii",
              errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] in "TZ"


def killed_computations_are_events_each_of_them_once():
    """Ended by SIGKILL at any moment, while the sender is killed, too."""
    with Hooks(articles=20000) as grid:
        chance = random.Random()
        seed = int(os.environ.get("GRID_SEED", chance.randrange(1 << 30)))
        chance.seed(seed)
        print("   GRID_SEED=%d" % seed)
        receiver = Receiver()
        grid.add("erp", receiver, "failed")
        grid.send()
        note = os.path.join(grid.data, "locks", "begun", "S1")
        killed = turns = 0
        while killed < 6:
            turns += 1
            assert turns < 200, "no kill comes before its end"
            before = grid.computed_at("S1")
            child = subprocess.Popen([GRIDCTL, "--data", grid.data, "compute",
                                      "--quiet", "S1"])
            wait_until(lambda: is_begun(note, child) or
                       child.poll() is not None, "it has begun")
            time.sleep(chance.choice((0, 0, 0.01, 0.05)))
            child.send_signal(signal.SIGSTOP)  # it keeps the lock
            wait_until(lambda: is_stopped(child), "it has stopped")
            begun = is_begun(note, child)
            child.kill()
            child.wait()
            killed += begun and grid.computed_at("S1") == before
            if chance.random() < 0.4:
                time.sleep(chance.uniform(0, 0.3))
                grid.kill()
                grid.send()
        grid.ctl("compute", "--quiet", "S1")
        wait_until(lambda: not os.path.exists(note), "all are told")
        assert len(grid.trail("failed")) == killed, (killed, turns)
        grid.wait_for(receiver, killed)
        grid.kill(signal.SIGTERM)
        grid.send()
        wait_until(lambda: grid.hook("erp")["waiting"] == 0, "the end")
        assert len(grid.trail("failed")) == killed, (killed, turns)
        assert len(receiver.first()) == killed
        data = receiver.first()[0]["data"]
        assert data["codeFournisseur"] == "S1", data
        assert data["par"] == "gridctl compute" and "killed" in data["raison"]
        receiver.stop()


def a_computation_that_gridapi_ends_is_one_event():
    """gridctl is stopped in the middle, so that its limit is reached."""
    grid = Hooks(settings={"compute.timeout": 3})
    wrapper = grid.path("stopping")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write("""#!/bin/sh
for code; do :; done
note='%(data)s/locks/begun/'$code
'%(gridctl)s' "$@" &
while [ ! -s "$note" ] && kill -0 $!; do :; done
kill -STOP $!
[ ! -s "$note" ] || : >'%(folder)s/stopped.'$code
wait
""" % {"data": grid.data, "gridctl": GRIDCTL, "folder": grid.folder})
    os.chmod(wrapper, 0o755)
    grid.settings["compute.gridctl"] = wrapper
    csv = grid.path("more")
    os.makedirs(csv)
    names = ["BIG%d" % i for i in range(8)]
    with open(csv + "/suppliers.csv", "w", encoding="utf-8") as file:
        file.write("code,nom\n" + "".join(
            "%s,%s\n" % (name, name) for name in names))
    with open(csv + "/articles.csv", "w", encoding="utf-8") as file:
        file.write("fournisseur,codein,libelle1,libelle2,marque,gtin,reference,"
                   "codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme\n" +
                   "".join("%s,%05d,Article,,,,,,101010,1,1,2,20,A\n" % (
                       name, i) for name in names for i in range(8000)))
    grid.ctl("import", "--quiet", "--merge", csv)
    with grid:
        receiver = Receiver()
        grid.add("erp", receiver, "failed")
        grid.send()
        stopped = []
        for name in names:
            answer = grid.ask("GET", "/api/v1/grid?limit=1&fournisseur=" + name)
            # One that was done before it could be stopped has no event.
            if answer.status != 200 and not grid.computed_at(name) and \
                    os.path.exists(grid.path("stopped." + name)):
                assert answer.status in (500, 504), answer.text
                stopped.append(name)
            if len(stopped) == 2:
                break
        assert stopped, "each was computed before it was stopped"
        wait_until(lambda: not os.listdir(os.path.join(
            grid.data, "locks", "begun")), "all are told")
        wait_until(lambda: grid.hook("erp")["waiting"] == 0, "the end")
        told = [event["data"]["codeFournisseur"] for event in receiver.first()]
        assert len(set(told)) == len(told) and set(stopped) <= set(told), (
            told, stopped)
        assert not any(grid.computed_at(name) for name in told), told
        receiver.stop()


def gridapi_sends_and_counts():
    grid = Hooks(settings={"hooks.deliver": "yes"})
    receiver = Receiver()
    grid.add("erp", receiver)
    with grid:
        receiver.status = 503
        grid.propose("S1")
        wait_until(lambda: len(receiver.tries) >= 4, "it is tried")
        os.kill(grid.sender_of_gridapi(), signal.SIGKILL)
        grid.stop()
        receiver.status = 200
        waits = 'gridapi_hook_events{state="waiting"}'
        grid.settings["hooks.deliver"] = "no"
        grid.start_pool()
        grid.start_nginx()
        wait_until(lambda: waits in grid.get("/metrics").body.decode(),
                   "housekeeping counts")
        assert grid.metric(waits) == len(grid.trail("proposed", "replaced"))
        text = grid.get("/metrics").body.decode()
        assert "# TYPE gridapi_hook_tries_total counter" in text
        assert grid.metric('gridapi_hooks{state="failing"}') == 1
        assert grid.metric('gridapi_hooks{state="catching_up"}') == 0
        assert grid.metric("gridapi_hook_events_oldest_timestamp_seconds") > 0
        grid.settings["hooks.deliver"] = "yes"
        grid.stop()
        grid.start_pool()
        grid.start_nginx()
        grid.wait_for(receiver, len(grid.trail("proposed", "replaced")))
        assert not receiver.wrong
    receiver.stop()


def gridhook_takes_them():
    with Hooks() as grid:
        secret = "whsec_" + base64.b64encode(b"k" * 24).decode()
        path = grid.path("senders")
        with open(path, "w", encoding="utf-8") as file:
            file.write("grid standard-webhooks %s\n" % secret)
        os.chmod(path, 0o600)
        with Hook({"server": {"senders_file": path}},
                  secret="a secret of others") as hook:
            for name, key in (("good", secret), ("bad", secret[:-2] + "aa")):
                grid.ctl("hook", "add", name, "http://127.0.0.1:%d/assistant/"
                         "hook/grid" % hook.port, "--events", "proposed",
                         "--secret-file", "-", stdin=key)
            assert "it answered 200" in grid.ctl("hook", "test", "good")
            done = grid.ctl("hook", "test", "bad", check=False)
            assert done.returncode == 1 and "it answered 40" in done.stdout
            grid.ctl("hook", "remove", "bad")
            grid.send()
            grid.put(grid.articles[0], "Z")
            wait_until(lambda: grid.hook("good")["delivered"] == 1, "it came")


def libraries_of_others_verify_what_is_sent():
    """standardwebhooks and svix, from npm: each event, and none that differs."""
    modules = os.environ.get("GRID_MODULES")
    if not modules:
        print("   skipped: npm's standardwebhooks and svix are not there")
        return
    with Hooks() as grid:
        receiver = Receiver()
        grid.add("erp", receiver, ALL)
        assert "it answered 204" in grid.ctl("hook", "test", "erp")
        grid.send()
        grid.put(grid.articles[0], "Z", motif="une « raison » \U0001f9c0")
        grid.ctl("proposals", "save", "S1", "--all")
        grid.ctl("compute", "--quiet", "S2")
        grid.wait_for(receiver, 4)
        other = "whsec_" + base64.b64encode(b"k" * 24).decode()
        asked = []
        for headers, body in receiver.sent:
            asked += [(receiver.secret, headers, body, True),
                      (receiver.secret, headers, body + " ", False),
                      (receiver.secret, dict(headers, **{
                          "webhook-id": "evt_other"}), body, False),
                      (other, headers, body, False)]
        done = subprocess.run(
            ["node", os.path.join(TOP, "tests", "system", "hooks",
                                  "verify.mjs"), os.path.abspath(modules)],
            input="".join(json.dumps({
                "secret": secret, "headers": headers, "body": body}) + "\n"
                for secret, headers, body, _ in asked),
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(said) == len(asked) >= 16, (len(said), len(asked))
        for one, (_, _, body, right) in zip(said, asked):
            assert sorted(one) == ["standardwebhooks", "svix"], one
            assert all((why == "") == right for why in one.values()), (
                one, body, right)
        receiver.stop()


def tls_is_verified():
    with Hooks() as grid:
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", grid.path("key.pem"), "-out", grid.path("cert.pem"),
             "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost"], capture_output=True,
            check=False)
        assert made.returncode == 0, made.stderr
        receiver = Receiver(tls=(grid.path("cert.pem"), grid.path("key.pem")))
        grid.ctl("hook", "add", "erp", receiver.url().replace(
            "http://127.0.0.1", "https://localhost"), "--events", "proposed")
        done = grid.ctl("hook", "test", "erp", check=False)
        assert done.returncode == 1 and "certificate" in done.stderr, done
        assert not receiver.tries
        assert "it answered 204" in grid.ctl(
            "hook", "test", "erp", "--ca", grid.path("cert.pem"))
        grid.ctl("hook", "add", "other", receiver.url().replace(
            "http:", "https:"), "--events", "proposed")
        done = grid.ctl("hook", "test", "other", "--ca",
                        grid.path("cert.pem"), check=False)
        assert done.returncode == 1, "another name than the certificate's"
        receiver.stop()


if __name__ == "__main__":
    run_tests([
        a_list_says_what_a_hook_is_told_of_and_no_password,
        supplier_codes_are_read_as_they_are_meant,
        failures_are_events,
        killed_computations_are_events_each_of_them_once,
        a_computation_that_gridapi_ends_is_one_event,
        gridapi_sends_and_counts,
        gridhook_takes_them,
        libraries_of_others_verify_what_is_sent,
        tls_is_verified,
        events_are_signed_and_say_what_happened,
        the_test_event_is_answered_at_once,
        a_dead_receiver_gets_all_when_it_is_back_and_holds_up_no_other,
        a_refused_event_holds_up_its_supplier_alone,
        a_success_ends_the_waits_of_all_suppliers,
        a_hook_whose_events_wait_is_not_fine,
        what_is_given_up_is_listed_and_sent_again,
        a_receiver_that_is_gone_for_good_stops_its_hook,
        one_slow_receiver_ends_at_its_time_limit,
        a_try_is_one_request,
        a_410_ends_a_hook_even_when_time_is_up,
        none_is_delivered_after_a_removal,
        kills_at_random_lose_nothing_and_keep_the_order,
        a_second_sender_ends_at_once,
        other_suppliers_and_bad_words_are_kept_out,
    ])
