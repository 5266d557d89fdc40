"""A sound card without hardware: a private PulseAudio with a microphone to speak into and a loudspeaker to record."""

import shutil
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
ASOUND_CONF = """
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.mic      { type pulse device mic              hint { show on description "virtual microphone" } }
pcm.speaker  { type pulse device speaker          hint { show on description "virtual loudspeaker" } }
pcm.heard    { type pulse device speaker.monitor  hint { show on description "what the loudspeaker plays" } }
"""


class NoSound(Exception):
    """The sound server did not start, or a tool of it failed; its own words are in the text."""


@dataclass(frozen=True)
class VirtualSound:
    """A running virtual sound card."""

    folder: Path
    server: subprocess.Popen[bytes]
    """To be killed or stopped by tests of faults."""
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
        before = self._streams()
        with subprocess.Popen(
            ["parecord", f"--device={source}", *shape, str(file)], env=self.environment, stderr=subprocess.DEVNULL
        ) as recorder:
            try:
                _wait_until(lambda: self._streams() > before and file.exists(), recorder)
                yield
            finally:
                recorder.terminate()

    def run(self, *command: str) -> str:
        """Run one of PulseAudio's tools on this card and return what it prints. Raises `NoSound`."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoSound(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def _streams(self) -> int:
        """Return how many streams record, those that are being set up not counted."""
        return self.run("pactl", "list", "short", "source-outputs").count("\n")


@contextmanager
def virtual_sound() -> Iterator[VirtualSound]:
    """Start a private PulseAudio, as any user, and stop it at the end. Raises `NoSound`."""
    # A short path of its own: that of a unix socket has room for 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="nakari-sound-"))
    try:
        with _server(folder) as server:
            card = VirtualSound(folder, server, _environment(folder))
            _wait_until(lambda: _answers(card.environment), server)
            yield card
    except NoSound as error:
        log = folder / "pulse.log"
        raise NoSound(f"{error}; {log.read_text() if log.exists() else 'no log'}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _server(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    for name in ("run", "state", "home"):
        (folder / name).mkdir(mode=0o700)
    (folder / "default.pa").write_text(DEFAULT_PA.format(folder=folder))
    (folder / "asound.conf").write_text(ASOUND_CONF)
    ways = ["--daemonize=no", "--system=false", "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=no"]
    # It dies with the test process, however that ends.
    command = ["setpriv", "--pdeathsig", "KILL", "pulseaudio", "-n", "-F", str(folder / "default.pa"), *ways]
    own = {
        "HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }
    with subprocess.Popen(
        [*command, "--high-priority=no", f"--log-target=file:{folder}/pulse.log"],
        env=_environment(folder) | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            yield server
        finally:
            server.kill()


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
