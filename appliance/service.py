"""Everything that runs, on one screen: the appliance is these loops in one group, and cancelling is the only stop."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog
from msgspec import Struct, field

from appliance.config.load import Config
from appliance.config.network.machines import role_of
from appliance.config.options import RunOptions
from appliance.errors import Exit
from appliance.footprint import share_heaps
from appliance.input.devices.source import choose_source, once_recording, recording_from_now_on
from appliance.logs.configure import flush, written_beside
from appliance.notify import Notifier, Watchdog
from appliance.version import commit, version
from audio.loops import first_of, kept_up

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from appliance.input.hearing.choose import HearingAhead
    from appliance.wiring.box import Box
    from audio.interfaces import AudioSource

LOOK_SECONDS: Final = 60.0
"""Between two looks; what is seen twice is so, and no link that is just being set anew."""


async def moved(
    home: tzinfo, zone_now: Callable[[], tzinfo], rest: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> str:
    """Return the name of the zone that the machine is in once that is another than `home`; `zone_now` reads files."""
    seen = str(home)
    while True:
        await rest(LOOK_SECONDS)
        before, seen = seen, str(await asyncio.to_thread(zone_now))
        if seen == before != str(home):
            return seen


log = structlog.get_logger()

Watch: TypeAlias = "Callable[[Box], Coroutine[None, None, None]]"
"""Looks on while it runs, until cancelled."""

FAREWELL_SECONDS: Final = 3.0
"""How long a stop waits for the event in hand and the sentence under way; what is cut off then comes back later."""

STOP_SECONDS: Final = 4.6
"""How long a stop takes altogether: the farewell, and what the parts take to end (the store 1.2 s at most). What hangs
then, such as a call into a driver, is left behind as a kill leaves it, which loses nothing that was written."""

UPGRADE_SECONDS: Final = 300.0
"""How long one step of bringing an older state to this version may take: copying its largest file."""

CONVERSATION_SECONDS: Final = 120.0
"""A conversation is a stretch without so much silence."""

LOOPS: Final = (
    "graph: the store's child process",
    "graph: its indexes, built and kept warm",
    "graph: repaired where it is damaged",
    "graph: repaired where it is incomplete, and what broke off finished",
    "graph: fills a server that was emptied",
    "graph: whether a server holds all of it",
    "graph: snapshots on schedule",
    "graph: snapshots that a write waits for",
    "graph: which names were asked for, written down later",
    "graph: indexes for what is looked up",
    "graph: visitors' own, while they are used",
    "memory: the journal into tiers, and vectors",
    "memory: sees that a run is over",
    "memory: the sentence model, once",
    "memory: what is too old, while nobody speaks",
    "memory: what an upgrade put aside, for a fortnight",
    "memory: owners who are to be forgotten, and are not yet",
    "memory: images that no event refers to",
    "mind: one event after the other",
    "mind: what a person says while an event is in hand",
    "mind: what a model reads that was chosen",
    "mind: whether a model is back, while something waits for one",
    "mind: the token vocabulary, once a context is long",
    "machines: the bus, to the others and from them",
    "machines: what the others do, to the log",
    "mcp: servers of tools, each in a task of its own",
    "growth: looks back once nobody speaks, and over the memory at night",
    "tools: whether folders and a sandbox can be had, once",
    "calendars: kept up to date, and reminded of",
    "home: Home Assistant, connected, and what is watched there",
    "speech: synthesis, sentence after sentence",
    "speech: playback, in the order of the sentences",
    "speech: ends pauses that nobody ends",
    "speech: the next sentence's program",
    "speech: a connection to edge-tts, ahead",
    "speech: piper, kept running",
    "speech: the connection to GPT-SoVITS",
    "speech: the connection to OpenAI speech",
    "remote: pages and programs that hear and speak",
    "satellites: paired devices, connected",
    "satellites: ears and mouths of other rooms",
    "satellites: runs that are over",
    "ringer: due timers, beside the mind",
    "ringer: rings to sound",
    "ears: chunks to utterances",
    "ears: utterances to events",
    "ears: the echo canceller",
    "ears: what was learned of the echo",
    "ears: the model's connection, while somebody speaks",
    "ears: what the words so far bring back, in a pause",
    "ears: turns that nobody gets, to the journal",
    "ears: a sign or a word for speech that comes to nothing",
    "ears: a better model, once it has come",
    "ears: turns that the disk refused, to the mailbox",
    "ears: goes on with a reply when it was nothing",
    "ears: names to be expected",
    "ears: names that the memory is asked for",
    "devices: what the microphone hears",
    "devices: the loudspeaker",
    "devices: news of them, aloud",
    "hotplug: the sound folder",
    "hotplug: the sound server",
    "unasked: what waits for a gap, said in it",
    "speakers: voices that are learnt, corrections that broke off",
    "recorder: turns that are over, to the disk",
    "reflexes: words spotted in sound",
    "reflexes: kept and journaled",
    "reflexes: signs and sentences",
    "reflexes: switches that the disk refused",
    "reflexes: ends a mute by its time",
    "reflexes: the sign that it listens",
    "doors: whoever comes by HTTP",
    "wyoming: programs that ask for ears, a voice or an answer",
    "live: what goes on, to whoever looks",
    "live: levels and the mailbox, while somebody looks",
    "doors: counts of what happened",
    "door: tells text clients that a run is over",
    "machines: what is said, to the mind",
    "machines: whether the mind is there",
    "machines: signs that an answer takes its time",
    "machines: the mind's sentences, to the voice",
    "machines: timers of this room",
    "machines: what rings here",
    "machines: words of minds that live",
    "machines: what the mind sends",
    "machines: that these ears live",
    "machines: what was heard, to the mind",
    "machines: turns of ears elsewhere",
    "machines: which ears live",
    "machines: what the ears report",
    "machines: that the mind lives",
    "machines: ears elsewhere, as rooms",
    "warm: connections and voices, off the start path",
)
"""Every long-lived loop of a box that has everything; `Box.loops` hands over those that this box has."""

APART: Final = ("calendars: ", "growth: ", "home: ", "live: ", "mcp: ", "recorder: ", "satellites: ", "wyoming: ")
"""How the names of loops begin without which it hears, thinks and speaks: where one breaks off, all others go on."""


class _Over(Exception):
    """Ends the group: there is nothing left to do, or somebody asked to stop."""


def run(config: Config, options: RunOptions, watch: "Watch | None" = None) -> Exit:
    """Serve until a signal of `_ending`, or with `once` until the conversation is over. Raises what `open_box` raises.

    The microphone comes before everything else, and the recognizer's model next: importing and opening the rest is most
    of the start. What is said meanwhile waits in the microphone's buffer. `watch` runs beside once all is open.
    """
    share_heaps()
    source = None if takes_turns(config, options) else choose_source(config.ears, options)
    serving = Serving(config, options, Notifier(config.supervisor.notify_socket), watch)
    with written_beside(), recording_from_now_on(source):
        asyncio.run(_run(serving, source))
    if serving.stop.is_set():
        sys.stdout.flush()
        os._exit(Exit.OK)  # all is closed; Python would take seconds more to take itself apart on a busy machine
    return Exit.LATER if serving.has_moved else Exit.OK


async def _run(serving: "Serving", source: "AudioSource | None") -> None:
    from appliance.admin.upgrade import bring_to_date
    from memory.progress import in_hundredths

    config, options = serving.config, serving.options
    await asyncio.to_thread(bring_to_date, config.state_folder, in_hundredths(serving.upgrading))
    if takes_turns(config, options):
        from appliance.machines.standby.standby import take_turns

        await take_turns(serving)
    else:
        ahead = None if source is None else _loading(config, source)
        from appliance.wiring.box import open_box
        from appliance.wiring.environment import around

        async with open_box(config, options, around(source, ahead)) as box:
            await serving.serve(box)
    log.info("service_stopped")


def _loading(config: Config, source: "AudioSource") -> "HearingAhead":
    """Return the recognizers, which load once the source records, beside all that is imported and opened after this."""
    from appliance.input.hearing.choose import HearingAhead, hearing_settings

    ahead = HearingAhead(hearing_settings(config))
    once_recording(source, ahead.load)
    return ahead


def takes_turns(config: Config, options: RunOptions) -> bool:
    """Whether another machine may have the mind instead of this one, which opens its microphone with the box then."""
    return bool(config.machines.url) and role_of(config.machines, options.role) != "ears"


class Serving(Struct, eq=False):
    """Serves a box until a signal of `_ending`, or what `options` say; it tells systemd of it."""

    config: Config
    options: RunOptions
    notifier: Notifier
    watch: "Watch | None" = None
    moves: Callable[[tzinfo, Callable[[], tzinfo]], Awaitable[str]] = moved
    """Returns the name of the time zone that the machine is in, once that is another than at the start."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by a signal, from the first `serve` or `heed_signals` on."""
    has_moved: bool = False
    """Whether it ended because the machine is in another time zone now: whoever started it starts it again."""

    def upgrading(self, done: int, of: int) -> None:
        """Tell systemd how far the state is brought to this version, and that it takes its time; in any thread."""
        share = done * 100 // max(of, 1)
        self.notifier.extend(UPGRADE_SECONDS, f"bringing what it knows to this version: {share} %")

    def heed_signals(self) -> None:
        """Have a signal that asks for an orderly end set `stop`; log those by which other services are told things."""
        loop, ending = asyncio.get_running_loop(), _ending()
        fix = "`nakari config reload` takes over the configuration"
        for number in {signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}.difference(ending):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, partial(log.warning, "signal_ignored", signal=number.name, fix=fix))
        for number in ending:
            loop.add_signal_handler(number, self.stop.set)

    async def serve(self, box: "Box", *others: asyncio.Event) -> None:
        """Serve until stopped, until one of the `others` is set, or with `once` until the conversation is over."""
        self.heed_signals()

        async def until_over() -> None:
            ears = box.input.ears
            self.notifier.ready("listening" if ears and not ears.is_deaf else "no microphone; the doors are open")
            is_of = await asyncio.to_thread(commit)  # in a clone git is asked, and the loops begin meanwhile
            log.info("service_started", version=version(), commit=is_of)
            async with asyncio.TaskGroup() as group:
                watch = self.watch
                watching = group.create_task(watch(box), name="terminal: what is heard and said") if watch else None
                ends = [conversation_over(box)] if self.options.once else []
                # One of several machines leads for a while, and may have another zone.
                ends += [] if self.config.machines.url else [self._until_moved()]
                await first_of(self.stop.wait(), *(other.wait() for other in others), *ends)
                if watching is not None:
                    watching.cancel()
            if not any(other.is_set() for other in others):
                self.notifier.stopping()
            if self.stop.is_set():
                end_within(STOP_SECONDS, Exit.OK)

        await serve(box, until_over, Watchdog(self.notifier, self.config.supervisor.watchdog, box.beats))

    async def _until_moved(self) -> None:
        """Return when it is to start anew in another time zone; where nothing starts it again, that is told only."""
        zone = await self.moves(self.config.zone, self.config.zone_now)
        is_started_again = bool(self.config.supervisor.notify_socket)
        fix = "it starts again, and alarms move" if is_started_again else "start nakari again: until then alarms stay"
        log.warning("zone_changed", zone=zone, before=str(self.config.zone), fix=fix)
        self.has_moved = is_started_again
        if not is_started_again:
            await asyncio.Event().wait()


async def serve(box: "Box", until_over: Callable[[], Awaitable[object]], watchdog: Watchdog | None = None) -> None:
    """Run every loop of the box until `until_over` returns; then let it finish its sentence, and stop them all.

    An event that is in hand even then is suspended, and goes on where it broke off at the next start.
    """
    from memory.errors import MemoryFailure

    async def end() -> None:
        await until_over()
        await _farewell(box)
        raise _Over

    try:
        async with asyncio.TaskGroup() as group:
            for name, loop in box.loops().items():
                group.create_task(kept_up(name, loop) if name.startswith(APART) else loop(), name=name)
            if watchdog is not None:
                group.create_task(watchdog.run(), name="watchdog: tells systemd that all this lives")
            group.create_task(end(), name="end: until somebody stops us")
    except* _Over:
        with suppress(MemoryFailure):
            await box.household.mailbox.give_back()


async def conversation_over(box: "Box") -> None:
    """Return when the recording is used up, or it was silent for 120 s, and nothing is left to do or to say."""
    if box.input.ears is not None:
        await box.input.ears.until_silent(CONVERSATION_SECONDS)
        await box.input.turns.none.wait()
    await box.household.mailbox.until_idle()
    await box.output.speech.quiet()
    if box.output.ringer is not None:
        await box.output.ringer.silence()


async def _farewell(box: "Box") -> None:
    """Let it finish the event in hand and the sentence under way, for a moment; a disk that is full cuts it short."""
    from memory.errors import StateUnusable

    with suppress(TimeoutError, StateUnusable):
        async with asyncio.timeout(FAREWELL_SECONDS):
            await box.household.mailbox.until_idle()
            await box.output.speech.quiet()


def end_within(seconds: float, code: Exit) -> threading.Timer:
    """End the process so many seconds from now, whatever hangs in it then, unless what is returned is cancelled."""

    def end() -> None:
        log.error("stop_cut_short", seconds=seconds, threads=[each.name for each in threading.enumerate()])
        flush()
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.name, timer.daemon = "end: whatever hangs", True
    timer.start()
    return timer


def _ending() -> list[signal.Signals]:
    """Return the signals that ask for an orderly end; a terminal that is gone does too, but not below `nohup`."""
    outlives_terminal = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN or not _has_terminal()
    return [signal.SIGTERM, signal.SIGINT, *([] if outlives_terminal else [signal.SIGHUP])]


def _has_terminal() -> bool:
    """Whether a terminal controls this process: without one nothing can be hung up."""
    with suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
        return True
    return False
