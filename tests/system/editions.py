"""What one node of a cluster imports, on the others: with a real etcd, gridapi and
nginx, and a proxy before a node that cuts, flips and stops its files."""

import http.client
import http.server
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL, write  # noqa: E402
from join import TABLES, Node  # noqa: E402
from stack import (PATIENCE, children, kill,  # noqa: E402
                   run_tests, wait_until)

HEAD = ("fournisseur,codein,libelle1,libelle2,marque,gtin,reference,"
        "codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme")


class Proxy:
    """Before a node's nginx, for its files. `fault(path, first, body)` is asked for
    each answer: the bytes to send, of which the length that was promised stays."""

    def __init__(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                proxy.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.behind = None
        self.asked = []  # path, first byte
        self.fault = None
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def answer(self, handler):
        handler.close_connection = True
        headers = {name: value for name, value in handler.headers.items()
                   if name in ("Authorization", "Range")}
        first = int(re.sub(r"\D", "", headers.get("Range", "bytes=0-")))
        self.asked.append((handler.path, first))
        connection = http.client.HTTPConnection("127.0.0.1", self.behind,
                                                timeout=PATIENCE)
        try:
            connection.request("GET", handler.path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()
        handler.send_response(answer.status)
        for name in ("Content-Range", "Content-Type"):
            if answer.headers[name]:
                handler.send_header(name, answer.headers[name])
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.flush()
        try:
            if self.fault and answer.status in (200, 206):
                for part in self.fault(handler.path, first, body):
                    handler.wfile.write(part)
                    handler.wfile.flush()
            else:
                handler.wfile.write(body)
        except OSError:
            pass

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Shop(Node):
    """The first node's files come by its proxy."""

    def __init__(self, etcd, first=None, copies=1, **options):
        self.copies = copies
        self.proxy = Proxy() if first is None else None
        super().__init__(etcd, first, **options)

    def write_conf(self):
        port = self.port
        if self.proxy:
            self.proxy.behind = self.port
            port = self.proxy.port
        self.engine.write_conf(
            self.data, "address = http://%s:%d\nsecret_file = %s\n"
            "copies = %d\n" % (self.address, port, self.path("secret"),
                               self.copies))

    def __exit__(self, *words):
        super().__exit__(*words)
        if self.proxy:
            self.proxy.close()

    @property
    def name(self):
        return self.engine.node_name(self.data)

    def live(self):
        """Of facts that cannot be read just what can."""
        done = subprocess.run([TABLES, self.data, "live"], text=True,
                              capture_output=True, check=False)
        return done.stdout

    def delivery(self, label, count=2000):
        """Another delivery of all facts; some of the articles of each."""
        csv = self.path("csv-" + label)
        os.makedirs(csv, exist_ok=True)
        write(csv + "/suppliers.csv", ["code,nom", "S1,Un", "S2,Deux"])
        chance = random.Random(label)
        write(csv + "/articles.csv", [HEAD] + [
            "S%d,%05d,%s %s,%s,,,,,101010,1,1,2,20,A" % (
                1 + i // (count - 5), 10000 + i, label, i,
                chance.getrandbits(200)) for i in range(count)])
        return csv

    def import_(self, label, *words, **options):
        return self.ctl("import", "--quiet", self.delivery(label, **options),
                        *words)

    def status(self):
        return json.loads(self.ctl("cluster", "status", "--json",
                                   check=False).stdout)

    def follower(self):
        """gridapi's process that follows and takes in: it has the state open,
        and none of the sockets."""
        return [pid for pid in children(self.pool.pid)
                if not self.sockets_of(pid)]


def all_show(one, *others):
    """That is, the same as the first one."""
    wanted = one.live()
    wait_until(lambda: all(node.live() == wanted for node in others),
               "all nodes show what was imported")
    return wanted


def an_import_on_one_node_is_shown_by_all():
    with Etcd() as etcd, Shop(etcd, copies=2) as one:
        assert "import 1" in one.begun, one.begun
        with Shop(etcd, one, copies=2) as two, \
                Shop(etcd, one, copies=2) as three:
            # Two nodes that joined have its facts without an import.
            assert "import 1 of node" in two.pulled, two.pulled
            before = all_show(one, two, three)
            for node in (one, two, three):
                wait_until(node.is_current, "it is current")
            rows = one.rows()["data"]
            assert rows and rows == two.rows()["data"] == three.rows()["data"]
            one.import_("b", count=60)
            assert all_show(one, two, three) != before
            # Each node may be the next, also with what an import does not
            # bring: ranges, the network's metrics, a merge.
            write(two.path("gammes.csv"),
                  ["fournisseur,codein,gamme", "S1,10000,Z"])
            two.ctl("gammes", "import", two.path("gammes.csv"))
            all_show(two, one, three)
            write(three.path("network.csv"),
                  ["codeCentrale,caReseau,qteReseau,nbMagasinsReseau,"
                   "margePctReseau,fetchedAt", "100001,5,5,5,0.2,"])
            three.ctl("network", three.path("network.csv"))
            all_show(three, one, two)
            csv = two.path("merge")
            os.makedirs(csv)
            write(csv + "/suppliers.csv", ["code,nom", "S9,Neuf"])
            write(csv + "/articles.csv",
                  [HEAD, "S9,90000,New,,,,,,101010,1,1,2,20,B"])
            two.ctl("import", "--quiet", "--merge", csv)
            all_show(two, one, three)
            for node in (one, two, three):
                node.ctl("compute", "--quiet", "--all")
                assert node.row("10000") == ("Z", "Z", None)
                assert node.row("90000", "S9") == ("B", "B", None)
            assert one.rows()["data"] == two.rows()["data"]
            # One that is away catches up.
            three.stop()
            one.import_("c", count=60)
            all_show(one, two)
            two.import_("d", count=60)
            assert three.live() != all_show(two, one)
            three.begin()
            all_show(two, three)
            last = two.status()["import"]
            wait_until(lambda: {node["import"] for node in
                                two.status()["nodes"]} == {last},
                       "each node tells that it shows the last import")
            ready = json.loads(three.get("/readyz").body)
            assert ready["import"] == ready["last"] == last, ready


def files_come_whole_whatever_happens_on_the_way():
    with Etcd() as etcd, Shop(etcd) as one, Shop(etcd, one) as two, \
            Shop(etcd, one) as three:
        all_show(one, two, three)
        a_flipped_byte(one, two, three)
        a_holder_that_dies(one, two, three)
        a_puller_that_dies(one, two, three)
        an_importer_that_dies(one, two, three)


def a_flipped_byte(one, two, three):
    flipped = []

    def flip(path, first, body):
        if len(flipped) < 3 and len(body) > 5000:
            flipped.append(path)
            body = body[:4000] + bytes([body[4000] ^ 1]) + body[4001:]
        return [body]

    one.proxy.fault = flip
    one.import_("flip")
    all_show(one, two, three)
    assert flipped and "error=" in two.log() + three.log()
    one.proxy.fault = None


def a_holder_that_dies(one, two, three):
    """It made the import, and is cut off in the middle of a file that another
    node has by now: that one gives the rest."""
    three.stop()
    one.import_("holder")
    all_show(one, two)
    begun = []

    def cut(path, first, body):
        begun.append(path)
        if len(body) < 20000:
            return [body]
        one.proxy.behind = 1  # nobody listens there
        return [body[:len(body) // 2]]

    one.proxy.fault = cut
    three.begin()
    all_show(two, three)
    assert one.proxy.behind == 1 and begun
    one.proxy.fault, one.proxy.behind = None, one.port


def a_puller_that_dies(one, two, three):
    """With SIGKILL, in the middle of each file in turn; the next one goes on
    where it was."""
    waiting, go_on = threading.Event(), threading.Event()
    stopped = set()

    def stop(path, first, body):
        if path in stopped:
            return [body]
        stopped.add(path)
        return half(body)

    def half(body):
        yield body[:len(body) // 2]
        waiting.set()
        go_on.wait(PATIENCE)
        yield body[len(body) // 2:]

    two.stop()
    one.proxy.fault = stop
    one.proxy.asked.clear()
    one.import_("puller")
    kills = 0
    while three.live() != one.live():
        if waiting.wait(0.05):
            waiting.clear()
            for pid in three.follower():
                kill(pid)
            kills += 1
            go_on.set()
            go_on = threading.Event()
        assert kills < 10
    assert kills >= 3, kills
    assert any(first > 0 for _, first in one.proxy.asked), one.proxy.asked
    one.proxy.fault = None
    # And by gridctl, at any moment of it.
    three.stop()
    for i in range(4):
        one.import_("puller%d" % i, count=300)
        with subprocess.Popen([GRIDCTL, "--data", two.data, "cluster", "pull"],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(0.015 * i)
            process.kill()
        two.ctl("cluster", "pull")
        assert two.live() == one.live()
    two.begin()
    three.begin()
    all_show(one, two, three)


def an_importer_that_dies(one, two, three):
    """Each node shows what was before, or the import; and all the same."""
    csv = one.delivery("importer", count=3000)
    before = one.live()
    for i in range(6):
        with subprocess.Popen([GRIDCTL, "--data", one.data, "import",
                               "--quiet", csv], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(0.05 * i)
            process.kill()
        wait_until(lambda: one.live() == two.live() == three.live(),
                   "all nodes show the same")
        if one.live() == before:
            assert "importer" not in one.ctl("cluster", "status", check=False)\
                .stdout
        before = one.live()
    # What was left behind hinders nobody.
    two.import_("after")
    all_show(two, one, three)


def flip_bytes(path):
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        # Behind the two pages that tell LMDB where the others are.
        for at in range(min(8192, size // 2), size, 101):
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))


def nodes_that_imported_apart_come_together():
    """They had no secret for a while. Then one's data are those of all, and the
    other computes anew what it shows."""
    with Etcd() as etcd, Shop(etcd) as one, Shop(etcd, one) as two:
        for node in (one, two):
            node.stop()
            etcd.write_conf(node.data)
        done = one.ctl("cluster", "publish", check=False)
        assert done.returncode == 1 and "secret_file" in done.stderr, done
        one.import_("one", count=40)
        two.import_("two", count=40)
        for node in (one, two):
            node.ctl("compute", "--quiet", "--all")
            node.copies = 2
            node.write_conf()
        assert one.live() != two.live()
        # Before gridapi shows what was published before.
        two.begin()
        one.start_nginx()
        done = one.ctl("cluster", "publish")
        assert "show this node's data" in done, done
        one.stop()
        one.begin()
        all_show(one, two)
        two.ctl("compute", "--quiet", "--stale")
        assert names(one) == names(two) and "one 0" in names(two), names(two)


def names(node):
    answer = node.ask("GET", "/api/v1/grid?fournisseur=S1&fields=libelle1")
    assert answer.status == 200, answer.text
    return [row["libelle1"] for row in answer.json["data"]]


def text_of_edition(node):
    for name in os.listdir(node.data + "/files"):
        path = node.data + "/files/" + name
        with open(path, "rb") as file:
            if file.read(21) == b"product-grid edition ":
                return path
    raise AssertionError("no text of an edition")


def a_damaged_file_comes_anew():
    """By hand; and by gridapi, when it comes on it."""
    with Etcd() as etcd, Shop(etcd) as one, Shop(etcd, one) as two:
        one.ctl("import", "--quiet", "--shares", "3",
                one.delivery("damage", count=300))
        wanted = all_show(one, two)
        two.stop()
        facts = [two.data + "/facts/" + line.split()[0]
                 for line in wanted.splitlines() if ".mdb " in line]
        text = text_of_edition(two)
        with open(text) as file:
            live = re.search("live [0-9]+ (.*)", file.read()).group(1)
        given = [text, two.data + "/files/" + live]
        assert len(facts) == 4, facts
        for path in facts + given:
            flip_bytes(path)
            done = two.ctl("cluster", "pull", "--verify")
            assert "damaged files came anew" in done, (path, done)
            assert two.live() == wanted
        done = two.ctl("cluster", "pull", "--verify")
        assert "damaged" not in done, done
        flip_bytes(facts[0])
        told = [line for line in two.ctl("check", check=False).stderr
                .splitlines() if line.startswith("damaged: facts:")]
        assert told and all("'gridctl cluster pull --verify'" in line
                            for line in told), told
        two.start()
        wait_until(lambda: "asked of another node" in two.log(),
                   "gridapi comes on it")
        all_show(one, two)
        wait_until(two.is_current, "it is current")


def what_cannot_be_shared_changes_nothing():
    with Etcd() as etcd, Shop(etcd, copies=2) as one, \
            Shop(etcd, one, copies=2) as two:
        before = all_show(one, two)
        one_at_a_time(one, two)
        before = all_show(one, two)
        wait_until(lambda: one.status()["well"],
                   lambda: "two copies can be had: %s" % one.status())
        two.stop()
        wait_until(lambda: len(one.status()["nodes"]) == 1, "one is left")
        fault = "an import on this node is refused: copies is 2 in its " \
            "cluster.conf, and those that can have the files are 1"
        assert fault in one.status()["faults"], one.status()
        doctor = json.loads(one.ctl("doctor", "--json", check=False).stdout)
        assert ("wrong", fault) in [(line["level"], line["text"])
                                    for line in doctor], doctor
        done = one.ctl("import", one.delivery("alone"), check=False)
        assert done.returncode == 1, done
        for text in ("nothing was changed: 1 of 2 nodes have the import's "
                     "files", "the import's files: node %s is not heard of: "
                     "is its gridapi up" % two.name):
            assert text in done.stderr, done.stderr
        assert "lower [cluster] copies" in done.stderr, done.stderr
        assert one.live() == before
        one.ctl("cluster", "publish", "--alone")
        before = one.live()
        # Without the log no import begins.
        two.begin()
        all_show(one, two)
        etcd.kill(0)
        done = one.ctl("import", one.delivery("away"), check=False)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == 1 and last.endswith(
            "nothing was changed: this node does not reach the log that the "
            "nodes share: 'gridctl cluster status' says which server does "
            "not answer. Once it does, repeat the command, or run it on a "
            "node that reaches the log"), done.stderr
        assert one.live() == before == two.live()
        etcd.start(0)
        wait_until(etcd.answers, "etcd answers")
        for node in (one, two):
            wait_until(node.is_current, "it is current")
        one.import_("back")
        all_show(one, two)


def without_its_secret_a_node_begins_nothing():
    with Etcd() as etcd, Shop(etcd, copies=1) as one:
        before, known = one.live(), one.status()
        csv = one.delivery("secret")
        os.rename(one.path("secret"), one.path("elsewhere"))
        for words in (["import", csv], ["compute", "S1"],
                      ["compute", "--all"]):
            done = one.ctl(*words, check=False)
            assert done.returncode == 1, (words, done)
            for word in (one.path("secret"), "secret_file", "copy it"):
                assert word in done.stderr, (words, done.stderr)
        assert one.live() == before
        for what in ("import", "computations"):
            assert one.status()[what] == known[what], one.status()
        os.rename(one.path("elsewhere"), one.path("secret"))
        one.ctl("import", "--quiet", csv)
        one.ctl("compute", "--quiet", "--all")


def one_at_a_time(one, two):
    """The other node is refused, and told which one is at it."""
    csv = one.delivery("long")
    os.rename(csv + "/suppliers.csv", one.path("suppliers.csv"))
    os.mkfifo(csv + "/suppliers.csv")
    with subprocess.Popen([GRIDCTL, "--data", one.data, "import", "--quiet",
                           csv]) as process:
        with open(csv + "/suppliers.csv", "w") as fifo:
            done = two.ctl("import", two.delivery("short"), check=False)
            assert done.returncode == 1, done
            assert "an import is running on node node0" in done.stderr, \
                done.stderr
            with open(one.path("suppliers.csv")) as file:
                fifo.write(file.read())
        assert process.wait() == 0
    all_show(one, two)


def a_node_with_another_secret_says_so_once():
    with Etcd() as etcd, Shop(etcd) as one, Shop(etcd, one) as two:
        all_show(one, two)
        secret = open(two.path("secret"), encoding="ascii").read()
        write(two.path("secret"), ["another-secret-of-a-node"])
        two.stop()
        two.start()
        one.import_("unseen")
        reason = "it answered 401: the secret of this node is not that of " \
            "http://%s:%d: compare the files that secret_file names, then " \
            "'gridctl cluster nginx'" % (one.address, one.proxy.port)
        wait_until(lambda: reason in two.log(), "the log says it")
        tries = len(one.proxy.asked)
        wait_until(lambda: len(one.proxy.asked) >= tries + 3, "it tries again")
        assert two.log().count("it answered 401") == 1, two.log()
        assert "a file does not come" not in two.log()
        done = two.ctl("cluster", "pull", check=False)
        assert done.returncode == 1 and reason in done.stderr, done
        write(two.path("secret"), [secret.strip()])
        two.stop()
        two.start()
        all_show(one, two)


def a_node_whose_nginx_refuses_is_named():
    """By status on each node, and by doctor, where it is what is wrong. As where
    nginx may not enter the folder, and where it has no cluster-nginx.conf."""
    with Etcd() as etcd, Shop(etcd) as one, Shop(etcd, one) as two:
        all_show(one, two)
        conf = one.path("nginx/cluster.conf")
        with open(conf, encoding="ascii") as file:
            given = file.read()
        address = "http://%s:%d" % (one.address, one.proxy.port)
        for number, text, other, lines in (
                (403, "nginx may not read the folder files of",
                 given.replace("\talias", "\tdeny all;\n\talias", 1), 0),
                (404, "nginx finds no such file in the folder files of",
                 "", 1)):
            told = two.log().count("a file does not come")
            serve(one, conf, other, number)
            one.import_("refused-%d" % number)
            fault = "node %s does not give its files to the others: it " \
                "answered %d: %s %s" % (one.name, number, text, address)
            for node, level in ((one, "wrong"), (two, "look")):
                wait_until(lambda node=node: fault in node.status()["faults"],
                           lambda node=node: "%s has it: %s" % (
                               node.name, node.status()["faults"]))
                doctor = json.loads(node.ctl("doctor", "--json", check=False)
                                    .stdout)
                assert (level, fault) in [(line["level"], line["text"])
                                          for line in doctor], doctor
            tries = len(one.proxy.asked)
            wait_until(lambda: len(one.proxy.asked) >= tries + 3,
                       "it tries again")
            assert two.log().count("a file does not come") == told + lines, \
                two.log()
            serve(one, conf, given, 200)
            all_show(one, two)
        wait_until(lambda: one.status()["well"], one.status)


def serve(node, path, text, status):
    """Has nginx serve by another file, as soon as the answer tells so."""
    write(path, [text])
    os.kill(node.nginx.pid, signal.SIGHUP)
    name = os.path.basename(text_of_edition(node))
    with open(node.path("secret"), encoding="ascii") as file:
        headers = {"Authorization": "Bearer " + file.read().strip()}
    wait_until(lambda: node.get("/cluster/files/" + name,
                                headers=headers).status == status,
               "nginx answers %d" % status)


if __name__ == "__main__":
    find_etcd()
    run_tests([an_import_on_one_node_is_shown_by_all,
               files_come_whole_whatever_happens_on_the_way,
               nodes_that_imported_apart_come_together,
               a_damaged_file_comes_anew,
               what_cannot_be_shared_changes_nothing,
               without_its_secret_a_node_begins_nothing,
               a_node_with_another_secret_says_so_once,
               a_node_whose_nginx_refuses_is_named])
