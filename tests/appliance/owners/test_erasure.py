"""An owner's erasure that is killed, or that something is in the way of, is gone on with until not one word is left."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from agent.event import HOUSEHOLD, USER_TEXT, Event
from appliance.admin.local import erase_everything
from appliance.errors import Problem
from appliance.owners.erasure import (
    GRAPH_OF_THE_HOUSE,
    GRAPH_OF_THEIR_OWN,
    JOURNAL,
    ORDERS,
    SWITCHED_OFF,
    Erased,
    OwnerErasure,
    sentence,
)
from appliance.owners.owners import identities_of, open_owners, tokens_of
from appliance.recorder.store import Limits, Recordings
from appliance.reflexes.forget import mindless
from appliance.speakers.store import Sample, VoiceStore
from appliance.wiring.memory.graph import graph_side
from appliance.wiring.memory.state import State, open_state
from audio.loops import running
from memory.history.audit import AuditLog
from memory.history.audit_anchor import Anchor, AuditAnchors, anchors_in
from memory.state.journal import Entry
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.recorder.test_store import a_recording
from tests.appliance.visiting import ADA, BEN, at_home, is_household
from tests.memory.history.test_erasure import NAME, found_in

pytestmark = pytest.mark.shows("F12", "V29")

OTHER = "Rumpelstiltskin"


async def journaled(state: State, owner: str, word: str) -> None:
    """Leave words of an owner in journal, mailbox and settings, and the name in a membership."""
    event = Event(USER_TEXT, f"I am {word}", owner_key=owner, source="cli", session_id=f"{word}@{owner}")
    await state.mailbox.enqueue(event)
    told = {"words": event.content, "source": "cli"}
    await state.journal.append(Entry("runs.new", told, event_id=event.id, session_id=event.session_id, owner_key=owner))


def anybody(owner: str) -> bool:
    return True


async def lived_in(box: KeptBox) -> None:
    """Let a member and a visitor tell something; each has written into both kinds of graph."""
    config = box.config()
    identities_of(config.state_folder).register(NAME, ADA)
    for owner, word in ((ADA, NAME), (BEN, OTHER)):
        tokens_of(config.state_folder).create(f"the phone of {word}", owner)
    async with open_state(config.state_folder) as state:
        for owner, word in ((ADA, NAME), (BEN, OTHER)):
            await journaled(state, owner, word)
    for shares in (anybody, is_household):
        async with at_home(config, shares) as house:
            for owner, word in ((ADA, NAME), (BEN, OTHER)):
                await house.desk.write(owner, "CREATE (:Person {name: $name})", name=word)


@asynccontextmanager
async def erasing(box: KeptBox) -> AsyncIterator[OwnerErasure]:
    """Open a box as the service does, without a mind."""
    config = box.config()
    async with open_state(config.state_folder) as state, graph_side(config) as graph, running(graph.loops()):
        owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
        yield OwnerErasure(config.state_folder, graph, owners, mindless(state))


def killed_at(box: KeptBox, hundredth: int) -> int:
    command = [sys.executable, "-m", "tests.appliance.admin.erasing_program", str(box.file), ADA, str(hundredth)]
    return subprocess.run(command, check=False, timeout=60).returncode


@pytest.mark.shows("V26")
async def test_no_recorded_turn_is_left_for_their_voice_may_be_in_it(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    recordings = Recordings(box.config().state_folder / "recordings", Limits(9, 10**9))
    box.state.mkdir(parents=True, exist_ok=True)
    assert recordings.keep(a_recording("turn"), 0)
    async with erasing(box) as erasure:
        await erasure.erase(ADA, silent)
    assert list((box.state / "recordings").iterdir()) == []


async def test_killed_at_each_step_the_next_process_goes_on_to_the_end(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    await lived_in(box)
    for hundredth in (JOURNAL, GRAPH_OF_THEIR_OWN, GRAPH_OF_THE_HOUSE):
        assert killed_at(box, hundredth) == -signal.SIGKILL
    assert [file.name for file in (box.state / ORDERS).iterdir()] == [ADA]
    assert found_in(box.state, NAME), "her name is the last to go"
    for left in ("replay-left", "forgetting-left"):
        (box.state / left).mkdir()
        (box.state / left / "made").write_text(NAME)
    (box.state / "backup-fetched-left").write_text(NAME)
    async with erasing(box) as erasure, asyncio.TaskGroup() as group:
        running = group.create_task(erasure.run())
        async with asyncio.timeout(120):
            while erasure.ordered():  # noqa: ASYNC110  no event tells it
                await asyncio.sleep(0)
        running.cancel()
    assert found_in(box.state, NAME) == []
    assert {file.relative_to(box.state).parts[0] for file in found_in(box.state, OTHER)} >= {
        "nakari.db",
        "audit",
        "graph",
        "owners",
        "tokens",
    }
    audit = AuditLog(box.state / "audit")
    assert [record.is_erased for record in audit.verified() if record.kind == "attempt"] == [True, False]
    audit.close()


async def test_what_is_in_the_way_is_told_and_it_is_done_once_that_is_gone(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    async with at_home(box.config()) as house:
        await house.desk.write(ADA, "CREATE (:Person {name: $name})", name=NAME)
    async with open_state(box.config().state_folder) as state:
        await AuditAnchors(state.journal.database, ADA).add(Anchor(2, "of the graph of their own"))
    blind = KeptBox(tmp_path, "enabled = false")
    async with erasing(blind) as erasure:
        with pytest.raises(Problem, match=re.escape(SWITCHED_OFF)) as refused:
            await erasure.erase(ADA, silent)
        assert str(refused.value).startswith(f"not everything of {ADA} is erased yet: ")
        assert erasure.ordered() == [ADA]
    assert "a graph of their own" in await erase_everything(box.config(), ADA, silent)
    assert found_in(tmp_path, NAME) == []
    assert anchors_in(box.state / "nakari.db", ADA) == [], "or their next graph would be taken for one cut off"
    assert list((box.state / ORDERS).iterdir()) == []


async def test_who_comes_again_is_not_forgotten_again(tmp_path: Path) -> None:
    box = KeptBox(tmp_path, "enabled = false")
    config = box.config()
    async with open_state(config.state_folder) as state, graph_side(config) as graph, asyncio.TaskGroup() as group:
        await journaled(state, ADA, NAME)
        erasure = OwnerErasure(
            config.state_folder,
            graph,
            await open_owners(state, config.state_folder, config.mind.max_tool_calls),
            mindless(state),
        )
        (box.state / ORDERS).mkdir()
        for left in (ADA, HOUSEHOLD, "junk"):
            (box.state / ORDERS / left).touch()
        erased = group.create_task(erasure.erase(ADA, silent))
        running = group.create_task(erasure.run())  # finds the order, and waits for its turn
        await erased
        await journaled(state, ADA, OTHER)
        await journaled(state, HOUSEHOLD, "Hildegard")
        await erasure.erase(BEN, silent)  # behind it
        running.cancel()
    assert found_in(box.state, NAME) == []
    assert found_in(box.state, OTHER)
    assert found_in(box.state, "Hildegard")


async def test_what_an_observer_is_shown_of_late_goes_too_and_of_nobody_else(tmp_path: Path) -> None:
    config = KeptBox(tmp_path, "enabled = false").config()
    async with open_state(config.state_folder) as state, graph_side(config) as graph:
        erasure = OwnerErasure(
            config.state_folder,
            graph,
            await open_owners(state, config.state_folder, config.mind.max_tool_calls),
            mindless(state),
        )
        for owner in (ADA, BEN):
            await state.bus.publish(Event("ui.events", f"said by {owner}", owner_key=owner))
        await erasure.erase(ADA, silent)
        assert [envelope.owner_key for envelope in state.bus.recent] == [BEN]


async def test_the_household_s_everything_is_nobody_s_to_erase_this_way(tmp_path: Path) -> None:
    async with erasing(KeptBox(tmp_path, "enabled = false")) as erasure:
        with pytest.raises(ValueError, match="the state folder itself"):
            await erasure.erase(HOUSEHOLD, silent)
        assert erasure.ordered() == []


def test_it_says_what_was_erased_and_what_it_does_not_reach() -> None:
    assert sentence("Ada", Erased(), []) == "There was nothing of Ada left to erase; backups of before are not reached."
    assert sentence("Ada", Erased(2, 7, 3, had_graph=True), [Path("/s/before-1")]) == (
        "Everything of Ada is erased: 7 entries of the journal, a graph of their own and 3 writes into the household's "
        "graph; digests stay; backups of before and /s/before-1 are not reached."
    )


@pytest.mark.shows("V27")
async def test_a_member_s_voice_goes_with_them_and_nobody_else_s(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    folder = box.config().state_folder
    folder.mkdir(parents=True, exist_ok=True)
    identities_of(folder).register(NAME, ADA)
    store, voice = VoiceStore(folder), np.eye(256, dtype=np.float32)
    store.add(NAME, Sample("1", voice[0]))
    store.add(OTHER, Sample("2", voice[1]))
    async with erasing(box) as erasure:
        await erasure.erase(ADA, silent)
    assert [*store.known()] == [OTHER]
