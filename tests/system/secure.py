"""etcd with TLS and users, as docs/cluster.md sets it up: nodes share by it, a wrong
certificate is refused, and a user without the right is told which one."""

import base64
import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from join import Node, Spare  # noqa: E402
from stack import run_tests, skip, wait_until  # noqa: E402

PASSWORD = "0123456789abcdef"


def make_certificates(folder):
    """With the commands of docs/cluster.md, for this host."""
    def openssl(*words):
        done = subprocess.run(["openssl"] + list(words), cwd=folder,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ("etcd-ca", "other-ca"):
        openssl("req", "-x509", *key, "-days", "3650", "-subj", "/CN=" + name,
                "-keyout", name + ".key", "-out", name + ".pem")
    openssl("req", *key, "-subj", "/CN=127.0.0.1", "-keyout", "etcd.key",
            "-out", "etcd.csr")
    with open(folder + "/etcd.ext", "w") as file:
        file.write("subjectAltName = IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "etcd.csr", "-CA", "etcd-ca.pem", "-CAkey",
            "etcd-ca.key", "-CAcreateserial", "-days", "3650", "-extfile",
            "etcd.ext", "-out", "etcd.pem")


def make_other_certificate(folder):
    """Of the authority that nobody here trusts."""
    for words in (["req", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:P-256", "-nodes", "-subj",
                   "/CN=127.0.0.1", "-keyout", "other.key", "-out",
                   "other.csr"],
                  ["x509", "-req", "-in", "other.csr", "-CA", "other-ca.pem",
                   "-CAkey", "other-ca.key", "-CAcreateserial", "-days", "9",
                   "-extfile", "etcd.ext", "-out", "other.pem"]):
        subprocess.run(["openssl"] + words, cwd=folder, check=True,
                       capture_output=True)


def refuse_all(server, context):
    """Until the socket is shut down."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            context.wrap_socket(connection, server_side=True).close()


class SecureEtcd(Etcd):
    """`prefix`: of the keys that the nodes' user may read and write."""

    def __init__(self, prefix="product-grid", members=1):
        super().__init__(members)
        make_certificates(self.folder)
        self.prefix, self.ca = prefix, self.path("etcd-ca.pem")
        with open(self.path("password"), "w") as file:
            file.write(PASSWORD + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def addresses(self, ports):
        return ["https://127.0.0.1:%d" % port for port in ports]

    def options(self):
        files = ["--cert-file", self.path("etcd.pem"), "--key-file",
                 self.path("etcd.key")]
        return files + ["--peer-" + word[2:] if word.startswith("--") else word
                        for word in files] + [
            "--peer-trusted-ca-file", self.ca, "--peer-client-cert-auth",
            "--bcrypt-cost", "4"]

    def ask(self, i, path, body, token=None):
        request = urllib.request.Request(
            self.urls[i] + path, json.dumps(body).encode(),
            {"Authorization": token} if token else {})
        with urllib.request.urlopen(
                request, timeout=10,
                context=ssl.create_default_context(cafile=self.ca)) as answer:
            return json.loads(answer.read())

    def keys(self):
        end = self.prefix[:-1] + chr(ord(self.prefix[-1]) + 1)
        return {name: base64.b64encode(words.encode()).decode()
                for name, words in (("key", self.prefix), ("range_end", end))}

    def as_root(self, path, body):
        token = self.ask(0, "/v3/auth/authenticate",
                         {"name": "root", "password": PASSWORD})["token"]
        return self.ask(0, "/v3/auth/" + path, body, token)

    def conf_line(self):
        return "%s\nca = %s\nuser = grid\npassword_file = %s" % (
            super().conf_line(), self.ca, self.path("password"))

    def __enter__(self):
        super().__enter__()

        for path, body in (
                ("user/add", {"name": "root", "password": PASSWORD}),
                ("role/add", {"name": "root"}),
                ("user/grant", {"user": "root", "role": "root"}),
                ("role/add", {"name": "grid"}),
                ("role/grant", {"name": "grid", "perm": dict(
                    self.keys(), permType="READWRITE")}),
                ("user/add", {"name": "grid", "password": PASSWORD}),
                ("user/grant", {"user": "grid", "role": "grid"}),
                ("enable", {})):
            self.ask(0, "/v3/auth/" + path, body)
        return self


def nodes_share_by_an_etcd_with_tls_and_users():
    with SecureEtcd() as etcd, Node(etcd) as one, Spare(etcd, one) as two:
        wait_until(one.is_current, "it is current")
        two.write_conf()
        two.must("cluster", "join")
        one.store("10000", "Y")
        two.must("key", "create", "--name", "two", "--scope", "read")
        wait_until(lambda: "two" in one.ctl("key", "list"), "it is known")
        wait_until(lambda: two.tables() == one.tables(), "they are the same")
        # What is not etcd's certificate is not spoken with.
        etcd.ca = etcd.path("other-ca.pem")
        two.write_conf()
        for words in (("cluster", "status"), ("doctor",),
                      ("cluster", "join", "--anew")):
            done = two.ctl(*words)
            said = done.stdout + done.stderr
            assert done.returncode == 1 and "certificate" in said, done
            assert "ca in cluster.conf names a file" in said, done
            assert "majority" not in said and "etcd up" not in said, done


def a_node_whose_certificate_is_not_trusted_names_the_setting():
    """Of nginx: here a server of its own, whose files nobody gets."""
    with SecureEtcd() as etcd, Node(etcd) as one, Spare(etcd, one) as two:
        wait_until(one.is_current, "it is current")
        with socket.create_server(("127.0.0.1", 0)) as server:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            make_other_certificate(etcd.folder)
            context.load_cert_chain(etcd.path("other.pem"),
                                    etcd.path("other.key"))
            holder = threading.Thread(
                target=refuse_all, args=(server, context), daemon=True)
            holder.start()
            address = "https://127.0.0.1:%d" % server.getsockname()[1]
            one.stop()
            wait_until(lambda: one.status()["nodes"] == [], "it has ended")
            two.write_conf()
            done = two.ctl("cluster", "join", "--from", address)
            assert done.returncode == 1, done
            assert "this node does not trust the certificate of " + address \
                in done.stderr, done
            assert "ca in cluster.conf names a file" in done.stderr, done
            server.shutdown(socket.SHUT_RDWR)
            holder.join()


def a_member_without_a_majority_is_told_as_such():
    """A login needs a majority, and what a member says of itself does not."""
    with SecureEtcd(members=3) as etcd, Node(etcd) as one:
        wait_until(one.is_current, "it is current")
        etcd.kill(0)
        etcd.kill(1)

        def is_told():
            text = one.ctl("cluster", "status", check=False).stdout
            return all(words in text for words in (
                ", has no leader\n",
                "fault etcd %s answers, and has no leader\n" % etcd.urls[2],
                "fault etcd %s is out of reach: " % etcd.urls[0]))
        wait_until(is_told, lambda: one.ctl("cluster", "status", check=False))


def a_user_without_the_right_is_told_which_one():
    with SecureEtcd("product-grid/") as etcd, Spare(etcd, etcd) as two:
        with open(etcd.path("secret"), "w") as file:
            file.write(PASSWORD + "\n")
        two.own_state()
        done = two.ctl("cluster", "init")
        assert done.returncode == 1, done
        assert "permission denied" in done.stderr and \
            "readwrite of all keys that begin with product-grid" in \
            done.stderr, done


REFUSALS = (
    (("user/changepw", {"name": "grid", "password": "another"}),
     "refuses the user grid", "etcdctl user passwd grid",
     ("user/changepw", {"name": "grid", "password": PASSWORD})),
    (("disable", {}), "has no users enabled", "etcdctl auth enable", None))


def without_rights(one, two, change, refusal, todo):
    """Reading stays. `change`: takes them with True, and gives them back."""
    begins = len(one.log())
    change(True)
    for node in (one, two):
        wait_until(lambda: refusal in node.get("/readyz").body.decode(),
                   "it is not ready")
        wait_until(lambda: "nodes" in node.status() and
                   node.status()["nodes"] == [], "records have ended")
    for _ in range(5):
        answer = one.put(one.articles[1], "Z")
        assert answer.status == 503, answer.text
        assert "Nothing was stored" in answer.text, answer.text
    # The look that finds it logs it, too.
    for words in (("cluster", "status"), ("doctor",)):
        said = one.ctl(*words, check=False).stdout
        assert refusal in said and todo in said, said
        assert "not alive" not in said, said
        assert "out of reach" not in said, said
        assert "copies" not in said, said
    done = one.ctl("key", "create", "--name", "a", "--scope", "read",
                   check=False)
    assert done.returncode == 1 and refusal.split(" ", 1)[1] in done.stderr, \
        done
    log = one.log()[begins:]
    lines = [line for line in log.splitlines() if refusal in line]
    processes = {line.split("[")[1].split("]")[0] for line in lines}
    assert lines and len(lines) == len(processes), lines
    assert all(todo in line for line in lines), lines
    assert "there again" not in log and "is away" not in log, log
    change(False)
    for node in (one, two):
        wait_until(node.is_current, "it is current again")
    one.store(one.articles[1], "Z")
    wait_until(lambda: one.status()["well"], lambda: one.status())
    assert "lets the nodes' user do all that a node does again" in \
        one.log()[begins:], one.log()


def a_right_to_write_that_goes_alone_is_told():
    with SecureEtcd() as etcd, Node(etcd) as one, Node(etcd, one) as two:
        for node in (one, two):
            wait_until(node.is_current, "it is current")

        def change(takes):
            etcd.as_root("role/grant", {"name": "grid", "perm": dict(
                etcd.keys(), permType="READ" if takes else "READWRITE")})
        without_rights(one, two, change,
                       "etcd does not let the user grid write",
                       "'etcdctl role grant-permission ROLE readwrite "
                       "product-grid --prefix'")


def a_refusal_of_etcd_is_told_once_with_what_mends_it():
    with SecureEtcd() as etcd, Node(etcd) as one:
        wait_until(one.is_current, "it is current")
        refusals = [(("role/revoke", dict(etcd.keys(), role="grid")),
                     "does not let the user grid read",
                     "etcdctl role grant-permission",
                     ("role/grant", {"name": "grid", "perm": dict(
                         etcd.keys(), permType="READWRITE")}))] + \
            list(REFUSALS)
        for begins, refusal, todo, ends in refusals:
            etcd.as_root(*begins)
            # For as long gridapi asks for the heads, every 50 ms.
            wait_until(lambda: one.metric("gridapi_behind_milliseconds") >
                       2000, "it is behind for 2 s")
            lines = [line for line in one.log().splitlines()
                     if "etcd " + refusal in line]
            processes = {line.split("[")[1].split("]")[0] for line in lines}
            assert lines and len(lines) == len(processes), lines
            assert all(todo in line for line in lines), lines
            assert "etcd is away" not in one.log(), one.log()
            done = one.ctl("cluster", "status", check=False)
            assert done.returncode == 1, done
            said = done.stdout
            assert "the log is out of reach: etcd " + refusal in said, said
            assert todo in said and "majority" not in said, said
            assert "is out of reach\n" not in said, said
            if ends:
                etcd.as_root(*ends)
                wait_until(one.is_current, "it is current again")


if __name__ == "__main__":
    find_etcd()
    if subprocess.run(["sh", "-c", "command -v openssl"], check=False,
                      capture_output=True).returncode:
        skip("openssl is not installed")
    run_tests([nodes_share_by_an_etcd_with_tls_and_users,
               a_node_whose_certificate_is_not_trusted_names_the_setting,
               a_member_without_a_majority_is_told_as_such,
               a_user_without_the_right_is_told_which_one,
               a_right_to_write_that_goes_alone_is_told,
               a_refusal_of_etcd_is_told_once_with_what_mends_it])
