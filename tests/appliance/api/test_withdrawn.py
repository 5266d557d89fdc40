"""An event that is withdrawn while somebody waits for the answer to it."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from agent.bus import Bus
from appliance.api.event_intake import EventIntake
from appliance.api.handler import Household
from appliance.api.outcome import Outcome
from appliance.api.parts import Told
from appliance.api.requests.mailbox import Retry, Withdraw
from appliance.commands.registry import Commands
from appliance.errors import Exit, Problem
from appliance.output.saying import DoorReplies
from appliance.output.text import TextReplySink
from tests.agent.mailboxes import SqliteRig


async def test_whoever_waits_for_the_answer_to_what_is_withdrawn_is_let_go(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    bus = Bus(nothing)
    nobody = cast("Any", None)  # neither loop nor senses have a part in it
    replies = DoorReplies(TextReplySink(bus), nobody)
    household = Household(
        EventIntake(rig.mailbox, lambda _: True, lambda _: ""),
        nobody,
        bus,
        replies,
        nobody,
        nobody,
        Told({}, 0.0),
        Commands([], "en"),
    )
    heard: list[list[str | Outcome]] = []
    filed = asyncio.Event()
    rig.mailbox.observe_changes(filed.set)

    async def ask() -> None:
        heard.append([piece async for piece in household.ask("what time is it", "cli", "ada")])

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        group.create_task(ask())
        await filed.wait()
        [waiting] = await rig.mailbox.listed("pending", 1, "ada")
        await household.mail(Withdraw(do="mailbox.withdraw", id=waiting.event.id))
        for code, of_name in ((Exit.FAULT, waiting.event.id), (Exit.NO_INPUT, "nosuch")):
            for again in (Withdraw(id=of_name), Retry(id=of_name)):
                with pytest.raises(Problem) as refused:
                    await household.mail(again)
                assert refused.value.code == code, "what is over is another failure than what never was"
    [[outcome]] = heard
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.event_id) == ("withdrawn", waiting.event.id)
    await rig.stop()


async def nothing(*_: object) -> None:
    """Keep no journal."""
