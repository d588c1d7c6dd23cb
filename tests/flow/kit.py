"""What the tests of the API share: a data directory, somebody who answers, and
the interface description to hold the answers against.

An answer comes from serve() in a process of its own (tests/fcgi/once, no
socket), or by HTTP through nginx and gridapi: Direct and Http are asked alike.
"""

import atexit
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

TOP = os.environ.get("abs_top_srcdir") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("abs_top_builddir") or TOP
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
ONCE = os.path.join(BUILD, "tests", "fcgi", "once")
API = "/api/v1"


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def scratch():
    folder = tempfile.mkdtemp(prefix="grid-api-")
    atexit.register(shutil.rmtree, folder, True)
    return folder


class Data:
    """A data directory and what gridctl does with it."""

    def __init__(self, folder=None):
        self.keys = 0  # that were made here: no two have a name
        self.folder = folder or os.path.join(scratch(), "data")
        if not os.path.exists(GRIDCTL):
            skip(GRIDCTL + " is not built")

    def gridctl(self, *words, cwd=None, typed=""):
        done = subprocess.run([GRIDCTL, "--data", self.folder] + list(words),
                              check=False, cwd=cwd, input=typed.encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, "gridctl %s: %d: %s" % (
            " ".join(words), done.returncode, done.stderr.decode())
        return done.stdout.decode()

    def fill(self, csv, *suppliers):
        self.gridctl("init")
        self.gridctl("import", csv)
        if not suppliers:
            self.gridctl("compute", "--all")
        for supplier in suppliers:
            self.gridctl("compute", supplier)
        return self

    def demo(self, articles):
        """Filled with demo data of three suppliers; the folder of its CSV files."""
        csv = os.path.join(scratch(), "csv")
        self.gridctl("demo", "--out", csv, "--articles", str(articles),
                     "--suppliers", "3", "--stores", "2")
        self.fill(csv)
        return csv

    def key(self, scope="read"):
        self.keys += 1
        name = "%s %d" % (scope, self.keys) if self.keys > 2 else scope
        return self.gridctl("key", "create", "--name", name,
                            "--scope", scope).strip()

    def copy(self):
        other = Data(os.path.join(scratch(), "data"))
        shutil.copytree(self.folder, other.folder)
        other.keys = max(self.keys, 2)
        return other

    def snapshots(self, supplier):
        folder = os.path.join(self.folder, "snapshots", supplier)
        return sorted(os.path.join(folder, name)
                      for name in os.listdir(folder)
                      if name.endswith(".mdb"))


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = headers  # by lower-case name

    def json(self):
        return json.loads(self.body.decode("utf-8"))


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


class Cut(AssertionError):
    """The answer broke off: a client sees that it is not whole."""


def unpacked(body):
    """The one member; None when it is anything else."""
    reader = zlib.decompressobj(31)
    try:
        text = reader.decompress(body)
    except zlib.error:
        return None
    return text if reader.eof and reader.unused_data == b"" else None


class Zstd:
    """libzstd itself, which Python has no door to."""

    class Bytes(ctypes.Structure):
        _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t),
                    ("pos", ctypes.c_size_t)]

    WINDOW = 100, 23  # ZSTD_d_windowLogMax: 8 MB, as browsers have it

    def __init__(self):
        self.lib = ctypes.CDLL("libzstd.so.1")
        for name in ("ZSTD_decompressStream", "ZSTD_DCtx_setParameter",
                     "ZSTD_freeDCtx"):
            getattr(self.lib, name).restype = ctypes.c_size_t
        self.lib.ZSTD_createDCtx.restype = ctypes.c_void_p

    def unpack(self, body):
        """The one frame; None when it is anything else."""
        context = ctypes.c_void_p(self.lib.ZSTD_createDCtx())
        self.lib.ZSTD_DCtx_setParameter(context, *self.WINDOW)
        room = ctypes.create_string_buffer(1 << 20)
        source = self.Bytes(ctypes.cast(body, ctypes.c_void_p), len(body), 0)
        parts, left = [], 1
        while left != 0:
            to = self.Bytes(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
            before = source.pos
            left = self.lib.ZSTD_decompressStream(
                context, ctypes.byref(to), ctypes.byref(source))
            parts.append(room.raw[:to.pos])
            if self.lib.ZSTD_isError(ctypes.c_size_t(left)) or (
                    left and to.pos == 0 and source.pos == before):
                break
        self.lib.ZSTD_freeDCtx(context)
        whole = left == 0 and source.pos == len(body)
        return b"".join(parts) if whole else None


def unpacked_as(coding, body):
    """What is packed as "gzip" or "zstd"; None for anything else."""
    if coding == "zstd":
        return Zstd().unpack(body)
    return unpacked(body) if coding == "gzip" else None


class Direct:
    """serve() in a process of its own."""

    def __init__(self, data, *settings):
        if not os.path.exists(ONCE):
            skip(ONCE + " is not built")
        self.data, self.settings = data, settings
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [ONCE, self.data.folder, GRIDCTL, "-"] + list(self.settings),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def stop(self):
        """Ends it; what the sanitizers found fails the test."""
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        assert code == 0, "once ended with %d" % code

    def restart(self):
        self.stop()
        self.start()

    def read(self, count):
        got = self.process.stdout.read(count)
        assert len(got) == count, "once died: exit %s" % self.process.poll()
        return got

    def ask(self, uri, method="GET", headers=None, body=b"", slow=False):
        """`slow`: of the slow pool, as if nginx had been sent there."""
        pairs = [b"SLOW=1"] if slow else []
        pairs += [b"REQUEST_METHOD=" + as_bytes(method),
                  b"REQUEST_URI=" + as_bytes(uri), b"BODY=" + as_bytes(body),
                  b"REMOTE_ADDR=127.0.0.1"]
        names = {"x-request-id": "REQUEST_ID",
                 "content-type": "CONTENT_TYPE", "https": "HTTPS",
                 # Of no client: nginx tells them.
                 "outside_user": "OUTSIDE_USER",
                 "outside_groups": "OUTSIDE_GROUPS"}
        for name, value in (headers or {}).items():
            name = names.get(name.lower(),
                             "HTTP_" + name.upper().replace("-", "_"))
            pairs.append(as_bytes(name) + b"=" + as_bytes(value))
        sent = b"".join(struct.pack("<I", len(p)) + p for p in pairs)
        self.process.stdin.write(sent + struct.pack("<I", 0))
        self.process.stdin.flush()
        result, length = struct.unpack("<II", self.read(8))
        answer = self.read(length)
        if result != 0:
            raise Cut("serve() failed: %d, %r" % (result, uri))
        head, _, rest = answer.partition(b"\r\n\r\n")
        lines = head.decode("utf-8").split("\r\n")
        assert lines[0].startswith("Status: "), lines[0]
        found = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            assert name.lower() not in found, "twice: " + line
            found[name.lower()] = value
        return Reply(int(lines[0].split()[1]), found, rest)


class Http:
    """nginx and gridapi: a Stack of tests/system/stack.py."""

    def __init__(self, stack):
        self.stack = stack

    def ask(self, uri, method="GET", headers=None, body=None):
        reply = self.stack.get(uri, method, headers, body)
        found = {name.lower(): value for name, value in reply.headers.items()}
        return Reply(reply.status, found, reply.body)


# --- the description ---------------------------------------------------------

FORMATS = {
    "date": re.compile(r"^\d{4}-\d\d-\d\d$"),
    "date-time": re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"),
}
TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and
    not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


class Description:
    """docs/openapi.json, or the screen's; what it does not name is wrong."""

    def __init__(self, document=None, name="openapi.json", base=API):
        if document is None:
            with open(os.path.join(TOP, "docs", name),
                      encoding="utf-8") as file:
                document = json.load(file)
        self.document, self.base = document, base

    def resolve(self, node):
        while "$ref" in node:
            found = self.document
            for step in node["$ref"].lstrip("#/").split("/"):
                found = found[step]
            node = found
        return node

    def issues(self, value, schema, path=""):
        """What of `value` does not fit; the few words of JSON Schema that the
        document uses."""
        schema = self.resolve(schema)
        if "anyOf" in schema:
            each = [self.issues(value, one, path) for one in schema["anyOf"]]
            return [] if [] in each else each[0]
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(TYPES[kind](value) for kind in kinds):
            return ["%s: %r is no %s" % (path, value, kinds)]
        if "enum" in schema and value not in schema["enum"]:
            return ["%s: %r is not in the enum" % (path, value)]
        if isinstance(value, str) and "format" in schema and \
                not FORMATS[schema["format"]].match(value):
            return ["%s: %r is no %s" % (path, value, schema["format"])]
        if isinstance(value, list):
            return [issue for i, one in enumerate(value)
                    for issue in self.issues(one, schema.get("items", {}),
                                             "%s[%d]" % (path, i))]
        if isinstance(value, dict) and (
                "properties" in schema or "additionalProperties" in schema):
            return self.member_issues(value, schema, path)
        return []

    def member_issues(self, value, schema, path):
        found = ["%s: %s is missing" % (path, name)
                 for name in schema.get("required", []) if name not in value]
        known = schema.get("properties", {})
        keys = schema.get("propertyNames", {}).get("pattern", "")
        for name, one in value.items():
            inner = known.get(name, schema.get("additionalProperties"))
            if inner is None:
                found.append("%s: %s is not described" % (path, name))
                continue
            if not re.search(keys, name):
                found.append("%s: the key %s" % (path, name))
            found += self.issues(one, inner, path + "." + name)
        return found

    def operation(self, method, uri):
        """The operation and its path for a request; None: not described."""
        path = urllib.parse.unquote(uri.split("?")[0])
        if not path.startswith(self.base + "/"):
            return None, None
        path = path[len(self.base):]
        for exact in (True, False):
            for template, methods in self.document["paths"].items():
                pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(template))
                if exact == ("{" not in template) and \
                        re.fullmatch(pattern, path) and \
                        method.lower() in methods:
                    return methods[method.lower()], template
        return None, None

    def check(self, method, uri, reply):
        """The issues of an answer."""
        asked = "GET" if method == "HEAD" else method
        operation, _ = self.operation(asked, uri)
        if operation is None or reply.status == 405:
            return [] if reply.status in (204, 404, 405) else \
                ["no operation is described"]
        known = operation["responses"].get(str(reply.status))
        if known is None:
            return ["the status %d is not described" % reply.status]
        known = self.resolve(known)
        kind = reply.headers.get("content-type", "").split(";")[0]
        content = known.get("content", {})
        if method == "HEAD" or reply.status == 304:
            return []
        if kind not in content:
            return ["%r is not described" % kind]
        if kind != "application/json":
            return []
        return self.issues(reply.json(), content[kind]["schema"], "body")


class Score:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def note(self, name, problems):
        if problems:
            self.failed += 1
            print("not ok: %s" % name)
            for problem in problems[:10]:
                print("    %s" % problem)
        else:
            self.passed += 1

    def end(self):
        print("%d passed, %d failed" % (self.passed, self.failed))
        sys.exit(1 if self.failed else 0)
