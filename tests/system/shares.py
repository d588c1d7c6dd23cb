"""Nodes that each keep a part of the suppliers (keep in cluster.conf), with a real
etcd, gridapi and nginx: each node answers for all, as nginx passes on what it does
not keep."""

import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from computed import Maker, together  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from stack import free_port, run_tests, wait_until  # noqa: E402


class Sharer(Maker):
    """A node that keeps its part."""

    suppliers, keep = 30, 2

    def write_conf(self):
        if self.proxy:
            self.proxy.close()
            self.proxy = None
        self.engine.write_conf(
            self.data, "address = http://%s:%d\nsecret_file = %s\n"
            "copies = 1\nkeep = %d\n" % (
                self.address, self.port, self.path("secret"), self.keep))

    def has(self):
        """The suppliers whose snapshots are on its disk."""
        folder = self.data + "/snapshots"
        return {code for code in os.listdir(folder)
                if any(name.endswith(".mdb")
                       for name in os.listdir("%s/%s" % (folder, code)))}

    def bytes(self):
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.data + "/snapshots")
                   for name in names if name.endswith(".mdb"))

    def grid(self, supplier, more="", method="GET", **headers):
        """As it comes, by a connection of its own."""
        headers = {name.replace("_", "-"): value
                   for name, value in headers.items()}
        headers["X-API-Key"] = self.key
        return self.get("/api/v1/grid?fournisseur=%s%s" % (supplier, more),
                        method, headers)


def settled(nodes):
    """Each node has its part and nothing else."""
    def is_so():
        for node in nodes:
            status = node.status()
            node.ctl("prune", "--grace", "0")
            if not status["snapshotsKept"] == status["snapshotsHere"] == \
                    len(node.has()):
                return False
        return True

    wait_until(is_so, lambda: "each node has its part: %s" % [
        (len(node.has()), node.status()) for node in nodes])


def all_same(answers):
    first = answers[0]
    for answer in answers[1:]:
        assert answer == first, (answer[:2], first[:2])
    return first


def shown(answer):
    body = answer.body
    if answer.headers["Content-Encoding"] == "gzip":
        body = gzip.decompress(body)
    return answer.status, answer.headers["ETag"], body


def each_node_answers_for_all(*nodes):
    passed = 0
    for code in nodes[0].codes():
        made = {"": {}, "&format=ndjson": {},
                "&limit=10&page=2": {"Accept_Encoding": "gzip"},
                "&format=csv": {"Accept_Encoding": "gzip"}}
        for more, headers in made.items():
            answers = [node.grid(code, more, **headers) for node in nodes]
            status, tag, body = all_same([shown(one) for one in answers])
            assert status == 200 and tag and body, (code, more, status)
            for node, answer in zip(nodes, answers):
                passed += answer.headers["X-Grid-Node"] != node.name
            heads = [node.grid(code, more, method="HEAD", **headers)
                     for node in nodes]
            assert [(head.status, head.headers["ETag"], head.body)
                    for head in heads] == [(200, tag, b"")] * len(nodes)
            again = [node.grid(code, more, If_None_Match=tag, **headers)
                     for node in nodes]
            assert [(one.status, one.body) for one in again] == \
                [(304, b"")] * len(nodes), again[0].status
    return passed


def three_nodes_keep_two_of_three(new_engine=Etcd):
    with new_engine() as etcd, Sharer(etcd) as one, \
            Sharer(etcd, one) as two, Sharer(etcd, one) as three:
        nodes = one, two, three
        one.deliver("first", articles=60)
        wait_until(lambda: len({node.live() for node in nodes}) == 1,
                   "all nodes show the import")
        shares_of_the_work(*nodes)
        assert each_node_answers_for_all(*nodes) >= one.suppliers
        other_requests(*nodes)
        nginx_has_not_its_part(*nodes)
        a_request_has_one_id(*nodes)
        persons_and_agents(*nodes)
        a_cold_miss_is_computed_once(*nodes)
        what_does_not_come(one, two, three)
        one_hangs(one, two, three)
        two_hang(one, two, three)
        one_is_stopped(one, two, three)
        two_are_stopped(one, two, three)
        one_leaves(one, two, three)
        for node in nodes:
            node.ctl("check", "--quiet")
        one_comes(etcd, one, two)


def shares_of_the_work(*nodes):
    one = nodes[0]
    before = one.computations()
    said = together(*[lambda node=node: node.ctl(
        "compute", "--jobs", "1", "--all") for node in nodes])
    assert all("that other nodes keep left out" in text for text in said), said
    one.has_computed(before + one.suppliers)
    settled(nodes)
    kept = [node.has() for node in nodes]
    for code in one.codes():
        assert sum(code in has for has in kept) == one.keep, (code, kept)
    # Each node has about two thirds of what all have.
    whole = sum(node.bytes() for node in nodes) / one.keep
    for node in nodes:
        assert 0.5 < node.bytes() / whole < 0.84, (node.bytes(), whole)
    assert one.metric("gridapi_shared_snapshots_kept") is not None


def status_without_host(node, supplier):
    with socket.create_connection((node.address, node.port), 60) as sock:
        sock.sendall(("GET /api/v1/grid?limit=1&fournisseur=%s HTTP/1.0\r\n"
                      "X-API-Key: %s\r\n\r\n" % (supplier, node.key)).encode())
        return sock.makefile("rb").readline().split()[1]


def other_requests(*nodes):
    one = nodes[0]
    lists = [node.ask("GET", "/api/v1/fournisseurs?limit=100").json
             for node in nodes]
    assert lists[0]["meta"]["sansSnapshot"] == 0, lists[0]["meta"]
    assert lists[0] == lists[1] == lists[2]
    # The same bytes have one tag, whoever gives them.
    tag = one.ask("GET", "/api/v1/fournisseurs?limit=100").headers["ETag"]
    for node in nodes:
        answer = node.ask("GET", "/api/v1/fournisseurs?limit=100",
                          headers={"If-None-Match": tag})
        assert answer.status == 304, (node.name, answer.headers["ETag"], tag)
    for node in nodes:
        other = sorted(set(node.codes()) - node.has())[0]
        # Only once: who does not keep it passes nothing on.
        answer = node.grid(other, X_Grid_Passed="x")
        assert answer.status == 421, answer.status
        # Nobody else says where to.
        answer = node.grid(other, X_Grid_Holder_1="http://127.0.0.1:1")
        assert answer.status == 200
        answer = node.grid("NONE")
        assert answer.status == 404, answer.status
        # HTTP/1.0 may leave Host out; between nodes it is HTTP/1.1.
        status = status_without_host(node, other)
        assert status == b"200", status
        answer = node.get("/api/v1/grid?fournisseur=" + other)
        assert answer.status == 401
        assert answer.headers["X-Grid-Node"] == node.name
        # A search covers all (across_nodes.py).
        answer = node.ask("GET", "/api/v1/products/search?q=first&limit=1")
        meta = answer.json["meta"]
        assert meta["fournisseurs"] == one.suppliers, meta
        assert meta["sansSnapshot"] == 0, meta
        answer = node.ask("GET", "/api/v1/products/search?q=first&limit=1"
                          "&fournisseur=" + other)
        assert answer.json["pagination"]["total"] == 60, answer.text
        # An article of all suppliers: no node keeps them all.
        answer = node.ask("GET", "/api/v1/products/10007")
        assert answer.status == 200, answer.text
        assert "autresNoeuds" not in answer.json["meta"], answer.text
        # Many codes, in the body of a POST.
        answer = node.ask("POST", "/api/v1/products/lookup?fournisseur=" +
                          other, {"codein": ["10001", "10002"]})
        assert answer.status == 200 and len(answer.json["data"]) == 2, \
            answer.text
        # Writes are of the node that is asked.
        answer = node.put("10003", "Y", fournisseur=other)
        assert answer.status == 200 and \
            answer.headers["X-Grid-Node"] == node.name, answer.text
        answer = node.put("99999", "Y", fournisseur=other)
        assert answer.status == 404, answer.text
        # And are seen by who wrote, wherever it is read.
        row = [row for row in json.loads(node.grid(other).body)["data"]
               if row["codein"] == "10003"][0]
        assert row["gammeAValider"] == "Y", row
        # A command gets it, without computing it once more.
        assert "by another node" in node.ctl("compute", other)
        assert other in node.has()
    settled(nodes)


def logged(node, **fields):
    """The lines of its access log with these fields."""
    with open(node.path("log/access.log")) as file:
        entries = [json.loads(line) for line in file if line.endswith("\n")]
    return [entry for entry in entries
            if all(entry.get(name) == value for name, value in fields.items())]


def a_request_has_one_id(*nodes):
    """The client is told the id of the node that it asked; who answers writes it
    beside its own."""
    for node in nodes:
        other = sorted(set(node.codes()) - node.has())[0]
        for more in ("&limit=1", "", "&format=ndjson"):
            answer = node.grid(other, more, X_Request_Id="0" * 32)
            ids = answer.headers.get_all("X-Request-Id")
            assert len(ids) == 1, ids
            by = [one for one in nodes
                  if one.name == answer.headers["X-Grid-Node"]][0]
            assert by is not node, more
            wait_until(lambda: logged(node, request_id=ids[0]),
                       "the node that is asked logs %s" % ids[0])
            wait_until(lambda: logged(by, asked=ids[0]),
                       "the node that answers logs %s" % ids[0])
            assert not logged(node, asked="0" * 32)


def nginx_has_not_its_part(*nodes):
    """keep was set, and gridapi began anew before nginx had what passes requests
    on: the node answers all by itself, and says what is to be done."""
    one = nodes[0]
    other = sorted(set(one.codes()) - one.has())[0]
    path = one.path("nginx/cluster.conf")
    with open(path) as file:
        whole = file.read()
    one.stop()
    with open(path, "w") as file:
        file.write(whole[:whole.index("# Requests for suppliers")])
    one.begin()
    for more in ("&limit=1", "", "&format=ndjson"):
        answer = one.grid(other, more)
        assert (answer.status, answer.headers["X-Grid-Node"]) == \
            (200, one.name), (more, answer.status, answer.body[:300])
    answer = one.ask("GET", "/api/v1/products/10007")
    assert answer.status == 200, answer.text
    answer = one.ask("GET", "/api/v1/products/search?q=first&limit=1")
    assert answer.json["meta"]["fournisseurs"] == one.suppliers, answer.text
    assert "nginx does not pass on requests" in one.log() and \
        "gridctl cluster nginx" in one.log()
    one.stop()
    with open(path, "w") as file:
        file.write(whole)
    one.begin()
    settled(nodes)
    assert one.grid(other).headers["X-Grid-Node"] != one.name


def persons_and_agents(*nodes):
    """A session's cookie and the tools' POST go along; a Save does not."""
    for node in nodes:
        other = sorted(set(node.codes()) - node.has())[0]
        session = node.login()
        answer = node.get("/api/v1/grid?fournisseur=%s&limit=1" % other,
                          headers=session)
        assert answer.status == 200 and \
            answer.headers["X-Grid-Node"] != node.name, answer.body
        answer = node.app(session, "POST", "/save", {
            "fournisseur": other, "edits": [{"codein": "10005",
                                             "gamme": "Z"}]})
        assert answer.status == 200 and \
            answer.headers["X-Grid-Node"] == node.name, answer.text
        answer = node.app(session, "POST", "/save", {
            "fournisseur": other, "edits": [{"codein": "99999",
                                             "gamme": "Z"}]})
        assert answer.status == 404, answer.text
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "aggregate",
                           "arguments": {"supplier": other}}}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = node.ask("POST", "/mcp", call, headers=headers)
        assert answer.status == 200 and not answer.json["result"].get(
            "isError") and answer.headers["X-Grid-Node"] != node.name, \
            answer.text
        across = dict(call, params={"name": "query_rows", "arguments": {
            "search": "first", "limit": 1}})
        answer = node.ask("POST", "/mcp", across, headers=headers)
        assert answer.json["result"]["structuredContent"]["total"] == \
            60 * node.suppliers, answer.text
        answer = node.ask("POST", "/mcp", [call, dict(call, id=2)],
                          headers=headers)
        assert "not in a batch" in answer.text, answer.text
        # Only once: who does not keep it passes nothing on.
        answer = node.ask("POST", "/mcp", call, headers=dict(
            headers, **{"X-Grid-Passed": "x"}))
        assert answer.status == 421, answer.text
    articles_of_two_suppliers(*nodes)


def articles_of_two_suppliers(*nodes):
    """A node that keeps both answers, whoever is asked, and by whatever way."""
    kept = [node.has() for node in nodes]
    for i, node in enumerate(nodes):
        here, other = sorted(kept[i - 1] & kept[i])[0], \
            sorted(kept[i - 1] - kept[i])[0]
        for pair in (here, other), (other, here):
            key = {"X-API-Key": node.ctl(
                "key", "create", "--name", "%d of %s" % (i, pair[0]),
                "--scope", "read", "--suppliers",
                ",".join(pair)).split()[-1]}
            answer = node.get("/api/v1/products/10007", headers=key)
            whole = json.loads(answer.body)
            assert answer.headers["X-Grid-Node"] == nodes[i - 1].name
            assert "autresNoeuds" not in whole["meta"], whole["meta"]
            answer = node.get(
                "/mcp", "POST", dict(key, **{
                    "Accept": "application/json, text/event-stream",
                    "Content-Type": "application/json"}),
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                            "params": {"name": "get_product",
                                       "arguments": {"codein": "10007"}}}))
            assert answer.status == 200 and \
                answer.headers["X-Grid-Node"] == nodes[i - 1].name, \
                (answer.status, answer.body)
            assert b"not_compared" not in answer.body, answer.body
    # No node keeps all suppliers: the one that is asked asks the others.
    answers = [node.ask("GET", "/api/v1/products/10007") for node in nodes]
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert len({answer.text for answer in answers}) == 1, answers[0].text


def what_does_not_come(one, two, three):
    """To a node with a full disk, for one: whoever passes a request on gets the
    answer of another node, and so does that node where it has none."""
    snapshot = three.data + "/snapshots/"
    new = ["F%d" % i for i in range(6)]
    for code in new:
        with open(snapshot + code, "w"):
            pass  # where a folder is wanted
    one.deliver("foreign", suppliers=one.codes() + new, articles=60)
    wait_until(lambda: one.live() == two.live() == three.live(),
               "all nodes show the import")
    together(*[lambda node=node: node.ctl("compute", "--quiet", "--all")
               for node in (one, two)])
    for code in new:
        for node in (one, two, three):
            answer = node.grid(code)
            assert answer.status == 200, (code, node.name, answer.status,
                                          answer.body[:300])
        os.unlink(snapshot + code)
    # The import of all, too.
    os.rename(three.data + "/files", three.data + "/files.away")
    with open(three.data + "/files", "w"):
        pass
    one.deliver("later", suppliers=one.codes(), articles=50)
    wait_until(lambda: one.live() == two.live(), "two show the import")
    wait_until(lambda: three.metric('gridapi_files_fail{kind="pull"}') == 1,
               "it fails to get the import")
    together(*[lambda node=node: node.ctl("compute", "--quiet", "--all")
               for node in (one, two)])
    for code in one.codes():
        for node in (one, two):
            answer = node.grid(code, "&limit=1")
            assert answer.status == 200 and b"later" in answer.body, (
                code, node.name, answer.status, answer.body[:300])
    os.unlink(three.data + "/files")
    os.rename(three.data + "/files.away", three.data + "/files")
    wait_until(lambda: one.live() == three.live(), "it shows the import")
    together(*[lambda node=node: node.ctl("compute", "--quiet", "--all")
               for node in (one, two, three)])
    settled((one, two, three))


def a_cold_miss_is_computed_once(*nodes):
    one = nodes[0]
    one.deliver("cold", suppliers=one.codes() + ["N1"], articles=60)
    wait_until(lambda: len({node.live() for node in nodes}) == 1,
               "all nodes show the import")
    before = one.computations()
    answers = together(*[lambda node=node: node.grid("N1")
                         for node in nodes])
    assert {answer.status for answer in answers} == {200}, \
        [(answer.status, answer.body[:200]) for answer in answers]
    one.has_computed(before + 1)
    together(*[lambda node=node: node.ctl(
        "compute", "--quiet", "--jobs", "1", "--all") for node in nodes])
    settled(nodes)


def stop_answering(*nodes):
    """Their nginx takes connections and answers nothing; who calls lets it go on."""
    workers = []
    for node in nodes:
        with open("/proc/%d/task/%d/children" % (
                node.nginx.pid, node.nginx.pid)) as file:
            workers += [int(pid) for pid in file.read().split()]
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)

    def go_on():
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
    return go_on


def two_hang(one, two, three):
    """All that keep a supplier hang: its page comes of the node that is asked, and
    within 20 s of nginx, 5 s for each of them and what it takes to make it."""
    code = sorted(set(three.codes()) - three.has())[0]
    go_on = stop_answering(one, two)
    began = time.monotonic()
    try:
        answer = three.grid(code, "&limit=5")
    finally:
        go_on()
    took = time.monotonic() - began
    print("figure: two nodes hang: a page after %.1f s" % took)
    assert (answer.status, answer.headers["X-Grid-Node"]) == \
        (200, three.name), answer.body
    assert took < 45, took
    settled((one, two, three))


def one_hangs(one, two, three):
    """Its nginx takes connections and answers nothing: pages come from another
    node, or from the one that is asked, long before a computation would end."""
    passed = [(node, code) for node in (two, three) for code in node.codes()
              if node.grid(code, "&limit=5").headers["X-Grid-Node"] == one.name]
    node, code = passed[0]
    go_on = stop_answering(one)
    try:
        answer = node.grid(code, "&limit=5")
    finally:
        go_on()
    assert answer.status == 200, answer.body
    assert answer.headers["X-Grid-Node"] != one.name


def one_is_stopped(one, two, three):
    """All that it kept another node keeps, too; first its gridapi is killed, then
    its nginx stops, too."""
    before = two.computations()
    one.pool.kill()
    one.pool.wait()
    wait_until(lambda: one.get("/healthz").status == 502, "its workers end")
    others_answer(two, three)
    one.stop()
    others_answer(two, three)
    assert two.computations() == before
    one.begin()


def others_answer(*nodes):
    for node in nodes:
        for code in node.codes():
            answer = node.grid(code)
            assert answer.status == 200, (code, answer.status)


def two_are_stopped(one, two, three):
    """What nobody gives is computed by who is asked, and goes to who keeps it."""
    one.stop()
    two.stop()
    others = set(three.codes()) - three.has()
    before = three.computations()
    for code in three.codes():
        answer = three.grid(code)
        assert (answer.status, answer.headers["X-Grid-Node"]) == \
            (200, three.name), (code, answer.status)
    three.has_computed(before + len(others))
    assert others <= three.has()
    one.begin()
    two.begin()
    settled((one, two, three))


def one_leaves(one, two, three):
    """Its share moves to the others, and nothing else does."""
    had = {node: node.has() for node in (one, two, three)}
    before = one.computations()
    three.stop()
    assert "on its own" in three.ctl("cluster", "leave")
    wait_until(lambda: all(
        node.status()["snapshotsHere"] == node.status()["snapshots"]
        for node in (one, two)), "two nodes have all")
    for node in (one, two):
        assert node.has() >= had[node]
        assert node.has() - had[node] <= had[three]
    assert one.computations() == before
    assert each_node_answers_for_all(one, two) == 0


class Late(Sharer):
    def ctl(self, *words, **options):
        """S1, which the kit computes on a node that joins, is gone by then."""
        if words[0] == "compute":
            return ""
        return super().ctl(*words, **options)


def one_comes(etcd, one, two):
    """It gets its share alone, which the others give up."""
    had = {node: node.has() for node in (one, two)}
    before = one.computations()
    with Late(etcd, one) as four:
        assert "%d snapshots came" % len(four.has()) in four.pulled
        assert len(four.has()) < 0.84 * four.suppliers, four.pulled
        settled((one, two, four))
        for node in (one, two):
            assert had[node] - node.has() <= four.has() < had[node]
        assert one.computations() == before
        each_node_answers_for_all(one, two, four)


class Secured(Sharer):
    """By TLS, with a certificate of an authority; each supplier has one node."""

    suppliers, keep = 8, 1

    def __init__(self, etcd, authority, first=None):
        self.authority = authority
        self.secure_port = free_port()
        super().__init__(etcd, first)

    def write_conf(self):
        super().write_conf()
        path = self.data + "/cluster.conf"
        with open(path) as file:
            text = file.read()
        text = text.replace("http://127.0.0.1:%d" % self.port,
                            "https://127.0.0.1:%d" % self.secure_port)
        with open(path, "w") as file:
            file.write(text + "ca = %s\n" % self.authority.path("ca.pem"))

    def show(self, authority):
        """nginx's certificate is of that one."""
        name = "node%d" % self.secure_port
        authority.sign(name)
        path = self.path("nginx/cluster.conf")
        with open(path, "a") as file:
            file.write(
                "listen 127.0.0.1:%d ssl;\nssl_certificate %s;\n"
                "ssl_certificate_key %s;\n" % (
                    self.secure_port, authority.path(name + ".pem"),
                    authority.path(name + ".key")))


class Authority:
    """As docs/cluster.md makes one."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="grid-authority-")
        self.run("req", "-x509", "-subj", "/CN=etcd", "-days", "2",
                 "-keyout", "ca.key", "-out", "ca.pem", *self.new)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        subprocess.run(["openssl"] + list(words), cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sign(self, name):
        with open(self.path("ext"), "w") as file:
            file.write("subjectAltName = IP:127.0.0.1\n")
        self.run("req", "-subj", "/CN=127.0.0.1", "-keyout", name + ".key",
                 "-out", name + ".csr", *self.new)
        self.run("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem",
                 "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                 "-extfile", "ext", "-out", name + ".pem")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def certificates_are_checked():
    with Authority() as right, Authority() as wrong, Etcd() as etcd:
        one = Secured(etcd, right)
        one.show(right)
        with one:
            two = Secured(etcd, right, one)
            two.show(right)
            with two:
                one.deliver("tls", articles=20)
                wait_until(lambda: one.live() == two.live(),
                           "both show the import")
                together(*[lambda node=node: node.ctl(
                    "compute", "--quiet", "--all") for node in (one, two)])
                settled((one, two))
                assert one.has() | two.has() == set(one.codes()), \
                    (one.status(), two.status())
                other = sorted(two.has())[0]
                assert each_node_answers_for_all(one, two) > 0
                # Another authority's: nothing is sent there.
                two.stop()
                with open(two.path("nginx/cluster.conf")) as file:
                    text = file.read()
                with open(two.path("nginx/cluster.conf"), "w") as file:
                    file.write(text[:text.index("listen ")])
                two.show(wrong)
                two.begin()
                answer = one.grid(other)
                assert (answer.status, answer.headers["X-Grid-Node"]) == \
                    (200, one.name), answer.body[:200]
                assert "certificate" in one.nginx_log()


if __name__ == "__main__":
    find_etcd()
    run_tests([three_nodes_keep_two_of_three,
               certificates_are_checked])
