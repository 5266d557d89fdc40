"""The one place that chooses real implementations and puts them together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from time import monotonic
from typing import Final

from agent.context.epochs import ContextLimits, Contexts
from agent.context.situation import SituationProvider
from agent.context.tokens import TokenCounter
from agent.event import utc_now
from agent.loop import Loop, Mind
from agent.model.chain import Chain
from agent.prompts import Prompts
from agent.replies import ReplySink
from agent.run.run_state import RunState
from agent.run.think import Thinker
from agent.time.quiet import quiet_hours
from agent.tools.clock import clock_tool
from agent.tools.events import event_tools
from agent.tools.faulty import faulty_tool
from agent.tools.journal import journal_tool
from agent.tools.journal_read import journal_read_tool
from agent.tools.mcp.servers import McpServers
from agent.tools.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.timers import timer_tools
from agent.tools.tool import Tool
from appliance.admin.graph_admin import graph_admin_of
from appliance.api.event_intake import EventIntake
from appliance.api.handler import Household, Part
from appliance.api.owner_requests import OwnerHandler
from appliance.api.server import Door
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.input.ears import Ears
from appliance.model.switch import ModelChoice, know_room
from appliance.output.interruption import Interruption
from appliance.output.quiet import QuietReplySink
from appliance.output.text import ReplyRouter, TextReplySink
from appliance.output.voices import load_voice
from appliance.owners.erasure import OwnerErasure
from appliance.owners.owners import Owners, open_owners
from appliance.wiring.about import about
from appliance.wiring.environment import REAL, Environment
from appliance.wiring.graph import GraphSide, graph_side
from appliance.wiring.memory import MemorySide, memory_side, retention_of
from appliance.wiring.senses import Senses, World, join, open_senses
from appliance.wiring.state import State, disk_of, open_state
from appliance.wiring.tool_servers import servers_of
from memory.state.retention import Retention

CONTEXT_SHARE: Final = 0.75
"""Of what a model can read; the rest is for what the event in hand adds, for the answer, and for its own tokenizer."""


@dataclass(frozen=True, slots=True)
class Box:
    """Everything that runs, put together; `appliance.service` starts its loops."""

    senses: Senses
    interruption: Interruption
    mind: Loop
    servers: McpServers
    graph: GraphSide
    memory: MemorySide
    retention: Retention
    owners: Owners
    erasure: OwnerErasure
    household: Household
    door: Door
    warm: Callable[[], Coroutine[None, None, None]]
    """Opens the model's connection, loads what speaking needs and the token vocabulary; nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the mind thinks and answers with."""

    models: Chain
    outlet: ReplySink
    contexts: Contexts
    owners: Owners
    """Whose own prompt modules there are."""


@asynccontextmanager
async def open_box(config: Config, options: RunOptions, outside: Environment = REAL) -> AsyncIterator[Box]:
    """Open every part; what is missing on this machine is told in one line each, and done without.

    Raises what the parts raise when a person asked for something that cannot be: a wrong model folder, an unreadable
    recording, an output that cannot be written, a state folder that is unusable or in use.
    """
    async with AsyncExitStack() as parts:
        state = await parts.enter_async_context(open_state(config))
        graph = await parts.enter_async_context(graph_side(config, state.journal.database))
        memory = memory_side(config, state, graph.embedder, fetches=not options.deaf)
        owners = await open_owners(config, state)
        models = Chain.of(await outside.models(config))
        choice = ModelChoice(models, state.journal, state.bus, config.zone)
        await choice.restore()
        for model in models.models:
            parts.push_async_callback(model.aclose)
        player = await outside.player(config, options)
        parts.push_async_callback(player.aclose)
        senses = open_senses(World(config, options, outside, state), player, models.warm)
        text, tokens = TextReplySink(state.bus), TokenCounter()
        contexts = Contexts(state.journal, state.bus, context_limits(config), tokens)
        know_room(models, contexts)
        owners.observe(contexts.renew)
        thinking = Thinking(models, ReplyRouter(_considerate(config, state, senses.voice), text), contexts, owners)
        mind, servers = _mind(
            config,
            state,
            [*memory.tools, *graph.tools_of(owners.shares_graph)],
            thinking,
            senses.situation(config),
        )
        interruption = join(senses, mind, contexts, outside.clock)
        retention = retention_of(
            config, state, lambda: mind.run_in_hand is not None or senses.mouth.current is not None
        )
        described: dict[str, Part] = {
            **senses.describe(),
            "interruptions": interruption.describe,
            "models": choice.describe,
            "graph": graph.describe,
            **({"mcp": servers.describe} if config.mcp else {}),
            "state": lambda: {**retention.describe(), **disk_of(config.state_folder)},
        }
        most = config.mind.max_tool_calls
        letters = EventIntake(state.mailbox, owners.shares_graph)
        household = Household(letters, state.bus, text, mind, senses, described, most, monotonic())
        admin = graph_admin_of(config, graph)
        if admin is not None:
            senses.reflexes.forgetting.erase_event = admin.erase_event
        erasure = OwnerErasure(config.state_folder, graph, owners, senses.reflexes.forgetting)
        door = Door(config.socket, household, admin, choice, OwnerHandler(owners, erasure.erase))
        door.open()
        parts.callback(door.close)
        warm = partial(_warm, config, models, tokens, senses.ears)
        yield Box(senses, interruption, mind, servers, graph, memory, retention, owners, erasure, household, door, warm)


def _mind(
    config: Config, state: State, tools: Sequence[Tool], thinking: Thinking, situation: Sequence[SituationProvider]
) -> tuple[Loop, McpServers]:
    desk, outlet, contexts = RunState(), thinking.outlet, thinking.contexts
    zone = str(config.zone)
    registry = ToolRegistry(
        [
            *event_tools(state.mailbox, desk),
            reply_tool(desk, outlet),
            *timer_tools(state.mailbox, utc_now, zone, quiet_hours(config.mind.quiet_hours, config.zone)),
            clock_tool(utc_now, zone),
            *([faulty_tool(Random())] if config.mind.test_tool else []),
            journal_tool(state.journal),
            journal_read_tool(state.journal),
            *tools,
        ]
    )
    servers = McpServers(servers_of(config), registry, thinking.owners.shares_graph)
    thinker = Thinker(thinking.models, state.bus, contexts, desk, outlet, state.mailbox)
    mind = Mind(state.mailbox, state.journal, state.bus, contexts, registry, outlet, desk, thinker)
    prompts = Prompts(thinking.owners, lambda: about(config, thinking.models.settle()))
    loop = Loop(mind, prompts, situation, utc_now)
    loop.most_tool_calls, loop.own_tool_calls = config.mind.max_tool_calls, thinking.owners.tool_calls
    return loop, servers


def _considerate(config: Config, state: State, voice: ReplySink) -> ReplySink:
    """Return the voice, behind the quiet hours where there are any."""
    quiet = quiet_hours(config.mind.quiet_hours, config.zone)
    return voice if quiet is None else QuietReplySink(voice, state.mailbox, quiet, utc_now)


def context_limits(config: Config) -> ContextLimits:
    """Return how much an epoch may hold: no more than each model reads that may think, now or when it is its turn."""
    mind = config.mind
    reads = [each.context_tokens for each in (config.model, *config.models.values()) if each.context_tokens]
    most = min([mind.compress_above_tokens, *(int(CONTEXT_SHARE * tokens) for tokens in reads)])
    return ContextLimits(mind.history_messages, mind.history_tokens, most)


async def _warm(config: Config, models: Chain, tokens: TokenCounter, ears: Ears | None) -> None:
    if ears is not None:
        await ears.until_ready()  # what is loaded beside the recognizer is loaded at its cost
        await asyncio.to_thread(load_voice, config)
    await models.warm()
    await asyncio.to_thread(tokens.load)
