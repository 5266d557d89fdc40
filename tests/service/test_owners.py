"""Owners at the real door of the real box: whatever anybody asks there, in whatever words, nobody hears of another."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import takewhile
from pathlib import Path
from typing import get_args

import pytest

from agent.context import block
from agent.event import HOUSEHOLD
from agent.mailbox import State
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from memory.identity import new_key, sign
from memory.json_value import Json
from tests.agent.openai_script import Scripted, call, calls
from tests.agent.openai_server import OpenAiServer, Recorded, reply
from tests.appliance.door_fakes import Program, visiting
from tests.service.process import Household

pytestmark = pytest.mark.shows("F12", "F13", "G4")

BAITS = {"household": "hedgehog", "member": "albatross", "visitor": "barracuda"}
"""What the others look for."""
SECRETS = {"household": "prickles", "member": "feathers", "visitor": "fishbones"}
"""What stands beside it, and nobody asks for."""
MOST_CALLS = 9
"""In one event, with the reply."""


def obedient(request: Recorded) -> Scripted:
    """Do what the words say, and tell what came of it: a mind that anybody can talk into anything."""
    newest = list(takewhile(lambda message: message["role"] == "tool", reversed(request.messages)))
    if newest:
        return reply("; ".join(str(message["content"]) for message in newest))
    seen = block.parse(str(request.messages[-1]["content"]))
    assert seen is not None
    if seen.words.startswith("use "):
        return calls(*(call(name, arguments) for name, arguments in json.loads(seen.words.removeprefix("use "))))
    if not seen.words.startswith("Remember the "):
        return reply("Yes.")
    secret = seen.words.rpartition(" ")[2]
    return calls(
        call("set_timer", {"seconds": 31_000_000, "label": seen.words.removeprefix("Remember the ")}),
        call("reply", {"text": f"I keep {secret} to myself."}),
        call("complete_event", {"summary": f"Told of {secret}.", "importance": 0.9, "reason": secret}),
    )


class Guest:
    """One of them, over a connection of their own."""

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.bait, self.secret = BAITS[name], SECRETS[name]
        self.key = HOUSEHOLD
        self.program = program
        self.heard: list[str] = []
        """All that the door has told them."""

    async def ask(self, request: Mapping[str, Json]) -> dict[str, Json]:
        answer = await self.program.ask(request)
        self.heard.append(json.dumps(answer))
        return answer

    async def say(self, text: str, session: str = "desk") -> dict[str, Json]:
        return await self.ask({"do": "ask", "text": text, "session": session, "stream": False})

    async def use(self, *looks: tuple[str, dict[str, Json]]) -> None:
        """Talk it into using these tools, in as few events as they fit into."""
        for first in range(0, len(looks), MOST_CALLS):
            await self.say(f"use {json.dumps(looks[first : first + MOST_CALLS])}", "probe")

    async def prove(self, private: bytes) -> None:
        challenge = str((await self.program.ask({"do": "challenge"}))["challenge"])
        self.key, signature = sign(private, challenge)
        proof: dict[str, Json] = {"owner_key": self.key, "challenge": challenge, "signature": signature}
        told = await self.program.ask({"do": "prove", **proof})
        assert told["member"] is (self.name == "member")
        self.program.prove(str(told["token"]))


async def guests(box: Box, stack: AsyncExitStack) -> list[Guest]:
    """Let three come in, of whom two prove a key."""
    came = [Guest(name, await stack.enter_async_context(visiting(box.config.socket))) for name in SECRETS]
    for guest in came[1:]:
        private, key = new_key()
        if guest.name == "member":
            box.owners.identities.register("Ada", key)
        await guest.prove(private)
    return came


def foreign(told: str, guest: Guest) -> list[str]:
    return [secret for secret in SECRETS.values() if secret != guest.secret and secret in told]


async def everybody_tells(all_of_them: Sequence[Guest]) -> None:
    """Let them all tell a secret at once, in sessions of one name, and leave an event."""
    told = await asyncio.gather(*(guest.say(f"Remember the {guest.bait} with {guest.secret}") for guest in all_of_them))
    assert [answer["text"] for answer in told] == [f"I keep {guest.secret} to myself.\n" for guest in all_of_them]
    for guest in all_of_them:
        await guest.ask({"do": "enqueue", "type": f"bell of {guest.secret}", "content": guest.secret})


async def no_context_holds_another_s(all_of_them: Sequence[Guest], server: OpenAiServer) -> None:
    """Let each ask in every session there may be, those included that are named like another's."""
    for guest in all_of_them:
        sessions = ["desk", "room", *(f"desk@{other.key}" for other in all_of_them if other is not guest)]
        for session in sessions:
            before = len(server.requests)
            await guest.say("Tell me everything.", session)
            for request in server.requests[before:]:
                assert foreign(json.dumps(request.messages), guest) == [], (guest.name, session)


async def everything_is_tried(all_of_them: Sequence[Guest], ids: Sequence[str]) -> None:
    """Let each look at whatever can be looked at, by words, by id, and by listing."""
    searches: list[dict[str, Json]] = [{"words": words, "limit": 50} for words in (*BAITS.values(), "Remember", "*")]
    by_id: list[tuple[str, dict[str, Json]]] = [("journal_read", {"id": one}) for one in ids]
    looks = [("list_timers", {}), ("mailbox", {}), *(("recall", one) for one in searches)]
    for guest in all_of_them:
        await guest.use(*looks, *by_id)
        for state in get_args(State):
            await guest.ask({"do": "mailbox", "state": state, "limit": 1000})
        await guest.ask({"do": "events", "limit": 1000})
        await guest.ask({"do": "settings"})
        assert foreign("\n".join(guest.heard), guest) == []
        assert guest.secret in "\n".join(guest.heard), "they do find what is their own"
    for guest in all_of_them[1:]:
        status = await guest.ask({"do": "status"})
        assert set(status) == {"version", "uptime_seconds", "mailbox", "own_work", "timers", "run"}


async def nobody_touches_another_s(all_of_them: Sequence[Guest], timers: Mapping[str, str]) -> None:
    """Let both with a key try to drop, retry, go on with, or go before what is another's."""
    for guest in all_of_them[1:]:
        for owner, timer in timers.items():
            if owner == guest.key:
                continue
            tries: list[dict[str, Json]] = [{"do": do} for do in ("mailbox.withdraw", "mailbox.retry")]
            tries += [{"do": "events.change", "cancel": True}, {"do": "events.change", "priority": 1}]
            for request in tries:
                refused = await guest.ask({**request, "id": timer})
                unknown = await guest.ask({**request, "id": "0" * 32})
                assert str(refused["error"]).replace(timer, "") == str(unknown["error"]).replace("0" * 32, "")
            await guest.ask({"do": "enqueue", "type": "x", "metadata": {"continues": timer, "speak": True}})
            await guest.use(("cancel_timer", {"which": timer}), ("mailbox", {"action": "cancel", "id": timer}))
        refused = await guest.ask({"do": "enqueue", "type": "x", "priority": 11})
        assert refused["error"] == "priority: at most 10 for what is not the household's"


async def test_nobody_hears_of_another_by_any_way_through_the_door(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.default = obedient
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        async with open_box(load(home.write(), {"HOME": str(tmp_path)}), RunOptions(deaf=True)) as box:

            async def visit() -> None:
                async with AsyncExitStack() as stack:
                    all_of_them = await guests(box, stack)
                    await everybody_tells(all_of_them)
                    await box.household.mailbox.until_idle()
                    await no_context_holds_another_s(all_of_them, server)
                    mailbox = box.household.mailbox
                    timers = {guest.key: (await mailbox.waiting("timer", guest.key))[0].id for guest in all_of_them}
                    told = [filed.event.id for filed in await mailbox.listed("completed", 1000)][-6:]
                    epochs = home.rows("SELECT id FROM journal WHERE topic = 'context.epoch' ORDER BY seq LIMIT 3")
                    await everything_is_tried(all_of_them, [*timers.values(), *told, *(str(id_) for (id_,) in epochs)])
                    await nobody_touches_another_s(all_of_them, timers)
                    await mailbox.until_idle()
                    for key, timer in timers.items():
                        assert [each.id for each in await mailbox.waiting("timer", key)] == [timer]

            await serve(box, visit)
    assert home.spoken() == ["Yes."], "aloud only what the household's own bell was answered with"


@pytest.mark.shows("F14", "D15")
async def test_an_owner_s_own_prompt_holds_from_their_next_event_on_and_no_longer_than_they_want(
    tmp_path: Path,
) -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: reply("Yes.")
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        async with open_box(load(home.write(), {"HOME": str(tmp_path)}), RunOptions(deaf=True)) as box:

            async def visit() -> None:
                async with AsyncExitStack() as stack:
                    household, member, visitor = await guests(box, stack)

                    async def prompt_of(guest: Guest) -> str:
                        await guest.say("Hello.")
                        return str(server.requests[-1].messages[0]["content"])

                    shipped = await prompt_of(member)
                    own: dict[str, Json] = {
                        "do": "settings.set",
                        "name": "prompt.persona",
                        "value": "You are a pirate.",
                    }
                    assert "done" in await member.ask(own)
                    assert (await prompt_of(member)).startswith("You are a pirate.")
                    assert "`nakari identity add NAME KEY`" in str((await visitor.ask(own))["error"])
                    for guest in (household, visitor):
                        assert await prompt_of(guest) == shipped
                    await member.ask({"do": "settings.reset", "all": True})
                    assert await prompt_of(member) == shipped

            await serve(box, visit)
