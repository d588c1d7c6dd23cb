"""S3-compatible stores on loopback: one of our own, which checks what is signed and
fails as a test tells it to, and an emulator from npm."""

import hashlib
import hmac
import http.server
import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from datetime import datetime, timedelta, timezone

from stack import PATIENCE, free_port

BUCKET = "grid-files"


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


class Half:
    """Of these bytes, before the connection ends."""

    def __init__(self, body):
        self.body = body

    def __len__(self):
        return len(self.body)

    def __iter__(self):
        yield self.body[:len(self.body) // 2]
        raise ConnectionAbortedError


class Store:
    """What a test needs of any of them."""

    key, secret = "GRIDKEY", "a+secret/with=signs"
    region = "eu-west-3"
    url = None

    def conf(self, path):
        """Lines of cluster.conf; `path` is for the secret's file."""
        with open(path, "w") as file:
            file.write(self.secret + "\n")
        return ("bucket = %s/%s\nbucket_region = %s\nbucket_key = %s\n"
                "bucket_secret_file = %s\n" % (
                    self.url, BUCKET, self.region, self.key, path))


class Double(Store):
    """`fault(method, key, body)`, where a test sets one, may raise Refused, or give
    other bytes, or an iterator of parts. `objects`: key to bytes and time."""

    def __init__(self):
        self.objects, self.fault = {}, None
        self.asked = []  # (method, key)
        self.page = 3  # objects that a list has
        double = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = PATIENCE

            def answer(self):
                double.answer(self)

            do_GET = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = "http://127.0.0.1:%d" % self.port
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def signed(self, handler, body):
        """By the letter of Signature Version 4, from what has arrived."""
        headers = {name.lower(): value.strip()
                   for name, value in handler.headers.items()}
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/"
            r"aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?"
            r"Signature=([0-9a-f]{64})", headers.get("authorization", ""))
        if not found:
            raise Refused(403, "AccessDenied")
        key, day, region, names, signature = found.groups()
        if key != self.key:
            raise Refused(403, "InvalidAccessKeyId")
        if region != self.region:
            raise Refused(400, "AuthorizationHeaderMalformed")
        date = headers["x-amz-date"]
        sent = datetime.strptime(date, "%Y%m%dT%H%M%SZ")
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        if not date.startswith(day) or abs(now - sent) > timedelta(minutes=15):
            raise Refused(403, "RequestTimeTooSkewed")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(
                names.split(";")):
            raise Refused(403, "AccessDenied")
        url = urllib.parse.urlsplit(handler.path)
        query = "&".join(sorted(
            "%s=%s" % tuple(urllib.parse.quote(part, safe="-_.~")
                            for part in pair)
            for pair in urllib.parse.parse_qsl(url.query, True)))
        request = "\n".join(
            [handler.command, url.path, query] +
            ["%s:%s" % (name, headers[name]) for name in names.split(";")] +
            ["", names, headers["x-amz-content-sha256"]])
        scope = "%s/%s/s3/aws4_request" % (day, region)
        text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                          hashlib.sha256(request.encode()).hexdigest()])
        sign = ("AWS4" + self.secret).encode()
        for word in (day, region, "s3", "aws4_request", text):
            sign = hmac.new(sign, word.encode(), hashlib.sha256).digest()
        if sign.hex() != signature:
            raise Refused(403, "SignatureDoesNotMatch")
        if hashlib.sha256(body).hexdigest() != headers["x-amz-content-sha256"]:
            raise Refused(400, "XAmzContentSHA256Mismatch")

    def answer(self, handler):
        body = handler.rfile.read(
            int(handler.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(handler.path)
        key = url.path[len("/%s/" % BUCKET):]
        self.asked.append((handler.command, key))
        first, found = 0, b""
        try:
            self.signed(handler, body)
            if not url.path.startswith("/" + BUCKET):
                raise Refused(404, "NoSuchBucket")
            if handler.command == "GET" and not key:
                found = self.listing(urllib.parse.parse_qs(url.query))
            elif handler.command == "GET":
                if key not in self.objects:
                    raise Refused(404, "NoSuchKey")
                first = int(re.sub(r"\D", "",
                                   handler.headers.get("Range", "0")))
                found = self.objects[key][0][first:]
            if self.fault:
                other = self.fault(handler.command, key, found)
                found = found if other is None else other
            if handler.command == "PUT":
                self.objects[key] = (body, datetime.now(timezone.utc))
            elif handler.command == "DELETE":
                self.objects.pop(key, None)
            self.send(handler, 206 if "Range" in handler.headers else 200,
                      found, first)
        except Refused as refused:
            self.send(handler, refused.status, (
                "<?xml version='1.0'?>\n<Error><Code>%s</Code><Message>no"
                "</Message></Error>" % refused.code).encode())
        except OSError:
            handler.close_connection = True

    @staticmethod
    def send(handler, status, body, first=0):
        length = len(body)
        handler.send_response(status)
        if status == 206:
            handler.send_header("Content-Range", "bytes %d-%d/%d" % (
                first, first + length - 1, first + length))
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        for part in [body] if isinstance(body, bytes) else body:
            handler.wfile.write(part)
            handler.wfile.flush()

    def listing(self, query):
        prefix = query["prefix"][0]
        after = query.get("continuation-token", ["/+ "])[0][3:]
        keys = [key for key in sorted(self.objects)
                if key.startswith(prefix) and key > after]
        text = "".join(
            "<Contents><Key>%s</Key><LastModified>%s</LastModified>"
            "<ETag>&quot;x&quot;</ETag><Size>%d</Size></Contents>" % (
                key, self.objects[key][1].strftime("%Y-%m-%dT%H:%M:%S.000Z"),
                len(self.objects[key][0])) for key in keys[:self.page])
        if len(keys) > self.page:
            # Of letters that a query has in hex.
            text += ("<NextContinuationToken>/+ %s</NextContinuationToken>" %
                     keys[self.page - 1])
        return ("<?xml version='1.0'?><ListBucketResult>%s</ListBucketResult>"
                % text).encode()

    def names(self):
        return {key.split("/")[-1].split(".")[0] for key in self.objects}

    def age(self, key, **time_):
        self.objects[key] = (self.objects[key][0],
                             datetime.now(timezone.utc) - timedelta(**time_))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Emulator(Store):
    """@20minutes/s3rver, which checks signatures, too."""

    key = secret = "S3RVER"
    region = "us-east-1"

    def __init__(self):
        modules = os.environ["GRID_MODULES"]
        self.folder = tempfile.mkdtemp(prefix="grid-bucket-")
        port = free_port()
        self.url = "http://127.0.0.1:%d" % port
        script = os.path.join(os.path.dirname(modules), "serve.mjs")
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                 "bucket", "serve.mjs"), script)
        self.process = subprocess.Popen(
            ["node", script, str(port), self.folder, BUCKET],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def names(self):
        return {name[:64] for _, _, files in os.walk(self.folder)
                for name in files if re.match(r"[0-9a-f]{64}\.", name)}

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        while not select.select([self.process.stdout], [], [], 1)[0]:
            assert time.monotonic() < end, "the emulator does not start"
        assert self.process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
