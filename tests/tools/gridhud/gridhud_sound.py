"""Speech for real: espeak-ng makes a sound file, which is measured; players
that are missing or fail; speech-dispatcher's protocol."""
import array
import os
import shutil
import socket
import tempfile
import threading
import wave

from gridhud_kit import Hook, Hud, Skip, equal, executable, run

KEEP = '#!/bin/sh\nfor last; do :; done\ncp "$last" "%(folder)s/heard.wav.part"\n' \
       'mv "%(folder)s/heard.wav.part" "%(folder)s/heard.wav"\necho "$@" >>"%(folder)s/played"\n'
FAILS = '#!/bin/sh\necho "$0" >>"%(folder)s/failed"\nexit 1\n'


def measure(path):
    with wave.open(path) as sound:
        frames = sound.readframes(sound.getnframes())
        samples = array.array("h", frames)
        return len(samples) / sound.getframerate() / sound.getnchannels(), max(abs(s) for s in samples) / 32768


def espeak_makes_a_sound():
    if shutil.which("espeak-ng") is None:
        raise Skip("espeak-ng is not installed")
    with Hook() as hook, Hud(hook, plain=True, stubs=False) as hud:
        hud.stub("pw-play", KEEP)
        lengths = {}
        for rate in (120, 300):
            result = hook.tool("speak_text", {"text": "Job backup failed: no space left on the device.",
                                              "rate": rate, "wait": True})
            equal(result["isError"], False, str(result))
            lengths[rate], peak = measure(os.path.join(hud.folder, "heard.wav"))
            assert 1.0 < lengths[rate] < 10 and peak > 0.1, (lengths, peak)
        assert lengths[120] > 1.5 * lengths[300], lengths
        print("a wav of %.2f s at 120 words a minute, %.2f s at 300" % (lengths[120], lengths[300]))
        leftover = [name for name in os.listdir(hud.folder) if name.startswith("gridhud-")]
        equal(leftover, [], "sound files are removed")


def voice_is_a_name_and_no_path():
    with Hook() as hook, Hud(hook, plain=True):
        equal(hook.tool("speak_text", {"text": "x", "voice": "../../etc/passwd"})["isError"], True)


def text_never_becomes_an_option():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        equal(hook.tool("speak_text", {"text": "--version -w /tmp/x $(id) `id`", "wait": True})["isError"], False)
        equal(hud.said(), ["--version -w /tmp/x $(id) `id`"])


def first_player_that_works_is_taken():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        hud.stub("pw-play", FAILS)
        hud.stub("paplay", FAILS)
        for text in ("one", "two"):
            equal(hook.tool("speak_text", {"text": text, "wait": True})["isError"], False)
        equal([os.path.basename(p) for p in hud.lines_of("failed")], ["pw-play", "paplay"], "tried once")
        equal([os.path.basename(p) for p in hud.lines_of("played")], ["aplay", "aplay"])


def failure_is_not_lost_without_a_player():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        for name in ("pw-play", "paplay", "aplay"):
            hud.stub(name, FAILS)
        hook.push({"job": "backup", "status": "error", "error": "no space", "source": "cron"})
        hud.wait("not spoken: sound cannot be played")
        hud.wait("-- state: alert")
        hud.process.kill()
        hud.process.wait()
        hud.speech_lasts(0)
        from gridhud_kit import PLAYER
        hud.stub("pw-play", PLAYER)
        hud.start()
        hud.wait("1 failure: backup")
        hud.until(lambda: hud.lines_of("played"), "not spoken after all")


def configured_player_is_used():
    settings = {"speech": {"player": "keeper --volume 3"}}
    with Hook() as hook, Hud(hook, settings, plain=True) as hud:
        hud.stub("keeper", KEEP)
        equal(hook.tool("speak_text", {"text": "one", "wait": True})["isError"], False)
        assert hud.lines_of("played")[0].startswith("--volume 3 /"), hud.lines_of("played")


class Dispatcher(threading.Thread):
    """As much of speech-dispatcher as a client meets."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.said, self.asked = [], []

    def run(self):
        while True:
            peer = self.listener.accept()[0]
            file = peer.makefile("rw", newline="\r\n", encoding="utf-8")

            def say(*lines):
                for line in lines:
                    file.write(line + "\r\n")
                file.flush()

            for line in file:
                line = line.rstrip("\r\n")
                self.asked.append(line)
                if line != "SPEAK":
                    say("208 OK SET")
                    continue
                say("230 OK RECEIVING DATA")
                text = []
                for part in file:
                    part = part.rstrip("\r\n")
                    if part == ".":
                        break
                    text.append(part[1:] if part.startswith("..") else part)
                self.said.append("\n".join(text))
                say("225-21", "225 OK MESSAGE QUEUED", "702-21", "702-1", "702 END")
            peer.close()


def dispatcher_speaks_when_it_is_set():
    settings = {"speech": {"engine": "dispatcher", "language": "fr", "rate": "270"}}
    with Hook() as hook:
        hud = Hud(hook, settings, plain=True, start=False)
        path = os.path.join(hud.folder, "speechd.sock")
        dispatcher = Dispatcher(path)
        dispatcher.start()
        hud.env["SPEECHD_ADDRESS"] = "unix_socket:" + path
        with hud:
            hud.start()
            equal(hook.tool("speak_text", {"text": "one\n.two\n.", "wait": True})["isError"], False)
            equal(dispatcher.said, ["one\n.two\n."])
            assert "SET SELF LANGUAGE fr" in dispatcher.asked and "SET SELF RATE 50" in dispatcher.asked
            dispatcher.listener.close()
            os.unlink(path)
            result = hook.tool("speak_text", {"text": "one", "wait": True})
            equal(result["isError"], True)
            assert "speech-dispatcher" in result["content"][0]["text"], result
            equal(hud.said(), [], "espeak-ng had nothing to do")


def without_an_engine_nothing_is_queued():
    """A PATH on which neither espeak-ng nor a player is, and then one with espeak-ng only."""
    with tempfile.TemporaryDirectory() as path:
        with Hook() as hook, Hud(hook, plain=True, start=False) as hud:
            hud.env["PATH"] = path
            hud.start()
            for wait in (False, True):
                result = hook.tool("speak_text", {"text": "one", "wait": wait})
                equal(result["isError"], True)
                assert "apt install espeak-ng" in result["content"][0]["text"], result
            tools = {tool["name"]: tool for tool in hook.tool("get_app_status")["structuredContent"]["tools"]}
            equal(len(tools), 14)
            equal(tools["speak_text"]["works"], False)
            assert "espeak-ng" in tools["speak_text"]["why_not"], tools
            equal(tools["set_hud_state"]["works"], True)
            executable(path, "espeak-ng", "#!/bin/sh\nexit 0\n")
            result = hook.tool("speak_text", {"text": "one"})
            assert result["isError"] and "alsa-utils" in result["content"][0]["text"], result
            executable(path, "aplay", "#!/bin/sh\nexit 0\n")
            equal(hook.tool("speak_text", {"text": "one"})["isError"], False)


def no_engine_speaks_nothing():
    with Hook() as hook, Hud(hook, {"speech": {"engine": "none"}}, plain=True) as hud:
        equal(hook.tool("speak_text", {"text": "one"})["isError"], True)
        hook.push({"job": "backup", "status": "error", "error": "no space", "source": "cron"})
        hud.wait("no space")
        equal(hud.said(), [])


run([espeak_makes_a_sound, voice_is_a_name_and_no_path, text_never_becomes_an_option, first_player_that_works_is_taken,
     failure_is_not_lost_without_a_player, configured_player_is_used, dispatcher_speaks_when_it_is_set,
     without_an_engine_nothing_is_queued, no_engine_speaks_nothing])
