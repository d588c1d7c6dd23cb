"""A window of its own for a test: gridhud in a tmux that nobody else uses.

espeak-ng and the players are stubs in a folder at the front of PATH: what
would be said is a line of the file "said"; a test may let a player last.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ.get("abs_top_srcdir", "."), "tests", "tools", "gridhook"))
from gridhook_kit import PATIENCE, Hook, Skip, equal, executable, run  # noqa: E402,F401

BUILD = os.environ.get("abs_top_builddir", ".")
PROGRAM = os.path.abspath(os.path.join(BUILD, "tools/gridhud/gridhud"))

ESPEAK = r"""#!/bin/sh
# espeak-ng -v VOICE -s RATE -w FILE --stdin
printf '%%s|%%s|' "$2" "$4" >"%(folder)s/said.$$"
tr '\n' ' ' >>"%(folder)s/said.$$"
printf '\n' >>"%(folder)s/said.$$"
cat "%(folder)s/said.$$" >>"%(folder)s/said"
rm "%(folder)s/said.$$"
cp "%(folder)s/silence.wav" "$6"
"""

PLAYER = r"""#!/bin/sh
echo "$0" >>"%(folder)s/played"
seconds=$(cat "%(folder)s/lasts" 2>/dev/null)
case ${seconds:-0} in
0) ;;
ever) while [ -d "%(folder)s" ]; do sleep 0.1; done ;;
*) sleep "$seconds" ;;
esac
"""

SILENCE = (b"RIFF\x34\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
           b"\x22\x56\x00\x00\x44\xac\x00\x00\x02\x00\x10\x00data\x10\x00\x00\x00" + b"\x00" * 16)


def has_screen():
    help_text = subprocess.run([PROGRAM, "--config", "/dev/null"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
    return b"no ncurses" not in help_text.stderr


class Hud:
    """gridhud beside a Hook; `settings` is {section: {name: value}}."""

    count = 0

    def __init__(self, hook, settings=None, now=None, start=True, plain=False, size=(100, 30),
                 stubs=True, env=None, folder=None, background=False):
        self.hook = hook
        self.folder = folder or tempfile.mkdtemp(prefix="grid-hud-")
        self.owns = folder is None
        self.settings = settings or {}
        self.now = now
        self.plain = plain or background
        self.mode = "--background" if background else "--plain"
        self.size = size
        self.env = dict(env or {})
        self.process = None
        self.tmux_socket = os.path.join(self.folder, "tmux-none")
        self.stubs = os.path.join(self.folder, "bin")
        os.makedirs(self.stubs, exist_ok=True)
        if stubs:
            self.stub("espeak-ng", ESPEAK)
            for name in ("pw-play", "paplay", "aplay"):
                self.stub(name, PLAYER)
        with open(os.path.join(self.folder, "silence.wav"), "wb") as file:
            file.write(SILENCE)
        self.config = os.path.join(self.folder, "gridhud.conf")
        self.configure(self.settings)
        if start:
            self.start()

    def stub(self, name, text):
        executable(self.stubs, name, text % {"folder": self.folder})

    def configure(self, settings):
        socket = os.path.join(self.hook.folder, "run", "interface.sock")
        config = {"server": {"socket": socket},
                  "history": {"file": os.path.join(self.folder, "history")}}
        for section, values in settings.items():
            config.setdefault(section, {}).update(values)
        part = self.config + ".part"
        with open(part, "w", encoding="utf-8") as file:
            for section, values in config.items():
                file.write("[%s]\n" % section)
                for name, value in values.items():
                    file.write("%s = %s\n" % (name, value))
        os.rename(part, self.config)

    def environment(self):
        env = {k: v for k, v in os.environ.items()
               if k not in ("TMUX", "NO_COLOR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")}
        env.update(PATH=self.stubs + ":" + os.environ["PATH"], TMPDIR=self.folder, LANG="C.UTF-8",
                   LC_ALL="C.UTF-8", TZ="UTC", HOME=self.folder)
        env.update(self.env)
        return env

    def arguments(self):
        more = ["--now", self.now] if self.now else []
        return [PROGRAM, "--config", self.config] + more

    def start(self, wait=True):
        if self.plain:
            self.out_path = os.path.join(self.folder, "out")
            with open(self.out_path, "ab") as out:
                self.process = subprocess.Popen(self.arguments() + [self.mode], stdin=subprocess.PIPE,
                                                stdout=out, stderr=out, env=self.environment())
        else:
            if shutil.which("tmux") is None:
                raise Skip("tmux is not installed")
            # A server that is just ending must not be met again.
            Hud.count += 1
            self.tmux_socket = os.path.join(self.folder, "tmux-%d" % Hud.count)
            log = os.path.join(self.folder, "log")
            command = "exec " + " ".join("'%s'" % a for a in self.arguments()) + " 2>>'%s'" % log
            self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(self.size[0]), "-y", str(self.size[1]),
                      "sh", "-c", command, check=True)
            self.tmux("set-option", "-g", "focus-events", "on")
        if wait:
            self.wait_attached()
        return self

    def wait_attached(self):
        self.hook.wait_log("interface window attached")
        if not self.plain:
            self.wait("port %d" % self.hook.port)

    def tmux(self, *args, check=False):
        done = subprocess.run(["tmux", "-S", self.tmux_socket] + list(args), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment(), timeout=PATIENCE)
        if check and done.returncode != 0:
            raise AssertionError("tmux: " + done.stderr.decode())
        return done.stdout.decode()

    def pid(self):
        if self.plain:
            return self.process.pid
        return int(self.tmux("display-message", "-p", "#{pane_pid}").strip())

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.pid(), encoding="ascii") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self, *options):
        if self.plain:
            with open(self.out_path, encoding="utf-8") as file:
                return file.read()
        return self.tmux("capture-pane", "-p", *options)

    def title(self):
        return self.tmux("display-message", "-p", "#{pane_title}").strip()

    def wait(self, text):
        return self.until(lambda: text in self.screen(), "not on the screen: %r" % text)

    def wait_gone(self, text):
        return self.until(lambda: text not in self.screen(), "still on the screen: %r" % text)

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.03)
        raise AssertionError("%s\n%s\n%s" % (what() if callable(what) else what, self.screen(), self.log()))

    def log(self):
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def lines_of(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return file.read().splitlines()
        except OSError:
            return []

    def said(self):
        """What would have been heard until now, without voice and rate."""
        return [line.split("|", 2)[2].strip() for line in self.lines_of("said")]

    def wait_said(self, *texts):
        self.until(lambda: self.said() == list(texts),
                   lambda: "said otherwise: %r, not %r" % (self.said(), list(texts)))

    def speech_lasts(self, seconds):
        """Each player from now on; "ever": until it is ended, or the test is over."""
        with open(os.path.join(self.folder, "lasts"), "w", encoding="utf-8") as file:
            file.write(str(seconds))

    def kill(self):
        os.kill(self.pid(), signal.SIGKILL)
        self.wait_end()

    def wait_end(self):
        if self.plain:
            self.process.wait(PATIENCE)
            return
        end = time.monotonic() + PATIENCE
        while self.tmux("list-sessions").strip():
            if time.monotonic() > end:
                raise AssertionError("gridhud has not ended")
            time.sleep(0.03)

    def stop(self):
        if self.plain:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()
                equal(self.process.wait(PATIENCE), 0, "exit code")
        else:
            self.tmux("kill-server")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            self.stop()
        finally:
            if kind is not None:
                print("--- log\n" + self.log()[-3000:] + "---")
            if self.owns:
                shutil.rmtree(self.folder, ignore_errors=True)
