"""A sound card without hardware: a private PulseAudio with a microphone to speak into and a loudspeaker to record."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 20.0
"""How long a loaded machine may take to start PulseAudio; it is up in 0.1 s on an idle one."""
# norewinds=1: without it the first callback comes up to 1.6 s late.
DEFAULT_PA = """
.fail
load-module module-native-protocol-unix auth-anonymous=1 socket={folder}/run/native
load-module module-null-sink sink_name=mic_in norewinds=1 rate=16000 channels=1 format=s16le
load-module module-remap-source source_name=mic master=mic_in.monitor
load-module module-null-sink sink_name=speaker norewinds=1 rate=48000 channels=2
set-default-source mic
set-default-sink speaker
"""
MURMUR_FORMAT = ("-r", "16000", "-b", "16", "-c", "1", "-e", "signed-integer")

ASOUND_CONF = """
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.mic      { type pulse device mic              hint { show on description "virtual microphone" } }
pcm.speaker  { type pulse device speaker          hint { show on description "virtual loudspeaker" } }
pcm.heard    { type pulse device speaker.monitor  hint { show on description "what the loudspeaker plays" } }
pcm.!jack    { type hw card 99 }
"""
"""There is no JACK: its library has a database in /dev/shm, and whoever is killed with it open leaves a lock behind, at
which every later program that lists the cards waits for ever."""


class NoSound(Exception):
    """The sound server did not start, or a tool of it failed; its own words are in the text."""


@dataclass
class VirtualSound:
    """A running virtual sound card."""

    folder: Path
    server: subprocess.Popen[bytes]
    """To be killed, frozen or started again by tests of faults."""
    environment: Mapping[str, str]
    """What a child process needs to see this card, and no other, through PulseAudio, ALSA and PortAudio."""

    def say(self, recording: Path) -> None:
        """Play a sound file into the microphone; return when it was played to its end."""
        self.run("paplay", "--device=mic_in", "--latency-msec=20", str(recording))

    @contextmanager
    def recording(self, file: Path, source: str = "speaker.monitor") -> Iterator[None]:
        """Record what the loudspeaker plays (or another source) into a WAV, 16 kHz mono int16, while the block runs.

        Recording is under way when the block begins, and the file is whole when it ends.
        """
        shape = ["--rate=16000", "--channels=1", "--format=s16le", "--file-format=wav", "--latency-msec=20"]
        before = self.streams()
        with subprocess.Popen(
            ["parecord", f"--device={source}", *shape, str(file)], env=self.environment, stderr=subprocess.DEVNULL
        ) as recorder:
            try:
                _wait_until(lambda: self.streams() > before and file.exists(), recorder)
                yield
            finally:
                recorder.terminate()

    def run(self, *command: str) -> str:
        """Run one of PulseAudio's tools on this card and return what it prints. Raises `NoSound`."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoSound(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def kill(self) -> None:
        """Kill the sound server."""
        self.server.kill()
        self.server.wait()

    def restart(self) -> None:
        """Start the server that was killed again, in the same place; return when it answers."""
        (self.folder / "run" / "native").unlink(missing_ok=True)
        self.server = _started(self.folder)
        _wait_until(lambda: _answers(self.environment), self.server)

    def freeze(self) -> None:
        """Let the server do nothing any more, and end nothing."""
        self.server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self.server.send_signal(signal.SIGCONT)

    @contextmanager
    def murmur(self) -> Iterator[None]:
        """Let the microphone hear the noise of a room (-50 dBFS), for a null sink gives nothing but zeros."""
        noise = self.folder / "murmur.raw"
        subprocess.run(
            ["sox", "-n", *MURMUR_FORMAT, str(noise), "synth", "60", "whitenoise", "gain", "-50"], check=True
        )
        command = ["paplay", "--device=mic_in", "--raw", "--rate=16000", "--channels=1", "--format=s16le", str(noise)]
        with subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL) as player:
            try:
                yield
            finally:
                player.kill()

    def load(self, *module: str) -> str:
        """Load a module of the server and return its number."""
        return self.run("pactl", "load-module", *module).strip()

    def module(self, name: str) -> str:
        """Return the number of the first module of that name that is loaded."""
        lines = [line.split("\t") for line in self.run("pactl", "list", "short", "modules").splitlines()]
        return next(line[0] for line in lines if line[1] == name)

    def streams(self) -> int:
        """Return how many streams record, those that are being set up not counted."""
        return self.run("pactl", "list", "short", "source-outputs").count("\n")


@contextmanager
def virtual_sound() -> Iterator[VirtualSound]:
    """Start a private PulseAudio, as any user, and stop it at the end. Raises `NoSound`."""
    # A short path of its own: that of a unix socket has room for 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="nakari-sound-"))
    try:
        card = VirtualSound(folder, _prepared(folder), _environment(folder))
        try:
            _wait_until(lambda: _answers(card.environment), card.server)
            yield card
        finally:
            card.kill()
    except NoSound as error:
        log = folder / "pulse.log"
        raise NoSound(f"{error}; {log.read_text() if log.exists() else 'no log'}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(folder: Path) -> subprocess.Popen[bytes]:
    for name in ("run", "state", "home"):
        (folder / name).mkdir(mode=0o700)
    (folder / "default.pa").write_text(DEFAULT_PA.format(folder=folder))
    (folder / "asound.conf").write_text(ASOUND_CONF)
    return _started(folder)


def _started(folder: Path) -> subprocess.Popen[bytes]:
    ways = ["--daemonize=no", "--system=false", "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=no"]
    # It dies with the test process, however that ends.
    command = ["setpriv", "--pdeathsig", "KILL", "pulseaudio", "-n", "-F", str(folder / "default.pa"), *ways]
    own = {
        "HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }
    return subprocess.Popen(
        [*command, "--high-priority=no", f"--log-target=file:{folder}/pulse.log"],
        env=_environment(folder) | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PULSE_SERVER": f"unix:{folder}/run/native",
        "PULSE_COOKIE": f"{folder}/run/cookie",
        "PULSE_RUNTIME_PATH": f"{folder}/run",
        "PULSE_STATE_PATH": f"{folder}/state",
        # The stock file must come first: PortAudio aborts the process without it.
        "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{folder}/asound.conf",
    }


def _answers(environment: Mapping[str, str]) -> bool:
    tried = subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False)
    return tried.returncode == 0


def _wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a condition that `process` brings about. Raises `NoSound` when it ended instead, or took too long."""
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NoSound(f"{process.args!r} ended with {process.returncode} or did not start in {START_SECONDS} s")
