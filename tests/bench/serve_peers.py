"""PostgreSQL and SQLite with the rows of a set, in the form that their manuals
advise; tests/bench/peer.h says which tables there are.

The rows come out of `gridctl dump`, so that all answer the same. Ids are in
the order of turnover: within each supplier, or over all when it is the search
across suppliers that is measured."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unicodedata

from serve_kit import PROGRAMS, TOP, Program, die_with_parent

SEARCHED = ("codein", "libelle1", "gtin", "reference", "codeCentrale")
SORTS = ("totalCa", "libelle1_f", "totalQuantite", "rangCa", "stockActuel",
         "derniereVente")
TEXTS = ("TEXT", "GAMME", "DATE")


def scalar_columns():
    """(name, type) of row.def's scalar columns."""
    with open(os.path.join(TOP, "lmdb-schema", "row.def")) as file:
        found = re.findall(r"^COLUMN\((\w+), (\w+), FLAT", file.read(), re.M)
    return found + [("libelle1_f", "TEXT")]


def fold(text):
    """As common/fold.h does, as far as the made-up data goes."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = text.replace("œ", "oe").replace("æ", "ae")
    return " ".join("".join(c for c in text if unicodedata.category(c)
                            not in ("Mn", "Cf")).split())


def tsv(value):
    if value is None:
        return "\\N"
    return str(value).replace("\\", "\\\\").replace("\t", "\\t") \
        .replace("\n", "\\n").replace("\r", "\\r")


def plain(cell):
    """What tsv() has made, back again."""
    if cell == "\\N":
        return None
    if "\\" not in cell:
        return cell
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}
                  .get(m.group(1), m.group(1)), cell)


class Tables:
    """The rows as files of tab-separated lines, which both are loaded from."""

    def __init__(self, a_set, folder, by_supplier):
        self.folder = folder
        self.columns = scalar_columns()
        self.with_docs = by_supplier
        os.makedirs(folder, exist_ok=True)
        lines = []
        for supplier in a_set.suppliers():
            for text in a_set.rows(supplier):
                lines.append(self.line_of(supplier, text, by_supplier))
        lines.sort(key=lambda line: line[0])
        self.write(lines, by_supplier)

    def path(self, name):
        return os.path.join(self.folder, name + ".tsv")

    def line_of(self, supplier, text, by_supplier):
        row = json.loads(text, parse_float=str, parse_int=str)
        row["libelle1_f"] = fold(row["libelle1"] or "") or None
        key = (-float(row["totalCa"]), row["codein"], supplier)
        if by_supplier:
            key = (supplier,) + key
        scalars = "\t".join(tsv(row[name]) for name, _ in self.columns)
        words = "\n".join(fold(row[name] or "") for name in SEARCHED)
        return (key, supplier, scalars, tsv(words),
                tsv(text.decode().rstrip("\n")) if by_supplier else "")

    def write(self, lines, by_supplier):
        ids = {}
        with open(self.path("rows"), "w") as rows, \
                open(self.path("search"), "w") as search, \
                open(self.path("docs"), "w") as docs:
            for number, (_, supplier, scalars, words, doc) in \
                    enumerate(lines, 1):
                first = ids.setdefault(supplier, [0, number, number])
                first[0] += 1
                first[2] = number
                rows.write("%d\t%s\n" % (number, scalars))
                search.write("%d\t%s\t%s\n" % (number, supplier, words))
                if by_supplier:
                    docs.write("%d\t%s\n" % (number, doc))
        with open(self.path("suppliers"), "w") as file:
            for supplier, numbers in ids.items():
                file.write("%s\t%d\t%d\t%d\n" % ((supplier,) +
                                                 tuple(numbers)))

    def lines(self, name):
        with open(self.path(name), newline="\n") as file:
            for line in file:
                yield [plain(cell) for cell in line[:-1].split("\t")]


# --- PostgreSQL ---------------------------------------------------------------

PG_BIN = "/usr/lib/postgresql/15/bin"
PG_CONF = """
listen_addresses = ''
shared_buffers = 3GB
effective_cache_size = 12GB
work_mem = 128MB
maintenance_work_mem = 1GB
max_connections = 64
jit = off
random_page_cost = 1.1
effective_io_concurrency = 200
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
autovacuum = off
max_wal_size = 8GB
"""


class Postgres:
    """A cluster of its own, in a folder, on a unix socket."""

    name = "PostgreSQL"

    @staticmethod
    def missing():
        if not os.path.exists(os.path.join(PG_BIN, "postgres")):
            return "postgresql-15 is not installed"
        return None

    def __init__(self, folder, tables):
        # Its socket's path has to be short, and its user may enter only this.
        self.run = tempfile.mkdtemp(prefix="grid-pg-")
        self.data = os.path.join(self.run, "data")
        self.as_user = []
        if os.geteuid() == 0:  # which it refuses to run as
            shutil.chown(self.run, "postgres", "postgres")
            self.as_user = ["setpriv", "--reuid=postgres",
                            "--regid=postgres", "--clear-groups",
                            "--pdeathsig=INT"]
        self.server = None
        self.socket_folder = folder
        self.tables = tables

    def command(self, program, *words, **options):
        return subprocess.run(
            self.as_user + [os.path.join(PG_BIN, program)] + list(words),
            check=True, cwd=self.run, stdout=subprocess.DEVNULL, **options)

    def sql(self, text, file=None):
        with open(file or os.devnull) as source:
            self.command("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-h",
                         self.run, "-U", "postgres", "-c", text, stdin=source)

    def __enter__(self):
        self.command("initdb", "-D", self.data, "-U", "postgres", "-A",
                     "trust", "--locale=C.UTF-8", "-E", "UTF8", "-N")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(PG_CONF + "unix_socket_directories = '%s'\n" % self.run)
        self.server = subprocess.Popen(
            self.as_user + [os.path.join(PG_BIN, "postgres"), "-D", self.data],
            cwd=self.run, stdin=subprocess.DEVNULL,
            stderr=open(os.path.join(self.run, "log"), "w"),
            preexec_fn=die_with_parent if not self.as_user else None)
        for _ in range(100):
            if subprocess.run([os.path.join(PG_BIN, "pg_isready"), "-q", "-h",
                               self.run]).returncode == 0:
                break
            subprocess.run(["sleep", "0.1"])
        self.load()
        return self

    def load(self):
        types = {"DECIMAL": "numeric", "INTEGER": "integer", "DATE": "date"}
        columns = ", ".join('"%s" %s' % (
            name if name != "codein" else "codein",
            types.get(kind, 'text COLLATE "C"'))
            for name, kind in self.tables.columns)
        self.sql("CREATE EXTENSION pg_trgm")
        made = ["rows (id integer, %s)" % columns,
                "search (id integer, fournisseur text, text text "
                'COLLATE "C")',
                "suppliers (code text PRIMARY KEY, total bigint, "
                "first integer, last integer)"]
        if self.tables.with_docs:
            # json, not jsonb: it is given out as it lies, which is faster
            # here. lz4 is the faster of the two ways to keep it small.
            made.append("docs (id integer, doc json COMPRESSION lz4)")
        for table in made:
            name = table.split()[0]
            self.sql("CREATE TABLE " + table)
            self.sql("COPY %s FROM STDIN" % name, self.tables.path(name))
        for statement in self.indexes():
            self.sql(statement)
        self.sql("VACUUM (ANALYZE, FREEZE)")

    def indexes(self):
        for name in ("rows", "search") + \
                (("docs",) if self.tables.with_docs else ()):
            yield "ALTER TABLE %s ADD PRIMARY KEY (id)" % name
        yield ("CREATE INDEX ON search USING gin (text gin_trgm_ops) "
               "WITH (fastupdate = off)")
        if not self.tables.with_docs:
            return
        for name in SORTS:
            for way in ("DESC", "ASC"):
                yield ('CREATE INDEX ON rows ("codeFournisseur", "%s" %s '
                       "NULLS LAST, codein) INCLUDE (id)" % (name, way))
        for name, way in (("totalCa", "DESC"), ("libelle1_f", "ASC")):
            yield ('CREATE INDEX ON rows ("codeFournisseur", "codeGamme", '
                   'code1, "%s" %s NULLS LAST, codein) INCLUDE (id)' %
                   (name, way))

    def program(self):
        return Program(self.socket_folder, "pg", "peer_pg", "2", "4",
                       argument="host=%s user=postgres" % self.run)

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()  # setpriv became postgres: smart shutdown
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.send_signal(3)  # SIGQUIT: at once
                self.server.wait()
        shutil.rmtree(self.run, ignore_errors=True)


# --- SQLite -------------------------------------------------------------------


class Sqlite:
    name = "SQLite"

    @staticmethod
    def missing():
        if not os.path.exists(os.path.join(PROGRAMS, "peer_sqlite")):
            return "libsqlite3-dev is not installed: peer_sqlite was not built"
        return None

    def __init__(self, folder, tables):
        self.folder, self.tables = folder, tables
        self.file = os.path.join(folder, "peer.db")

    def __enter__(self):
        db = sqlite3.connect(self.file, isolation_level=None)
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -1000000")
        db.execute("BEGIN")
        self.load(db)
        db.execute("COMMIT")
        db.execute("ANALYZE")
        db.close()
        return self

    def load(self, db):
        columns = ", ".join('"%s" %s' % (
            name, "TEXT" if kind in TEXTS else "NUMERIC")
            for name, kind in self.tables.columns)
        made = {"rows": "id INTEGER PRIMARY KEY, " + columns,
                "search": "id INTEGER PRIMARY KEY, fournisseur TEXT, "
                "text TEXT",
                "suppliers": "code TEXT PRIMARY KEY, total INTEGER, "
                "first INTEGER, last INTEGER"}
        if self.tables.with_docs:
            made["docs"] = "id INTEGER PRIMARY KEY, doc TEXT"
        for name, what in made.items():
            db.execute("CREATE TABLE %s (%s)" % (name, what))
            marks = ", ".join("?" * (what.count(",") + 1))
            db.executemany("INSERT INTO %s VALUES (%s)" % (name, marks),
                           self.tables.lines(name))
        db.execute("CREATE VIRTUAL TABLE fts USING fts5(text, content='', "
                   "columnsize=0, tokenize='trigram case_sensitive 1')")
        db.execute("INSERT INTO fts(rowid, text) SELECT id, text FROM search")
        db.execute("INSERT INTO fts(fts) VALUES ('optimize')")
        for statement in self.indexes():
            db.execute(statement)

    def indexes(self):
        if not self.tables.with_docs:
            return
        for name in SORTS:
            yield ('CREATE INDEX "%s_desc" ON rows("codeFournisseur", '
                   '"%s" DESC, codein)' % (name, name))
            yield ('CREATE INDEX "%s_asc" ON rows("codeFournisseur", '
                   '"%s" IS NULL, "%s", codein)' % (name, name, name))
        yield ('CREATE INDEX filtered ON rows("codeFournisseur", "codeGamme",'
               ' code1, "totalCa" DESC, codein)')
        yield ('CREATE INDEX filtered_label ON rows("codeFournisseur", '
               '"codeGamme", code1, "libelle1_f" IS NULL, "libelle1_f", '
               "codein)")

    def program(self):
        return Program(self.folder, "sqlite", "peer_sqlite", "2", "4",
                       argument=self.file)

    def __exit__(self, *_):
        if os.path.exists(self.file):
            os.unlink(self.file)


PEERS = (Postgres, Sqlite)
