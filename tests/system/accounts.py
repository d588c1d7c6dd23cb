"""Stands for oauth2-proxy beside nginx: the same addresses, the same answers.

https://oauth2-proxy.github.io/oauth2-proxy/configuration/integrations/nginx and
.../features/endpoints: /oauth2/auth answers 202 with X-Auth-Request-User, -Email,
-Preferred-Username and -Groups (set_xauthrequest) and GAP-Auth, or 401 with the text
"Unauthorized"; /oauth2/start?rd=PLACE begins to sign in and comes back to PLACE;
/oauth2/sign_out?rd=PLACE ends that. Who signs in is `next_user`, as if the provider
had asked a person. With cookie_refresh (`renews`) the 202 has a new cookie as well,
and the provider has taken back what the old one held; a cookie of more than 4,000
bytes comes in parts with numbers behind their names (`parts`).
"""

import http.server
import threading
import urllib.parse

COOKIE = "_oauth2_proxy"
REST = ("; Path=/; Expires=Tue, 01 Dec 2099 02:00:00 GMT; Max-Age=604800; "
        "HttpOnly; SameSite=Lax")


class Accounts(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.people = {}  # name -> groups
        self.next_user = None
        self.asked = []  # the headers of each question
        self.renews = False
        self.parts = 1
        self.renewed = {}  # name -> how often
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def close(self):
        self.shutdown()
        self.server_close()

    def sign_in(self, name, *groups):
        self.people[name] = list(groups)
        self.next_user = name

    def cookies(self, name):
        """The pairs of NAME and VALUE that hold the account now."""
        value = name
        if name in self.renewed:
            value += ".%d." % self.renewed[name] + "x" * 4 * self.parts
        if self.parts == 1:
            return [(COOKIE, value)]
        step = -(-len(value) // self.parts)
        return [("%s_%d" % (COOKIE, i), value[i * step:(i + 1) * step])
                for i in range(self.parts)]

    def site_lines(self, path, source):
        """Writes `source` to `path` with this port in the place of 4180."""
        with open(source) as file:
            text = file.read()
        assert "127.0.0.1:4180" in text
        with open(path, "w") as file:
            file.write(text.replace("127.0.0.1:4180",
                                    "127.0.0.1:%d" % self.port))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers=(), body=""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def user(self):
        sent = [pair.strip().partition("=")[::2]
                for pair in self.headers.get("Cookie", "").split(";")]
        sent = [pair for pair in sent if pair[0].startswith(COOKIE)]
        for name in self.server.people:
            if sent == self.server.cookies(name):
                return name
        return None

    def do_GET(self):
        at = urllib.parse.urlsplit(self.path)
        back = urllib.parse.parse_qs(at.query).get("rd", ["/"])[0]
        if at.path == "/oauth2/auth":
            self.auth()
        elif at.path == "/oauth2/start":
            self.answer(302, [
                ("Set-Cookie", "%s=%s" % (COOKIE, self.server.next_user) + REST),
                ("Location", back)])
        elif at.path == "/oauth2/sign_out":
            self.answer(302, [
                ("Set-Cookie", COOKIE + "=; Path=/; Max-Age=0"),
                ("Location", back)])
        else:
            self.answer(404)

    def auth(self):
        self.server.asked.append(dict(self.headers))
        user = self.user()
        if user is None:
            self.answer(401, [("Content-Type", "text/plain; charset=utf-8"),
                              ("X-Content-Type-Options", "nosniff")],
                        "Unauthorized\n")
            return
        told = [("X-Auth-Request-User", "id-" + user),
                ("X-Auth-Request-Preferred-Username", user),
                ("X-Auth-Request-Email", user + "@grid.example"),
                ("X-Auth-Request-Groups",
                 ",".join(self.server.people[user])),
                ("GAP-Auth", user + "@grid.example")]
        if self.server.renews:
            self.server.renewed[user] = self.server.renewed.get(user, 0) + 1
            told += [("Set-Cookie", "%s=%s" % pair + REST)
                     for pair in self.server.cookies(user)]
        told += [("Remote-User", user),
                 ("Remote-Groups", ",".join(self.server.people[user]))]
        self.answer(202, told)
