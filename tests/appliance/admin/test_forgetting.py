"""A name that was told and forgotten is in no file of the whole state folder, whatever kept it."""

from pathlib import Path

import pytest

from agent.event import ASR_TRANSCRIPT, Event
from appliance.admin.archive import everything_of
from appliance.admin.graph_admin import GraphAdmin, graph_admin_of
from appliance.api.requests.memory import TakeSnapshot
from appliance.reflexes.forget import Forgetting, no_mind
from appliance.wiring.memory.graph import graph_side
from appliance.wiring.memory.state import open_state
from audio.loops import running
from audio.tts.tts_cache import TtsCache
from memory.graph.embedded.store import State
from memory.state.journal import Entry
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_graph_admin import write
from tests.memory.history.test_erasure import NAME, found_in


@pytest.mark.shows("V29", "C11")
async def test_a_name_told_and_forgotten_is_found_nowhere(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    config = box.config()
    async with open_state(config.state_folder) as state, graph_side(config) as graph, running(graph.loops()):
        admin = graph_admin_of(everything_of(config), graph)
        assert isinstance(admin, GraphAdmin)
        assert graph.store is not None
        await graph.store.until(State.READY)
        await admin.use(write("CREATE (:Before)"))
        event = Event(ASR_TRANSCRIPT, f"my name is {NAME}", source="mic")
        await state.mailbox.enqueue(event)
        told = {"words": event.content}
        await state.journal.append(
            Entry("speech.heard", told, event_id=event.id, session_id="room", owner_key="household")
        )
        memory_write = admin.tools["memory_write"].function
        await memory_write(event=event, cypher="CREATE (:Person {name: $name})", params={"name": NAME})
        await admin.act(TakeSnapshot(), silent)
        phrases = config.state_folder / "phrases"
        phrases.mkdir()
        (phrases / "one.json").write_text(f'{{"text": "Hello {NAME}."}}')
        places = {file.relative_to(box.state).parts[0] for file in found_in(box.state, NAME)}
        assert places >= {"audit", "snapshots", "phrases", "graph"}
        forgetting = Forgetting(state, None, no_mind, admin.erase_event, None, [TtsCache(phrases)])
        assert (await forgetting.last()).did == "forgotten"
        assert await admin.writer.audit.verify() > 0
        assert await state.journal.search(NAME, "household") == []
        left = await admin.writer.graph.read("MATCH (n) RETURN labels(n)[0] AS l")
        assert left.records == [{"l": "Before"}]
    assert found_in(box.state, NAME) == []
