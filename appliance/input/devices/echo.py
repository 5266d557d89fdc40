"""Its own voice in this room: cancelled or not, what of that is kept in a file, and how a calibration is done."""

import asyncio
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from appliance.config.sections import EarsSettings
from appliance.errors import Exit, Problem
from audio.capture.live import LiveMicrophone
from audio.capture.recording import RecordingSource
from audio.echo.calibration import LATEST
from audio.echo.control import EchoControl, open_echo
from audio.echo.duplex import Mode
from audio.echo.guard import RoomProfile
from audio.interfaces import AudioSource, Player
from audio.playback.queued_sentence import SpokenSentence
from audio.playback.reopening import ReopeningPlayer
from audio.playback.speech_output import SpeechOutput
from audio.speech import SpeechAudio
from memory.durable import replace_durably

log = structlog.get_logger()

NAME: Final = "room.npz"
VERSION: Final = 1
"""Of what the file holds; another one is not read."""

LARGEST: Final = 1 << 20
"""Bytes; the file has some 30 kB."""


class RoomProfileFile:
    """A `KeptRoom` in one file. Of a crash while it is written the profile before is left."""

    def __init__(self, file: Path, devices: Callable[[], str]) -> None:
        """`devices` returns the names of microphone and loudspeaker, as they are now."""
        self.devices = devices
        self._file = file

    def load(self) -> RoomProfile | None:
        """Return the profile in the file; None of other devices, without a file, and, told, where it is no profile."""
        try:
            profile = _read(self._file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            log.warning(
                "room_profile_ignored", file=str(self._file), reason=str(error), fix="none needed: it is learned"
            )
            return None
        return profile if profile.devices == self.devices() else None

    def save(self, profile: RoomProfile) -> None:
        """Put the profile in the place of the one before."""
        packed = io.BytesIO()
        numbers = [VERSION, profile.echo_delay, profile.raw_floor, profile.left_floor]
        names = np.array([profile.devices, profile.mode.value])
        np.savez(packed, names=names, numbers=np.array(numbers), path=profile.path, expected=profile.expected)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(self._file, [packed.getvalue()])
        except OSError as error:
            log.warning("room_profile_not_kept", reason=str(error))


def _read(file: Path) -> RoomProfile:
    """Return the profile in a file. Raises OSError, ValueError, KeyError, EOFError, BadZipFile for one that is none."""
    if file.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as packed:
        devices, mode = (str(name) for name in packed["names"])
        version, delay, raw, left = (float(number) for number in packed["numbers"])
        path, expected = packed["path"].astype(np.float32), packed["expected"].astype(np.float64)
    if version != VERSION:
        raise ValueError(f"it is of version {version:g}, not {VERSION}")
    if path.ndim != 1 or expected.ndim != 2 or not all(np.all(np.isfinite(each)) for each in (path, expected)):
        raise ValueError("it holds no echo path")
    if not all(np.isfinite((delay, raw, left))):
        raise ValueError("it holds no numbers")
    return RoomProfile(devices, Mode(mode), delay, raw, left, path, expected)


SWITCHED_OFF: Final = "as [ears] cancel_echo is set"
A_RECORDING: Final = "a recording takes the microphone's place"

MEASURED_WITHIN: Final = 30.0
"""Seconds that a calibration may take, with the sentence under way, and a microphone that comes back."""

_FIXES: Final = {
    SWITCHED_OFF: "set [ears] cancel_echo = true and start it anew",
    A_RECORDING: "run nakari with a microphone",
}
"""For reasons that do not name their fix themselves."""

_TURN_DOWN: Final = "turn the loudspeaker down or move it away from the microphone, and calibrate again"
_NOT_HEARD: Final = (
    f"with headphones that is as it should be; without them turn nakari up (`nakari devices --test` plays a tone) and "
    f"calibrate again, or use a loudspeaker that is less than {LATEST:g} s late"
)


def echo_in(
    settings: EarsSettings, source: AudioSource | None, player: Player, speech: SpeechOutput, state_folder: Path
) -> EchoControl:
    """Return the echo guard for the ears, and its control, whose `loops` are the service's."""

    async def play(sound: SpeechAudio) -> None:
        await speech.announce(sound, SpokenSentence("echo", 0, "", ""))

    unwanted = "" if settings.cancel_echo else SWITCHED_OFF
    if isinstance(source, RecordingSource):
        unwanted = A_RECORDING
    output = player.output if isinstance(player, ReopeningPlayer) else player
    devices = lambda: f"{'' if source is None else source.name} | {output.name}"  # noqa: E731
    has_loopback = settings.reference_channel > 0
    return open_echo(
        player,
        play,
        calibrates_at_start=settings.calibrate_at_start,
        unwanted=unwanted,
        loopback=source.tap if has_loopback and isinstance(source, LiveMicrophone) else None,
        kept=RoomProfileFile(state_folder / NAME, devices),
    )


async def calibrated(echo: EchoControl, *, is_muted: bool, is_deaf: bool = False) -> str:
    """Calibrate, and return the sentence that says what was measured, and what would be better where it is not good.

    Raises `Problem` where nothing could be measured.
    """
    if is_deaf:
        raise _unmeasured("there is no microphone", "plug one in, then calibrate again")
    if is_muted:
        raise _unmeasured("nakari is muted", "`nakari unmute`, then calibrate again")
    try:
        async with asyncio.timeout(MEASURED_WITHIN):
            found = await echo.calibrate()
    except TimeoutError as error:
        what = f"the microphone handed over nothing, or nakari was not quiet, for {MEASURED_WITHIN:g} s"
        fix = "`nakari doctor` says how the devices are; nakari calibrates as soon as it can"
        raise _unmeasured(what, fix) from error
    if not echo.cancels:
        raise _unmeasured(f"half duplex, {echo.guard.duplex.reason}", _FIXES.get(echo.guard.duplex.reason, ""))
    if found is None:
        what = "the loudspeaker or the microphone stood still"
        raise _unmeasured(what, "`nakari doctor` says which; then calibrate again")
    if not found.is_heard:
        return f"{echo.describe()}; {_NOT_HEARD}"
    return echo.describe() if echo.guard.duplex.mode is Mode.FULL else f"{echo.describe()}; {_TURN_DOWN}"


def _unmeasured(reason: str, fix: str) -> Problem:
    return Problem("; ".join(filter(None, (f"nothing was measured: {reason}", fix))), Exit.UNAVAILABLE)
