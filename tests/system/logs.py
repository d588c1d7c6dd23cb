"""No log has a key: every place of a request that nginx may write down, every
way to write a key there, and every fault that makes nginx write."""

import os
import random
import re
import signal
import socket
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import TOP, run_tests, wait_until  # noqa: E402

ROWS = "/api/v1/grid?fournisseur=S1"


def escaped(text, which, upper=False):
    form = "%%%02X" if upper else "%%%02x"
    return "".join(form % ord(char) if which(i) else char
                   for i, char in enumerate(text))


def forms_of(key):
    """As somebody may write it into an address."""
    capitals = key.upper()
    forms = [key, capitals, key.swapcase(),
             escaped(key, lambda i: i == 2), escaped(key, lambda i: i == 4),
             escaped(key, lambda i: i == 15), escaped(key, lambda i: i % 2),
             escaped(key, lambda i: i % 2, True),
             escaped(key, lambda i: True), escaped(key, lambda i: True, True),
             escaped(capitals, lambda i: i % 3 == 0, True)]
    return forms + [form.replace("%", "%25") for form in forms if "%" in form]


def requests_with(form, key):
    """Bytes of requests that have the form somewhere; all but the last kinds
    are for a dump, and have a good key where it belongs."""
    def dump(line=ROWS, host="x", more=""):
        return ("GET %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\n"
                "Connection: close\r\n%s\r\n" % (line, host, key, more))
    return [dump(ROWS + "&key=" + form), dump("/api/v1/" + form),
            dump("/" + form), dump("/css/" + form + "/x?" + form),
            dump("http://x/api/v1/grid?fournisseur=S1&k=" + form),
            dump("http://%s/api/v1/grid?fournisseur=S1" % form),
            dump("/_error?" + form), dump("/healthz?" + form),
            dump(host=form), dump(more="Referer: http://x/?k=%s\r\n" % form),
            dump(more="User-Agent: me/%s\r\n" % form),
            dump(more="Content-Length: 99999999\r\n").replace(
                "GET " + ROWS, "POST /api/v1/gammes?" + form),
            "%s / HTTP/1.1\r\nHost: x\r\n\r\n" % form,
            "GET /%s HTTP/9.9\r\nHost: x\r\n\r\n" % form,
            "GET /%s%%zz HTTP/1.1\r\nHost: x\r\n\r\n" % form,
            "GET /?%s\r\n" % form]


def send(grid, text, most=1 << 16):
    """The status, having read so much at most; 0 where it is no HTTP/1.1."""
    with socket.create_connection(("127.0.0.1", grid.port), 30) as sock:
        sock.sendall(text.encode("latin-1"))
        said = sock.recv(most)
    return int(said.split(b" ", 2)[1]) if said[:5] == b"HTTP/" else 0


def logs_of(grid):
    texts = {}
    for name in sorted(os.listdir(grid.path("log"))):
        texts[name] = grid.text_of("log/" + name)
    return texts


def has_no_key(grid, *keys):
    """Neither a key nor a dozen characters of its secret, in either case and
    however often escaped."""
    for name, text in logs_of(grid).items():
        for _ in range(4):
            lower = text.lower()
            for key in keys:
                secret = key.rsplit("_", 1)[1].lower()
                for at in range(0, len(secret) - 12):
                    found = lower.find(secret[at:at + 12])
                    assert found < 0, (name, text[max(0, found - 300):
                                                  found + 300])
            text = urllib.parse.unquote(text, errors="replace")


def logged(grid):
    return grid.text_of("log/access.log").count("\n")


# A secret, however written: 38 letters or digits, or more, in a row.
SECRET = re.compile("(?:[0-9a-z]|%(?:25)*[3-7][0-9a-f]){38}", re.I)


def patterns_of(name):
    """What the site's map of this name looks for, in its order."""
    with open(os.path.join(TOP, "nginx", "gridapi.conf.in")) as file:
        lines = file.read().split(name + " {\n", 1)[1].split("}\n", 1)[0]
    return [re.compile(text, re.I if star else 0) for star, text in
            re.findall(r'(?m)^\t"~(\*?)(.*)" ', lines)]


def what_is_logged_without_a_second_look_holds_no_key():
    if sys.version_info < (3, 11):
        print("   left out: this Python has no possessive quantifiers")
        return
    chance = random.Random(1)
    bits = ["grid_", "%67", "GRID%5f", "a", "%2541", "0" * 9, "Z" * 14,
            "&", "=", "%", "x" * 31, "%6", ",", "%2C", "%3D", "%C3", "%252C"]
    for name in ("$grid_logged_uri", "$grid_logged_agent"):
        _, plain, secret = patterns_of(name)
        assert "{38}" in secret.pattern
        seen = {True: 0, False: 0}
        for _ in range(20000):
            text = "".join(chance.choice(bits)
                           for _ in range(chance.randint(0, 30)))
            holds = bool(SECRET.search(text))
            assert holds == bool(secret.search(text)), text
            assert not (holds and plain.search(text)), text
            seen[holds] += 1
        assert min(seen.values()) > 1000, seen
        for text in ("", ROWS, "x" * 37, "/" + "y" * 37 + "?_" * 5000,
                     "fields=codein" + "%2Clibelle1" * 100,
                     "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"):
            assert plain.search(text), text
        for text in ("x" * 38, "&%41", "&%2541"):
            assert not plain.search(text), text


def no_log_has_a_key_in_whatever_form():
    with Grid(articles=4000) as grid:
        forms = forms_of(grid.read_key)
        count = 0
        for form in forms:
            for text in requests_with(form, grid.key):
                status = send(grid, text)
                count += 1
                if "Referer" in text or "&key=" in text:
                    assert status == 400, (status, text)
        wait_until(lambda: logged(grid) >= count - 2 * len(forms),
                   "requests are in the access log")
        has_no_key(grid, grid.key, grid.read_key)
        answer = grid.ask("GET", ROWS + "&k=" + grid.read_key)
        assert answer.status == 400, answer.status
        assert "X-API-Key" in answer.json["error"]["message"], answer.text
        # What merely begins like a key is searched for.
        for word in ("grid_", "grid_etagere", "grid_etagere_1"):
            assert grid.ask("GET", "/api/v1/products/search?q=" +
                            word).status == 200, word
        # A secret alone is left out of the access log.
        before = logged(grid)
        secret = grid.read_key.rsplit("_", 1)[1]
        for text in (secret, escaped(secret, lambda i: i % 2)):
            grid.ask("GET", "/api/v1/products/search?q=" + text)
        wait_until(lambda: logged(grid) >= before + 2, "both are logged")
        has_no_key(grid, grid.key, grid.read_key)


def faults_put_no_key_into_a_log():
    """Answers that nginx sets aside, callers that it limits, workers that die
    and workers that are not there."""
    with Grid(articles=6000) as grid:
        text = requests_with(grid.read_key, grid.key)
        # A dump that nobody reads is set aside; its worker then dies.
        socks = []
        for line in (ROWS, ROWS + "&key=" + grid.read_key):
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", grid.port))
            sock.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n"
                          % (line, grid.key)).encode())
            socks.append(sock)
        for sock in socks:
            assert sock.recv(12).startswith(b"HTTP/1.1 ")
        # Refused for too many bad keys: nginx says that it slows them down.
        for _ in range(130):
            status = send(grid, "GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %sx"
                          "\r\n\r\n" % (ROWS, grid.key))
            assert status == 401, status
        for line in text:
            send(grid, line)
        for pid in grid.workers_of("pages", "slow"):
            os.kill(pid, signal.SIGKILL)
        for line in text:
            send(grid, line)
        grid.pool.terminate()
        grid.pool.wait(60)
        for form in forms_of(grid.read_key):
            for line in requests_with(form, grid.key):
                send(grid, line)
        # That there is no worker is told, with what was asked.
        assert send(grid, "GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n"
                    % (ROWS, grid.key)) == 502
        wait_until(lambda: "[crit]" in grid.nginx_log() and ROWS in
                   grid.nginx_log(), "nginx tells that no worker is there")
        for sock in socks:
            sock.close()
        has_no_key(grid, grid.key, grid.read_key)


run_tests([
    what_is_logged_without_a_second_look_holds_no_key,
    no_log_has_a_key_in_whatever_form,
    faults_put_no_key_into_a_log,
])
