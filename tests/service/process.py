"""The `nakari` command as a real process: started, watched by its log, killed, and its state looked into afterwards."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from appliance.api.client import tell
from memory.json_value import Json
from tests.service.privacy import clean_environment
from tests.warm import WarmProcess, can_be_warm, run_warm

HOUSEHOLD = Path(__file__).parents[1] / "data" / "whisper-household"
SECONDS = 300.0
"""The longest any of it may take on a loaded machine."""

NAKARI = (sys.executable, "-m", "appliance")

LOST = 1
"""Words that may be wrong where a sentence went over a sound card made of software: the tests' Whisper knows only its
own sentences, and makes another one of one that lost a piece on a busy machine."""


@dataclass
class Household:
    """A folder with a configuration that reaches nothing beyond loopback, and a state."""

    folder: Path
    settings: dict[str, dict[str, object]] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def file(self) -> Path:
        return self.folder / "nakari.toml"

    def write(self) -> Path:
        """Write the configuration file and return it."""
        local: dict[str, dict[str, object]] = {
            "state": {"folder": str(self.state)},
            "door": {"socket": str(self.folder / "door.sock")},
            "http": {"addresses": ["127.0.0.1:0"]},
            "ears": {"model": str(HOUSEHOLD), "download": False, "calibrate_at_start": False},
            "voice": {"engine": "espeak"},
            "model": {"provider": "offline"},
            "memory": {"enabled": False},
        }
        for section, values in self.settings.items():
            local[section] = local.get(section, {}) | values
        lines = []
        for section, values in local.items():
            lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file.write_text("\n".join(lines))
        return self.file

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        variables = {**self.variables(), **environment}
        if can_be_warm(variables):
            return run_warm(["--config", str(self.write()), *arguments], Path.cwd(), variables, SECONDS)
        return subprocess.run(
            [*NAKARI, "--config", str(self.write()), *arguments],
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    @contextmanager
    def running(
        self, *arguments: str, environment: Mapping[str, str] | None = None, by: Sequence[str] = ()
    ) -> Iterator["Running"]:
        """Run a command in the background, `by` another one; it is killed at the end of the block if it still runs."""
        given = {**self.variables(), **(environment or {})}
        with self._started(["--config", str(self.write()), *arguments], given, by) as process:
            running = Running(process)
            try:
                yield running
            finally:
                running.kill()

    def variables(self) -> dict[str, str]:
        """Return its environment; for every home that is new to it PulseAudio makes a folder in /tmp, if not told."""
        return clean_environment(HOME=str(self.folder), PULSE_RUNTIME_PATH=str(self.folder / "pulse"))

    def _started(
        self, arguments: Sequence[str], environment: Mapping[str, str], by: Sequence[str]
    ) -> subprocess.Popen[str] | WarmProcess:
        if not by and can_be_warm(environment):
            return WarmProcess(arguments, Path.cwd(), environment)
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        command = [*by, *NAKARI, *arguments]
        return subprocess.Popen(command, env=environment, stdin=nothing, stdout=pipe, stderr=pipe, text=True)

    async def hear(self, words: str) -> None:
        """Put words into the mailbox of the running service as if they were heard, as any program here may."""
        request: dict[str, Json] = {"do": "enqueue", "type": "asr_transcript", "content": words, "priority": 10}
        await tell(self.folder / "door.sock", request, SECONDS)

    def rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Look into the state database."""
        connection = sqlite3.connect(f"file:{self.state / 'nakari.db'}?mode=ro", uri=True)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def spoken(self) -> list[str]:
        """The sentences that were committed to the mouth so far, in order, over all starts."""
        rows = self.rows("SELECT body FROM journal WHERE topic = 'speech.sentence_started' ORDER BY seq")
        return [json.loads(str(body))["words"] for (body,) in rows]

    def words(self) -> list[str]:
        """The words of all events, in order of arrival."""
        rows = self.rows("SELECT envelope FROM mailbox ORDER BY arrival")
        return [json.loads(str(envelope))["content"] for (envelope,) in rows]

    def states(self) -> list[str]:
        """The states of all events, in order of arrival."""
        return [str(state) for (state,) in self.rows("SELECT state FROM mailbox ORDER BY arrival")]


class Running:
    """A process whose log is read line by line."""

    def __init__(self, process: subprocess.Popen[str] | WarmProcess) -> None:
        self.process = process
        self.log: list[dict[str, object]] = []
        self.lines: list[str] = []
        self._passed: list[dict[str, object]] = []
        self._arrived: SimpleQueue[dict[str, object] | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, event: str, seconds: float = SECONDS) -> dict[str, object]:
        """Return the next log line of that name not returned before; fails with the log when it does not come."""
        passed = next((line for line in self._passed if line.get("event") == event), None)
        if passed is not None:
            self._passed.remove(passed)
            return passed
        while True:
            try:
                line = self._arrived.get(timeout=seconds)
            except Empty:
                line = None
            assert line is not None, f"{event} was never logged:\n" + "\n".join(self.lines)
            if line.get("event") == event:
                return line
            self._passed.append(line)

    def kill(self) -> None:
        """Kill -9, and wait for the end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self._end()

    def finish(self) -> int:
        """Wait for its own end and return the exit code."""
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("it did not end:\n" + "\n".join(self.lines)) from None
        self._end()
        return code

    def stop(self) -> int:
        """SIGTERM, and wait."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def _end(self) -> None:
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for text in self.process.stderr:
            self.lines.append(text.rstrip())
            try:
                line = json.loads(text)
            except ValueError:
                continue
            self.log.append(line)
            self._arrived.put(line)
        self._arrived.put(None)


def speak(text: str, file: Path, *, voice: Sequence[str] = ("espeak-ng", "-v", "en-us", "-s", "150")) -> Path:
    """Write spoken words into a WAV, with a little quiet around them."""
    raw = file.with_suffix(".raw.wav")
    subprocess.run([*voice, "-w", str(raw), text], check=True, env=dict(os.environ))
    subprocess.run(["sox", str(raw), "-r", "16000", "-c", "1", "-b", "16", str(file), "pad", "0.6", "0.3"], check=True)
    return file


def recorded(home: Household, recording: Path) -> list[str]:
    """Return what a recording says, recognized again by the same ears."""
    done = home.run("hear", str(recording))
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["text"] for line in done.stdout.splitlines()]
