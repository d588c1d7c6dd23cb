"""PostgreSQL on loopback, for tests of several nodes; its verbs are etcd_kit's.

    with Postgres() as server:
        server.write_conf(data_dir)
        server.kill(0)
"""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import tempfile

from etcd_kit import Engine
from secure import make_certificates
from stack import children, free_port, has_ended, skip, wait_until


def find_bin():
    """Of the latest version from 15 on: Debian's are in no PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"),
                   key=lambda path: int(path.split("/")[4]))
    if not found or int(found[-1].split("/")[4]) < 15:
        skip("PostgreSQL is not installed: tools/dev/install-packages.sh test")
    return os.path.dirname(found[-1])


class Postgres(Engine):
    """A server with a database `grid`, and in it a user of the same name, who
    has made the tables: no more rights than docs/cluster.md asks for."""

    alone = True

    def __init__(self, members=1):
        super().__init__()
        del members
        self.bin = find_bin()
        # In memory: how fast a disk is, is not what is tried.
        self.folder = tempfile.mkdtemp(
            prefix="grid-pg-",
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.port = free_port()
        self.process = None
        self.clusters = 0
        # The server refuses to be root's.
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.data = os.path.join(self.folder, "data")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **options):
        return subprocess.run(
            [os.path.join(self.bin, words[0])] + list(words[1:]),
            user=self.user, cwd=self.folder, capture_output=True, text=True,
            check=False, **options)

    def conninfo(self, user="grid"):
        return "host=127.0.0.1 port=%d dbname=%s user=%s" % (
            self.port, "grid" if user == "grid" else "postgres", user)

    def sql(self, text, where="grid"):
        """`where`: a user, or a connection string."""
        words = where if "=" in where else self.conninfo(where)
        done = subprocess.run(
            ["psql", "-XAtqd", words, "-v", "ON_ERROR_STOP=1"], input=text,
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def make(self):
        done = self.run("initdb", "-D", self.data, "-A", "trust", "-U",
                        "postgres", "-E", "UTF8", "--locale=C", "-N")
        assert done.returncode == 0, done.stderr
        self.start()
        wait_until(self.answers, lambda: "it answers:\n" + self.log())
        self.sql("CREATE ROLE grid LOGIN", "postgres")
        self.sql("CREATE DATABASE grid OWNER grid", "postgres")

    def start(self, i=0):
        del i
        with open(self.path("log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(self.bin, "postgres"), "-D", self.data,
                 "-p", str(self.port), "-c", "listen_addresses=127.0.0.1",
                 "-c", "unix_socket_directories=", "-c", "max_connections=60",
                 "-c", "shared_buffers=16MB"] + self.options(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=self.user, cwd=self.folder)

    def options(self):
        return []

    def kill(self, i=0):
        """All of its processes at once; each has a session of its own."""
        del i
        self.process.send_signal(signal.SIGSTOP)
        pids = children(self.process.pid)
        for pid in pids + [self.process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
        # The next server does not start beside a process of this one.
        wait_until(lambda: all(map(has_ended, pids)), "its processes end")

    def stop(self, how=signal.SIGINT):
        """Without losing anything; SIGQUIT: at once."""
        self.process.send_signal(how)
        self.process.wait()
        self.process = None

    def lose(self):
        """All that it has."""
        self.kill()
        shutil.rmtree(self.data)
        self.make()

    def save(self):
        """As a backup does; restore() brings it back."""
        self.stop()
        shutil.copytree(self.data, self.path("copy"))
        self.start()
        wait_until(self.answers, "it answers")

    def restore(self):
        self.stop()
        shutil.rmtree(self.data)
        shutil.move(self.path("copy"), self.data)
        if self.user:
            subprocess.run(["chown", "-R", self.user, self.data], check=True)
        self.start()
        wait_until(self.answers, "it answers")

    def leader(self):
        return 0

    def answers(self):
        return self.run("psql", "-XAtqd", self.conninfo("postgres"), "-c",
                        "SELECT 1").returncode == 0

    def again(self, members=1):
        """For another `with`: the same server, and another cluster in it."""
        del members
        self.clusters += 1
        return contextlib.nullcontext(self)

    def conf_line(self):
        return "postgres = %s\nname = grid-%d" % (
            self.conninfo(), self.clusters)

    def run_of(self, node):
        """The run whose record the node's name has, or None."""
        return self.sql("SELECT encode(run, 'escape') FROM product_grid_node "
                        "WHERE encode(cluster, 'escape') ~ '^grid-%d([.]|$)' AND "
                        "encode(name, 'escape') = '%s'" % (
                            self.clusters, node)) or None

    def log(self):
        with open(self.path("log")) as file:
            return file.read()

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # A server that is killed leaves its shared memory behind.
        if self.process is not None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


class SecurePostgres(Postgres):
    """With TLS by a certificate of a CA of its own. The user `grid` has a
    password; `postgres` needs none."""

    password = "0123456789abcdef"

    def __init__(self, members=1):
        super().__init__(members)
        make_certificates(self.folder)
        os.chmod(self.path("etcd.key"), 0o600)
        if self.user:
            shutil.chown(self.path("etcd.key"), self.user)

    def options(self):
        return ["-c", "ssl=on", "-c", "ssl_cert_file=" + self.path("etcd.pem"),
                "-c", "ssl_key_file=" + self.path("etcd.key")]

    def make(self):
        super().make()
        self.sql("ALTER ROLE grid PASSWORD '%s'" % self.password, "postgres")
        with open(self.data + "/pg_hba.conf", "w") as file:
            file.write("host all postgres 127.0.0.1/32 trust\n"
                       "hostssl all all 127.0.0.1/32 scram-sha-256\n")
        self.sql("SELECT pg_reload_conf()", "postgres")
        wait_until(self.asks_for_a_password, "it asks for a password")

    def asks_for_a_password(self):
        return self.run("psql", "-XAtqwd", self.conninfo(), "-c", "SELECT 1")\
            .returncode != 0

    def secured(self, ca="etcd-ca"):
        return self.conninfo() + " sslmode=verify-full sslrootcert=" + \
            self.path(ca + ".pem")
