"""POST /mcp: the grid as tools, on serve() in one process; with --http through
nginx.

Each fact is asked by JSON-RPC as a client would; what the tools say is compared
with what the API says, and with the tools' own output schemas.
"""

import json
import os
import sys
import urllib.parse

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "system"))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from patience import wait_until  # noqa: E402
from kit import API, Data, Description, Direct, Http, Score, scratch  # noqa: E402

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
TOOLS = ["list_suppliers", "describe_columns", "classification", "query_rows",
         "aggregate", "get_product", "propose_ranges", "proposal_status"]
SMALL = 120 * 1024  # no result is longer on the wire
CHECK = Description({"paths": {}})


class Client:
    """What a client of the protocol sends, both eras."""

    def __init__(self, server, key):
        self.server, self.key, self.last = server, key, 0

    def post(self, message, **headers):
        # The tools speak English, whatever their caller's program prefers.
        sent = {"Content-Type": "application/json", "Accept-Language": "fr",
                "Authorization": "Bearer " + self.key}
        sent.update({name.replace("_", "-"): value
                     for name, value in headers.items()})
        body = message if isinstance(message, (str, bytes)) else \
            json.dumps(message)
        return self.server.ask(
            "/mcp", "POST", {n: v for n, v in sent.items() if v is not None},
            body if isinstance(body, bytes) else body.encode())

    def message(self, method, params=None):
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method}
        if params is not None:
            message["params"] = params
        return message

    def ask(self, method, params=None):
        reply = self.post(self.message(method, params))
        assert reply.status == 200, (reply.status, reply.body)
        answer = reply.json()
        assert answer["id"] == self.last, answer
        return answer

    def modern(self, method, params=None, **headers):
        params = dict(params or {})
        params["_meta"] = {META + "protocolVersion": MODERN,
                           META + "clientCapabilities": {}}
        said = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": method}
        if "name" in params:
            said["Mcp_Name"] = params["name"]
        said.update(headers)
        return self.post(self.message(method, params), **said)

    def call(self, tool, **args):
        result = self.ask("tools/call", {"name": tool, "arguments": args})[
            "result"]
        assert len(json.dumps(result)) < SMALL, len(json.dumps(result))
        return result

    def good(self, tool, **args):
        """The structured result, which must fit the tool's schema."""
        result = self.call(tool, **args)
        assert not result["isError"], result
        if not hasattr(self, "schemas"):
            self.schemas = {one["name"]: one["outputSchema"] for one in
                            self.ask("tools/list")["result"]["tools"]}
        found = result["structuredContent"]
        schema = opened(self.schemas[tool])
        issues = CHECK.issues(found, schema)
        assert not issues, issues
        texts = [one["text"] for one in result["content"]]
        assert len(texts) == 2 and len(texts[0]) < 700, texts
        assert json.loads(texts[1]) == found
        return found

    def bad(self, tool, **args):
        """The words of an error."""
        result = self.call(tool, **args)
        assert result["isError"] and "structuredContent" not in result, result
        assert len(result["content"]) == 1
        return result["content"][0]["text"]


def opened(schema):
    """The schema, with members that it does not name let through."""
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {name: opened(one) for name, one in
                                schema["properties"].items()}
        schema.setdefault("additionalProperties", {})
    if "items" in schema:
        schema["items"] = opened(schema["items"])
    return schema


class Facts:
    def __init__(self, data, server):
        self.data, self.server = data, server
        self.read, self.propose = data.key("read"), data.key("propose")
        self.client = Client(self.server, self.read)

    def api(self, path, **pairs):
        uri = API + path + ("?" + urllib.parse.urlencode(pairs)
                            if pairs else "")
        reply = self.server.ask(uri, "GET", {"X-API-Key": self.read})
        assert reply.status == 200, (uri, reply.body)
        return reply.json()

    # --- the protocol -------------------------------------------------------

    def both_eras_begin(self):
        client = self.client
        answer = client.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}})["result"]
        assert answer["protocolVersion"] == "2025-06-18"
        assert answer["serverInfo"]["name"] == "product-grid"
        assert client.ask("ping")["result"] == {}
        reply = client.post({"jsonrpc": "2.0",
                             "method": "notifications/initialized"})
        assert (reply.status, reply.body) == (202, b"")
        assert reply.headers["content-length"] == "0"
        found = client.modern("server/discover").json()["result"]
        assert found["supportedVersions"] == [MODERN]
        assert "list_suppliers" in found["instructions"]

    def tools_are_listed_alike_in_both_eras(self):
        legacy = self.client.ask("tools/list")["result"]["tools"]
        modern = self.client.modern("tools/list").json()["result"]["tools"]
        assert legacy == modern
        assert [one["name"] for one in legacy] == TOOLS
        assert len(json.dumps(legacy)) < 24 * 1024
        for one in legacy:
            for schema in (one["inputSchema"], one["outputSchema"]):
                assert schema["type"] == "object"
                text = json.dumps(schema)
                assert not any(word in text for word in (
                    "anyOf", "oneOf", "allOf", "$ref"))
            hints = one["annotations"]
            assert hints["readOnlyHint"] == (one["name"] != "propose_ranges")
            assert not hints["destructiveHint"]

    def headers_must_agree_with_the_body(self):
        reply = self.client.modern("tools/list", Mcp_Method="tools/call")
        assert reply.status == 400 and b"-32020" in reply.body
        reply = self.client.modern("tools/call", {
            "name": "list_suppliers", "arguments": {}}, Mcp_Name="aggregate")
        assert reply.status == 400 and b"-32020" in reply.body

    def unknown_revisions_get_the_list_of_those_that_are_known(self):
        message = self.client.message("tools/list")
        for version in ("2027-01-01", '9"\\9999999', "1999-01-01"):
            reply = self.client.post(message, Mcp_Protocol_Version=version)
            assert reply.status == 400, version
            error = reply.json()["error"]
            assert MODERN in error["message"], error
            if version == "2027-01-01":
                assert error["data"] == {"supported": [MODERN],
                                         "requested": version}, error

    def other_methods_are_refused(self):
        for method in ("GET", "DELETE", "PUT"):
            reply = self.server.ask("/mcp", method, {"X-API-Key": self.read})
            assert reply.status == 405, method
            assert reply.headers["allow"] == "POST, OPTIONS"
        for path in ("/mcp/", "/mcp/x", "/.well-known/oauth-protected-resource"):
            assert self.server.ask(path, "GET", {}).status == 404, path

    def a_key_is_needed(self):
        message = self.client.message("tools/list")
        for key in (None, "Bearer ", "Bearer nonsense", "Basic " + self.read):
            reply = self.client.post(message, Authorization=key)
            assert reply.status == 401, key
            assert reply.headers["www-authenticate"].startswith("Bearer ")
            assert b"session" not in reply.body, reply.body
        uri = "/mcp?key=" + self.read
        reply = self.server.ask(uri, "POST",
                                {"Content-Type": "application/json"}, b"{}")
        assert reply.status in (400, 401)  # nginx says more of it
        reply = self.client.post(message, Authorization=None,
                                 X_API_Key=self.read)
        assert reply.status == 200

    def other_pages_are_refused(self):
        message = self.client.message("ping")
        for origin in ("https://evil.example", "null", "http://x:1"):
            reply = self.client.post(message, Origin=origin, Host="grid:80")
            assert reply.status == 403, origin
        assert self.client.post(message, Origin="http://grid:80",
                                Host="grid:80").status == 200
        assert self.client.post(message,
                                Sec_Fetch_Site="cross-site").status == 403

    def a_rebound_name_is_refused_where_the_address_is_known(self):
        known = Direct(self.data, "api.public_url=https://grid.example/")
        client = Client(known, self.read)
        for origin, host, status in (
            ("http://evil.example", "evil.example", 403),
            ("https://grid.example", "grid.example", 200),
            ("https://grid.example", "127.0.0.1:8080", 200),
            (None, "evil.example", 200),
        ):
            reply = client.post(client.message("ping"), Origin=origin,
                                Host=host)
            assert reply.status == status, (origin, host, reply.status)
        known.stop()

    def a_session_is_no_key(self):
        self.data.gridctl("user", "add", "marie",
                          typed="correct horse battery\n")
        reply = self.server.ask(
            "/app/session", "POST", {"Content-Type": "application/json"},
            b'{"user":"marie","password":"correct horse battery"}')
        cookie = reply.headers["set-cookie"].split(";")[0]
        reply = self.client.post(self.client.message("ping"),
                                 Authorization=None, Cookie=cookie)
        assert reply.status == 403, reply.body

    def batches_are_of_one_revision(self):
        each = [self.client.message("tools/call", {
            "name": "list_suppliers", "arguments": {}}) for _ in range(3)]
        reply = self.client.post(each, Mcp_Protocol_Version="2025-03-26")
        assert reply.status == 200 and len(reply.json()) == 3
        reply = self.client.post(each, Mcp_Protocol_Version="2025-06-18")
        assert reply.status == 400

    # --- the tools ----------------------------------------------------------

    def suppliers_are_those_of_the_api(self):
        found = self.client.good("list_suppliers")
        there = self.api("/fournisseurs", limit=50)
        assert found["suppliers"] == there["data"]
        assert found["total"] == there["meta"]["total"] == found["returned"]
        assert not found["more"] and not found["cut"]
        found = self.client.good("list_suppliers", limit=2)
        assert found["more"] and found["returned"] == 2
        assert [one["code"] for one in self.client.good(
            "list_suppliers", search="nord")["suppliers"]] == ["S2"]

    def columns_are_described(self):
        found = self.client.good("describe_columns")
        names = [one["name"] for one in found["columns"]]
        whole = self.api("/products/A1", fournisseur="S1")["data"]
        assert names == list(whole)
        each = {one["name"]: one for one in found["columns"]}
        assert each["tauxMarge"]["unit"] == "ratio"
        assert each["codeGamme"]["values"] == ["A", "B", "C", "Y", "Z"]
        assert each["sales12m"]["filter_as"] == "sales12m.YYYYMM"
        assert any("gte" in one["filter"] for one in found["operators"])
        for one in found["columns"]:
            assert one["meaning"] and one["label"]

    def ranges_of_values_are_those_of_the_rows(self):
        found = self.client.good("describe_columns", supplier="S1")
        rows = self.api("/grid", fournisseur="S1")["data"]
        checked = 0
        for one in found["columns"]:
            if one["type"] not in ("decimal", "integer", "date"):
                assert "least" not in one
                continue
            values = [row[one["name"]] for row in rows
                      if row[one["name"]] is not None]
            assert one["least"] == (min(values) if values else None), one
            assert one["greatest"] == (max(values) if values else None), one
            checked += 1
        assert checked > 35, checked
        one, = self.client.good("describe_columns", supplier="S1",
                                columns=["totalCa"])["columns"]
        assert one["name"] == "totalCa"

    def rows_are_those_of_the_api(self):
        found = self.client.good(
            "query_rows", supplier="S1", fields=["codein", "totalCa"],
            filters=["totalCa=gt.100", "marque=eq.Mont Rond"],
            sort=["-totalCa"])
        there = self.api("/grid", fournisseur="S1", fields="codein,totalCa",
                         totalCa="gt.100", marque="eq.Mont Rond",
                         sort="totalCa")
        assert found["rows"] == there["data"] and found["rows"]
        assert found["total"] == len(there["data"])
        assert found["supplier"] == "S1" and not found["more"]
        up = self.client.good("query_rows", supplier="S1", sort=["totalCa"],
                              fields=["totalCa"])["rows"]
        amounts = [row["totalCa"] for row in up]
        assert amounts == sorted(amounts)

    def pages_follow_one_another(self):
        every, page = [], 1
        while True:
            found = self.client.good("query_rows", supplier="S1", limit=3,
                                     page=page, fields=["codein"])
            every += found["rows"]
            if not found["more"]:
                break
            page += 1
        assert every == self.api("/grid", fournisseur="S1",
                                 fields="codein")["data"]
        assert page > 1

    def the_dump_has_all_the_rows(self):
        found = self.client.good(
            "query_rows", supplier="S1", limit=1, filters=["totalCa=gt.0"],
            fields=["codein"])
        url = urllib.parse.urlsplit(found["dump_url"])
        reply = self.server.ask(url.path + "?" + url.query, "GET",
                                {"X-API-Key": self.read})
        assert reply.status == 200
        lines = reply.body.decode().split()
        assert len(lines) == found["total"] + 1, lines

    def words_are_looked_for_everywhere(self):
        found = self.client.good("query_rows", search="yaourt",
                                 fields=["codein", "codeFournisseur"])
        there = self.api("/products/search", q="yaourt",
                         fields="codein,codeFournisseur")
        assert found["rows"] == there["data"] and found["rows"]
        assert found["total"] == there["pagination"]["total"]

    def articles_are_those_of_the_api(self):
        found = self.client.good("get_product", codein="A1", supplier="S1")
        whole = self.api("/products/A1", fournisseur="S1")
        for name, value in found["product"].items():
            assert whole["data"][name] == value
        assert "sales12m" not in found["product"]
        assert found["suppliers"] == whole["meta"]["fournisseurs"]
        found = self.client.good("get_product", codein="A1",
                                 fields=["sales12m"])
        assert "sales12m" in found["product"]

    def classes_are_those_of_the_api(self):
        for level in (1, 2, 3):
            found = self.client.good("classification", supplier="S1",
                                     level=level)
            there = self.api("/nomenclatures", fournisseur="S1",
                             niveau=level)
            assert found["classes"] == there["data"]
            assert found["filter"] == "code%d" % level
            assert found["total"] == len(there["data"])

    def sums_are_those_of_the_api(self):
        found = self.client.good(
            "aggregate", supplier="S1", groups=["marque", "codeGamme"],
            values=["totalCa", "stockActuel"], filters=["totalCa=gt.0"])
        there = self.api("/grid/aggregates", fournisseur="S1",
                         groups="marque,codeGamme",
                         values="totalCa,stockActuel", totalCa="gt.0")
        assert found["groups"] == there["data"] and found["groups"]
        assert found["totals"] == there["meta"]["totaux"]
        assert found["articles"] == there["meta"]["articles"]
        last = self.client.good("aggregate", supplier="S1", groups=["marque"],
                                values=["totalCa"], ascending=True)
        sums = [one["valeurs"]["totalCa"]["sum"] for one in last["groups"]]
        assert sums == sorted(sums)

    def proposals_wait_for_a_person(self):
        words = self.client.bad("propose_ranges", supplier="S1",
                                codeins=["A1"], gamme="C")
        assert "scope propose" in words
        writer = Client(self.server, self.propose)
        found = writer.good("propose_ranges", supplier="S1",
                            codeins=["A1", "A2"], gamme="C", motif="essai")
        assert found["waiting"] == 2 and found["decided"] is False
        assert [one["codein"] for one in found["articles"]] == ["A1", "A2"]
        row = self.api("/products/A1", fournisseur="S1")["data"]
        assert (row["codeGamme"], row["gammeAValider"]) == ("A", "C")
        found = self.client.good("proposal_status", supplier="S1",
                                 codein="A1")
        assert found["entries"][0]["etat"] == "proposee"
        assert found["entries"][0]["motif"] == "essai"
        words = writer.bad("propose_ranges", supplier="S1",
                           codeins=["A1", "nope"], gamme="B")
        assert "nope" in words and "Nothing was proposed" in words
        words = writer.bad("propose_ranges", supplier="S1", gamme="B",
                           codeins=["nope%d" % i for i in range(300)])
        assert "nope0" in words and "columns" not in words, words
        assert len(words) < 1100
        found = self.client.good("proposal_status", states=["validee"])
        assert found["entries"] == []

    def posts_are_counted_as_other_requests_are(self):
        def count():
            text = self.server.ask("/metrics", "GET", {}).body.decode()
            return sum(float(line.rsplit(" ", 1)[1])
                       for line in text.split("\n")
                       if line.startswith("gridapi_requests_total") and
                       '"mcp"' in line and '"200"' in line)
        before = count()
        for _ in range(20):
            self.client.ask("ping")
        # A worker counts when the answer is out already: the one before too.
        wait_until(lambda: count() >= before + 20, "twenty more in /metrics")
        assert count() <= before + 21, (before, count())

    def a_key_sees_its_own_suppliers(self):
        key = self.data.gridctl("key", "create", "--name", "half", "--scope",
                                "read", "--suppliers", "S2").strip()
        half = Client(self.server, key)
        found = half.good("list_suppliers")
        assert [one["code"] for one in found["suppliers"]] == ["S2"]
        assert "S1" in half.bad("query_rows", supplier="S1")
        assert "S1" in half.bad("aggregate", supplier="S1")
        assert half.good("query_rows", supplier="S2")["total"] > 0
        for path, status in (("?fournisseur=S1", 404), ("?fournisseur=S2", 200),
                             ("?fournisseur=S1&depuis=0-0", 404), ("", 200)):
            reply = self.server.ask(API + "/propositions" + path, "GET",
                                    {"X-API-Key": key})
            assert reply.status == status, (path, reply.status, reply.body)
        assert "S1" in half.bad("proposal_status", supplier="S1")

    def proposals_of_no_supplier_are_a_404(self):
        for pairs, status in (
            ("fournisseur=NOPE", 404),
            ("fournisseur=NOPE&format=csv", 404),
            ("fournisseur=NOPE&order=asc", 404),
            ("fournisseur=S5", 200),  # no entry yet
            ("codein=NOPE", 200),
            ("du=2026-02-02&au=2026-02-01", 400),
            ("du=2026-02-02&au=2026-02-02", 200),
        ):
            reply = self.server.ask(API + "/propositions?" + pairs, "GET",
                                    {"X-API-Key": self.read})
            assert reply.status == status, (pairs, reply.status, reply.body)
        assert "list_suppliers" in self.client.bad("proposal_status",
                                                   supplier="NOPE")
        assert "until must not be before from" in self.client.bad(
            "proposal_status", **{"from": "2026-02-02",
                                  "until": "2026-02-01T23:59:59Z"})

    # --- errors and sizes ---------------------------------------------------

    def errors_say_what_to_do(self):
        for tool, args, words in (
            ("query_rows", {}, ["supplier", "search"]),
            ("query_rows", {"supplier": "S1", "limit": 101},
             ["limit", "1 to 100"]),
            ("query_rows", {"supplier": "nope"}, ["nope"]),
            ("query_rows", {"supplier": "S1", "filters": [
                "stock_actuel=gt.0"]}, ["stock_actuel", "stockActuel"]),
            ("query_rows", {"supplier": "S1", "filters": ["totalCa=over.5"]},
             ["totalCa"]),
            ("query_rows", {"supplier": "S1", "fields": ["turnover", "totlCa"]},
             ["turnover", "totlCa", "totalCa"]),
            ("query_rows", {"supplier": "S1", "sort": ["-stock"]},
             ["sort", "stockActuel", "stockValeur"]),
            ("query_rows", {"supplier": "S1", "filters": ["stockActuel>0"]},
             ["COLUMN=OPERATOR.VALUE", "stockActuel"]),
            ("query_rows", {"supplier": "S1", "sort": ["-turnover"]},
             ["totalCa"]),
            ("query_rows", {"supplier": "S1", "fields": ["Libellé famille"]},
             ["libelleCode2"]),
            ("aggregate", {"supplier": "S1", "groups": ["brand"]},
             ["marque"]),
            ("query_rows", {"supplier": "S1", "filters": ["limit=100000"]},
             ['"limit" in filters is no column', "argument limit"]),
            ("query_rows", {"supplier": "S1", "filters": ["format=csv"]},
             ['"format" in filters is no column']),
            ("query_rows", {"supplier": "S1", "filters": ["fournisseur=S2"]},
             ['"fournisseur" in filters is no column', "argument supplier"]),
            ("query_rows", {"supplier": "S1", "filters": ["gamme=B"]},
             ['"gamme" in filters is no column', "codeGamme=eq.B"]),
            ("aggregate", {"supplier": "S1", "filters": [
                "totalCa=gt.0", " nomenclature = 10"]},
             ['"nomenclature" in filters is no column', "code1=eq.10"]),
            ("aggregate", {"supplier": "S1", "filters": ["aValider=1"]},
             ["gammeAValider=is.not_null"]),
            ("query_rows", {"supplier": "S1", "filters": ["search=x"]},
             ['"search" in filters is no column', "argument search"]),
            ("query_rows", {"supplier": "S1", "filters": ["enrich=0"]},
             ['"enrich" in filters is no column.']),
            ("query_rows", {"search": "a", "filters": ["q=b"]},
             ['"q" in filters is no column', "argument search"]),
            ("query_rows", {"fournisseur": "S1"},
             ["fournisseur", "nearest: supplier."]),
            ("query_rows", {"supplier": "S1", "filter": ["totalCa=gt.0"]},
             ["nearest: filters."]),
            ("list_suppliers", {"zzzz": 1}, ["it takes search, with_data"]),
            ("query_rows", {"supplier": "S1", "rows": 5}, ["rows"]),
            ("aggregate", {"supplier": "S1", "groups": ["brand"]}, ["groups"]),
            ("aggregate", {"supplier": "S1", "values": ["marque"]},
             ["values"]),
            ("describe_columns", {"columns": ["tauxmarge"]}, ["tauxMarge"]),
            ("get_product", {"codein": "nope"}, ["no such article"]),
            ("get_product", {}, ["codein", "missing"]),
            ("classification", {"supplier": "S1", "level": 4}, ["level"]),
            ("classification", {"supplier": "S3"}, ["query_rows"]),
            ("query_rows", {"supplier": "nope"}, ["list_suppliers"]),
            ("proposal_status", {"states": ["open"]},
             ["states must be some of proposee"]),
            ("proposal_status", {"from": "soon", "until": "later",
                                 "cursor": "x"},
             ["from must be a day", "until must be a day",
              "cursor must be cursor of"]),
            ("propose_ranges", {"supplier": "S1", "codeins": ["A1"],
                                "gamme": "D"}, ["gamme", "A, B, C, Y, Z"]),
        ):
            said = self.client.bad(tool, **args)
            for word in words:
                assert word in said, (tool, args, said)
            assert len(said) < 1100, said
            for name in ("issues", "details.", "etat ", "/fournisseurs"):
                assert name not in said, said

    def wrong_proposals_are_told_in_words(self):
        writer = Client(self.server, self.propose)
        right = {"supplier": "S1", "codeins": ["A1"], "gamme": "C"}
        for args, words in (
            ({"codeins": []}, ["codeins", "at least 1"]),
            ({"codeins": ["A1", "A2", "A1"]}, ["codeins", '"A1" twice']),
            ({"codeins": ["A1", "A\u00312", "A12"]}, ["codeins", "twice"]),
            ({"codeins": ["A1", "a\nb"]}, ["codeins[1] must be 1 to"]),
            ({"codeins": ["a\nb", "c\nd"]}, ["codeins[0] must", "codeins[1]"]),
            ({"codeins": ["A1", "A2"], "motif": "two\nlines"},
             ["motif must be one line"]),
            ({"motif": "x" * 501}, ["motif", "500"]),
            ({"supplier": "a\nb"}, ["supplier must be 1 to"]),
        ):
            said = writer.bad("propose_ranges", **{**right, **args})
            for word in words:
                assert said.count(word) == 1, (args, word, said)
            for name in ("issue", "details", "changes", "fournisseur"):
                assert name not in said, said
        fields = next(one for one in self.client.ask("tools/list")["result"][
            "tools"] if one["name"] == "propose_ranges")["inputSchema"][
                "properties"]
        assert fields["codeins"]["minItems"] == 1
        assert fields["codeins"]["uniqueItems"] is True
        assert fields["motif"]["maxLength"] == 500

    def unknown_tools_are_errors_of_the_protocol(self):
        answer = self.client.ask("tools/call", {"name": "drop_table",
                                                "arguments": {}})
        assert answer["error"]["code"] == -32602
        for name in TOOLS:
            assert name in answer["error"]["message"], answer
        answer = self.client.ask("tools/call", {"name": "x" * 5000})
        assert len(answer["error"]["message"]) < 1000, answer

    def counts_are_plain_english(self):
        for tool, args, words in (
            ("aggregate", {"supplier": "S1", "groups": ["marque"],
                           "filters": ["codein=eq.A1"]},
             "1 group of 1 article."),
            ("query_rows", {"supplier": "S1", "filters": ["codein=eq.A1"]},
             "1 of 1 row."),
            ("list_suppliers", {"search": "nord"}, "1 of 1 supplier."),
            ("classification", {"supplier": "S5"}, "1 of 1 class."),
            ("query_rows", {"supplier": "S1", "page": 900, "limit": 3},
             "0 of 7 rows. The last page is 3."),
            ("list_suppliers", {"page": 900, "limit": 4},
             "0 of 6 suppliers. The last page is 2."),
            ("aggregate", {"supplier": "S1", "page": 900}, "The last page is 1."),
            ("query_rows", {"supplier": "S1", "page": 900,
                            "filters": ["codein=eq.NOPE"]}, "0 of 0 rows."),
        ):
            said = self.client.call(tool, **args)["content"][0]["text"]
            assert said.endswith(words), (tool, args, said)

    def the_recorded_range_withdraws_and_says_so(self):
        writer = Client(self.server, self.propose)

        def said(*codeins, gamme):
            result = writer.call("propose_ranges", supplier="S1",
                                 codeins=list(codeins), gamme=gamme)
            return result["content"][0]["text"]
        assert "1 proposal waits" in said("A1", gamme="C")
        words = said("A1", gamme="A")
        assert "0 proposals wait" in words and \
            "1 article has this range on record" in words, words
        assert "withdrawn" in words, words
        assert self.client.good("proposal_status", codein="A1", limit=1)[
            "entries"][0]["etat"] == "retiree"

    def large_answers_are_cut_and_say_so(self):
        found = self.client.call("query_rows", supplier="BIG", limit=100,
                                 fields=["codein", "sales12mByStore",
                                         "stock12mByStore"])
        inside = found["structuredContent"]
        assert inside["cut"] and 0 < inside["returned"] < 100
        assert inside["returned"] == len(inside["rows"])
        assert inside["total"] == 120
        assert "fewer fields" in found["content"][0]["text"]

    def a_supplier_is_computed_on_demand(self):
        each = [self.client.message("tools/call", {
            "name": name, "arguments": {"supplier": "S3"}})
                for name in ("query_rows", "aggregate")]
        reply = self.client.post(each, Mcp_Protocol_Version="2025-03-26")
        for one in reply.json():
            assert one["result"]["isError"], one
            assert "alone" in one["result"]["content"][0]["text"], one
        # The whole POST goes to the slow pool, and proposes once.
        writer = Client(self.server, self.propose)
        found = writer.good("propose_ranges", supplier="S3", codeins=["C1"],
                            gamme="Z")
        assert found["waiting"] == 1
        found = self.client.good("proposal_status", supplier="S3")
        assert len(found["entries"]) == 1, found
        found = self.client.good("query_rows", supplier="S3")
        assert found["total"] >= 1

    def large_bodies_are_refused(self):
        reply = self.client.post(" " * (1 << 20) + "{}")
        assert reply.status == 413, reply.status

    def every_call_of_a_batch_is_counted(self):
        key = self.data.gridctl("key", "create", "--name", "slow", "--scope",
                                "read", "--rate", "1").strip()
        slow = Client(self.server, key)
        each = [slow.message("tools/call", {
            "name": "list_suppliers", "arguments": {}}) for _ in range(9)]
        reply = slow.post(each, Mcp_Protocol_Version="2025-03-26")
        said = [one["result"]["isError"] for one in reply.json()]
        assert said.count(True) >= 4 and not said[0], said
        reply = slow.post(slow.message("ping"))
        assert reply.status == 429 and "retry-after" in reply.headers

    # The last fact: the imported data are others from here on.

    def a_supplier_that_is_gone_keeps_its_proposals(self):
        writer = Client(self.server, self.propose)
        writer.good("propose_ranges", supplier="S5", codeins=["D1"], gamme="B")
        without = scratch()
        large(without)
        for name in os.listdir(without):
            path = os.path.join(without, name)
            with open(path, encoding="utf-8") as file:
                lines = [line for line in file if not line.startswith("S5,")]
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines)
        self.data.gridctl("import", without)
        wait_until(lambda: "S5" not in [
            one["code"] for one in self.client.good("list_suppliers")[
                "suppliers"]], "the supplier gone")
        found = self.client.good("proposal_status", supplier="S5")
        assert found["entries"][-1]["codein"] == "D1", found
        for more in ({"states": ["validee"]}, {"codein": "D2"}):
            found = self.client.good("proposal_status", supplier="S5", **more)
            assert found["entries"] == [], found


def large(folder):
    """The test's data and a supplier with long rows."""
    for name in os.listdir(os.path.join(HERE, "data")):
        with open(os.path.join(HERE, "data", name), encoding="utf-8") as file:
            text = file.read().rstrip("\n") + "\n"
        if name == "articles.csv":
            names = text.split("\n")[0].split(",")
            width, place = len(names), names.index("code3")
            for i in range(120):
                cells = ["BIG", "L%03d" % i, "Long"] + [""] * (width - 3)
                cells[place] = "101010"
                text += ",".join(cells) + "\n"
        elif name == "stores.csv":
            text += "".join("%03d,Ville\n" % (i + 200) for i in range(40))
        elif name == "suppliers.csv":
            text += "BIG,Grand\n"
        elif name == "sales.csv":
            for i in range(120):
                for store in range(40):
                    text += "BIG,L%03d,%03d,202501,1,2,1\n" % (i, store + 200)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def run(data, server):
    score = Score()
    facts = Facts(data, server)
    for name, fact in list(vars(Facts).items()):
        if name.startswith("_") or name == "api":
            continue
        try:
            fact(facts)
            score.note(name, [])
        except AssertionError as wrong:
            score.note(name, [str(wrong)[:1500]])
    return score


def main():
    csv = scratch()
    large(csv)
    data = Data().fill(csv, "S1", "S2", "S5", "BIG")
    if "--http" not in sys.argv[1:]:
        server = Direct(data)
        score = run(data, server)
        server.stop()
        score.end()
    from stack import Stack
    with Stack(data=data.folder) as stack:
        score = run(data, Http(stack))
    score.end()


main()
