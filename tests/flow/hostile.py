"""Requests that nobody well-meaning sends.

    hostile.py [--http]

Each gets JSON with a status below 500 that fits, soon; nobody dies of it. With
--http the same go through nginx to gridapi's workers, byte for byte, and none
of those is replaced.
"""

import json
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "system"))
from kit import API, Data, Direct, Reply, Score  # noqa: E402

SECONDS = 5  # no answer may take longer

GOOD, BAD, AUTH, LOST, METHOD = {200}, {400}, {401}, {404}, {405}
LONG = {400, 414}  # too long for us, or for nginx before us

ENDPOINTS = {
    "/fournisseurs": (), "/nomenclatures": (("fournisseur", "S1"),),
    "/grid": (("fournisseur", "S1"), ("fields", "codein")),
    "/products/search": (("q", "a"), ("fields", "codein")),
    "/products/A1": (("fields", "codein"),),
    "/propositions": (), "/products/A1/gammes": (),
}
TEXTS = {"/fournisseurs": "search", "/grid": "search",
         "/products/search": "q", "/nomenclatures": "parent",
         "/products/A1": "fournisseur", "/propositions": "auteur",
         "/products/A1/gammes": "fournisseur"}

ESCAPES = (b"%", b"%1", b"%zz", b"%0", b"a%", b"%%41", b"%u0041", b"%-1",
           b"%+1", b"% 1", b"%4g")
CONTROLS = (b"%00", b"a%00b", b"%01", b"%0a", b"%0d%0aSet-Cookie:x", b"%1b[2J",
            b"%7f", b"%09", b"%1f")
NOT_UTF8 = (b"%80", b"%ff", b"%c3", b"%c3%28", b"%c0%af", b"%c1%81",
            b"%e0%80%af", b"%ed%a0%80", b"%ed%bf%bf", b"%f4%90%80%80",
            b"%f8%88%80%80%80", b"%f0%80%80%80", b"%e2%82", b"a%bf",
            b"%fe%ff", b"%f0%9f%98")
NUMBERS = (b"0", b"-1", b"-0", b"+1", b"1.0", b"1e3", b"0x10", b"", b"%20",
           b"1%20", b"01", b"9223372036854775808", b"18446744073709551616",
           b"-9223372036854775809", b"9" * 400, b"NaN", b"Infinity", b"null",
           b"one", b"%D9%A1", b"1,000", b"1_0", b"--1", b"1;2", b"[1]")
CHOICES = {
    "compute": (b"", b"2", b"true", b"01", b"-1", b"1%20", b"yes"),
    "enrich": (b"", b"2", b"false", b"10", b"on"),
    "order": (b"", b"ASC", b"ascending", b"asc,desc", b"1", b"asc%00"),
    "sort": (b"", b"nothing", b"network", b"TOTALCA", b"totalCa,,codein",
             b"--totalCa", b"totalCa%20", b"sales12m", b"__proto__",
             b"%27%20OR%201=1", b"s" * 5000),
    "fields": (b"nothing", b"codein,nothing", b",", b"*", b"codein;totalCa",
               b"x," * 1500, b"TotalCa", b"sales12m.202501"),
    "gamme": (b"", b"a", b"D", b"AB", b"A,E", b",", b"A,,B", b"%00", b"null"),
    "code1": (b"", b"1", b"100", b"1x", b"%EF%BC%91%EF%BC%90", b"-1", b"+1"),
    "code2": (b"", b"10", b"101010", b"10.0"),
    "code3": (b"", b"1010", b"10101010", b"0x1010"),
    "nomenclature": (b"", b"1", b"123", b"12345", b"1234567", b"%2a", b"1%30x"),
    "snapshot": (b"", b"0", b"latest", b"0000000000000000", b"f" * 17,
                 b"-00000000000001", b"zzzzzzzzzzzzzzzz", b"../../etc/passwd"),
    "totalCa": (b"", b"5", b"gt.", b"gt.NaN", b"gt.inf", b"gt.1e9", b"gt.0x1",
                b"gt." + b"9" * 30, b"gt.-", b"gt.1.", b"gt.0.0000001",
                b"in.(" + b",".join([b"1"] * 1001) + b")", b"in.((((1))))",
                b"in.(1", b"in.1)", b"in.(1,,2)", b"in.(\"1)", b"not.",
                b"not.not.gt.1", b"is.", b"is.nil", b"like.*", b"or.(gt.1)",
                b"gt.1;drop", b"." * 3000, b"not." * 1000),
    "marque": (b"", b"x", b"eq", b"in.()x", b"in.(\"a\"b)", b"in.(" +
               b"(" * 2000, b"~.x", b"match.x", b"in.(\"" + b"\\" * 999),
    "derniereVente": (b"gt.2026", b"gt.2026-13-01", b"gt.2026-02-30",
                      b"gt.today", b"gt.99999-01-01"),
    "codeGamme": (b"eq.", b"eq.E", b"in.(A,E)", b"in.(A,)", b"like.A*"),
    "sales12m.202510": (b"", b"gt.x"),
    "sales12m.": (b"gt.1",),
    "sales12m.2025": (b"gt.1",),
    "sales12mByStore.": (b"gt.1",),
    "trend": (b"eq.", b"gt.1", b"eq.sideways"),
    "strict": (b"", b"2", b"true"),
    "fournisseur": (b"", b"x" * 65, b"S1%00", b"%0a", b"x" * 9000),
}
PATHS = {
    b"/api": LOST, b"/api?fournisseur=S1": LOST, b"/app": LOST, b"/app/": LOST,
    b"/api/": LOST,
    b"/api/v1": LOST,
    b"/api/v1/": LOST, b"/api/v1/grid/": LOST, b"/api/v1/grid/x": LOST,
    b"/api/v1//grid": LOST, b"/api/v1/GRID": LOST, b"/api/v1/grid%00": BAD,
    b"/api/v1/%zz": BAD, b"/api/v1/%ff": BAD, b"/api/v1/%c0%ae": BAD,
    b"/api/v1/products/": LOST, b"/api/v1/products//": LOST,
    b"/api/v1/products/%00": BAD, b"/api/v1/products/%ff": BAD,
    b"/api/v1/products/%": BAD, b"/api/v1/products/a%0ab": BAD,
    b"/api/v1/products/" + b"x" * 3000: LOST,
    b"/api/v1/products/%2F": LOST, b"/api/v1/products/..%2F..%2Fetc": LOST,
    b"/api/v1/products/%E2%80%AE": LOST, b"/api/v1/products/A1/x": LOST,
    b"/api/v1/network/": LOST, b"/api/v1/network/%00": BAD,
    b"/api/v1/network/1": LOST, b"/api/v1/network/10000": LOST,
    b"/api/v1/network/10000x": LOST, b"/api/v1/network/-100001": LOST,
    b"/api/v1/network/" + b"1" * 3000: LOST,
    b"/api/v1/network/100001%20": LOST, b"/api/v1/network/%31%ff": BAD,
    b"/api/v1/a/b/c/d/e/f/g/h/i/j": LOST, b"/api/v1" + b"/x" * 1000: LOST,
    b"/api/v1/openapi.json/": LOST, b"/api/v1/openapi.json%20": LOST,
    b"/api/v1/;grid": LOST, b"/api/v1/grid;a=b": LOST,
}
# Through nginx these are the pages' and not the workers'.
DIRECT_PATHS = {b"/": LOST, b"//": LOST, b"": LOST, b"*": LOST,
                b"grid": LOST, b"http://x/api/v1/grid": LOST}
# nginx takes these paths apart before us: what it refuses is its own 400.
RAW_PATHS = {
    b"/api/v1/../v1/nothing": LOST | BAD, b"/../../etc/passwd": LOST | BAD,
    b"/api/v1/%2e%2e/%2e%2e/%2e%2e/etc/passwd": LOST | BAD,
}
METHODS = ("POST", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE", "CONNECT",
           "LINK", "get", "G", "GETT", "M-SEARCH", "X" * 60)
HEADERS = {
    "If-None-Match": (b"", b"*,*", b"W/", b'"', b'"' * 3000, b"," * 3000,
                      b"W/\"", b"\xff\xfe", b'W/"x", *', b"\"\\\"", b" , , "),
    "Accept": (b"", b"*/*;q=", b";;;", b",,,,", b"text/csv;q=1e9",
               b"text/csv;q=-1", b"a" * 3000, b"text/csv;q=" + b"9" * 300,
               b"\xff/\xff", b"application/json;q=0", b"*/*;q=0",
               b"text/*", b"text/csv;q=\"1\""),
}
KEYS = (b"grid_", b"grid__", b"grid_a_b", b"x" * 3000, b"\xff" * 20,
        b"grid_aaaaaaaaaa_" + b"b" * 40, b"null", b"' OR '1'='1",
        b"grid_" + b"_" * 60, b"{}", b"%00")
BEARERS = (b"", b"Bearer", b"Bearer ", b"Bearer x", b"bearer\tx", b"Basic eDp4",
           b"Digest username=x", b"Bearer " + b"y" * 3000, b"\xff", b"Bearer,x",
           b"Bearer Bearer")


# Messages to /mcp that no client sends; each is refused, by HTTP or inside.
MESSAGES = (
    b"", b"{", b"null", b"5", b"\"x\"", b"[]", b"[[]]", b"[5]", b"{}{}",
    b"\0" * 1000, b"\xff\xfe", b"{\"a\":\"\xff\"}", b"[" * 100000,
    b"{\"a\":" * 5000, b"[" + b"{}," * 100 + b"{}]", b"{\"jsonrpc\":2.0}",
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":[\"ping\"]}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
    b"\"params\":[1]}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
    b"\"params\":{\"cursor\":\"x\"}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\"}",
)
# Calls of tools, of which none may be answered with rows.
CALLS = (
    (5, {}), (None, {}), ("query_rows\0", {}), ("__proto__", {}),
    ("query_rows", None), ("query_rows", []), ("query_rows", "S1"),
    ("query_rows", {"supplier": 5}), ("query_rows", {"supplier": ""}),
    ("query_rows", {"supplier": "x" * 65}),
    ("query_rows", {"supplier": "../../etc/passwd"}),
    ("query_rows", {"supplier": "S1\0"}), ("query_rows", {"supplier": "S1\n"}),
    ("query_rows", {"supplier": "S1", "limit": 1e300}),
    ("query_rows", {"supplier": "S1", "limit": "1"}),
    ("query_rows", {"supplier": "S1", "limit": -1}),
    ("query_rows", {"supplier": "S1", "limit": 1.5}),
    ("query_rows", {"supplier": "S1", "page": 1 << 70}),
    ("query_rows", {"supplier": "S1", "filters": "totalCa=gt.0"}),
    ("query_rows", {"supplier": "S1", "filters": [None]}),
    ("query_rows", {"supplier": "S1", "filters": [""]}),
    ("query_rows", {"supplier": "S1", "filters": ["="]}),
    ("query_rows", {"supplier": "S1", "filters": ["totalCa=gt.NaN"]}),
    ("query_rows", {"supplier": "S1", "filters": ["totalCa=gt.0&limit=9999"]}),
    ("query_rows", {"supplier": "S1", "filters": ["limit=9999"]}),
    ("query_rows", {"supplier": "S1", "filters": ["fournisseur=S2"]}),
    ("query_rows", {"supplier": "S1", "filters": ["fields=network"]}),
    ("query_rows", {"supplier": "S1", "filters": ["a\r\nX: y=1"]}),
    ("query_rows", {"supplier": "S1", "filters": ["totalCa=gt.0"] * 25}),
    ("query_rows", {"supplier": "S1", "filters": ["totalCa=in.(%s)" % (
        ",".join(["1"] * 1500))]}),
    ("query_rows", {"supplier": "S1", "filters": ["x" * 5000 + "=eq.1"]}),
    ("query_rows", {"supplier": "S1", "filters": ["not." * 900 + "=1"]}),
    ("query_rows", {"supplier": "S1", "fields": ["x"] * 71}),
    ("query_rows", {"supplier": "S1", "sort": ["--totalCa"]}),
    ("query_rows", {"supplier": "S1", "sort": ["' OR 1=1"]}),
    ("query_rows", {"search": "x" * 121}),
    ("describe_columns", {"columns": ["totalCa", "\u202e"]}),
    ("aggregate", {"supplier": "S1", "groups": ["marque"] * 3}),
    ("aggregate", {"supplier": "S1", "values": ["marque"]}),
    ("get_product", {"codein": ".."}), ("get_product", {"codein": "A1/gamme"}),
    ("get_product", {"codein": "A1?fields=x"}), ("get_product", {"codein": "%"}),
    ("get_product", {"codein": "search"}),
    ("propose_ranges", {"supplier": "S1", "codeins": ["A1"], "gamme": "B"}),
    ("propose_ranges", {"supplier": "S1", "codeins": [], "gamme": "B"}),
    ("proposal_status", {"cursor": "x"}), ("proposal_status", {"from": "x"}),
)
MCP_HEADERS = (
    {"MCP-Protocol-Version": b"2026-07-28"}, {"MCP-Protocol-Version": b"x"},
    {"MCP-Protocol-Version": b"9" * 3000}, {"Mcp-Method": b"\xff"},
    {"MCP-Protocol-Version": b"2999-01-01", "Mcp-Name": b"=?base64?====?="},
)


def to_tools():
    """Each refused: a status, or an error inside a 200."""
    def call(name, args):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": name,
                                      "arguments": args}}).encode()
    json_type = {"Content-Type": b"application/json"}
    for body in MESSAGES:
        yield ("mcp %r" % body[:60], "POST", b"/mcp", json_type, body,
               {200, 400})
    for name, args in CALLS:
        yield ("mcp %s %s" % (name, str(args)[:60]), "POST", b"/mcp",
               json_type, call(name, args), {200})
    for headers in MCP_HEADERS:
        if headers.get("MCP-Protocol-Version") is not None:
            yield ("mcp headers %r" % str(headers)[:60], "POST", b"/mcp",
                   dict(json_type, **headers), call("query_rows", {}),
                   {400})
    for kind in (b"text/plain", b"application/jsonx", b"\xff", b"x" * 3000):
        yield ("mcp type %r" % kind[:20], "POST", b"/mcp",
               {"Content-Type": kind}, call("list_suppliers", {}), {415})
    yield ("mcp 2 MB", "POST", b"/mcp", json_type, b" " * (2 << 20), {413})
    yield ("mcp from a page", "POST", b"/mcp",
           dict(json_type, Origin=b"https://evil.example"),
           call("list_suppliers", {}), {403})


def spelt(pairs):
    return b"&".join(name.encode() + b"=" + value.encode()
                     for name, value in pairs)


def requests():
    """Each as: what it is, method, URI, headers, body, statuses allowed."""
    def get(name, uri, allowed, headers=None, method="GET", body=b""):
        return name, method, uri, headers or {}, body, allowed

    for path, good in ENDPOINTS.items():
        base = (API + path + "?").encode() + spelt(
            pair for pair in good if pair[0] != TEXTS[path])
        text = b"&" + TEXTS[path].encode() + b"="
        for kind, values in (("escape", ESCAPES), ("control", CONTROLS),
                             ("not UTF-8", NOT_UTF8)):
            for value in values:
                yield get("%s %s %r" % (kind, path, value),
                          base + text + value, BAD)
        yield get("bad name " + path, base + b"&%ff=1", BAD)
        yield get("bad name escape " + path, base + b"&%=1", BAD)
        yield get("long " + path, base + text + b"x" * 8000, BAD)
        yield get("60 KB " + path, base + text + b"x" * 60000, LONG)
        yield get("twice " + path, base + text + b"10" + text + b"10", BAD)
        yield get("65 pairs " + path, base + b"&a=1" * 65, BAD)
        yield get("2000 blanks " + path, base + b"&" * 2000 + text + b"%zz",
                  BAD)
    grid = (API + "/grid?fields=codein&fournisseur=S1&").encode()
    for name in ("page", "limit"):
        for value in NUMBERS:
            yield get("%s=%r" % (name, value[:30]),
                      grid + name.encode() + b"=" + value, BAD)
    for value in NUMBERS:
        yield get("niveau=%r" % value[:30],
                  (API + "/nomenclatures?fournisseur=S1&niveau=").encode() +
                  value, BAD)
    for name, values in CHOICES.items():
        start = grid
        if name in ("fields", "fournisseur"):
            start = grid.replace(name.encode() + b"=", b"x=")
        for value in values:
            yield get("%s=%r" % (name, value[:30]),
                      start + name.encode() + b"=" + value, BAD)
    yield get("a condition of 10,000 values",
              grid + b"totalCa=in.(" + b",".join([b"1"] * 10000) + b")", LONG)
    yield get("10,000 conditions", grid + b"totalCa=gt.1&" * 10000, LONG)
    yield get("a condition of 1 MB", grid + b"marque=eq." + b"x" * (1 << 20),
              LONG)
    yield get("snapshot of nobody", grid + b"snapshot=00000000000000ff", LOST)
    yield get("a path as supplier",
              (API + "/grid?fournisseur=..%2F..%2Fetc").encode(), LOST)
    yield get("raw bytes", grid + b"search=\xc3\xa9", GOOD)
    yield get("raw bytes that are not UTF-8", grid + b"search=\xff", BAD)
    for path, allowed in list(PATHS.items()) + list(RAW_PATHS.items()):
        yield get("path %r" % path[:40], path, allowed)
    for method in METHODS:
        yield get("method " + method[:20], grid, METHOD | BAD | {501},
                  method=method)
        yield get("method on nothing " + method[:20], b"/api/v1/nothing",
                  LOST | METHOD | BAD | {501}, method=method)
    for name, values in HEADERS.items():
        for value in values:
            yield get("%s: %r" % (name, value[:30]), grid, GOOD, {name: value})
    for value in KEYS:
        yield get("key %r" % value[:30], grid, AUTH, {"X-API-Key": value})
    for value in BEARERS:
        yield get("bearer %r" % value[:30], grid, AUTH,
                  {"Authorization": value, "no key": ""})
    for body in (b"x", b"{}", b"\0" * 1000, b"{" * 100000, b"\xff" * 70000):
        yield get("body on GET %r" % body[:8], grid, GOOD, body=body)


class Raw:
    """Byte for byte through nginx."""

    def __init__(self, stack):
        self.stack = stack

    def ask(self, uri, method, headers, body):
        lines = [method.encode() + b" " + uri + b" HTTP/1.1",
                 b"Host: grid.test", b"Connection: close"]
        lines += [name.encode() + b": " + value
                  for name, value in headers.items()]
        if body:
            lines.append(b"Content-Length: %d" % len(body))
        got = self.stack.raw(b"\r\n".join(lines) + b"\r\n\r\n" + body,
                             SECONDS)
        return Reply(got.status, {name.lower(): value for name, value
                                  in got.headers.items()}, got.body)


def check(server, key, request):
    _, method, uri, headers, body, allowed = request
    if "no key" not in headers and "X-API-Key" not in headers:
        headers = dict(headers, **{"X-API-Key": key.encode()})
    headers = {name: value for name, value in headers.items() if value}
    start = time.monotonic()
    reply = server.ask(uri, method, headers, body)
    problems = []
    if time.monotonic() - start > SECONDS:
        problems.append("took %.1f s" % (time.monotonic() - start))
    if reply.status not in allowed:
        problems.append("status %d, not %s: %r" % (
            reply.status, sorted(allowed), reply.body[:200]))
    if reply.status == 200 and uri == b"/mcp":
        answer = json.loads(reply.body)
        each = answer if isinstance(answer, list) else [answer]
        if not all("error" in one or one["result"]["isError"]
                   for one in each):
            problems.append("answered: %r" % reply.body[:300])
    if reply.status != 200:
        error = json.loads(reply.body)["error"]
        if not isinstance(error["message"], str):
            problems.append("no message")
        if reply.status == 405 and not reply.headers.get("allow"):
            problems.append("405 without Allow")
    return problems


def run(server, key, extra=()):
    score = Score()
    for request in list(requests()) + list(to_tools()) + [
            ("path %r" % path, "GET", path, {}, b"", allowed)
            for path, allowed in dict(extra).items()]:
        try:
            problems = check(server, key, request)
        except (AssertionError, ValueError, KeyError, OSError) as error:
            problems = [repr(error)]
        score.note(request[0], problems)
    # Whoever is still there answers as before.
    alive = server.ask((API + "/fournisseurs").encode(), "GET",
                       {"X-API-Key": key.encode()}, b"")
    score.note("an ordinary request after all of them",
               [] if alive.status == 200 else ["status %d" % alive.status])
    return score


def main():
    data = Data().fill(os.path.join(HERE, "data"), "S1", "S2", "S5")
    key = data.key()
    if "--http" not in sys.argv[1:]:
        server = Direct(data)
        score = run(server, key, DIRECT_PATHS)
        server.stop()
        score.end()
    from stack import Stack
    with Stack(data=data.folder) as stack:
        before = stack.workers()
        score = run(Raw(stack), key)
        score.note("no worker was replaced", [] if len(
            set(before) & set(stack.workers())) >= len(before) - 1
                   else ["%s, then %s" % (before, stack.workers())])
        metrics = stack.get("/metrics").body.decode()
        score.note("the count of replaced workers is 0",
                   [] if "\ngridapi_workers_replaced_total 0\n" in metrics
                   else ["it is not"])
    score.end()


if __name__ == "__main__":
    main()
