"""The kinds of work that serving is measured by, one function each. All that
is compared takes turns in the same run; what is told is the median."""

import json
import os
import random
import statistics
import subprocess
import time
import urllib.parse
import zlib

from serve_data import GRIDCTL, LARGEST
from serve_kit import Watch, die_with_parent

FIELDS = ("codein,libelle1,marque,gtin,code3,codeGamme,totalCa,tauxMarge,"
          "stockActuel,caReseau")
SORTS = ("totalCa", "libelle1", "totalQuantite", "rangCa", "stockActuel",
         "derniereVente")


def grid(**options):
    options = dict({"fournisseur": LARGEST, "enrich": 1, "limit": 100},
                   **options)
    return "/api/v1/grid?" + urllib.parse.urlencode(options, safe=",")


def search(word):
    return "/api/v1/products/search?" + urllib.parse.urlencode(
        {"q": word, "limit": 100, "fields": FIELDS}, safe=",")


def floor_path(size, number=None):
    """With a number its bytes are of their own, as those of rows are."""
    return "/api/v1/floor/%d" % size + (
        "" if number is None else "/%d" % number)


# --- what is shared -----------------------------------------------------------


def floor_paths(bench, paths, site):
    """For each path one of the same size."""
    return [floor_path(len(bench.client.ask(site, path)[1]))
            for path in paths]


def take_turns(bench, asked, connections=8, measure="rate"):
    """{name: measures} of wrk; `asked` is name -> (site, paths), or (site,
    paths, Accept-Encoding)."""
    files = {name: bench.client.write_paths(which[1])
             for name, which in asked.items()}

    def load(name, seconds):
        site, _, *accept = asked[name]
        return bench.client.load(site, files[name], seconds, connections,
                                 *accept)
    for name in asked:  # warm, and not counted
        load(name, min(1, bench.seconds))
    seen = {name: [] for name in asked}
    for _ in range(bench.turns):
        for name in asked:
            got = load(name, bench.seconds)
            seen[name].append(got[measure])
            bench.client_shares.append(got["client"])
    return seen


def contenders(bench, paths):
    site = bench.sites["ours"]
    asked = {"ours": (site, paths),
             "floor": (bench.sites["floor"], floor_paths(bench, paths, site))}
    asked.update({name: (peer, paths)
                  for name, peer in bench.peer_sites.items()})
    return asked


def pages(bench, title, paths, least, beside=None):
    """`beside`: {what it is: (site, paths)}, whose rates stand in the title."""
    asked = contenders(bench, paths)
    asked.update(beside or {})
    seen = take_turns(bench, asked)
    told = ["%s: %s" % (name, "{:,.0f}".format(statistics.median(seen[name])))
            for name in beside or {}]
    if told:
        title += " (" + "; ".join(told) + ")"
    share = statistics.median(seen["ours"]) / statistics.median(seen["floor"])
    bench.table.add(title, "answers/s", seen,
                    "%d %% of the floor" % (least * 100), share >= least)


def ask_times(bench, sites, paths):
    """{name: server times in ms}: each path once of each in turn."""
    seen = {name: [] for name in sites}
    for path in paths:
        for name, site in sites.items():
            head, _ = bench.client.ask(site, path)
            seen[name].append(float(head["Server-Timing"].split("=")[1]))
    return seen


def same_answers(bench, paths):
    """All answer the same rows and the same total, before anything is timed."""
    for path in paths:
        ours = json.loads(bench.client.ask(bench.sites["ours"], path)[1])
        for name, site in bench.peer_sites.items():
            other = json.loads(bench.client.ask(site, path)[1])
            assert ours["pagination"]["total"] == \
                other["pagination"]["total"], (name, path)
            for a, b in zip(ours["data"], other["data"]):
                assert a == b, (name, path, a, b)
            assert len(ours["data"]) == len(other["data"]), (name, path)
    return len(paths)


# --- pages --------------------------------------------------------------------


def page_paths(bench, count=48, **options):
    """Any sort, any offset."""
    chance = random.Random(1)
    last = bench.rows // 100
    return [grid(page=chance.randint(1, last), sort=chance.choice(SORTS),
                 order=chance.choice(("asc", "desc")), **options)
            for _ in range(count)]


def filtered_paths(bench):
    """The nomenclatures that have the most rows, sorted two ways."""
    _, body = bench.client.ask(
        bench.sites["ours"],
        "/api/v1/nomenclatures?fournisseur=%s&niveau=1" % LARGEST)
    codes = [row["code"] for row in json.loads(body)["data"]]
    paths = []
    for code in codes[:6]:
        for gamme in ("A", "B"):
            for sort, order in (("totalCa", "desc"), ("libelle1", "asc")):
                paths.append(grid(fields=FIELDS, code1=code, gamme=gamme,
                                  sort=sort, order=order))
    return paths


def check_answers(bench):
    words = bench.set.words(40, LARGEST, seed=2)
    paths = page_paths(bench, fields=FIELDS)[:24] + filtered_paths(bench) + \
        [grid(fields=FIELDS, search=word) for word in words] + \
        page_paths(bench, 6)
    if bench.peer_sites:
        bench.table.note(
            "Before anything was timed, gridapi, %s gave the same rows and "
            "totals for %d requests." % (" and ".join(bench.peer_sites),
                                         same_answers(bench, paths)))


def page_of_ten(bench):
    pages(bench, "page of 100 rows x 10 fields, any sort, any offset, "
          "enrich=1", page_paths(bench, fields=FIELDS), 0.9)


def page_of_all(bench):
    paths = page_paths(bench)
    sizes = [len(bench.client.ask(bench.sites["ours"], path)[1])
             for path in paths]
    various = [floor_path(size, number) for number, size in enumerate(sizes)]
    pages(bench, "page of 100 full rows, %d KB" % (sizes[0] // 1000), paths,
          0.85, {"a floor of as many different bytes":
                 (bench.sites["floor"], various)})


def deep_page(bench):
    last = bench.rows // 100
    first, deep = ([grid(fields=FIELDS, page=page)] for page in (1, last))
    site = bench.sites["ours"]
    asked = {"ours": (site, deep), "first": (site, first),
             "floor": (bench.sites["floor"], floor_paths(bench, deep, site))}
    asked.update({name: (peer, deep)
                  for name, peer in bench.peer_sites.items()})
    seen = take_turns(bench, asked)
    first_rate = statistics.median(seen.pop("first"))
    share = statistics.median(seen["ours"]) / first_rate
    bench.table.add("page %s (page 1: %s)" % (
        "{:,}".format(last), "{:,.0f}".format(first_rate)),
        "answers/s", seen, "within 10 % of page 1", share >= 0.9)


def filtered_page(bench):
    pages(bench, "page filtered by gamme and code1, sorted, exact total",
          filtered_paths(bench), 0.6)


def growth(bench):
    asked, names = {}, []
    for number, site in bench.growth_sites.items():
        chance = random.Random(number)
        paths = [grid(fields=FIELDS, sort=chance.choice(SORTS),
                      page=chance.randint(1, max(1, number // 100)))
                 for _ in range(48)]
        asked[number] = (site, paths)
        names.append(number)
        asked["floor %d" % number] = (bench.sites["floor"],
                                      floor_paths(bench, paths, site))
    seen = take_turns(bench, asked)
    rates = {name: statistics.median(seen[name]) /
             statistics.median(seen["floor %d" % name]) for name in names}
    least, most = min(rates.values()), max(rates.values())
    for name in names:
        bench.table.add(
            "the same page, supplier of {:,} rows".format(name), "answers/s",
            {"ours": seen[name], "floor": seen["floor %d" % name]},
            "flat within 15 %", least / most >= 0.85)


# --- searches -----------------------------------------------------------------


def report_search(bench, title, seen, median_ms, worst_ms):
    """A goal of None is not judged."""
    ours = statistics.median(seen["ours"])
    ahead = [statistics.median(seen[name]) / ours >= 10
             for name in bench.peer_sites]
    bench.table.add(title + ", median", "ms", seen,
                    "%g ms, 10 times as fast" % median_ms,
                    ours <= median_ms and all(ahead), less=True)
    worst = {name: [max(values)] for name, values in seen.items()}
    bench.table.add(title + ", worst of %d" % len(seen["ours"]), "ms", worst,
                    "%g ms" % worst_ms if worst_ms else "",
                    worst["ours"][0] <= worst_ms if worst_ms else None,
                    less=True)


def search_sites(bench):
    return dict({"ours": bench.sites["ours"]}, **bench.peer_sites)


def ask_others(bench, make_path, count, supplier=None):
    """As many other words before, untimed: what a server costs that has just
    begun is told by the cold start."""
    for word in bench.set.words(count, supplier, seed=3):
        for site in search_sites(bench).values():
            bench.client.ask(site, make_path(word))


def search_within(bench):
    def path(word):
        return grid(fields=FIELDS, search=word)
    count = bench.searches // 3
    ask_others(bench, path, count, LARGEST)
    seen = ask_times(bench, search_sites(bench), [
        path(word) for word in bench.set.words(count, LARGEST)])
    report_search(bench, "search inside the supplier, exact total", seen, 1.5,
                  None)


def search_across(bench):
    words = bench.set.words(bench.searches + 20)
    checked = same_answers(bench, [search(word) for word in words[-20:]])
    ask_others(bench, search, bench.searches)
    seen = ask_times(bench, search_sites(bench),
                     [search(word) for word in words[:-20]])
    report_search(bench, "/products/search over {:,} articles, exact total"
                  .format(bench.set.options["total"]), seen, 5, 50)
    if bench.peer_sites:
        bench.table.note("The same answers to %d searches across suppliers "
                         "too." % checked)


# --- dumps --------------------------------------------------------------------


def fetch_turns(bench, asked, turns=None):
    """{name: [what Client.fetch tells]}; name -> (site, path, headers)."""
    seen = {name: [] for name in asked}
    for _ in range(turns or bench.turns):
        for name, (site, path, headers) in asked.items():
            seen[name].append(bench.client.fetch(site, path, headers))
    return seen


def speeds(got):
    return [one["bytes"] / one["seconds"] / 1e6 for one in got]


def dump_identity(bench):
    ours, floor = bench.sites["ours"], bench.sites["floor"]
    path = "/api/v1/grid?fournisseur=" + LARGEST
    whole = bench.client.fetch(ours, path, keep=True)
    with open(os.path.join(bench.files, "dump.json"), "wb") as file:
        file.write(whole["body"])
    asked = {"ours": (ours, path, ()),
             "floor": (floor, floor_path(whole["bytes"]), ()),
             "various": (floor, floor_path(whole["bytes"], 0), ()),
             "file": (ours, "/dump.json", ())}
    with Watch(bench.pool.slow_worker()) as watch:
        seen = fetch_turns(bench, asked)
    share = statistics.median(speeds(seen["ours"])) / \
        statistics.median(speeds(seen["floor"]))
    size = "{:,.0f} MB".format(whole["bytes"] / 1e6)
    bench.table.add("full dump of %s, identity (nginx from a file: %s; a "
                    "floor of different bytes: %s)" %
                    (size, short_speed(seen["file"]),
                     short_speed(seen["various"])), "MB/s",
                    {"ours": speeds(seen["ours"]),
                     "floor": speeds(seen["floor"])},
                    "85 % of the floor", share >= 0.85)
    first = {name: [one["first"] * 1e3 for one in seen[name]]
             for name in ("ours", "floor")}
    bench.table.add("its first byte", "ms", first, "5 ms",
                    statistics.median(first["ours"]) <= 5, less=True)
    grown = (watch.most - watch.before) / 1e6
    bench.table.add("private memory that it takes, at most", "MB",
                    {"ours": [grown]}, "flat", grown < 8, less=True)


def short_speed(got):
    return "{:,.0f} MB/s".format(statistics.median(speeds(got)))


def dump_gzip(bench):
    ours = bench.sites["ours"]
    path = "/api/v1/grid?fournisseur=" + LARGEST
    accept = ("Accept-Encoding: gzip",)
    bench.pool.pack(LARGEST)
    plain = bench.client.fetch(ours, path, keep=True)
    packed = bench.client.fetch(ours, path, accept, keep=True)
    if "content-encoding: gzip" not in packed["head"]:
        bench.table.note("The dump compressed: this gridapi does not send it.")
        return
    inflater = zlib.decompressobj(31)
    assert inflater.decompress(packed["body"]) + inflater.flush() == \
        plain["body"] and inflater.unused_data == b"", "not one same member"
    smaller = plain["bytes"] / packed["bytes"]
    bench.table.add("full dump, gzip: smaller than the identity", "times",
                    {"ours": [smaller]}, "7 times", smaller >= 7)
    seen = fetch_turns(bench, {
        "ours": (ours, path, accept),
        "floor": (bench.sites["floor"], floor_path(packed["bytes"]), ()),
        "nginx": (bench.sites["gzip1"], path, accept)}, 5)
    rows = {name: [bench.rows / one["seconds"] for one in got]
            for name, got in seen.items()}
    times = statistics.median(rows["ours"]) / statistics.median(rows["nginx"])
    bench.table.add("the same in rows (through nginx's gzip level 1: %s)" %
                    "{:,.0f}".format(statistics.median(rows["nginx"])),
                    "rows/s", {"ours": rows["ours"], "floor": rows["floor"]},
                    "25 times nginx: here %.1f" % times, times >= 25)


def dump_five(bench):
    ours = bench.sites["ours"]
    path = "/api/v1/grid?" + urllib.parse.urlencode(
        {"fournisseur": LARGEST,
         "fields": "codein,libelle1,gtin,codeGamme,totalCa"}, safe=",")
    size = bench.client.fetch(ours, path)["bytes"]
    seen = fetch_turns(bench, {
        "ours": (ours, path, ()),
        "floor": (bench.sites["floor"], floor_path(size), ())})
    times = {name: [one["seconds"] * 1e3 for one in got]
             for name, got in seen.items()}
    bench.table.add("dump of 5 fields of {:,} rows, to the client's last byte"
                    .format(bench.rows), "ms", times, "60 ms",
                    statistics.median(times["ours"]) < 60, less=True)


# --- beside other work --------------------------------------------------------


def make_network(bench, products):
    """The set's network file, other figures, and made-up products behind."""
    path = os.path.join(bench.scratch, "network.csv")
    with open(os.path.join(bench.set.csv, "network.csv")) as source, \
            open(path, "w") as target:
        head = source.readline()
        target.write(head)
        number = 0
        for line in source:
            if number < products:
                target.write(line)
            number += 1
        cells = line.split(",")
        for more in range(number, products):
            target.write(",".join(["100009%07d" % more] + cells[1:]))
    return path


def network_sync(bench):
    """One connection, so that a core is left for the sync: with more, the
    pages alone take both."""
    products = 200000 // (10 if bench.quick else 1)
    file = make_network(bench, products)
    words = [GRIDCTL, "--data", bench.pool.data, "network", file]
    sync = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                preexec_fn=die_with_parent)
    began = time.monotonic()
    subprocess.run(words, check=True, **sync)
    took = time.monotonic() - began
    paths = bench.client.write_paths(page_paths(bench, fields=FIELDS))
    site = bench.sites["ours"]
    alone, beside = [], []
    for _ in range(bench.turns):
        alone.append(bench.client.load(site, paths, bench.seconds, 1)["rate"])
        syncing = subprocess.Popen(
            ["sh", "-c", 'while "$@" && [ -e "%s" ]; do :; done' % file,
             "sync"] + words, **sync)
        try:
            beside.append(
                bench.client.load(site, paths, bench.seconds, 1)["rate"])
        finally:
            syncing.terminate()
            syncing.wait()
    share = statistics.median(beside) / statistics.median(alone)
    bench.table.add(
        "pages while {:,} network products come in (undisturbed: {:,.0f}; a "
        "sync takes {:.1f} s)".format(products, statistics.median(alone), took),
        "answers/s", {"ours": beside},
        "within 20 %%: here %.0f %%" % (share * 100), share >= 0.8)


def cold_start(bench):
    site, pool = bench.sites["ours"], bench.pool
    suppliers = bench.set.suppliers()
    times, across = [], []
    for turn in range(9):
        for seen, path in (
                (times, grid(fournisseur=suppliers[turn * 7], fields=FIELDS)),
                (across, search("chocolat"))):
            pool.stop()
            pool.start_pool()
            began = time.monotonic()
            bench.client.ask(site, path)
            seen.append((time.monotonic() - began) * 1e3)
    bench.table.add("first page after a cold start, {:,} suppliers".format(
        len(suppliers)), "ms", {"ours": times}, "20 ms",
        statistics.median(times) < 20, less=True)
    bench.table.add("first search across all of them",
                    "ms", {"ours": across}, less=True)


# --- the client ---------------------------------------------------------------


def client_is_no_limit(bench):
    """The same client and the same bytes from a file of nginx: faster by far
    than the floor, so it is not the client that is measured."""
    path = page_paths(bench, 1, fields=FIELDS)[0]
    size = len(bench.client.ask(bench.sites["ours"], path)[1])
    with open(os.path.join(bench.files, "page.json"), "wb") as file:
        file.write(b"x" * size)
    seen = take_turns(bench, {
        "floor": (bench.sites["floor"], [floor_path(size)]),
        "file": (bench.sites["ours"], ["/page.json"])})
    floor, file = (statistics.median(seen[name]) for name in
                   ("floor", "file"))
    bench.table.note(
        "The client (wrk, one thread, 8 connections kept alive) takes {:,.0f} "
        "answers a second of {:,} bytes from a file of nginx, {:,.0f} from "
        "the floor: it could take {:.1f} times what is measured. In all runs "
        "it used {:.0f} % of one processor in the median.".format(
            file, size, floor, file / floor,
            100 * statistics.median(bench.client_shares)))
