"""Searches over all suppliers, and articles without a supplier, of nodes that each
keep a part of them: with a real etcd, gridapi and nginx, each node answers as one
machine does that has all."""

import contextlib
import gzip
import http.client
import http.server
import json
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from computed import together  # noqa: E402
from editions import HEAD  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import Grid, write  # noqa: E402
from shares import Late, Sharer, settled  # noqa: E402
from stack import children, run_tests, wait_until  # noqa: E402

ARTICLES = 40
SALES = "fournisseur,codein,magasin,mois,quantite,ca,marge"


def delivery(folder, suppliers, label):
    """Turnovers of a few values: many rows are equal but for their codes."""
    os.makedirs(folder)
    chance = random.Random(label)
    write(folder + "/suppliers.csv", ["code,nom"] + [
        "%s,%s" % (code, label) for code in suppliers])
    write(folder + "/articles.csv", [HEAD] + [
        "%s,%05d,%s %s,%d,M%d,,,,101010,1,1,%d,20,%s" % (
            code, 10000 + i, label, "crème" if i % 3 else "sel", i % 5,
            chance.randrange(4), chance.randrange(1, 6),
            chance.choice("ABC"))
        for code in suppliers for i in range(ARTICLES + len(code))])
    write(folder + "/stores.csv", ["magasin,nom", "001,Un"])
    write(folder + "/sales.csv", [SALES] + [
        "%s,%05d,001,202512,%d,%d,1" % (
            code, 10000 + i, chance.randrange(1, 4), chance.randrange(-1, 9))
        for code in suppliers for i in range(ARTICLES) if i % 7])


class Alone(Grid):
    """One machine that has all suppliers."""

    def __init__(self, csv):
        self.csv = csv
        super().__init__()

    def fill(self):
        self.ctl("init")
        self.ctl("import", "--quiet", self.csv)
        self.ctl("compute", "--quiet", "--all")
        self.key = self.make_key("reader", "read")


def get(node, path, **headers):
    """By a connection of its own."""
    headers = {name.replace("_", "-"): value
               for name, value in headers.items()}
    headers.setdefault("X-API-Key", node.key)
    return node.get("/api/v1/products/" + path, headers=headers)


def body(answer):
    data = answer.body
    if answer.headers["Content-Encoding"] == "gzip":
        data = gzip.decompress(data)
    return data


QUERIES = [
    "q=creme", "q=creme&sort=libelle2", "q=creme&sort=-libelle2,prixVente",
    "q=creme&sort=prixVente,-marque,codein", "q=creme&sort=-marque",
    "q=sel&gamme=B", "q=sel&sort=codeGamme", "q=10004", "q=creme&code1=10",
    "q=nothing&fields=codein", "q=creme&prixVente=gt.3", "q=c"]
FIELDS = "&fields=codein,codeFournisseur,libelle1,prixVente,codeGamme,totalCa"


def as_one_machine(alone, *nodes):
    for query in QUERIES:
        for more in ("", "&limit=7&page=3", "&limit=1000", "&limit=50&page=2"
                     + FIELDS, "&page=99999999999"):
            wanted = get(alone, "search?" + query + more)
            answers = [get(node, "search?" + query + more) for node in nodes]
            for answer in answers:
                assert answer.status == wanted.status, (
                    query, more, answer.status, answer.body[:300])
                if wanted.status != 200:
                    assert answer.body == wanted.body
                    continue
                assert answer.body == wanted.body, (
                    query, more, answer.body[:3000], wanted.body[:3000])
            assert len({answer.headers["ETag"] for answer in answers}) == 1
            if wanted.status == 200:
                tag = answers[0].headers["ETag"]
                for node in nodes:
                    again = get(node, "search?" + query + more,
                                If_None_Match=tag)
                    assert (again.status, again.body) == (304, b"")


class Keeper(Late):
    """Of the same nodes, without keep: it has all suppliers."""

    keep = 0


def a_node_that_keeps_all_has_the_same_tags(etcd, one):
    """A client that asks now here, now there has its 304."""
    with Keeper(etcd, one) as keeper:
        wait_until(lambda: keeper.live() == one.live() and
                   set(one.codes()) <= keeper.has(), "it has all")
        for path in ["search?q=creme", "search?q=creme&limit=7&page=3",
                     "search?q=sel&format=csv&limit=50",
                     "search?q=creme&fournisseur=" + one.codes()[0],
                     "10000", "10041"]:
            answers = [get(node, path) for node in (one, keeper)]
            assert [answer.status for answer in answers] == [200, 200], path
            assert answers[0].body == answers[1].body, path
            assert answers[0].headers["ETag"] == answers[1].headers["ETag"], (
                path, answers[0].headers["ETag"], answers[1].headers["ETag"])
            for node, answer in zip((keeper, one), answers):
                again = get(node, path, If_None_Match=answer.headers["ETag"])
                assert (again.status, again.body) == (304, b""), path


def in_other_forms(alone, *nodes):
    for form in "ndjson", "csv", "csv-fr", "json", "xlsx", "parquet":
        path = "search?q=creme&limit=500&format=" + form
        if form not in ("ndjson", "json"):
            path += "&mois=lignes"
        for more in "", FIELDS:
            wanted = get(alone, path + more)
            for node in nodes:
                answer = get(node, path + more, Accept_Encoding="gzip")
                assert answer.status == wanted.status == 200, (
                    path, answer.body)
                assert body(answer) == wanted.body, path
                for name in "X-Total-Count", "X-Sans-Snapshot", "Link":
                    assert answer.headers[name] == wanted.headers[name], name


def paged_at_any_node(alone, *nodes):
    wanted = json.loads(get(alone, "search?q=creme&limit=100000").body)
    rows, page = [], 0
    while True:
        page += 1
        answer = json.loads(get(nodes[page % len(nodes)], "search?q=creme"
                                "&limit=13&page=%d" % page).body)
        assert answer["pagination"]["total"] == len(wanted["data"])
        rows += answer["data"]
        if not answer["pagination"]["hasMore"]:
            break
    assert rows == wanted["data"], page


def articles_as_one_machine(alone, *nodes):
    for codein in "10000", "10017", "10041", "10042", "99999":
        for more in "", "?fields=codein,codeFournisseur":
            wanted = get(alone, codein + more)
            for node in nodes:
                answer = get(node, codein + more)
                assert answer.status == wanted.status, answer.body
                got, want = json.loads(answer.body), json.loads(wanted.body)
                for one in got, want:
                    one.get("meta", {}).pop("computedAt", None)
                assert got == want, (codein, got, want)
                assert answer.status == 404 or answer.headers["ETag"]
            tags = {get(node, codein + more).headers["ETag"]
                    for node in nodes}
            assert len(tags) == 1, tags


def agents_see_all(alone, *nodes):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "query_rows", "arguments": {
                "search": "creme", "limit": 5}}}
    headers = {"Accept": "application/json, text/event-stream"}

    def ask(node):
        answer = node.ask("POST", "/mcp", call, headers=headers)
        assert answer.status == 200, answer.text
        found = answer.json["result"]["structuredContent"]
        assert found.pop("dump_url")
        return found

    wanted = ask(alone)
    assert wanted["total"] > 5, wanted
    for node in nodes:
        assert ask(node) == wanted, (ask(node), wanted)


def a_proposal_is_seen_everywhere(*nodes):
    one, two = nodes[:2]
    answer = one.put("10001", "Z", fournisseur="C1")
    seen = answer.headers["X-Grid-Seen"]
    for node in nodes:
        rows = json.loads(get(node, "search?q=10001&limit=100"
                              "&fields=codeFournisseur,gammeAValider",
                              X_Grid_Seen=seen).body)["data"]
        assert {"codeFournisseur": "C1", "gammeAValider": "Z"} in [
            {key: row[key] for key in ("codeFournisseur", "gammeAValider")}
            for row in rows], rows


# --- what goes wrong ----------------------------------------------------------

def whole(node, key=None):
    answer = get(node, "search?q=creme&limit=1")
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["meta"]


def all_have_all(nodes):
    wait_until(lambda: all(whole(node)["sansSnapshot"] == 0 and
                           "avertissement" not in whole_text(node)
                           for node in nodes), "each node has all")


def whole_text(node):
    return get(node, "search?q=creme&limit=100000&fields=codein").body.decode()


def a_node_is_stopped(one, two, three, wanted):
    """Each supplier has another node that keeps it."""
    three.pool.kill()
    three.pool.wait()
    for node in (one, two):
        assert whole_text(node) == wanted
    three.stop()
    for node in (one, two):
        assert whole_text(node) == wanted
        assert json.loads(get(node, "10000").body)["meta"].get(
            "autresNoeuds") is None
    three.begin()


def two_nodes_are_stopped(one, two, three):
    """What nobody has is told, and the rest is whole."""
    one.stop()
    two.stop()
    try:
        meta = whole(three)
        assert meta["fournisseurs"] == len(three.has()), meta
        assert meta["fournisseurs"] + meta["sansSnapshot"] == three.suppliers
        assert "do not answer" in meta["avertissement"], meta
        meta = json.loads(get(three, "10000").body)["meta"]
        assert set(meta["autresNoeuds"]) == set(three.codes()) - three.has()
    finally:
        one.begin()
        two.begin()
    all_have_all((one, two, three))


def pids_of(node):
    """nginx's workers, and gridapi's."""
    return children(node.nginx.pid), children(node.pool.pid)


def a_node_hangs(one, two, three, wanted):
    """Its gridapi, and then its nginx, takes connections and says nothing: the
    first answer waits for it, and the next ones do not."""
    for which in pids_of(three):
        for pid in which:
            os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert whole_text(one) == wanted
            assert time.monotonic() - began < 15
            assert "does not answer for its part" in one.log()
            assert whole_text(two) == wanted
        finally:
            for pid in which:
                os.kill(pid, signal.SIGCONT)
        wait_until(three.is_current, "it is there again")


def all_search_at_once(nodes, wanted):
    """More searches than a pool has threads, at all nodes at the same time: nobody
    waits for who waits."""
    def search(node):
        text = whole_text(node)
        return "" if text == wanted else "%s: %.300s ... %s" % (
            node.name, text, text[-300:])

    wrong = [told for told in together(
        *[lambda node=node: search(node)
          for node in nodes for _ in range(20)]) if told]
    assert not wrong, "%d: %s" % (len(wrong), wrong[0])


def strangers_get_nothing(one):
    """Without the secret, or with another one."""
    for headers in ({}, {"Authorization": "Bearer wrong"},
                    {"GRID_PART": "1", "Grid-Part": "1"},
                    {"X-API-Key": one.key}):
        answer = one.get("/cluster/part", "POST", headers, b"x")
        assert answer.status == 401, (headers, answer.status)
    right = {"Authorization": "Bearer " + open(one.path("secret")).read()
             .strip()}
    for bad in (b"", b"\x05ask 1", b"\x05ask 1\xff" + b"x" * 1000,
                os.urandom(500),
                b"\x05ask 1\x10/api/v1/magasins\x00\x01\x01\x01\x02C1"):
        answer = one.get("/cluster/part", "POST", right, bad)
        assert answer.status in (400, 411), (bad[:20], answer.status)
    answer = one.get("/cluster/part", "GET", right)
    assert answer.status == 405, answer.status


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers for another node whatever it was told to."""

    protocol_version = "HTTP/1.1"
    says = staticmethod(lambda handler: None)

    def do_POST(self):
        self.question = self.rfile.read(int(self.headers["Content-Length"]))
        self.says(self)

    def give(self, data, status=200, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(
            len(data) if length is None else length))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def number(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def text(data):
    return number(len(data)) + data


def part(rows, total=None, suppliers=1, end=b"\0"):
    out = text(b"part 1") + number(len(rows) if total is None else total) + \
        number(suppliers) + number(7) + number(7) + text(b"") + number(0)
    for order, row in rows:
        out += number(1) + text(order) + text(row)
    return out + end


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        pass


LIES = {
    "nothing": lambda handler: handler.give(b""),
    "text": lambda handler: handler.give(b"<html>hello</html>"),
    "an error": lambda handler: handler.give(b"{}", 500),
    "a part": lambda handler: handler.give(part([(b"a", b"{}")])[:-3], 200),
    "no end": lambda handler: handler.give(part([(b"a", b"{}")], end=b"")),
    "no order": lambda handler: handler.give(
        part([(b"b", b"{}"), (b"a", b"{}")])),
    "more rows than there are": lambda handler: handler.give(
        part([(b"a", b"{}"), (b"b", b"{}")], total=1)),
    "more suppliers": lambda handler: handler.give(
        part([], suppliers=1000)),
    "a long number": lambda handler: handler.give(
        text(b"part 1") + b"\xff" * 40),
    "cut": lambda handler: handler.give(part([]), length=1 << 20),
    "too much": endless,
}


@contextlib.contextmanager
def liar_instead_of(node):
    """Other nodes reach the liar at its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    conf = node.data + "/cluster.conf"
    with open(conf) as file:
        was = file.read()
    node.stop()
    with open(conf, "w") as file:
        file.write(was.replace(
            "address = http://%s:%d" % (node.address, node.port),
            "address = http://127.0.0.1:%d" % server.server_port))
    node.begin()
    try:
        yield
    finally:
        node.stop()
        with open(conf, "w") as file:
            file.write(was)
        node.begin()
        server.shutdown()
        server.server_close()


def a_node_lies(one, two, three, wanted):
    """What cannot be read counts as no answer."""
    with liar_instead_of(three):
        wait_until(lambda: lied(one, "an error"), "it is asked")
        for name, says in LIES.items():
            Liar.says = staticmethod(says)
            for node in (one, two):
                restart(node)
                assert whole_text(node) == wanted, name
        # Rows that are none of the columns that are asked for.
        for row in (b"{", b"[]", b'{"codein":1}\n', b"null", b"\xff",
                    b'{"codein":"1","codein":"2"}', b'{"totalCa":1}',
                    b'{"codein":"1"}x', b'{}', b""):
            Liar.says = staticmethod(lambda handler, row=row: handler.give(
                part([(b"\0", row)])))
            restart(one)
            assert whole_text(one) == wanted, row


def read_number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def for_one_row(question):
    """The question, but for one row."""
    at = 0
    for _ in "magic", "address":
        length, at = read_number(question, at)
        at += length
    _, first = read_number(question, at)
    _, count = read_number(question, first)
    return question[:first] + number(1) + question[count:]


class Slow:
    """The node's own answers, of a row each, a second behind each question."""

    def __init__(self, node):
        self.node, self.asked = node, 0

    def __call__(self, handler):
        self.asked += 1
        connection = http.client.HTTPConnection(
            self.node.address, self.node.port)
        connection.request(
            "POST", "/cluster/part", for_one_row(handler.question),
            {name: handler.headers[name] for name in (
                "Authorization", "X-Grid-Seen", "Content-Type")})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        time.sleep(1)
        handler.give(data, answer.status)


def a_node_is_slow(one, two, three, alone):
    """Each of its answers comes in time, and all together never would: the search
    begins again without it, or breaks off if its head is out."""
    slow = Slow(three)
    path = "search?q=creme&limit=%s" + FIELDS
    pages = [path % "100000", path % "40&page=2"]
    wanted = {path: get(alone, path).body for path in pages}
    rows = json.loads(wanted[pages[0]])["pagination"]["total"]
    with liar_instead_of(three):
        Liar.says = staticmethod(slow)
        wait_until(lambda: whole(one) and slow.asked, "it is asked")
        for path, body_of_all in wanted.items():
            for node in (one, two):
                restart(node)
                slow.asked = 0
                answer = get(node, path)
                assert answer.status == 200, answer.body
                assert answer.body == body_of_all
                assert 1 < slow.asked < 20 < rows / 10, (slow.asked, rows)
                # It rests for a while.
                slow.asked = 0
                assert get(node, path).body == body_of_all
                assert slow.asked == 0
        restart(one)
        lines = pages[0] + "&format=csv&mois=lignes"
        try:
            answer = get(one, lines)
        except http.client.IncompleteRead:
            pass
        else:
            assert answer.status == 200, answer.status  # no byte was out
            assert answer.body == get(alone, lines).body
        assert get(one, lines).body == get(alone, lines).body


def restart(node):
    """Its gridapi: no node rests for it then."""
    node.pool.terminate()
    node.pool.wait()
    node.start_pool()
    wait_until(node.is_current, "it is current")


def lied(node, name):
    Liar.asked = False

    def says(handler):
        Liar.asked = True
        LIES[name](handler)

    Liar.says = staticmethod(says)
    whole_text(node)
    return Liar.asked


def nodes_answer_as_one_machine():
    with Etcd() as etcd, Sharer(etcd) as one, Sharer(etcd, one) as two, \
            Sharer(etcd, one) as three:
        nodes = one, two, three
        csv = one.path("csv-all")
        delivery(csv, one.codes(), "first")
        one.ctl("import", "--quiet", csv)
        wait_until(lambda: len({node.live() for node in nodes}) == 1,
                   "all nodes show the import")
        together(*[lambda node=node: node.ctl(
            "compute", "--quiet", "--jobs", "1", "--all") for node in nodes])
        settled(nodes)
        all_have_all(nodes)
        with Alone(csv) as alone:
            as_one_machine(alone, *nodes)
            in_other_forms(alone, *nodes)
            paged_at_any_node(alone, *nodes)
            articles_as_one_machine(alone, *nodes)
            agents_see_all(alone, *nodes)
            a_node_is_slow(one, two, three, alone)
            wanted = whole_text(alone)
        strangers_get_nothing(one)
        all_search_at_once(nodes, wanted)
        a_node_hangs(one, two, three, wanted)
        a_node_is_stopped(one, two, three, wanted)
        all_have_all(nodes)
        two_nodes_are_stopped(one, two, three)
        a_node_lies(one, two, three, wanted)
        all_have_all(nodes)
        a_proposal_is_seen_everywhere(*nodes)
        a_node_that_keeps_all_has_the_same_tags(etcd, one)
        for node in nodes:
            node.ctl("check", "--quiet")


if __name__ == "__main__":
    find_etcd()
    run_tests([nodes_answer_as_one_machine])
