"""A small grid behind nginx, for the tests of what writes: its data, its keys,
its users, and short ways to ask it."""

import http.client
import json
import os
import subprocess

from stack import BUILD, PATIENCE, Stack

GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
PASSWORD = "correct horse battery"
RANGES = "ABCYZ"


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.text = body.decode()
        self.json = json.loads(self.text) if self.text else None

    @property
    def code(self):
        return self.json["error"]["code"]

    @property
    def details(self):
        return self.json["error"].get("details", {})


def write(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def article_codes(count):
    return ["%05d" % (10000 + i) for i in range(count)]


class Grid(Stack):
    """S1 has `articles`; S2 the first two of them and one of its own; S3 one,
    and no snapshot; EMPTY none. Every sixth article has no range."""

    def __init__(self, articles=12, **options):
        settings = {"pages.processes": 2, "pages.threads": 4,
                    "slow.processes": 1, "slow.threads": 8}
        settings.update(options.pop("settings", {}))
        super().__init__(settings=settings, **options)
        self.articles = article_codes(articles)
        self.server = {code: "ABCYZ"[i % 6] if i % 6 < 5 else None
                       for i, code in enumerate(self.articles)}
        self.connection = None
        self.fill()

    def fill(self):
        csv = self.path("csv")
        os.makedirs(csv)
        write(csv + "/suppliers.csv", ["code,nom", "S1,Un", "S2,Deux",
                                       "S3,", "EMPTY,Vide"])
        head = ("fournisseur,codein,libelle1,libelle2,marque,gtin,reference,"
                "codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme")
        rows = ["S1,%s,Article %s,,,,,,101010,1,1,2,20,%s" %
                (code, code, self.server[code] or "")
                for code in self.articles]
        rows += ["S2,%s,Same,,,,,,101010,1,1,2,20,A" % code
                 for code in self.articles[:2] + ["20000"]]
        rows += ["S3,30000,Alone,,,,,,101010,1,1,2,20,B"]
        write(csv + "/articles.csv", [head] + rows)
        self.ctl("init")
        self.ctl("import", "--quiet", csv)
        for supplier in ("S1", "S2"):
            self.ctl("compute", "--quiet", supplier)
        self.key = self.make_key("robot", "propose")
        self.read_key = self.make_key("reader", "read")
        self.ctl("user", "add", "marie", stdin=PASSWORD + "\n")

    def ctl(self, *words, stdin="", check=True):
        """A command that must succeed is given again where the log of all nodes
        was out of reach, as a loaded engine is for a moment."""
        for _ in range(20):
            done = subprocess.run(
                self.enter + [GRIDCTL, "--data", self.data] + list(words),
                input=stdin, capture_output=True, text=True, check=False)
            if not check or done.returncode == 0 or \
                    "nothing was stored" not in done.stderr:
                break
        assert not check or done.returncode == 0, (words, done.stderr)
        return done.stdout if check else done

    def make_key(self, name, scope):
        return self.ctl("key", "create", "--name", name, "--scope",
                        scope).strip()

    # --- asking ------------------------------------------------------------

    def ask(self, method, path, body=None, key=None, headers=None,
            timeout=PATIENCE):
        """Over one connection that is kept; opened anew when it broke."""
        headers = dict(headers or {})
        if key != "":
            headers.setdefault("X-API-Key", key or self.key)
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = self.connect(timeout)
            try:
                self.connection.request(method, path, body, headers)
                response = self.connection.getresponse()
                return Answer(response, response.read())
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if attempt == 2:
                    raise

    def put(self, codein, gamme, key=None, headers=None, **more):
        return self.ask("PUT", "/api/v1/products/%s/gamme" % codein,
                        dict({"gamme": gamme, "fournisseur": "S1"}, **more),
                        key=key, headers=headers)

    def post(self, changes, supplier="S1", key=None, headers=None, **more):
        body = {"fournisseur": supplier,
                "changes": [{"codein": c, "gamme": g} for c, g in changes]}
        return self.ask("POST", "/api/v1/gammes", dict(body, **more), key=key,
                        headers=headers)

    def rows(self, supplier="S1", more=""):
        answer = self.ask("GET", "/api/v1/grid?fournisseur=%s&fields="
                          "codeGamme,codeGammeServeur,gammeAValider%s" %
                          (supplier, more))
        assert answer.status == 200, answer.text
        return answer.json

    def row(self, codein, supplier="S1"):
        """codeGammeServeur, codeGamme, gammeAValider."""
        for row in self.rows(supplier)["data"]:
            if row["codein"] == codein:
                return (row["codeGammeServeur"], row["codeGamme"],
                        row["gammeAValider"])
        raise AssertionError("no row of " + codein)

    def log_of(self, *words):
        return json.loads(self.ctl("proposals", "log", "--json", *words))

    # --- the screen ---------------------------------------------------------

    def login(self, user="marie", password=PASSWORD, headers=None):
        """The Cookie header of a new session."""
        answer = self.ask("POST", "/app/session",
                          {"user": user, "password": password}, key="",
                          headers=headers)
        assert answer.status == 200, answer.text
        return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}

    def app(self, session, method, path, body=None):
        return self.ask(method, "/app" + path, body, key="", headers=session)
