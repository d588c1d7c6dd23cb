"""Works over connections that are kept, beside a floor that keeps them too and
sends as many different bytes; and the same as clients ask: packed."""

import json
import os
import statistics
import urllib.parse

from serve_data import LARGEST
from serve_works import (FIELDS, fetch_turns, filtered_paths, floor_path,
                         grid, page_paths, take_turns)

GZIP = "gzip"


def median(seen, name):
    return statistics.median(seen[name])


# What every answer has, also the floor's.
COMMON_HEADERS = {"server", "date", "content-type", "content-length",
                  "connection"}


def various(bench, paths):
    """For each path an answer of its size, of bytes of its own; and the same
    asked for by as long an address, with as long a head: what they cost nginx
    and the client."""
    plain, alike = [], []
    for number, path in enumerate(paths):
        head, body = bench.client.ask(bench.sites["ours"], path)
        more = sum(len(name + value) + 4 for name, value in head.items()
                   if name.lower() not in COMMON_HEADERS)
        plain.append(floor_path(len(body), number))
        alike.append("%s/%d?%s" % (plain[-1], more - len("Link: \r\n"),
                                   path.partition("?")[2]))
    return plain, alike


def beside_kept_floor(bench, title, paths, least):
    """Also beside itself with a connection for each answer."""
    plain, alike = various(bench, paths)
    seen = take_turns(bench, {
        "ours": (bench.sites["ours"], paths),
        "floor": (bench.sites["kept floor"], plain),
        "alike": (bench.sites["kept floor"], alike),
        "unkept": (bench.sites["unkept"], paths)})
    unkept, alike = (statistics.median(seen.pop(name))
                     for name in ("unkept", "alike"))
    ours = median(seen, "ours")
    bench.table.add(
        "%s, beside a floor that keeps connections and sends different bytes "
        "(with as long an address and head: %s, ours %.0f %% of it; "
        "a connection for each answer: %s, kept ones are %.2f times as fast)"
        % (title, "{:,.0f}".format(alike), 100 * ours / alike,
           "{:,.0f}".format(unkept), ours / unkept),
        "answers/s", seen, "%d %% of that floor" % (least * 100),
        median(seen, "ours") / median(seen, "floor") >= least)


def one_row_paths(bench, make, count=48):
    body = bench.client.ask(bench.sites["ours"], grid(
        fields="codein,gtin", limit=count, page=7, sort="codein"))[1]
    return [path for path in map(make, json.loads(body)["data"]) if path]


def product_path(row):
    return "/api/v1/products/" + urllib.parse.quote(row["codein"])


def network_path(row):
    return "/api/v1/network/" + urllib.parse.quote(row["gtin"]) \
        if row["gtin"] else None


def kept_pages(bench):
    words = bench.set.words(40, LARGEST, seed=5)
    for title, paths, least in (
            ("page of 100 rows x 10 fields",
             page_paths(bench, fields=FIELDS), 0.9),
            ("page of 100 full rows", page_paths(bench), 0.9),
            ("one article", one_row_paths(bench, product_path), 0.9),
            ("one product of the network",
             one_row_paths(bench, network_path), 0.9),
            ("page filtered and sorted, exact total",
             filtered_paths(bench), 0.85),
            ("search in a supplier, exact total",
             [grid(fields=FIELDS, search=word) for word in words], 0.85)):
        if answered(bench, paths):
            beside_kept_floor(bench, title, paths, least)


def answered(bench, paths):
    """A product that the network does not have is a 404."""
    site = bench.sites["ours"]
    paths[:] = [path for path in paths
                if site.get(path, {"X-API-Key": site.key})[0] == 200]
    return paths


def packed_pages(bench):
    """Beside the same plain, and behind nginx's gzip, as it was before."""
    for title, paths, goal in (
            ("page of 100 rows x 10 fields, gzip",
             page_paths(bench, fields=FIELDS), 0.7),
            ("page of 100 full rows, gzip", page_paths(bench), None)):
        ours = bench.sites["ours"]
        asked = {"ours": (ours, paths, GZIP), "plain": (ours, paths),
                 "zstd": (ours, paths, "zstd"),
                 "nginx": (bench.sites["gzip1"], paths, GZIP)}
        asked.update({name: (site, paths, GZIP) for name, site in
                      bench.packed_peer_sites.items()})
        seen = take_turns(bench, asked)
        plain, zstd, nginx = (statistics.median(seen.pop(name))
                              for name in ("plain", "zstd", "nginx"))
        share = median(seen, "ours") / plain
        ahead = [median(seen, "ours") / median(seen, name)
                 for name in bench.packed_peer_sites if name in seen]
        bench.table.add(
            "%s (plain: %s; zstd: %s; through nginx's gzip: %s; peers through "
            "nginx's gzip)" % ((title,) + tuple(
                "{:,.0f}".format(value) for value in (plain, zstd, nginx))),
            "answers/s", seen,
            "70 %% of plain: here %.0f %%" % (100 * share) if goal else
            "8 times nginx's gzip: here %.1f; 20 times PostgreSQL" % (
                median(seen, "ours") / nginx),
            share >= goal if goal else
            median(seen, "ours") / nginx >= 8 and all(
                times >= 20 for times in ahead[:1]))


def megabytes(got, size):
    return [size / one["seconds"] / 1e6 for one in got]


def kept_dumps(bench):
    ours, floor = bench.sites["ours"], bench.sites["kept floor"]
    base = "/api/v1/grid?fournisseur=" + LARGEST
    five = base + "&fields=codein,libelle1,gtin,codeGamme,totalCa"
    for title, path, least in (("full dump", base, 0.8),
                               ("dump of 5 fields", five, 0.6)):
        size = bench.client.fetch(ours, path)["bytes"]
        seen = fetch_turns(bench, {
            "ours": (ours, path, ()),
            "floor": (floor, floor_path(size, 0), ()),
            "unkept": (bench.sites["unkept"], path, ())})
        rates = {name: megabytes(got, size) for name, got in seen.items()}
        bench.table.add(
            "%s of %.0f MB, beside that floor (a connection for each answer: "
            "%.0f)" % (title, size / 1e6,
                       statistics.median(rates.pop("unkept"))), "MB/s",
            rates, "%d %% of that floor" % (least * 100),
            median(rates, "ours") / median(rates, "floor") >= least)


def processor_seconds(pid):
    """Of all threads that the process has."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
            total += int(file.read().split()[0])
    return total / 1e9


def packed_dumps(bench):
    """Plain bytes for each second of the worker's processor."""
    ours, worker = bench.sites["ours"], bench.pool.slow_worker()
    all_fields = "/api/v1/grid?fournisseur=" + LARGEST
    ten_fields = all_fields + "&fields=" + FIELDS
    for title, accept, path in (
            ("whole rows as NDJSON", "application/x-ndjson", all_fields),
            ("whole rows as CSV", "text/csv", all_fields),
            ("10 fields as NDJSON", "application/x-ndjson", ten_fields),
            ("10 fields as CSV", "text/csv", ten_fields),
            ("10 fields as JSON", "application/json", ten_fields)):
        def fetched(coding):
            before = processor_seconds(worker)
            got = bench.client.fetch(ours, path, (
                "Accept: " + accept, "Accept-Encoding: " + coding))
            return got["bytes"], processor_seconds(worker) - before
        seen = {coding: [] for coding in ("identity", GZIP, "zstd")}
        for _ in range(bench.turns):
            for coding in seen:
                seen[coding].append(fetched(coding))
        size = seen["identity"][0][0]
        rates = {coding: [size / took / 1e6 for _, took in got]
                 for coding, got in seen.items()}
        smaller = {coding: size / got[0][0] for coding, got in seen.items()}
        bench.table.add(
            "dump of %s, gzip, plain bytes for a second of the "
            "worker's processor (%.1f times smaller; zstd: %.0f MB/s, %.1f "
            "times; plain: %.0f MB/s)" % (
                title, smaller[GZIP], median(rates, "zstd"), smaller["zstd"],
                median(rates, "identity")),
            "MB/s", {"ours": rates[GZIP]}, "300 MB/s, 3.3 times smaller",
            median(rates, GZIP) >= 300 and smaller[GZIP] >= 3.3)
