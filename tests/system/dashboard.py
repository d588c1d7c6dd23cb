"""A real Prometheus reads /metrics of nginx and gridapi: promtool finds no fault in
it, each question of the dashboard's panels has an answer, and of the alerts only
those fire that should.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import Grid  # noqa: E402
from shares import Sharer  # noqa: E402
from stack import TOP, free_port, run_tests, wait_until  # noqa: E402

WATCH = os.path.join(TOP, "tools", "watch")
# What has a value on a node of a cluster alone.
OF_NODES = {"Behind the other nodes", "Import of the nodes",
            "Log and files of the nodes", "Snapshots of the nodes"}
# What has no value on a machine where nothing was ever of that kind.
MAY_BE_EMPTY = {"Last backup elsewhere"} | OF_NODES
NOWHERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def lines_for_prometheus():
    """What docs/operations.md says for the site as it is installed."""
    with open(os.path.join(TOP, "docs", "operations.md")) as file:
        return re.search(r"```yaml\n(.*?)```", file.read(), re.S).group(1)


def installed_address():
    """Where the site listens that `make install` and the package bring."""
    with open(os.path.join(TOP, "nginx", "Makefile.inc")) as file:
        return re.search(r"@LISTEN\[@\]\|([^|]*)\|", file.read()).group(1)


class Prometheus:
    def __init__(self, grid):
        self.folder = tempfile.mkdtemp(prefix="grid-prometheus-")
        self.port = free_port()
        shutil.copy(os.path.join(WATCH, "product-grid.rules.yml"), self.folder)
        told = lines_for_prometheus().replace(
            "/usr/share/product-grid/watch/", "")
        with open(self.folder + "/prometheus.yml", "w") as file:
            file.write(
                "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" +
                told.replace(installed_address(),
                             "127.0.0.1:%d" % grid.port))
        self.log = open(self.folder + "/log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=%s/prometheus.yml" % self.folder,
             "--storage.tsdb.path=%s/data" % self.folder,
             "--web.listen-address=127.0.0.1:%d" % self.port],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def ask(self, path, **query):
        address = "http://127.0.0.1:%d/api/v1/%s?%s" % (
            self.port, path, urllib.parse.urlencode(query))
        with NOWHERE.open(address, timeout=60) as reply:
            return json.load(reply)["data"]

    def values(self, question):
        return self.ask("query", query=question)["result"]

    def has(self, question):
        assert self.process.poll() is None, self.said()
        try:
            return bool(self.values(question))
        except OSError:  # it begins
            return False

    def said(self):
        with open(self.folder + "/log", errors="replace") as file:
            return file.read()[-3000:]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Watched:
    """A grid with a backup, a night, a proposal and some answers, and who
    watches it."""

    grid = prometheus = None

    @classmethod
    def begin(cls, make=Grid):
        cls.grid = grid = make()
        grid.ctl("compute", "--quiet", "--all")
        with open(grid.path("night.conf"), "w") as file:
            file.write("[inbox]\nfolder = \n[backup]\nfolder = %s\n" %
                       grid.path("backups"))
        conf = ("--settings", grid.path("night.conf"))
        grid.ctl("night", "run", *conf)
        grid.ctl("night", "test-restore", *conf)
        grid.start()
        grid.put(grid.articles[0], "Z")
        cls.prometheus = Prometheus(grid)

    @classmethod
    def end(cls):
        if cls.prometheus:
            cls.prometheus.stop()
        if cls.grid:
            cls.grid.__exit__()


def promtool_finds_no_fault_in_the_metrics():
    text = Watched.grid.get("/metrics").body
    done = subprocess.run(["promtool", "check", "metrics"], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0 and done.stdout == b"", done.stdout.decode()


def prometheus_reads_them():
    watched = Watched.prometheus
    wait_until(lambda: watched.has('up{job="product-grid"} == 1'),
               "Prometheus reads")
    wait_until(lambda: watched.has("gridapi_imported_timestamp_seconds"),
               "housekeeping has counted")
    wait_until(lambda: watched.has("gridapi_proposals_oldest_timestamp_seconds"),
               "the proposal is counted")


def dashboard():
    with open(os.path.join(WATCH, "product-grid.dashboard.json")) as file:
        return json.load(file)


def question_of(target):
    return target["expr"].replace("$instance", ".+").replace(
        "$__rate_interval", "30s").replace("$__range", "1h")


def panels():
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield panel, question_of(target)


def each_panel_has_an_answer():
    watched, grid = Watched.prometheus, Watched.grid
    empty = []

    def answered():
        grid.ask("GET", "/api/v1/grid?fournisseur=S1")
        empty[:] = [panel["title"] for panel, question in panels()
                    if panel["title"] not in MAY_BE_EMPTY
                    and not watched.has(question)]
        return not empty
    try:
        wait_until(answered, "answers")
    except AssertionError:
        raise AssertionError("panels without a value: %s" % empty)
    for panel, question in panels():  # a question with a fault raises
        watched.values(question)


def panels_stand_beside_each_other():
    board = dashboard()
    taken, numbers = {}, set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert panel["id"] not in numbers, panel["id"]
        numbers.add(panel["id"])
        assert panel["type"] in ("stat", "timeseries"), panel["type"]
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert 0 <= x < 24 and (x, y) not in taken, panel["title"]
                taken[x, y] = panel["title"]
    named = {one["name"] for one in board["templating"]["list"]}
    assert {"datasource", "instance"} <= named, named


def rules_are_loaded_and_quiet():
    watched = Watched.prometheus
    rules = [rule for group in watched.ask("rules")["groups"]
             for rule in group["rules"]]
    assert len(rules) > 15, rules
    for rule in rules:
        assert rule["health"] in ("ok", "unknown"), rule
    # A file system of a test may be smaller than the rule wants.
    firing = {alert["labels"]["alertname"]
              for alert in watched.ask("alerts")["alerts"]
              if alert["state"] == "firing"} - {"GridDiskFull"}
    assert not firing, firing


def a_grid_that_is_down_is_seen():
    watched = Watched.prometheus
    Watched.grid.stop()
    wait_until(lambda: watched.has('up{job="product-grid"} == 0'), "it is down")
    wait_until(lambda: any(
        alert["labels"]["alertname"] == "GridDown"
        for alert in watched.ask("alerts")["alerts"]), "the alert waits")


def gauges_of_nodes():
    """Metrics that only a node has, as the program names them."""
    with open(os.path.join(TOP, "fcgi", "metrics_text.c")) as file:
        return set(re.findall(r'"(gridapi_(?:shared_snapshots_(?!total)|nodes_|'
                              r'behind|log_away|files_fail)\w*)"', file.read()))


def panels_of_nodes_have_an_answer():
    asked = {question for panel, question in panels()
             if panel["title"] in OF_NODES}
    lacking = {name for name in gauges_of_nodes()
               if not any(name in question for question in asked)}
    assert not lacking, "no panel asks for %s" % lacking
    find_etcd()
    with Etcd() as etcd, Sharer(etcd) as one, Sharer(etcd, one) as two:
        one.deliver("first", articles=5)
        wait_until(lambda: one.live() == two.live(), "both show the import")
        one.ctl("compute", "--quiet", "--all")
        watched = Prometheus(one)
        try:
            for question in sorted(asked):
                wait_until(lambda: watched.has(question),
                           "an answer to " + question)
        finally:
            watched.stop()


def main():
    try:
        Watched.begin()
        run_tests([promtool_finds_no_fault_in_the_metrics,
                   panels_stand_beside_each_other, prometheus_reads_them,
                   each_panel_has_an_answer, rules_are_loaded_and_quiet,
                   a_grid_that_is_down_is_seen,
                   panels_of_nodes_have_an_answer])
    finally:
        Watched.end()


if __name__ == "__main__":
    main()
