"""What tests that start servers share: how long to wait, and for whom."""

import collections
import random
import socket
import time

# How long what must happen may take: much longer than it ever does, so that a
# slow or busy machine fails no test.
PATIENCE = 60


def ports_of_servers():
    """Those that the kernel gives to nobody by itself: none of them becomes
    a connection's own end before whoever asked for it listens there."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        low, high = (int(word) for word in file.read().split())
    return range(10240, low) if low > 12000 else range(high + 1, 65536)


given_ports = set()
claims = collections.deque(maxlen=256)


def is_claimed(port):
    """Tests that run side by side would find a port free that one of them is
    about to listen at. The name is this process's until it ends."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind("\0grid-test-port-%d" % port)
    except OSError:
        claim.close()
        return True
    claims.append(claim)
    return False


def free_port():
    """Never the same one twice."""
    ports = [port for port in ports_of_servers() if port not in given_ports]
    for port in random.sample(ports, min(len(ports), 100)) + [0]:
        if port != 0 and is_claimed(port):
            continue
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue  # somebody's
            port = sock.getsockname()[1]
            given_ports.add(port)
            return port
    raise AssertionError("no port is free")


def wait_until(true, what, seconds=PATIENCE):
    """Asks again and again; the last answer is an error. `what` may be a
    function, that tells how it stands then."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError("not within %g s: %s" % (
                seconds, what() if callable(what) else what))
        time.sleep(0.02)
