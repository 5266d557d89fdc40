"""The mind, put together: mailbox, prompts, tools and models, around the one loop that never ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.calendars.household import Calendars
from agent.confirmation.gate import amended
from agent.context.carried import ContextLimits, Limits
from agent.context.epochs import Contexts
from agent.context.recollection import SHARE, Recalled, Recent
from agent.context.situation import AtOpening, SituationProvider, client_zone, mood, place_in_time, rang, waited
from agent.context.tokens import TokenCounter
from agent.event import ASR_TRANSCRIPT, NIGHT, REFLECTION, SELF_CREATED, SYSTEM, TIMER, USER_TEXT, utc_now
from agent.loop import Loop, Mind
from agent.model.chain import Chain
from agent.model.dialects.marks import make_ready
from agent.model.sight import HasSight, Sight
from agent.model.window import Windows
from agent.prompts import Prompts, Self
from agent.replies import ShownReplies
from agent.run.attention import Attention
from agent.run.budget import SIGN_AFTER, RunLimits, ThoughtLimits
from agent.run.questions import ModelWatch
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.think import Thinker
from agent.tools.device import DeviceVerbs
from agent.tools.mcp.servers import McpServers, Showing
from agent.tools.registry.context import ToolContext
from agent.tools.registry.discovery import discover
from agent.tools.registry.own_files import OwnFiles
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Tool
from agent.tools.voices import SpeakerVoices
from appliance.api.parts import Part
from appliance.config.agent.own_work import EconomySettings
from appliance.config.load import Config
from appliance.config.values import listed
from appliance.egress import is_here, lasting_egress, model_egress
from appliance.model.catalog import catalog_of
from appliance.model.switch import ModelChoice, prefix_of_room
from appliance.notify import HeartBeat
from appliance.output.text import EndedSentences
from appliance.output.voices import SpeechSettings, speech_settings, voices_of
from appliance.owners.owners import Owners
from appliance.reflexes.voice import Voice
from appliance.wiring.agent.calendars import calendars_of
from appliance.wiring.agent.growth import GrowthSide, growth_side
from appliance.wiring.agent.home import HomeSide
from appliance.wiring.agent.machine import Machine
from appliance.wiring.agent.tool_servers import servers_of
from appliance.wiring.agent.web import engine_of, weather_of
from appliance.wiring.environment import World
from appliance.wiring.memory.graph import LentGraph, store_of
from appliance.wiring.memory.memory import MemorySide
from appliance.wiring.sound.output import Output
from audio.loops import Loop as LongLoop
from memory.json_value import Json
from memory.recall import Recall

CONTEXT_SHARE: Final = 0.75
"""Of what a model can read; the rest is for what the event in hand adds, for the answer, and for its own tokenizer."""

TOOLS_SHARE: Final = 0.25
"""The same for the list of tools."""

EVENT_SECONDS: Final = 600.0
"""With one event in hand for so long the mind counts as stuck: its models and tools have far shorter limits."""

_BUDGETED: Final = (USER_TEXT, ASR_TRANSCRIPT, TIMER, SELF_CREATED, SYSTEM, REFLECTION, NIGHT)
"""Types of events with a key in [economy]."""


class Agent(Struct, frozen=True):
    """Everything that thinks."""

    models: Chain
    choice: ModelChoice
    """Which of the models thinks."""
    contexts: Contexts
    tokens: TokenCounter
    loop: Loop
    watch: ModelWatch
    servers: McpServers
    beat: HeartBeat
    windows: Windows
    prompts: Prompts
    own: OwnFiles
    calendars: Calendars | None
    """None where none is configured."""
    registry: ToolRegistry
    home: HomeSide | None
    """None where no Home Assistant is configured."""
    growth: GrowthSide
    recalled: Recalled

    def describe(self) -> dict[str, Part]:
        """Return what each part says of itself in the status."""
        return {
            "models": self.describe_models,
            **({"mcp": self.servers.describe} if self.servers.owners else {}),
            **({"home": self.home.home.describe} if self.home else {}),
            **({"calendar": self.calendars.describe} if self.calendars else {}),
            "tools": self.own.discovered.describe,
            "questions": self.loop.describe_questions,
        }

    def describe_models(self) -> dict[str, Json]:
        """Return who thinks, what it came to, and which window is in force."""
        window = self.windows.chosen
        told: dict[str, Json] = {"tokens": window.tokens, "source": window.source, "prefix": self.prompts.tokens}
        thinks = self.models.first.model
        sight = thinks.sight if isinstance(thinks, HasSight) else Sight("no")
        return {**self.choice.describe(), "window": told, "sees": sight.sees if sight.is_known else None}

    def loops(self) -> Mapping[str, LongLoop]:
        """Return what thinks, until cancelled."""
        return {
            "mind: one event after the other": self.loop.run,
            "mind: what a person says while an event is in hand": self.loop.watch,
            "mind: what a model reads that was chosen": self.choice.learn,
            "mind: whether a model is back, while something waits for one": self.watch.run,
            "mind: the token vocabulary, once a context is long": self.tokens.load_when_needed,
            "mcp: servers of tools, each in a task of its own": self.servers.run,
            **(self.home.loops() if self.home else {}),
            **self.own.loops(),
            **self.growth.loops(),
        }

    async def warm(self) -> None:
        """Open the model's connection, and make what its answer is read with; nobody waits for it."""
        await self.models.warm()
        specs = [tool.spec for tool in self.registry]
        await asyncio.to_thread(lambda: [len(spec.parameters) for spec in specs])  # they are made when looked at
        await asyncio.to_thread(make_ready, [spec.name for spec in self.registry.specs_for(ASR_TRANSCRIPT)])


class Sessions(Struct, frozen=True):
    """What there is of the mind before it thinks: whose context is what, and what can end the run in hand."""

    tokens: TokenCounter
    contexts: Contexts
    recent: Recent
    recall: Recall
    recalled: Recalled
    run_state: RunState
    attention: Attention
    windows: Windows
    """Of no model yet."""


class Hands(Struct, frozen=True):
    """What the tools act upon that is no part of the mind."""

    graph: LentGraph
    recall: Recall
    device: DeviceVerbs
    machine: Machine
    home: HomeSide | None
    """None where no Home Assistant is configured."""
    voices: SpeakerVoices | None = None
    """None where nobody listens for who speaks."""


def open_sessions(world: World, output: Output, memory: MemorySide) -> Sessions:
    """Return the contexts of all sessions, and the attention that everything may call upon."""
    state, tokens, run_state = world.state, world.environment.tokens(), RunState()
    windows = Windows()
    limits = context_limits(world.config, windows)
    contexts = Contexts(state.journal, state.bus, limits, tokens, world.environment.clock)
    recent = Recent(memory.tiers, tokens, round(SHARE * limits().history_tokens))
    recalled = Recalled(memory.recall, tokens, clock=world.environment.clock)
    sign_after = 0.0 if world.config.voice.thinking_sign == "none" else SIGN_AFTER
    replies = ShownReplies(output.replies, state.bus.show, run_state.run_id_of, EndedSentences)
    system_replies = SystemReplies(replies, run_state, _earcon(world, output), sign_after, world.environment.clock)
    names = listed(world.config.ears.names)
    attention = Attention(state.mailbox, state.journal, system_replies, output.stop_speaking, names)
    return Sessions(tokens, contexts, recent, memory.recall, recalled, run_state, attention, windows)


@asynccontextmanager
async def open_agent(
    world: World,
    owners: Owners,
    sessions: Sessions,
    output: Output,
    hands: Hands,
    news: Sequence[SituationProvider],
) -> AsyncIterator[Agent]:
    """Open the models and join the mind; `news` is told in its blocks."""
    config, state = world.config, world.state
    contexts, run_state, attention = sessions.contexts, sessions.run_state, sessions.attention
    outside = world.environment
    models = Chain.of(await outside.models(catalog_of(config), prefix_of_room(contexts)), outside.clock)
    calendars = calendars_of(config, state.mailbox.enqueue)
    try:
        choice = ModelChoice(models, state.journal, state.bus, config.zone)
        await choice.restore()
        windows = sessions.windows
        windows.follow(lambda: [each.model for each in models.may_think])
        budgets = budgets_of(config.economy)
        limits = RunLimits(config.mind.max_tool_calls, owners.tool_calls, of_type=budgets, quiet=config.quiet)
        growth = growth_side(world, output, models, windows, hands.graph, lambda: attention.run)
        context = replace(
            _tool_context(world, owners, sessions, limits, hands), calendars=calendars, growth=growth.looked_at
        )
        discovered = discover(context, config.tools_folder, config.secret, owners.shares_graph)
        registry = _registry(world, [*discovered.tools, *hands.graph.tools], windows)
        showing = Showing(state.images, run_state)
        lent = [*servers_of(config), *([hands.home.server] if hands.home else [])]
        servers = McpServers(lent, registry, owners.shares_graph, showing)
        patience = ThoughtLimits(beside=config.model.first_token_deadline)
        thinker = Thinker(models, state.bus, contexts, attention.system_replies, state.mailbox, patience)
        opens: list[AtOpening] = [*([hands.graph.remembered] if hands.graph.remembered else []), sessions.recent]
        parts = (state.mailbox, state.journal, state.bus, contexts, registry, run_state, thinker)
        mind = Mind(*parts, opens, sessions.recalled)
        prompts = Prompts(owners, about(config, models), sessions.tokens)
        here = place_in_time(config.zone, utc_now)
        rings = [rang] if output.ringer else []
        situation = [here, client_zone, mood, waited(utc_now), *news, *rings, *discovered.situation]
        loop = Loop(mind, attention, prompts, situation, utc_now, limits)
        beat = HeartBeat("mind", EVENT_SECONDS)
        loop.observe(beat)
        for settler in world.settlers:
            loop.answer_by(settler)
        watch = ModelWatch(models, state.mailbox, thinker.outage)
        tokens = sessions.tokens
        own = OwnFiles(discovered, registry, situation, state.bus, owners.shares_graph)
        minds = (models, choice, contexts, tokens, loop, watch, servers, beat, windows, prompts)
        yield Agent(*minds, own, calendars, registry, hands.home, growth, sessions.recalled)
    finally:
        for model in models.models:
            await model.aclose()
        if calendars is not None:
            await calendars.aclose()


def _registry(world: World, tools: Sequence[Tool], windows: Windows) -> ToolRegistry:
    """Return the register of the tools, as the configuration wants them asked for and as many as the models take."""
    told = world.config.tools
    as_wanted = partial(amended, confirm=told.confirm, never=told.never_confirm)
    most = partial(_most_of_tools, told.most_tokens, windows)
    return ToolRegistry(tools, lambda: windows.chosen.is_small, as_wanted, most)


def _tool_context(world: World, owners: Owners, sessions: Sessions, limits: RunLimits, hands: Hands) -> ToolContext:
    config, state = world.config, world.state
    return ToolContext(
        state.mailbox,
        state.journal,
        hands.recall,
        sessions.contexts,
        sessions.run_state,
        sessions.attention.system_replies.reply_sink,
        hands.device,
        limits,
        utc_now,
        owners.shares_graph,
        str(config.zone),
        config.quiet,
        config.mind.test_tool,
        language=config.ears.language,
        folders=hands.machine.folders,
        sandbox=hands.machine.sandbox,
        search=engine_of(config),
        pages=world.environment.pages(config),
        weather=weather_of(config),
        home=hands.home.tools if hands.home else None,
        voices=hands.voices,
    )


def _most_of_tools(configured: int, windows: Windows) -> int:
    """Return what the list of tools may take: no more than a share of what the model reads, where that is known."""
    window = windows.chosen.tokens
    return min(configured, int(TOOLS_SHARE * window)) if window else configured


def budgets_of(economy: EconomySettings) -> dict[str, int]:
    """Return the tool calls of an event that does not say how many it may use, by its type."""
    return {kind: getattr(economy, kind) for kind in _BUDGETED}


def _earcon(world: World, output: Output) -> Callable[[], Awaitable[object]] | None:
    """Return what plays the sign that an answer takes its time; None where that is said in words."""
    if world.config.voice.thinking_sign == "words":
        return None
    voice = Voice(output.speech, output.player, world.config.ears.language)
    return partial(voice.give, "thinking")


def context_limits(config: Config, windows: Windows) -> Limits:
    """Return what tells how much an epoch may hold: no more than each model reads that may think, now or in its turn.

    Another model that is chosen has other limits. Before any model is there, the least that is configured holds.
    """
    mind = config.mind
    configured = [each.context_tokens for each in (config.model, *config.models.values()) if each.context_tokens]

    def now() -> ContextLimits:
        window = int(CONTEXT_SHARE * (windows.least.tokens or min(configured, default=0)))
        most = min(mind.compress_above_tokens, window or mind.compress_above_tokens)
        return ContextLimits(
            history_messages=mind.history_messages,
            history_tokens=mind.history_tokens,
            compress_above_tokens=most,
            window_tokens=window,
        )

    return now


def about(config: Config, models: Chain) -> Callable[[], Self]:
    """Return what tells what is so in this box; asked between two events, it lets the model that was chosen think."""
    voice, memory = _voice(speech_settings(config)), _memory(config)
    lasting, catalog = lasting_egress(config), catalog_of(config)

    def told() -> Self:
        name = models.settle()
        leaving = tuple(f"{each.what}, to {each.to}" for each in [*model_egress(catalog, models), *lasting])
        return Self(name, voice, memory, leaving, config.mind.max_tool_calls)

    return told


def _voice(settings: SpeechSettings) -> str:
    """Return the names of the voices, the best first, and where each is that is not here."""
    told = []
    for voice in voices_of(settings):
        away = [sent.to for sent in voice.sends_to if not is_here(sent.to)]
        told.append(f"{voice.name} over the network ({', '.join(away)})" if away else f"{voice.name} on this machine")
    return ", or when it does not answer ".join(told)


def _memory(config: Config) -> str:
    if not config.memory.enabled:
        return ""
    away = [sent.to for sent in store_of(config).sends_to]
    return f"a Neo4j server at {away[0]}" if away else "this box's own store"
