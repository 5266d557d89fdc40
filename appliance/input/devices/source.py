"""Where sound comes from: a recording, or a microphone that records before the rest of the program is loaded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import structlog

from appliance.config.options import RunOptions
from appliance.config.sections import EarsSettings
from audio.capture.channels import Channels
from audio.capture.input import Input
from audio.capture.live import LiveMicrophone
from audio.capture.recording import RecordingSource
from audio.devices.listing import find_device
from audio.devices.portaudio import SOUND_THREAD
from audio.interfaces import AudioSource

log = structlog.get_logger()

LOOK_SECONDS: Final = 5.0
"""How long the start waits for a sound system that hangs."""


def choose_source(ears: EarsSettings, options: RunOptions) -> AudioSource | None:
    """Return where sound comes from, None where nobody listens. No device is touched.

    Raises `BadRecording` for an input that is no sound.
    """
    if options.deaf:
        return None
    if options.input is not None:
        return RecordingSource(options.input, fast=options.fast)
    return microphone_of(ears)


def microphone_of(ears: EarsSettings) -> LiveMicrophone:
    """Return the microphone that is set, by the library that was chosen; no device is touched."""
    name, channels = ears.device or "the default microphone", Channels(ears.channels, ears.reference_channel)
    return LiveMicrophone(_card(ears, channels), name, zero_limit=ears.zeros_are_dead or float("inf"))


def _card(ears: EarsSettings, channels: Channels) -> Input:
    if ears.backend == "pyaudio":
        from audio.pyaudio_backend import PyAudioInput

        return PyAudioInput(ears.device, channels)
    from audio.capture.microphone import SounddeviceInput

    return SounddeviceInput(ears.device, channels)


@contextmanager
def recording_from_now_on(source: AudioSource | None) -> Iterator[None]:
    """Have a microphone keep what it hears for whoever comes to listen; it is closed if nobody did."""
    if not isinstance(source, LiveMicrophone):
        yield
        return
    source.begin()
    source.once_begun(lambda opened: log.info("microphone_opened", device=opened.name))
    try:
        yield
    finally:
        source.end()


def once_recording(source: AudioSource, then: Callable[[], None]) -> None:
    """Call `then` once something can be heard: now, of a microphone when it records, in any thread; else never."""
    if isinstance(source, LiveMicrophone):
        source.once_begun(lambda _: then())
    else:
        then()


def looked_for(device: str, source: AudioSource | None) -> AudioSource | None:
    """Return the source; a microphone that is missing is told of, and may come. Blocking: the sound system is asked."""
    if isinstance(source, LiveMicrophone):
        find = partial(find_device, device, "input")
        source.look(lambda: SOUND_THREAD.call(find, LOOK_SECONDS))
        if source.missing:
            log.warning("no_microphone", reason=f"{source.missing}; the other doors are open")
    return source


def open_source(ears: EarsSettings, options: RunOptions) -> AudioSource | None:
    """Return where sound comes from, looked for; it is opened once somebody listens. Raises as `choose_source` does."""
    return looked_for(ears.device, choose_source(ears, options))
