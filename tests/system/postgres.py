"""Nodes that share their state by a real PostgreSQL, as those of etcd.py and
join.py do by etcd."""

import atexit
import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import etcd  # noqa: E402
import join  # noqa: E402
import secure  # noqa: E402
import shares  # noqa: E402
from grid import GRIDCTL  # noqa: E402
from postgres_kit import Postgres, SecurePostgres, find_bin  # noqa: E402
from stack import BUILD, TOP, run_tests, wait_until  # noqa: E402

TABLES = ["product_grid_" + name
          for name in ("head", "log", "node", "note", "epoch")]
UNIT_TESTS = os.path.join(BUILD, "tests", "lmdb-schema", "store", "test_engine")


class Shared:
    """One server for all tests, with a cluster for each."""

    server = None

    @classmethod
    def again(cls, members=1):
        if cls.server is None:
            cls.server = Postgres().__enter__()
            atexit.register(cls.server.__exit__)
        return cls.server.again(members)


def a_door_to_postgresql_keeps_an_engines_promises():
    if not os.path.exists(UNIT_TESTS):
        print("without check: no unit tests")
        return
    with Shared.again() as server:
        done = subprocess.run(
            [UNIT_TESTS], env=dict(os.environ, GRID_POSTGRES=server.conninfo()),
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.sql("SELECT count(*) FROM product_grid_log") != "0"


def what_is_acknowledged_survives_kills_of_the_server():
    """Two nodes write, and the server dies twice."""
    etcd.what_is_acknowledged_survives_the_leaders_kill(Shared.again)


def two_nodes_may_begin_a_log_at_once():
    """A trigger stands for the other node: its row of the log's head comes
    once the update has begun, so that the update does not see it."""
    with Shared.again() as server, etcd.Nodes(server, 1) as nodes:
        words = ("key", "create", "--name", "a", "--scope", "read")
        zeros = "decode(repeat('00', 32), 'hex')"

        assert nodes.ctl(nodes.dirs[0], *words).returncode == 0
    with Shared.again() as server, etcd.Nodes(server, 1) as nodes:
        server.sql(
            "CREATE FUNCTION begins() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN INSERT INTO product_grid_head VALUES ('grid-%d', 2, 0, %s) "
            "ON CONFLICT DO NOTHING; RETURN NULL; END $$; "
            "CREATE TRIGGER begins BEFORE UPDATE ON product_grid_head "
            "EXECUTE FUNCTION begins()" % (server.clusters, zeros))
        try:
            done = nodes.ctl(nodes.dirs[0], *words)
            assert done.returncode == 0, done
        finally:
            server.sql("DROP FUNCTION begins CASCADE")


def tables_that_another_node_makes_are_waited_for():
    """Its statement is under way for longer than a request may take; or no
    table can be made just now."""
    with Shared.again() as server, etcd.Nodes(server, 1) as nodes:
        conf = nodes.dirs[0] + "/cluster.conf"
        server.sql("CREATE DATABASE fresh OWNER grid", "postgres")
        fresh = server.conninfo().replace("dbname=grid", "dbname=fresh")
        words = ("key", "create", "--name", "a", "--scope", "read")

        with open(conf, "w") as file:
            file.write("[cluster]\npostgres = %s\n" % fresh)
        with subprocess.Popen(
                ["psql", "-XAtqd", fresh, "-v", "ON_ERROR_STOP=1"], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            print("BEGIN; %s; SELECT 'made';" % documented_statements()[0],
                  file=other.stdin, flush=True)
            assert other.stdout.readline() == "made\n"
            done = nodes.ctl(nodes.dirs[0], *words)
            print("COMMIT;", file=other.stdin, flush=True)
        assert done.returncode == 1, done
        assert "nothing was stored" in done.stderr, done.stderr
        admin = fresh.replace("user=grid", "user=postgres")
        server.sql(
            "CREATE FUNCTION refuses() RETURNS event_trigger LANGUAGE plpgsql "
            "AS $$ BEGIN RAISE EXCEPTION 'no space'; END $$; "
            "DROP TABLE product_grid_head; CREATE EVENT TRIGGER refuses "
            "ON ddl_command_start WHEN TAG IN ('CREATE TABLE') "
            "EXECUTE FUNCTION refuses()", admin)
        done = nodes.ctl(nodes.dirs[0], *words)
        assert done.returncode == 1, done
        assert "nothing was stored" in done.stderr, done.stderr
        assert "has not the entries" not in done.stderr, done.stderr
        server.sql("DROP EVENT TRIGGER refuses", admin)
        done = nodes.ctl(nodes.dirs[0], *words)
        assert done.returncode == 0, done


def nodes_see_each_other_and_a_dead_server_stops_writes_alone():
    etcd.what_one_node_stores_the_other_shows(Shared.again)
    etcd.two_nodes_of_one_name_are_told(Shared.again)
    etcd.a_node_that_is_down_is_told(Shared.again)
    etcd.an_etcd_that_is_away_stops_writes_alone(Shared.again)
    etcd.a_log_that_forgot_is_told_and_not_written_to(Shared.again)


def checkpoints(server):
    """The rows that name them."""
    return server.sql("SELECT cluster, name, text FROM product_grid_note "
                      "WHERE encode(cluster, 'escape') = 'grid-%d.1' AND "
                      "encode(name, 'escape') LIKE 'checkpoint/%%' "
                      "ORDER BY name" % server.clusters).splitlines()


def name_checkpoint(server, row):
    server.sql("INSERT INTO product_grid_note VALUES (%s) "
               "ON CONFLICT DO NOTHING" %
               ", ".join("'%s'" % part for part in row.split("|")))


def must_fail(node, *words):
    done = node.ctl(*words, check=False)
    assert done.returncode == 1, done
    return done.stdout + done.stderr


def is_told(node, said):
    """By all that is asked, at once."""
    for words in (("cluster", "status"), ("doctor",),
                  ("cluster", "checkpoint"), ("cluster", "pull")):
        told = must_fail(node, *words)
        assert said in told, (words, told)
        assert "'gridctl cluster join --anew'" in told, (words, told)
        assert "'gridctl cluster init --from %s'" % node.number() in told, told
        assert "goes on by itself" not in told, (words, told)


def a_restored_server_is_named_and_joined_anew():
    """One of two nodes has more than the server, and a checkpoint of it."""
    with Shared.again() as server, join.Node(server) as one, \
            join.Node(server, one) as two:
        for node in (one, two):
            wait_until(node.is_current, "it is current")
        codes = one.articles
        one.store(codes[0], "Y")
        one.ctl("cluster", "checkpoint")
        join.same(one, two)
        two.stop()
        server.save()
        for code in codes[1:4]:
            one.store(code, "Z")
        one.ctl("cluster", "checkpoint")
        forked = checkpoints(server)[-1]
        number = int(one.number())
        server.restore()
        wait_until(lambda: "lost entries" in one.put(codes[4], "Y").text,
                   "the loss is seen")
        for _ in range(10):
            answer = one.put(codes[4], "Y")
            assert answer.status == 503, answer.text
            assert answer.headers["Retry-After"], answer.headers
            assert "Nothing was stored" in answer.text, answer.text
        assert one.log().count("it has lost entries") < 10, one.log()
        status = one.status()
        assert 0 < status["state"] < number, status
        is_told(one, "this node has %d entries, the log %d: the log was "
                "restored from an older copy" % (number, status["state"]))
        wait_until(lambda: " more than the log" in must_fail(
            one, "cluster", "status"), "its record is there")
        before = checkpoints(server)
        wait_until(lambda: "lost entries" in
                   one.get("/readyz").body.decode(), "it is not ready")
        two.begin()
        wait_until(lambda: any("lost entries" in node.get("standsStill", "")
                               for node in two.status()["nodes"]),
                   "the other node tells of it")
        assert "'gridctl cluster status' on that node says what to do" in \
            must_fail(two, "cluster", "status")
        # The log grows beyond what the one has.
        for code in codes[5:10]:
            two.store(code, "A")
        assert int(two.number()) > number
        is_told(one, "and they are not the same")
        assert checkpoints(server) == before
        # Named by an earlier version, or its files are nobody's any more.
        name_checkpoint(server, forked)
        cluster, name, text = forked.split("|")
        digits = b"%016x" % (int(two.number()) + 1)
        name_checkpoint(server, "|".join(
            (cluster, name[:-32] + digits.hex(),
             "\\x" + (b"1 " + b"0" * 64 + b" 1").hex())))
        two.stop()
        assert "has joined" in two.ctl("cluster", "join", "--anew")
        two.begin()
        assert "lost entries" in must_fail(two, "cluster", "status")
        one.stop()
        assert "--anew" in must_fail(one, "cluster", "join")
        one.ctl("cluster", "join", "--anew")
        one.start()
        # The record of the run before is there for ten seconds.
        name = server.node_name(one.data)
        run = server.run_of(name)
        assert run, "it has ended"
        while server.run_of(name) == run:
            for node in (one, two):
                said = node.ctl("cluster", "status", check=False).stdout
                assert "lost entries" not in said, said
                assert "older copy" not in said, said
        wait_until(one.is_current, "it is current")
        one.store(codes[4], "Y")
        join.same(one, two)
        one.ctl("cluster", "checkpoint")


def nodes_begin_and_join_and_begin_again():
    join.a_cluster_begins_and_grows_and_begins_again(Shared.again)


def documented_statements():
    """Those of docs/cluster.md for a user of the least rights."""
    with open(os.path.join(TOP, "docs", "cluster.md")) as file:
        text = file.read().split("```sql\n")[1].split("```")[0]
    return [part for part in text.split(";") if part.strip()]


def a_user_without_rights_and_a_wrong_string_are_told():
    with Shared.again() as server, etcd.Nodes(server, 3) as nodes:
        conf = nodes.dirs[0] + "/cluster.conf"

        def said_of(text, wanted=1, node=0):
            with open(nodes.dirs[node] + "/cluster.conf", "w") as file:
                file.write("[cluster]\n" + text + "\n")
            done = nodes.ctl(nodes.dirs[node], "key", "create", "--name", "a",
                             "--scope", "read")
            assert done.returncode == wanted, done
            return done.stderr

        server.sql("CREATE ROLE other LOGIN", "postgres")
        said = said_of("postgres = " +
                       server.conninfo().replace("user=grid", "user=other"))
        assert "does not let the user" in said and "GRANT " in said, said
        assert "nothing was stored" in said, said
        server.sql("CREATE ROLE grid_nodes; GRANT grid_nodes TO other; "
                   "CREATE DATABASE least", "postgres")
        least = server.conninfo().replace("dbname=grid", "dbname=least")
        for statement in documented_statements():
            server.sql(statement, least.replace("user=grid", "user=postgres"))
        said_of("postgres = " + least.replace("user=grid", "user=other"),
                wanted=0, node=1)
        nodes.must(1, "cluster", "checkpoint")
        nodes.must(1, "cluster", "leave")
        with open(nodes.dirs[2] + "/cluster.conf", "w") as file:
            file.write("[cluster]\nname = begun\npostgres = %s\n" %
                       least.replace("user=grid", "user=other"))
        nodes.must(2, "cluster", "init")
        said = said_of("postgres = host=a port=1,2")
        assert "another number of hosts" in said, said
        said = said_of("postgres = hots=a")
        assert "hots" in said, said
        said = said_of("postgres = host=a\netcd = http://a:1")
        assert "one of" in said, said
        # The first is dead; the second takes the write.
        server.write_conf(nodes.dirs[0])
        with open(conf) as file:
            text = file.read()
        with open(conf, "w") as file:
            file.write(text.replace("host=127.0.0.1 port=", "host=127.0.0.1,"
                                    "127.0.0.1 port=1,"))
        done = nodes.ctl(nodes.dirs[0], "key", "create", "--name", "a",
                         "--scope", "read")
        assert done.returncode == 0, done.stderr


def write_secure_conf(server, path, password=None, more="", ca="etcd-ca"):
    """Of a server with TLS, which has a password."""
    with open(path + "/password", "w") as file:
        file.write((password or server.password) + "\n")
    with open(path + "/cluster.conf", "w") as file:
        file.write("[cluster]\npostgres = %s\npassword_file = %s/password\n%s" % (
            server.secured(ca), path, more))


def told_of(nodes, refusal, todo, away=False):
    """By the log of a write, by status, and by doctor."""
    path = nodes.dirs[0]
    done = nodes.ctl(path, "key", "create", "--name", "a", "--scope", "read")
    assert done.returncode == 1, done
    assert refusal in done.stderr and "nothing can be stored" in done.stderr, \
        done.stderr
    assert away or todo in done.stderr, done.stderr
    assert ("PostgreSQL is away" in done.stderr) == away, done.stderr
    for words in (("cluster", "status"), ("doctor",)):
        said = nodes.ctl(path, *words).stdout
        assert "the log is out of reach: " in said, said
        assert refusal in said and todo in said, said
        assert "majority" not in said, said


def a_refusal_is_told_with_what_mends_it():
    with SecurePostgres() as server, etcd.Nodes(server, 1) as nodes:
        (path,) = nodes.dirs

        def change(before, after):
            with open(path + "/cluster.conf") as file:
                text = file.read()
            assert before in text, text
            with open(path + "/cluster.conf", "w") as file:
                file.write(text.replace(before, after))

        write_secure_conf(server, path, password="wrong")
        told_of(nodes, "PostgreSQL refuses the user", "password_file")
        write_secure_conf(server, path, ca="other-ca")
        told_of(nodes, "PostgreSQL cannot be reached by TLS", "sslrootcert")
        write_secure_conf(server, path)
        change("dbname=grid", "dbname=missing")
        told_of(nodes, "PostgreSQL has no such database", "CREATE DATABASE")
        server.sql("CREATE ROLE other LOGIN PASSWORD '%s'" % server.password,
                   "postgres")
        write_secure_conf(server, path)
        change("user=grid", "user=other")
        told_of(nodes, "PostgreSQL does not let the user do this",
                "GRANT USAGE, CREATE ON SCHEMA public")
        # A join says it, too.
        done = nodes.ctl(path, "cluster", "join", "--anew")
        assert done.returncode == 1 and \
            "PostgreSQL: does not let the user do this" in done.stderr, done
        # The first host is away, and the second one refuses.
        write_secure_conf(server, path, password="wrong")
        change("host=127.0.0.1 port=", "host=127.0.0.1,127.0.0.1 port=1,")
        told_of(nodes, "PostgreSQL refuses the user", "password_file")
        write_secure_conf(server, path)
        server.stop()
        told_of(nodes, "Connection refused", "is PostgreSQL up", away=True)


def a_right_that_goes_alone_is_told():
    with Shared.again() as server, join.Node(server) as one, \
            join.Node(server, one) as two:
        for node in (one, two):
            wait_until(node.is_current, "it is current")

        def change(takes, *words):
            for which, table in words or (("INSERT, UPDATE, DELETE", name)
                                          for name in TABLES):
                server.sql("%s %s ON %s %s grid" % (
                    ("REVOKE", which, table, "FROM") if takes else
                    ("GRANT", which, table, "TO")))
        refusal = "PostgreSQL does not let the user grid do all that a node " \
            "does"
        secure.without_rights(
            one, two, change, refusal,
            "GRANT DELETE, INSERT, UPDATE ON product_grid_node, "
            "product_grid_note TO grid")
        # A node that is down is told of where records can be put.
        entries = ("INSERT", "product_grid_log")
        change(True, entries)
        try:
            for words in (("cluster", "status"), ("doctor",)):
                said = must_fail(one, *words)
                assert refusal + ": it lacks INSERT ON product_grid_log" in \
                    said, said
                assert "GRANT INSERT ON product_grid_log TO grid" in said, said
                assert "which nodes are alive" not in said, said
            wait_until(lambda: refusal in one.get("/readyz").body.decode(),
                       "it is not ready")
            two.stop()
            wait_until(lambda: "is not alive" in must_fail(
                one, "cluster", "status"), "the other is missed")
        finally:
            change(False, entries)


def roots_gridctl_takes_the_owners_home_for_tls():
    """libpq looks for a certificate in HOME, and root's is closed to the owner."""
    if os.getuid() != 0:
        print("without root: nobody becomes another user")
        return
    with SecurePostgres() as server, etcd.Nodes(server, 1) as nodes:
        path = nodes.dirs[0]
        home = os.path.join(nodes.folder, "home")

        os.mkdir(home, 0o700)
        os.chmod(nodes.folder, 0o711)
        os.chmod(server.folder, 0o711)
        write_secure_conf(server, path)
        subprocess.run(["chown", "-R", "nobody", path], check=True)
        done = subprocess.run(
            [GRIDCTL, "--data", path, "key", "create", "--name", "a",
             "--scope", "read"], env=dict(os.environ, HOME=home),
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done


def a_missing_library_is_told():
    """And a machine without PostgreSQL's settings does not miss it."""
    library = glob.glob("/usr/lib/*/libpq.so.5")
    without = ["unshare", "--mount", "sh", "-c",
               "mount --bind /dev/null %s && exec \"$@\"" % (library + [""])[0],
               "sh"]
    if not library or subprocess.run(without + ["true"], check=False,
                                     capture_output=True).returncode != 0:
        print("no mounts can be made here: nothing is hidden")
        return
    with Shared.again() as server, etcd.Nodes(server, 1) as nodes:
        words = [GRIDCTL, "--data", nodes.dirs[0], "key", "list"]
        done = subprocess.run(without + words, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1, done
        assert "libpq.so.5" in done.stderr and "libpq5" in done.stderr, done
        os.unlink(nodes.dirs[0] + "/cluster.conf")
        subprocess.run(without + words, check=True, capture_output=True)


def nodes_keep_a_part_of_the_suppliers():
    """With GRID_LONG=1, as it takes a minute."""
    if join.LONG:
        shares.three_nodes_keep_two_of_three(Shared.again)


if __name__ == "__main__":
    find_bin()
    run_tests([a_door_to_postgresql_keeps_an_engines_promises,
               what_is_acknowledged_survives_kills_of_the_server,
               two_nodes_may_begin_a_log_at_once,
               tables_that_another_node_makes_are_waited_for,
               nodes_see_each_other_and_a_dead_server_stops_writes_alone,
               a_restored_server_is_named_and_joined_anew,
               nodes_begin_and_join_and_begin_again,
               a_user_without_rights_and_a_wrong_string_are_told,
               a_refusal_is_told_with_what_mends_it,
               a_right_that_goes_alone_is_told,
               roots_gridctl_takes_the_owners_home_for_tls,
               a_missing_library_is_told,
               nodes_keep_a_part_of_the_suppliers])
