"""What a server suffers, one thing at a time, and what gridapi then answers:
docs/operations.md has the same as a table.

Tests that need root, or a program that is not there, say so and are left out.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import GRIDCTL, Grid, write  # noqa: E402
from stack import (BUILD, PATIENCE, flip_bits, is_sanitized,  # noqa: E402
                   run_in_a_namespace, run_tests, wait_until)

GRIDAPI = os.path.join(BUILD, "fcgi", "gridapi")
ROWS = "/api/v1/grid?fournisseur=%s&limit=5"


def leave_out(why):
    print("left out: " + why)


def metrics_tell_what_is_stored():
    """Housekeeping counts it when gridapi starts, and each minute."""
    with Grid() as grid:
        def lines():
            return dict(line.rsplit(" ", 1) for line in grid.get(
                "/metrics").body.decode().splitlines() if line[0] != "#")
        wait_until(lambda: "gridapi_articles" in lines(), "it is counted")
        found = lines()
        stat = json.loads(grid.ctl("stat", "--json"))
        for name, figure in (
                ("gridapi_articles", "articles"),
                ("gridapi_suppliers", "suppliers"),
                ('gridapi_snapshots{state="absent"}', "snapshotsAbsent"),
                ('gridapi_proposals{state="pending"}', "proposalsPending")):
            assert int(found[name]) == stat[figure], (name, found, stat)
        # Blocks, which the kernel may give and take meanwhile.
        assert int(found['gridapi_data_bytes{kind="facts"}']) > 0, found
        assert stat["articles"] > 0 and stat["snapshotsAbsent"] > 0, stat
        age = time.time() - int(found["gridapi_imported_timestamp_seconds"])
        assert -1 <= age < 600, found
        assert int(found["gridapi_workers"]) >= 2, found
        assert float(found["gridapi_cpu_seconds_total"]) >= 0, found
        assert int(found["gridapi_private_bytes"]) > 1 << 20, found
        assert int(found["gridapi_open_files"]) > 10, found


def a_gridapi_with_other_data_is_told_by_the_doctor():
    """As where quickstart has the port that nginx's site wants."""
    with Grid() as grid:
        def site(*words):
            said = subprocess.run(
                [GRIDCTL, *words, "doctor", "--url",
                 "http://127.0.0.1:%d" % grid.port], capture_output=True,
                text=True, timeout=PATIENCE).stdout
            return [line for line in said.splitlines()
                    if line.split()[1:2] == ["site"]]
        assert site("--data", grid.data)[0].startswith("ok "), \
            site("--data", grid.data)
        other = grid.path("other")
        subprocess.run([GRIDCTL, "--data", other, "init"], check=True,
                       capture_output=True)
        told = site("--data", other)[0]
        assert told.startswith("WRONG ") and \
            told.endswith("serves other data than " + other), told


def read(grid, supplier="S1", status=200):
    answer = grid.ask("GET", ROWS % supplier)
    assert answer.status == status, (answer.status, answer.text)
    return answer


def files(grid, below, end=".mdb"):
    return sorted(os.path.join(folder, name)
                  for folder, _, names in os.walk(os.path.join(grid.data,
                                                               below))
                  for name in names if name.endswith(end))


def start_is_refused(grid, *words):
    """gridapi says why it cannot begin, in one line that has these words."""
    done = subprocess.run([GRIDAPI] + grid.arguments()[1:],
                          capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    assert done.returncode == 1, (done.returncode, done.stderr)
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    return done.stderr


# --- files ---------------------------------------------------------------------


def noise(path, at=0.0, length=8192):
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        file.seek(int(size * at))
        file.write(random.Random(1).randbytes(min(length, size)))


def a_damaged_snapshot_is_told_and_computed_anew():
    for at, length in ((0.0, 8192), (0.5, 2000)):
        with Grid() as grid:
            read(grid)
            file = files(grid, "snapshots/S1")[0]
            grid.pool.send_signal(signal.SIGTERM)
            grid.pool.wait(PATIENCE)
            noise(file, at, length)
            grid.start_pool()
            answer = grid.ask("GET", ROWS % "S1")
            # Computed on demand, or told; never rows that are not so.
            assert answer.status in (200, 500), answer.text
            if answer.status == 200:
                assert len(answer.json["data"]) == 5
            read(grid, "S2")
            grid.ctl("compute", "--quiet", "S1")
            assert len(read(grid).json["data"]) == 5
            grid.ctl("prune", "--grace", "0s")
            grid.ctl("check", "--quiet")


def a_snapshot_that_is_cut_while_it_is_served_kills_no_one():
    """As a disk that goes away would: truncated under the map."""
    # The worker that reads there dies of SIGBUS, and is replaced: no finding.
    options = os.environ.get("ASAN_OPTIONS", "")
    os.environ["ASAN_OPTIONS"] = options + ":handle_sigbus=0"
    try:
        cut_while_served()
    finally:
        os.environ["ASAN_OPTIONS"] = options


def cut_while_served():
    with Grid() as grid:
        read(grid)
        file = files(grid, "snapshots/S1")[0]
        os.truncate(file, 4096)
        for _ in range(5):
            try:
                grid.ask("GET", ROWS % "S1")
            except OSError:
                pass
        # Whatever that cost, the others are served, and it is mended.
        wait_until(lambda: read_quietly(grid, "S2") == 200, "S2 is served")
        grid.ctl("compute", "--quiet", "S1")
        wait_until(lambda: read_quietly(grid, "S1") == 200, "S1 is served")


def read_quietly(grid, supplier):
    try:
        return grid.ask("GET", ROWS % supplier).status
    except OSError:
        return 0


def damaged_environments_are_refused_with_what_to_do():
    for name, remedy in (("live.mdb", "import"), ("catalog.mdb", "compute"),
                         ("state.mdb", "restore")):
        with Grid(nginx=False) as grid:
            grid.stop()
            noise(os.path.join(grid.data, name), 0, 12288)
            said = start_is_refused(grid, name, "damaged")
            assert remedy in said, (name, said)


def without_a_store_each_request_is_refused_until_it_is_back():
    with Grid() as grid:
        read(grid)
        path = os.path.join(grid.data, "catalog.mdb")
        with open(path, "rb") as file:
            sound = file.read()
        noise(path, 0, 12288)
        for pid in grid.workers_of("pages", "slow"):
            os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        for uri in (ROWS % "S1", "/api/v1/fournisseurs", "/readyz",
                    "/api/v1/openapi.json"):
            # A connection that was under way to a dead worker is a 502.
            wait_until(lambda: grid.ask("GET", uri).status != 502,
                       "there are workers again")
            answer = grid.ask("GET", uri)
            assert answer.status == 503, (uri, answer.status, answer.text)
            assert answer.code == "internal_error", answer.text
            assert "cannot open its data" in answer.text, answer.text
            assert int(answer.headers["Retry-After"]) > 0
        # nginx itself would wait for a worker for 310 s.
        assert time.monotonic() - begin < PATIENCE
        assert "catalog.mdb: is damaged" in grid.log(), grid.log()
        # In place, as a disk that comes back would have it.
        with open(path, "r+b") as file:
            file.write(sound)
        wait_until(lambda: grid.ask("GET", ROWS % "S1").status == 200,
                   "it is served again")
        assert "can be opened again" in grid.log(), grid.log()


def what_is_advised_for_a_damaged_catalog_helps():
    with Grid() as grid:
        path = os.path.join(grid.data, "catalog.mdb")
        noise(path, 0, 12288)
        end_pool(grid)
        said = start_is_refused(grid, "catalog.mdb", "stop gridapi", "remove",
                                "'gridctl init'", "'gridctl compute --all'",
                                "start gridapi")
        told = [said.index(word) for word in (
            "stop gridapi", "remove", "init", "compute", "start gridapi")]
        assert told == sorted(told), said
        os.remove(path)
        os.remove(os.path.join(grid.data, "store"))
        grid.ctl("init")
        grid.ctl("compute", "--quiet", "--all")
        grid.start_pool()
        assert len(read(grid).json["data"]) == 5
        grid.ctl("check", "--quiet")


def a_flipped_bit_is_never_another_figure():
    with Grid() as grid:
        csv, network = grid.path("csv/articles.csv"), grid.path("network.csv")
        with open(csv, encoding="utf-8") as file:
            text = file.read()
        assert ",Alone,,,,,," in text
        with open(csv, "w", encoding="utf-8") as file:
            file.write(text.replace(",Alone,,,,,,", ",Alone,,,,,100001,"))
        with open(network, "w", encoding="utf-8") as file:
            file.write("codeCentrale,caReseau,qteReseau,nbMagasinsReseau,"
                       "margePctReseau,fetchedAt\n100001,10433.32,,,,\n")
        grid.ctl("import", "--quiet", grid.path("csv"))
        grid.ctl("compute", "--quiet", "S3")
        grid.ctl("network", "--quiet", network)
        product = "/api/v1/network/100001"
        page = ROWS % "S3" + "&enrich=1&fields=codein,caReseau"

        def right():
            assert grid.ask("GET", product).json["data"]["caReseau"] == 10433.32
            assert grid.ask("GET", page).json["data"][0]["caReseau"] == 10433.32
        right()
        flip_bits(os.path.join(grid.data, "live.mdb"), b"100001", 0)
        failed = grid.ctl("check", check=False)
        assert failed.returncode == 1, failed
        assert ("record 100001 of table network does not match its checksum: "
                "import the network again" in failed.stderr), failed
        for uri in (product, page):
            answer = grid.ask("GET", uri)
            assert answer.status == 500, answer.text
            assert "10433" not in answer.text and "caReseau" not in answer.text
        wait_until(lambda: "table=network key=100001" in grid.log(),
                   "the log names the record")
        assert read(grid).json["data"]  # the others are served
        grid.ctl("network", "--quiet", network)
        right()
        grid.ctl("check")


def damaged_facts_stop_computing_and_not_serving():
    with Grid() as grid:
        # In the articles' bytes; index pages are looked over when it opens.
        file = files(grid, "facts")[0]
        with open(file, "r+b") as facts:
            facts.seek(facts.read().index(b"Alone"))
            facts.write(b"xxxxx")
        read(grid)
        failed = grid.ctl("compute", "S3", check=False)
        assert failed.returncode == 1 and "import" in failed.stderr, failed
        answer = grid.ask("GET", ROWS % "S3")
        assert answer.status == 500, answer.text
        assert answer.code == "internal_error"
        grid.ctl("import", "--quiet", grid.path("csv"))
        assert read(grid, "S3").json["data"]


def an_article_with_absurd_sums_is_left_out_and_told():
    with Grid() as grid:
        wrong = grid.articles[3]
        csv = grid.path("csv")
        write(csv + "/stores.csv", ["magasin,nom", "1,Un", "2,Deux"])
        write(csv + "/sales.csv", [
            "fournisseur,codein,magasin,mois,quantite,ca,marge"] + [
                "S1,%s,%d,2025%02d,1,500000000000,0" % (wrong, store, month)
                for store in (1, 2) for month in range(1, 13)] + [
                    "S1,%s,1,202501,1,5,1" % grid.articles[4]])
        grid.ctl("import", "--quiet", csv)
        done = grid.ctl("compute", "S1", check=False)
        assert done.returncode == 0, done.stderr
        assert "supplier=S1 codein=%s" % wrong in done.stderr, done.stderr
        rows = grid.rows()
        assert {row["codein"] for row in rows["data"]} == \
            set(grid.articles) - {wrong}
        assert rows["meta"]["articlesEcartes"] == 1, rows["meta"]
        assert "articlesEcartes" not in grid.rows("S2")["meta"]
        done = grid.ctl("check", check=False)
        assert done.returncode == 1
        assert "supplier S1: 1 of its articles have no row" in \
            done.stdout + done.stderr, (done.stdout, done.stderr)


def a_file_that_may_not_be_read_is_told_by_its_name():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        leave_out("needs root and setpriv")
        return
    grid = Grid()
    grid.wrapper = ["setpriv", "--reuid=65534", "--regid=65534",
                    "--clear-groups"]
    subprocess.run(["chown", "-R", "65534:65534", grid.folder], check=True)
    os.chmod(grid.data, 0o750)
    grid.settings["pages.socket_mode"] = "666"
    try:
        subprocess.run(grid.wrapper + ["test", "-x", GRIDAPI], check=True)
    except subprocess.CalledProcessError:
        grid.stop()
        leave_out("nobody may not enter the build folder")
        return
    subprocess.run(["mkdir", "-p", grid.path("run"), grid.path("log")],
                   check=True)
    os.chmod(grid.path("run"), 0o777)
    with grid:
        read(grid)
        os.chown(grid.path("data"), 65534, 65534)
        file = files(grid, "snapshots/S2")[0]
        os.chmod(file, 0)
        os.chown(file, 0, 0)
        answer = grid.ask("GET", ROWS % "S2")
        assert answer.status in (200, 500), answer.text
        assert "S2" in grid.log() or answer.status == 200, grid.log()
        read(grid)


# --- the disk ------------------------------------------------------------------


def a_read_only_disk_serves_what_it_has():
    """In a mount namespace of its own."""
    run_in_a_namespace(__file__, "--read-only")


def read_only():
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs",
                    "/mnt"], check=True)
    with Grid(data="/mnt/data") as grid:
        read(grid)
        # The kernel refuses while files are open for writing; an error of the
        # disk would not ask.
        grid.pool.send_signal(signal.SIGTERM)
        grid.pool.wait(PATIENCE)
        subprocess.run(["mount", "-o", "remount,ro", "/mnt"], check=True)
        said = start_is_refused(grid, "/mnt/data")
        # Whoever writes is told of the disk, not of permissions.
        for words in (["key", "create", "--name", "k", "--scope", "read"],
                      ["user", "remove", "marie"]):
            told = grid.ctl(*words, check=False)
            assert told.returncode == 1, told
            assert "the disk is read-only" in told.stderr, told.stderr
            assert "ermission" not in told.stderr, told.stderr
        # No line leaves out what it is about.
        assert ": :" not in said, said
        print("starting on a read-only disk: " + said.strip().splitlines()[-1])
        subprocess.run(["mount", "-o", "remount,rw", "/mnt"], check=True)
        grid.start_pool()
        read(grid)


def end_pool(grid):
    if grid.pool.poll() is None:
        grid.pool.send_signal(signal.SIGTERM)
        grid.pool.wait(PATIENCE)


class Disk:
    """A disk of its own, that an error of it makes read-only."""

    def __init__(self):
        self.image = tempfile.mkstemp(prefix="grid-disk-")[1]
        self.folder = tempfile.mkdtemp(prefix="grid-disk-")
        os.truncate(self.image, 128 << 20)
        self.run("mkfs.ext4", "-qF", self.image)
        self.mounted = False
        self.trigger = None

    @staticmethod
    def run(*words):
        return subprocess.run(words, check=True, capture_output=True,
                              text=True).stdout.strip()

    def mount(self):
        self.run("mount", "-o", "loop,errors=remount-ro", self.image,
                 self.folder)
        self.mounted = True
        device = os.path.basename(self.run("findmnt", "-no", "SOURCE",
                                           self.folder))
        self.trigger = "/sys/fs/ext4/%s/trigger_fs_error" % device

    def unmount(self):
        if self.mounted:
            self.mounted = False
            self.run("umount", self.folder)

    def fail(self):
        with open(self.trigger, "w") as file:
            file.write("a test")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unmount()
        os.rmdir(self.folder)
        os.unlink(self.image)


def a_disk_that_turns_read_only_is_read_and_takes_no_writes():
    """Not asked for: the kernel does it when the disk fails."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        leave_out("needs root and mkfs.ext4")
        return
    with Disk() as disk:
        try:
            disk.mount()
        except subprocess.CalledProcessError as error:
            leave_out("no disk in a file here: " + error.stderr.strip())
            return
        if not os.path.exists(disk.trigger):
            leave_out("no way to have the disk fail here: " + disk.trigger)
            return
        with Grid(data=disk.folder + "/data") as grid:
            try:
                serve_from_failing(grid, disk)
            finally:
                end_pool(grid)
                disk.unmount()


def is_refused_in_words(answer):
    assert answer.status == 500, (answer.status, answer.text)
    assert "takes no writes" in answer.text, answer.text
    assert "Nothing was stored" in answer.text, answer.text


def serve_from_failing(grid, disk):
    first, second = grid.articles[:2]
    assert grid.put(first, "B").status == 200
    disk.fail()
    for _ in range(3):
        read(grid)
        read(grid, "S2")
        is_refused_in_words(grid.put(first, "C"))
        is_refused_in_words(grid.put(second, "C"))
    done = grid.ctl("compute", "--quiet", "S1", check=False)
    assert done.returncode == 1 and "ead-only" in done.stderr, done.stderr
    read(grid)
    assert "Read-only file system" in grid.log(), grid.log()
    assert "killed" not in grid.log(), grid.log()
    # Mended as such a disk is: taken out, checked, put in again.
    end_pool(grid)
    disk.unmount()
    subprocess.run(["e2fsck", "-fy", disk.image], check=False,
                   capture_output=True)
    disk.mount()
    assert grid.ctl("check", check=False).returncode == 0
    grid.start_pool()
    proposed = {row["codein"]: row["gammeAValider"]
                for row in read(grid).json["data"]}
    assert proposed[first] == "B" and not proposed[second], proposed
    assert grid.put(second, "C").status == 200


# --- limits of the machine -------------------------------------------------------


class Many(threading.Thread):
    def __init__(self, grid, times):
        super().__init__(daemon=True)
        self.grid, self.times, self.statuses, self.bodies = grid, times, [], []
        self.start()

    def run(self):
        for i in range(self.times):
            reply = self.grid.get(ROWS % ("S1", "S2", "S3")[i % 3],
                                  headers={"X-API-Key": self.grid.key})
            self.statuses.append(reply.status)
            self.bodies.append(reply.body)


def out_of_file_descriptors_is_an_answer_and_passes():
    if not shutil.which("prlimit"):
        leave_out("prlimit is not installed")
        return
    served = 0
    for limit in (24, 32, 48):
        grid = Grid(settings={"pages.processes": 1, "pages.threads": 16})
        grid.wrapper = ["prlimit", "--nofile=%d:%d" % (limit, limit)]
        try:
            served += run_out(grid)
        finally:
            grid.__exit__()
    assert served > 0


def run_out(grid):
    """How many were served. With too few to begin with it does not serve."""
    try:
        grid.start()
    except AssertionError:
        assert "open files" in grid.log(), grid.log()
        return 0
    askers = [Many(grid, 12) for _ in range(24)]
    for asker in askers:
        asker.join(2 * PATIENCE)
        assert not asker.is_alive()
        for status, body in zip(asker.statuses, asker.bodies):
            assert status in (200, 500, 502, 503), (status, body)
            assert status == 200 or "error" in json.loads(body), body
    good = sum(asker.statuses.count(200) for asker in askers)
    if good < 24 * 12:
        # What to raise, and no advice to compute what is whole.
        for words in ("open files: ", " are in use", "LimitNOFILE"):
            assert words in grid.log(), grid.log()
    assert "computed again" not in grid.log(), grid.log()
    # Nobody died of it.
    assert "killed" not in grid.log() and grid.pool.poll() is None
    return good


def too_little_address_space_names_the_limit():
    if not shutil.which("prlimit") or is_sanitized(GRIDAPI):
        leave_out("prlimit is not installed, or a sanitizer takes addresses")
        return
    refused = []
    for size in (60, 100, 150):
        grid = Grid(settings={"pages.processes": 1, "pages.threads": 32})
        grid.wrapper = ["prlimit", "--as=%d" % (size << 20)]
        try:
            grid.start()
        except AssertionError:
            refused.append(grid.log())
        finally:
            grid.__exit__()
    assert refused
    for log in refused:
        assert "LimitAS=" in log and "out of memory" not in log, log
    assert any("threads could be started: address space is limited to " in log
               for log in refused), refused


def a_limit_on_the_size_of_files_is_no_full_disk():
    if not shutil.which("prlimit"):
        leave_out("prlimit is not installed")
        return
    grid = Grid(articles=4000, settings={"pages.processes": 1})
    size = os.stat(os.path.join(grid.data, "state.mdb")).st_size + (64 << 10)
    grid.wrapper = ["prlimit", "--fsize=%d:%d" % (size, size)]
    try:
        grid.start()
        changes = [(code, "C") for code in grid.articles]
        for headers in ({}, {"Accept-Language": "fr"}):
            answer = grid.post(changes, headers=headers)
            assert answer.status == 500, answer.text
            said = answer.json["error"]["message"]
            assert ("limit on the size of files" in said or
                    "limite de taille des fichiers" in said), said
            assert "disk is full" not in said and "est plein" not in said, said
        assert grid.rows(more="&limit=10")["pagination"]["total"] == 4000
        log = grid.log()
        assert "a file is limited to %d KB: raise LimitFSIZE=" % (size >> 10) \
            in log, log
        assert "killed" not in log and "disk is full" not in log, log
    finally:
        grid.__exit__()


class Bare(Grid):
    """Nothing is imported."""

    def fill(self):
        self.ctl("init")
        self.key = self.make_key("robot", "propose")


def a_server_without_an_import_says_so():
    with Bare() as grid:
        for answer in (grid.ask("GET", ROWS % "S1"),
                       grid.post([("10000", "A")]),
                       grid.ask("GET", "/api/v1/propositions?fournisseur=S1")):
            assert answer.status == 404, answer.text
            said = answer.json["error"]["message"]
            assert "nothing has been imported yet" in said and \
                "'gridctl import FOLDER'" in said, said
            assert "lists them" not in said, said


SHIM = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const long back = 86400 * 3;
int clock_gettime(clockid_t id, struct timespec *at)
{
	int result = (int)syscall(SYS_clock_gettime, id, at);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		at->tv_sec -= back;
	return result;
}
time_t time(time_t *at)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (at) *at = now.tv_sec;
	return now.tv_sec;
}
"""


def a_clock_set_back_makes_no_generation_twice():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or is_sanitized(GRIDCTL):
        leave_out("needs cc, and programs without sanitizers")
        return
    with Grid() as grid:
        source, shim = grid.path("shim.c"), grid.path("shim.so")
        with open(source, "w") as file:
            file.write(SHIM)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source],
                       check=True)
        first = read(grid).json["meta"]
        grid.put("10000", "B")
        before = os.environ.get("LD_PRELOAD", "")
        os.environ["LD_PRELOAD"] = shim
        try:
            grid.ctl("import", "--quiet", grid.path("csv"))
            grid.ctl("compute", "--quiet", "S1")
            grid.pool.send_signal(signal.SIGHUP)
            grid.pool.send_signal(signal.SIGTERM)
            grid.pool.wait(PATIENCE)
            grid.start_pool()
        finally:
            os.environ["LD_PRELOAD"] = before
        second = read(grid).json["meta"]
        assert second["snapshot"] > first["snapshot"], (
            first, second)
        # The computation did happen three days ago, as far as it knows.
        assert second["computedAt"] < first["computedAt"], (first, second)
        assert grid.put("10001", "C").status == 200
        assert grid.row("10000")[2] == "B" and grid.row("10001")[2] == "C"
        grid.ctl("prune", "--grace", "0s")
        read(grid)
        grid.ctl("check", "--quiet")


# --- leftovers of the dead --------------------------------------------------------


def a_stale_lock_holds_nobody_up():
    with Grid() as grid:
        running = subprocess.Popen(
            [GRIDCTL, "--data", grid.data, "compute", "--quiet", "--all"])
        time.sleep(0.01)
        running.kill()
        running.wait()
        grid.pool.kill()
        grid.pool.wait()
        begin = time.monotonic()
        time.sleep(0.5)
        grid.start_pool()
        read(grid)
        grid.ctl("import", "--quiet", grid.path("csv"))
        grid.ctl("compute", "--quiet", "--all")
        assert grid.put("10000", "B").status == 200
        assert time.monotonic() - begin < 5 * PATIENCE
        grid.ctl("check", "--quiet")


def another_version_is_refused_by_a_sentence():
    """The version stands as a number in each environment's meta table."""
    with Grid(nginx=False) as grid:
        grid.stop()
        path = os.path.join(grid.data, "live.mdb")
        with open(path, "rb") as file:
            data = bytearray(file.read())

        def record(version):  # and the sum behind it
            pair = b"schema" + version.to_bytes(4, "little")
            return pair + zlib.crc32(pair).to_bytes(4, "little")
        assert record(3) in data  # since the import
        data = data.replace(record(3), record(99))
        with open(path, "wb") as file:
            file.write(data)
        said = start_is_refused(grid, "version")
        failed = grid.ctl("stat", check=False)
        assert failed.returncode == 1 and "version" in failed.stderr, failed
        print("told: " + said.strip().splitlines()[-1])


# --- backup ----------------------------------------------------------------------


class Writer(threading.Thread):
    def __init__(self, grid):
        super().__init__(daemon=True)
        self.grid, self.acked, self.stop = grid, [], False
        self.start()

    def run(self):
        turn = 0
        while not self.stop:
            code = self.grid.articles[turn % len(self.grid.articles)]
            reply = self.grid.get(
                "/api/v1/products/%s/gamme" % code, "PUT",
                {"X-API-Key": self.grid.key,
                 "Content-Type": "application/json"},
                json.dumps({"fournisseur": "S1",
                            "gamme": "ABCYZ"[turn // 7 % 5]}))
            assert reply.status == 200, reply.body
            self.acked.append((code, time.monotonic()))
            turn += 1


def a_backup_while_writing_restores_whole():
    with Grid(articles=40) as grid:
        writer = Writer(grid)
        folder = tempfile.mkdtemp(prefix="grid-restored-")
        try:
            for turn in range(4):
                acked = len(writer.acked)
                wait_until(lambda: len(writer.acked) > acked + 20 or
                           not writer.is_alive(), "it writes")
                mark = len(grid.log_of("S1"))
                begin = time.monotonic()
                copy = os.path.join(folder, "copy%d" % turn)
                back = os.path.join(folder, "back%d" % turn)
                grid.ctl("backup", copy)
                if turn == 1:
                    grid.ctl("import", "--quiet", grid.path("csv"))
                other = [GRIDCTL, "--data", back]
                subprocess.run(other + ["restore", copy], check=True,
                               capture_output=True)
                subprocess.run(other + ["check", "--quiet"], check=True)
                done = subprocess.run(
                    other + ["proposals", "log", "--json", "S1"],
                    check=True, capture_output=True, text=True)
                # All that was acknowledged before the backup began is in it.
                assert len(json.loads(done.stdout)) >= mark > 0
                assert [a for a in writer.acked if a[1] < begin]
        finally:
            writer.stop = True
            writer.join(PATIENCE)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--read-only"]:
        read_only()
        sys.exit(0)
    run_tests([
        metrics_tell_what_is_stored,
        a_gridapi_with_other_data_is_told_by_the_doctor,
        a_damaged_snapshot_is_told_and_computed_anew,
        a_snapshot_that_is_cut_while_it_is_served_kills_no_one,
        damaged_environments_are_refused_with_what_to_do,
        without_a_store_each_request_is_refused_until_it_is_back,
        what_is_advised_for_a_damaged_catalog_helps,
        a_flipped_bit_is_never_another_figure,
        damaged_facts_stop_computing_and_not_serving,
        an_article_with_absurd_sums_is_left_out_and_told,
        a_file_that_may_not_be_read_is_told_by_its_name,
        a_read_only_disk_serves_what_it_has,
        a_disk_that_turns_read_only_is_read_and_takes_no_writes,
        out_of_file_descriptors_is_an_answer_and_passes,
        too_little_address_space_names_the_limit,
        a_limit_on_the_size_of_files_is_no_full_disk,
        a_server_without_an_import_says_so,
        a_clock_set_back_makes_no_generation_twice,
        a_stale_lock_holds_nobody_up,
        another_version_is_refused_by_a_sentence,
        a_backup_while_writing_restores_whole,
    ])
