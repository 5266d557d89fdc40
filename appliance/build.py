"""The one place that chooses real implementations and puts them together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Final

from agent.context.epochs import ContextLimits, Contexts
from agent.context.tokens import TokenCounter
from agent.desk import Desk
from agent.event import utc_now
from agent.loop import Loop, Mind
from agent.model.interface import ChatModel
from agent.prompts import compose
from agent.replies import Outlet
from agent.situation import SituationProvider, place_in_time, rang, waited
from agent.think import Thinker
from agent.tools.clock import clock_tool
from agent.tools.events import event_tools
from agent.tools.journal import journal_tool
from agent.tools.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.timers import timer_tools
from appliance.config import Config
from appliance.door.household import Household, Part
from appliance.door.server import Door
from appliance.graph import GraphSide, graph_side
from appliance.hearing.devices import supervised
from appliance.hearing.ears import Ears, Followers, open_ears, open_source
from appliance.hearing.echo import echo_in
from appliance.hearing.intake import Intake
from appliance.hearing.prewarm import Prewarm
from appliance.hearing.suppressed import SuppressedTurns
from appliance.models import choose_models
from appliance.options import RunOptions
from appliance.reflexes.side import ReflexSide, reflex_side
from appliance.ringing.due import DueTimers
from appliance.ringing.ringer import Ringer
from appliance.speaking.interruption import Interruption
from appliance.speaking.mouth import choose_voice, open_player
from appliance.speaking.text import ReplyRouter, TextOutlet
from appliance.speaking.voice import VoiceOutlet
from appliance.state import State, open_state
from audio.echo.control import EchoControl
from audio.echo.self_echo import SelfEcho
from audio.evidence import evidence_guard
from audio.interfaces import AudioSource, Player, Synthesizer
from audio.listener import REFLEX, Surroundings
from audio.mouth import Mouth
from audio.reflexes.words import asked


@dataclass(frozen=True, slots=True)
class Box:
    """Everything that runs, put together; `appliance.service` starts its loops."""

    ears: Ears | None
    """None without a microphone."""
    echo: EchoControl
    mouth: Mouth
    interruption: Interruption
    reflexes: ReflexSide
    ringer: Ringer | None
    """None in a box that only lives for one question: it leaves timers to the next one."""
    mind: Loop
    graph: GraphSide
    household: Household
    door: Door
    warm: Callable[[], Coroutine[None, None, None]]
    """Opens the model's connection and loads the token vocabulary; nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What lies outside the program: sound card, voices, models, clock; a simulated room has its own."""

    source: Callable[[Config, RunOptions], AudioSource | None] = open_source
    """None without a microphone."""
    player: Callable[[Config, RunOptions], Awaitable[Player]] = open_player
    voice: Callable[[Config], Synthesizer] = choose_voice
    models: Callable[[Config], Awaitable[list[ChatModel]]] = choose_models
    clock: Callable[[], float] = monotonic
    """Seconds, the same as the source's and the player's."""


REAL: Final = Outside()


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the mind thinks and answers with."""

    models: list[ChatModel]
    outlet: Outlet
    contexts: Contexts


@asynccontextmanager
async def open_box(config: Config, options: RunOptions, outside: Outside = REAL) -> AsyncIterator[Box]:
    """Open every part; what is missing on this machine is told in one line each, and done without.

    Raises what the parts raise when a person asked for something that cannot be: a wrong model folder, an unreadable
    recording, an output that cannot be written, a state folder that is unusable or in use.
    """
    async with AsyncExitStack() as parts:
        state = await parts.enter_async_context(open_state(config))
        graph = await parts.enter_async_context(graph_side(config))
        models = await outside.models(config)
        for model in models:
            parts.push_async_callback(model.aclose)
        player = await outside.player(config, options)
        parts.push_async_callback(player.aclose)
        mouth = Mouth(outside.voice(config), player, outside.clock, volume=config.voice.volume)
        ringer = None if options.deaf else Ringer(DueTimers(state), mouth, config.ears.language)
        reflexes = reflex_side(config, state, mouth, player, ringer, outside.clock)
        own_words = SelfEcho()
        intake = Intake(state.mailbox, config.mind.max_tool_calls, (evidence_guard, own_words), clock=outside.clock)
        reflexes.guard(intake)
        source = outside.source(config, options)
        echo = echo_in(config, source, player, mouth)
        surroundings = Surroundings(echo.guard, outside.clock)
        followers = Followers(Prewarm(lambda: _connect(models), outside.clock), SuppressedTurns(state.bus))
        devices = supervised(config, source, player, mouth)
        ears = (
            None
            if options.deaf
            else open_ears(config, reflexes.muted(source), surroundings, intake, followers, devices)
        )
        if ringer and ears:
            ringer.is_spoken_to = ears.hear_somebody
        text, tokens = TextOutlet(state.bus), TokenCounter()
        contexts = reflexes.forgetting.contexts = _contexts(config, state, tokens)
        voice = VoiceOutlet(mouth, state.bus, config.ears.language)
        outlet = ReplyRouter(voice, text)
        own_words.follow(mouth, outside.clock)
        situation = [
            place_in_time(config.zone, utc_now),
            waited(utc_now),
            reflexes.reflexes.situation,
            *([rang] if ringer else []),
        ]
        mind = _mind(config, state, graph, Thinking(models, outlet, contexts), situation)
        interruption = Interruption(mouth, voice, mind.interrupt, outside.clock)
        mind.hush = interruption.silence
        reflexes.body.interrupt, reflexes.body.silence = mind.interrupt, interruption.silence
        reflexes.forgetting.interrupt = mind.interrupt
        _join(interruption, ears, intake, echo)
        reflexes.listen(ears)
        household = Household(
            state.mailbox,
            state.bus,
            text,
            mind,
            reflexes,
            _parts(ears, echo, models, graph) | {"interruptions": interruption.describe, "reflexes": reflexes.describe},
            config.mind.max_tool_calls,
            monotonic(),
        )
        door = Door(config.socket, household)
        door.open()
        parts.callback(door.close)
        warm = partial(_warm, models, tokens)
        yield Box(ears, echo, mouth, interruption, reflexes, ringer, mind, graph, household, door, warm)


def _join(interruption: Interruption, ears: Ears | None, intake: Intake, echo: EchoControl) -> None:
    """Let the ears end her replies: by words that nothing holds back from the mind, and no reflex may act upon."""
    interruption.mode = lambda: echo.duplex.mode
    interruption.guards = (*intake.guards, lambda heard: REFLEX if asked(heard.transcript.text) else "")
    intake.guards = (*intake.guards, interruption.guard)
    if ears is not None:
        interruption.follow(ears.listener)


def _mind(
    config: Config, state: State, graph: GraphSide, thinking: Thinking, situation: Sequence[SituationProvider]
) -> Loop:
    desk, outlet, contexts = Desk(), thinking.outlet, thinking.contexts
    zone = str(config.zone)
    registry = ToolRegistry(
        [
            *event_tools(state.mailbox, desk),
            reply_tool(desk, outlet),
            *timer_tools(state.mailbox, utc_now, zone),
            clock_tool(utc_now, zone),
            journal_tool(state.journal),
            *graph.tools,
        ]
    )
    thinker = Thinker(thinking.models, state.bus, contexts, desk, outlet, state.mailbox)
    mind = Mind(state.mailbox, state.journal, state.bus, contexts, registry, outlet, desk, thinker)
    loop = Loop(mind, compose, situation, utc_now)
    loop.most_tool_calls = config.mind.max_tool_calls
    return loop


def _contexts(config: Config, state: State, tokens: TokenCounter) -> Contexts:
    settings = config.mind
    limits = ContextLimits(settings.history_messages, settings.history_tokens, settings.compress_above_tokens)
    return Contexts(state.journal, state.bus, limits, tokens)


async def _connect(models: list[ChatModel]) -> None:
    for model in models:
        await model.warm()


async def _warm(models: list[ChatModel], tokens: TokenCounter) -> None:
    await _connect(models)
    await asyncio.to_thread(tokens.load)


def _parts(ears: Ears | None, echo: EchoControl, models: list[ChatModel], graph: GraphSide) -> dict[str, Part]:
    """Return what each part says of itself in the status."""
    return {
        "ears": (lambda: {**ears.describe(), "duplex": echo.describe()}) if ears else lambda: {"source": "none"},
        "loudspeaker": ears.devices.describe_loudspeaker if ears else lambda: {"device": "none"},
        "models": lambda: {"in_order": [model.name for model in models]},
        "graph": graph.describe,
    }
