"""Full dumps and computations through nginx: what happens beside them, and
when workers die in the middle of them.

GRID_LARGE=DIR: the memory test on this data directory too, which is filled
and computed, and only read.
"""

import csv
import fcntl
import http.client
import io
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack import BUILD, Stack, run_tests, wait_until  # noqa: E402

GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
LARGE = "12345"  # the demo data's largest supplier
# Above what the pages pool hands over to the slow one, and a multiple of what
# is put at once: no answer may end between a row and its comma.
ROWS = 8192
FORMS = ("application/json", "application/x-ndjson", "text/csv")
MEGABYTE = 1 << 20
# nginx sets nothing aside: a dump's worker waits for a client that waits.
HELD = ["fastcgi_max_temp_file_size 0"]
GATE = """#!/bin/sh
# Computes once the test lets it; ends with the test's folder.
while [ -d '%(folder)s' ] && [ ! -e '%(folder)s/go' ]; do sleep 0.05; done
exec '%(gridctl)s' "$@"
"""


def gridctl(data, *words):
    return subprocess.run([GRIDCTL, "--data", data] + list(words), check=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout.decode()


class Filled:
    """Data for all tests; each works on a copy."""

    folder = None

    @classmethod
    def make(cls):
        cls.folder = tempfile.mkdtemp(prefix="grid-dumps-")
        csv_folder = os.path.join(cls.folder, "csv")
        data = os.path.join(cls.folder, "data")
        subprocess.run([GRIDCTL, "demo", "--out", csv_folder, "--articles",
                        str(ROWS), "--suppliers", "14", "--stores", "4"],
                       check=True, stdout=subprocess.DEVNULL)
        gridctl(data, "init")
        gridctl(data, "import", csv_folder)
        gridctl(data, "compute", "--quiet", LARGE)
        cls.small = [line.split()[0] for line in
                     gridctl(data, "suppliers").splitlines()[1:]
                     if line.split()[1].replace(",", "") not in
                     ("0", str(ROWS))]

    @classmethod
    def remove(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)


class Dumping(Stack):
    def __init__(self, settings=None, directives=(), gate=False, data=None):
        merged = {"pages.processes": 1, "pages.threads": 4,
                  "slow.processes": 1, "slow.threads": 4}
        merged.update(settings or {})
        super().__init__(settings=merged)
        self.directives = list(directives)
        subprocess.run(["cp", "-r", "--reflink=auto", data or
                        os.path.join(Filled.folder, "data"), self.data],
                       check=True)
        self.key = gridctl(self.data, "key", "create", "--name", "t",
                           "--scope", "read").strip()
        if gate:
            self.settings["compute.gridctl"] = self.path("gate")
            with open(self.path("gate"), "w") as file:
                file.write(GATE % {"folder": self.folder, "gridctl": GRIDCTL})
            os.chmod(self.path("gate"), 0o755)

    def open_gate(self):
        with open(self.path("go"), "w"):
            pass

    def __exit__(self, *what):
        self.open_gate()
        super().__exit__(*what)

    def uri(self, supplier=LARGE, **query):
        return "/api/v1/grid?fournisseur=" + supplier + "".join(
            "&%s=%s" % pair for pair in query.items())

    def headers(self, accept=FORMS[0]):
        return {"X-API-Key": self.key, "Accept": accept}

    def rows(self, supplier=LARGE, accept=FORMS[0], **query):
        return self.get(self.uri(supplier, **query),
                        headers=self.headers(accept), timeout=120)

    def ask(self, supplier, **query):
        """Asks for rows beside the test; the answer is in .reply."""
        return Asking(self, supplier, query)

    def begin(self, accept=FORMS[0], **query):
        """A dump whose head has come, and a little of its body."""
        connection = self.connect(60)
        connection.request("GET", self.uri(**query),
                           headers=self.headers(accept))
        response = connection.getresponse()
        assert response.status == 200, response.status
        return connection, response, response.read(200000)

    def gauges(self):
        return {name: self.metric("gridapi_" + name) for name in (
            "requests_in_flight", "snapshots_open", "computations_running",
            "computations_waiting")}

    def await_gauges(self, wanted):
        wait_until(lambda: self.gauges() == wanted,
                   lambda: "%s; it is %s" % (wanted, self.gauges()))


class Asking(threading.Thread):
    def __init__(self, grid, supplier, query):
        super().__init__(daemon=True)
        self.grid, self.supplier, self.query = grid, supplier, query
        self.reply = None
        self.start()

    def run(self):
        self.reply = self.grid.rows(self.supplier, **self.query)

    def wait(self):
        self.join(120)
        assert self.reply is not None, "no answer for " + self.supplier
        return self.reply


def is_cut(response, got):
    """Reads to the end; true when a client can tell that it is none."""
    told = response.headers["Content-Length"]
    try:
        while True:
            piece = response.read(65536)
            if not piece:
                break
            got += len(piece)
    except (http.client.IncompleteRead, ConnectionError):
        return True
    return told is not None and got < int(told)


def kill(pids):
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


# --- whole answers ------------------------------------------------------------


def rows_of(reply, accept):
    text = reply.body.decode()
    if accept == FORMS[0]:
        return json.loads(text)["data"]
    if accept == FORMS[1]:
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text)))


def a_page_of_any_length_is_whole():
    lengths = (2048, 2049, 2112, 2304, 2560, 5000, 5120, ROWS - 1, ROWS)
    with Dumping() as grid:
        for accept in FORMS:
            for query in ({}, {"fields": "libelle1"}, {"sort": "libelle1"}):
                whole = rows_of(grid.rows(accept=accept, **query), accept)
                assert len(whole) == ROWS, (accept, query, len(whole))
                for limit in lengths if accept == FORMS[0] else lengths[:3]:
                    reply = grid.rows(accept=accept, limit=limit, **query)
                    assert rows_of(reply, accept) == whole[:limit], (
                        accept, query, limit)


def a_long_page_of_a_search_is_whole():
    with Dumping({"pages.threads": 1}) as grid:
        def search(accept, **query):
            reply = grid.get("/api/v1/products/search?q=0" + "".join(
                "&%s=%s" % pair for pair in query.items()),
                headers=grid.headers(accept), timeout=120)
            assert reply.status == 200, reply.body
            return reply

        for accept in FORMS:
            for query in ({"fields": "codein,libelle1"},
                          {"sort": "libelle1", "fields": "network"}):
                whole = rows_of(search(accept, limit=10 ** 18, **query),
                                accept)
                assert len(whole) > 5120, len(whole)
                for limit in (2112, 2560, 5120, len(whole)):
                    got = rows_of(search(accept, limit=limit, **query), accept)
                    assert got == whole[:limit], (accept, query, limit)
                    page = (len(whole) + limit - 1) // limit
                    got = rows_of(search(accept, limit=limit, page=page,
                                         **query), accept)
                    assert got == whole[(page - 1) * limit:], (
                        accept, query, limit, page)


# --- workers that die ---------------------------------------------------------


def a_killed_worker_cuts_its_dump_in_each_form():
    with Dumping(directives=HELD) as grid:
        wanted = {"requests_in_flight": 1, "snapshots_open": 1,
                  "computations_running": 0, "computations_waiting": 0}
        for deaths, form in enumerate(FORMS, 1):
            _, response, begun = grid.begin(form)
            assert begun
            # One snapshot in each pool. A request is in flight until its
            # worker has let go of it, a moment after its answer is here.
            grid.await_gauges(wanted | {"requests_in_flight": 2,
                                        "snapshots_open": 2})
            kill(grid.workers_of("slow"))
            assert is_cut(response, len(begun)), "it looked whole: " + form
            wait_until(lambda: grid.metric("gridapi_workers_replaced_total")
                       == deaths, "the death is noticed")
            grid.await_gauges(wanted)
            wait_until(lambda: grid.workers_of("slow"), "one is there")
            reply = grid.rows(accept=form, limit=5500, fields="codein")
            assert reply.status == 200, reply.status
            assert len(reply.body) > 5500 * 6
            # What that one opened goes with it, before the next form.
            wanted["snapshots_open"] = 1


def a_worker_that_dies_computing_leaves_nothing_behind():
    with Dumping(gate=True) as grid:
        supplier = Filled.small[0]
        asking = grid.ask(supplier, fields="codein")
        wait_until(lambda: grid.metric("gridapi_computations_running") == 1,
                   "it is being computed")
        wait_until(lambda: grid.metric("gridapi_computations_waiting") == 1,
                   "somebody waits for it")
        kill(grid.workers_of("slow"))
        reply = asking.wait()
        assert reply.status == 502, reply.status
        error = json.loads(reply.body)["error"]
        assert error["code"] == "internal_error", error
        wait_until(lambda: grid.metric("gridapi_workers_replaced_total") == 1,
                   "the death is noticed")
        grid.await_gauges(grid.gauges() | {
            "computations_running": 0, "computations_waiting": 0,
            "requests_in_flight": 1})
        grid.open_gate()
        reply = grid.rows(supplier, fields="codein")
        assert reply.status == 200, reply.body[:200]


def computations_of(data):
    """The pids of gridctl compute on this data directory."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if data in words and "compute" in words:
            found.append(int(name))
    return found


def an_orphaned_computation_keeps_to_its_limit():
    with Dumping({"compute.timeout": 8}) as grid:
        supplier = Filled.small[1]
        # It waits for whoever computes the same, as long as that takes.
        path = os.path.join(grid.data, "locks", "compute-" + supplier)
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            asking = grid.ask(supplier)
            wait_until(lambda: computations_of(grid.data), "it has begun")
            kill(grid.workers_of("slow"))
            assert asking.wait().status == 502, asking.reply.status
            assert computations_of(grid.data), "it went with its worker"
            wait_until(lambda: not computations_of(grid.data),
                       "the orphan ends")
        reply = grid.rows(supplier, fields="codein")
        assert reply.status == 200, reply.body[:200]


def a_computation_is_ended_at_its_limit():
    seconds = 3
    with Dumping({"compute.timeout": seconds}) as grid:
        supplier = Filled.small[2]
        path = os.path.join(grid.data, "locks", "compute-" + supplier)
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            reply = grid.rows(supplier)
            assert reply.status == 500, reply.status
            error = json.loads(reply.body)["error"]
            assert error["code"] == "internal_error", error
            assert "longer than %d seconds" % seconds in error["message"], \
                error
            wait_until(lambda: not computations_of(grid.data), "it is ended")
        # A loaded machine may end the next one too, as its setting says.
        wait_until(lambda: grid.rows(supplier, fields="codein").status == 200,
                   "nothing of it is in the way of the next")


# --- what happens beside ------------------------------------------------------


def page_times(grid, count):
    times = []
    connection = grid.connect()
    for number in range(count):
        begin = time.monotonic()
        connection.request("GET", grid.uri(
            limit=100, page=1 + number % 70,
            fields="libelle1,totalCa,codeGamme,network"),
            headers=grid.headers())
        response = connection.getresponse()
        assert response.status == 200, response.status
        assert len(json.loads(response.read())["data"]) == 100
        times.append(time.monotonic() - begin)
    return times


def slow_readers_of_dumps_leave_pages_alone():
    with Dumping() as grid:
        page_times(grid, 30)
        readers = []
        turns = []
        for _ in range(3):  # turns: others use the machine too
            alone = statistics.median(page_times(grid, 100))
            for _ in range(4):
                sock = socket.socket()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
                sock.settimeout(60)
                sock.connect(("127.0.0.1", grid.port))
                sock.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s"
                              "\r\n\r\n" % (grid.uri(), grid.key)).encode())
                assert sock.recv(1000).startswith(b"HTTP/1.1 200")
                readers.append(sock)
            beside = statistics.median(page_times(grid, 100))
            turns.append(beside / alone)
            # nginx has taken what the worker gave; nobody is held.
            wait_until(lambda: grid.metric("gridapi_requests_in_flight") == 1,
                       "no worker is held by a slow reader")
            while readers:
                readers.pop().close()
        print("   a page beside 4 slow readers of a dump takes %.2f times as "
              "long as alone (%s)" % (statistics.median(turns), ", ".join(
                  "%.2f" % turn for turn in turns)))
        # Loosely, since nobody knows what else the machine does. Were a
        # worker's thread held by each reader, no page would come at all.
        assert min(turns) < 10 or beside < 0.02, turns


def twice_as_many_slow_requests_as_threads_leave_pages_alone():
    settings = {"slow.threads": 3, "compute.slots": 8, "compute.waiters": 8}
    with Dumping(settings, gate=True) as grid:
        alone = statistics.median(page_times(grid, 60))
        asking = [grid.ask(code, fields="codein")
                  for code in Filled.small[:6]]
        wait_until(lambda: grid.metric("gridapi_computations_running") == 3,
                   "three are being computed")
        wait_until(lambda: grid.connections_to("slow") == 6, "three queue")
        # All six go on waiting, until the pages are here.
        beside = page_times(grid, 60)
        assert [one.reply for one in asking] == [None] * 6
        grid.open_gate()
        for one in asking:
            reply = one.wait()
            assert reply.status == 200, (reply.status, reply.body[:200])
            meta = json.loads(reply.body)["meta"]
            assert meta["computedOnDemand"] is True, meta
        print("   a page beside 6 computations in 3 threads takes %.2f times "
              "as long as alone" % (statistics.median(beside) / alone))


def who_finds_no_place_to_wait_is_told_to_come_back():
    settings = {"slow.threads": 6, "compute.waiters": 2}
    with Dumping(settings, gate=True) as grid:
        first = [grid.ask(code) for code in Filled.small[:2]]
        wait_until(lambda: grid.metric("gridapi_computations_waiting") == 2,
                   "two wait")
        reply = grid.rows(Filled.small[2])
        assert reply.status == 202, reply.status
        assert int(reply.headers["Retry-After"]) > 0
        assert json.loads(reply.body)["error"]["code"] == "not_ready"
        assert [one.reply for one in first] == [None] * 2, "it was not told so"
        grid.open_gate()
        for one in first:
            assert one.wait().status == 200, one.reply.status


# --- generations --------------------------------------------------------------


def a_dump_ends_whole_on_the_generation_it_began_with():
    with Dumping(directives=HELD) as grid:
        whole = {form: grid.rows(accept=form) for form in FORMS}
        old = whole[FORMS[0]].headers["X-Snapshot"]
        started = {form: grid.begin(form) for form in FORMS}
        gridctl(grid.data, "compute", "--quiet", LARGE)
        # The file goes too, under those who read it.
        gridctl(grid.data, "prune", "--grace", "0")
        names = os.listdir(os.path.join(grid.data, "snapshots", LARGE))
        assert old + ".mdb" not in names, names
        new = grid.rows(limit=1)
        assert new.headers["X-Snapshot"] != old
        # A worker counts a request off behind the last byte of its answer.
        wait_until(lambda: grid.metric("gridapi_requests_in_flight") ==
                   1 + len(FORMS), "the dumps alone are under way")
        for form, (connection, response, begun) in started.items():
            body = begun + response.read()
            assert response.headers["X-Snapshot"] == old
            assert body == whole[form].body, (form, len(body))
            connection.close()
        meta = json.loads(new.body)["meta"]
        assert meta["snapshot"] == new.headers["X-Snapshot"]
        gone = grid.rows(limit=1, snapshot=old)
        assert gone.status == 404, gone.status
        again = grid.rows(limit=1)
        assert json.loads(again.body)["meta"]["snapshot"] == meta["snapshot"]


# --- memory -------------------------------------------------------------------


def private_memory(pid):
    """Bytes of a process's own. Not Private_*, which counts a page of a file
    too when nobody else has it mapped."""
    with open("/proc/%d/smaps_rollup" % pid) as file:
        for line in file:
            words = line.split()
            if words[0] == "Anonymous:":
                return int(words[1]) * 1024
    raise AssertionError("no Anonymous: in smaps_rollup")


class Watch(threading.Thread):
    """The most that any worker has meanwhile."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.most = {pid: private_memory(pid) for pid in pids}
        self.done = False
        self.start()

    def run(self):
        while not self.done:
            for pid in self.most:
                self.most[pid] = max(self.most[pid], private_memory(pid))
            time.sleep(0.005)


def dump_size(grid, supplier, accept, **query):
    """Reads a dump without keeping it; its rows and bytes."""
    connection = grid.connect(300)
    connection.request("GET", grid.uri(supplier, **query),
                       headers=grid.headers(accept))
    response = connection.getresponse()
    assert response.status == 200, response.status
    size, end = 0, b""
    while True:
        piece = response.read(1 << 20)
        if not piece:
            break
        size += len(piece)
        end = (end + piece)[-2000:]
    connection.close()
    return size, end


def no_worker_grows(grid, supplier, rows):
    for accept in FORMS:  # what each keeps once and for all
        grid.rows(supplier, accept, limit=100)
        grid.rows(supplier, accept, limit=5500, fields="codein")
    before = {pid: private_memory(pid) for pid in grid.workers_of("pages", "slow")}
    watch = Watch(before)
    sizes = []
    for accept in FORMS:
        for query in ({}, {"enrich": "0"}, {"sort": "libelle1"}):
            size, end = dump_size(grid, supplier, accept, **query)
            sizes.append(size)
            if accept == FORMS[0]:
                assert b'"total":%d,' % rows in end, end
    # What a search finds is put as it comes, too.
    for accept in FORMS:
        reply = grid.get(
            "/api/v1/products/search?q=0&limit=1000000000&fournisseur=" +
            supplier + "&fields=sales12m,stock12m,receptions12m,trend,"
            "sales12mByStore,stock12mByStore,receptions12mByStore,network",
            headers=grid.headers(accept), timeout=120)
        assert reply.status == 200 and len(reply.body) > 500 * rows
    watch.done = True
    watch.join()
    grown = max(watch.most[pid] - before[pid] for pid in before)
    print("   dumps of %d rows, %d to %d MB: the worker that grew most grew by"
          " %.1f MB" % (rows, min(sizes) >> 20, max(sizes) >> 20,
                        grown / MEGABYTE))
    assert min(sizes) > 2000 * rows, sizes
    assert grown <= 16 * MEGABYTE, grown
    after = grid.workers_of("pages", "slow")
    assert set(before) == set(after), (set(before), set(after))


def a_dump_takes_no_memory():
    with Dumping() as grid:
        no_worker_grows(grid, LARGE, ROWS)
        # The same when every live value has changed since.
        with open(os.path.join(Filled.folder, "csv", "network.csv")) as file:
            table = list(csv.reader(file))
        changed = io.StringIO()
        writer = csv.writer(changed, lineterminator="\n")
        place = table[0].index("caReseau")
        writer.writerow(table[0])
        for row in table[1:]:
            writer.writerow(row[:place] + ["7"] + row[place + 1:])
        with open(grid.path("network.csv"), "w") as file:
            file.write(changed.getvalue())
        gridctl(grid.data, "network", grid.path("network.csv"))
        no_worker_grows(grid, LARGE, ROWS)


def a_large_dump_takes_no_memory():
    folder = os.environ.get("GRID_LARGE")
    if not folder:
        print("   not run: GRID_LARGE names no data directory")
        return
    with Dumping(data=folder) as grid:
        sizes = {}
        for line in gridctl(grid.data, "suppliers").splitlines()[1:]:
            words = line.split()
            sizes[words[0]] = int(words[2].replace(",", "").replace("-", "0"))
        supplier = max(sizes, key=sizes.get)
        no_worker_grows(grid, supplier, sizes[supplier])


TESTS = [
    a_page_of_any_length_is_whole,
    a_long_page_of_a_search_is_whole,
    a_killed_worker_cuts_its_dump_in_each_form,
    a_worker_that_dies_computing_leaves_nothing_behind,
    an_orphaned_computation_keeps_to_its_limit,
    a_computation_is_ended_at_its_limit,
    slow_readers_of_dumps_leave_pages_alone,
    twice_as_many_slow_requests_as_threads_leave_pages_alone,
    who_finds_no_place_to_wait_is_told_to_come_back,
    a_dump_ends_whole_on_the_generation_it_began_with,
    a_dump_takes_no_memory,
    a_large_dump_takes_no_memory,
]

if __name__ == "__main__":
    try:
        Filled.make()
        run_tests(TESTS)
    finally:
        Filled.remove()
