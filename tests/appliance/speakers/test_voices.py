"""Names for what is heard, voices learnt in a conversation, and what is kept of them."""

import json
import stat
from pathlib import Path

import pytest

from agent.event import speaker_of, to_json
from agent.run.opening import evidence_of
from appliance.admin.archive import NOT_KEPT_EITHER
from appliance.speakers.speakers import A_CONVERSATION, ENOUGH, Voices
from appliance.speakers.store import FILE, MOST_OF_ONE, Sample, VoiceStore
from tests.appliance.speakers.people import ANNA, BEN, CARL, heard, person


@pytest.fixture
def store(tmp_path: Path) -> VoiceStore:
    return VoiceStore(tmp_path)


@pytest.mark.shows("V27")
async def test_without_anybody_known_an_event_says_nothing_of_voices(store: VoiceStore) -> None:
    event = heard(Voices(store), "turn on the light", ANNA)
    assert "voice" not in event.metadata["evidence"]  # type: ignore[operator]
    assert speaker_of(event) == ""
    assert not store.file.exists()


@pytest.mark.shows("V27")
async def test_who_is_learnt_is_named_in_the_event_and_the_block_and_a_stranger_is_unknown(store: VoiceStore) -> None:
    voices = Voices(store)
    assert await voices.learn("Anna", heard(voices, "my name is anna", ANNA)) == 1
    anna, stranger = heard(voices, "hello", ANNA), heard(voices, "hello", BEN)
    assert speaker_of(anna) == "Anna"
    assert evidence_of(anna)["speaker"] == "Anna"
    assert speaker_of(stranger) == ""
    assert evidence_of(stranger)["speaker"] == "unknown"
    assert "voice" not in evidence_of(anna)


@pytest.mark.shows("V27")
async def test_no_figure_of_a_voice_is_in_an_event(store: VoiceStore) -> None:
    voices = Voices(store)
    await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
    event = heard(voices, "hello", ANNA)
    evidence = json.loads(to_json(event))["metadata"]["evidence"]
    assert set(evidence["voice"]) == {"name", "margin", "sure"}
    assert not [each for each in evidence.values() if isinstance(each, list) or len(str(each)) > 80]


@pytest.mark.shows("V27")
async def test_what_the_same_voice_said_before_and_says_next_is_learnt_from_and_no_other_s(store: VoiceStore) -> None:
    voices = Voices(store)
    heard(voices, "what a day", ANNA)
    heard(voices, "indeed", BEN)
    await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
    assert len(store.known()["Anna"]) == 2
    await voices.arrived(heard(voices, "so it is", BEN))
    assert len(store.known()["Anna"]) == 2
    for _ in range(3):
        await voices.arrived(heard(voices, "and so on", ANNA))
    assert len(store.known()["Anna"]) == ENOUGH


async def test_after_the_conversation_nothing_more_is_learnt(store: VoiceStore) -> None:
    now = 0.0
    voices = Voices(store, lambda: now)
    await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
    now = A_CONVERSATION + 1
    await voices.arrived(heard(voices, "good morning", ANNA))
    assert len(store.known()["Anna"]) == 1


@pytest.mark.shows("V27")
async def test_too_short_a_sentence_is_learnt_by_the_next_one(store: VoiceStore) -> None:
    voices = Voices(store)
    await voices.learn("Ben", heard(voices, "my name is ben", BEN))
    assert await voices.learn("Anna", heard(voices, "anna", ANNA, seconds=0.6)) == 0
    await voices.arrived(heard(voices, "i am ben as you know", BEN))
    await voices.arrived(heard(voices, "nice to meet you", ANNA))
    assert {name: len(samples) for name, samples in store.known().items()} == {"Ben": 1, "Anna": 1}
    assert speaker_of(heard(voices, "hello", ANNA)) == "Anna"


async def test_forgetting_what_was_just_heard_lets_go_of_its_voices(store: VoiceStore) -> None:
    voices = Voices(store)
    event = heard(voices, "my name is anna", ANNA)
    voices.forget()
    assert voices.voice_of(event) is None
    assert await voices.learn("Anna", event) == 0


@pytest.mark.shows("V27")
def test_voices_are_in_a_file_of_their_own_for_nobody_else_and_in_no_backup(store: VoiceStore) -> None:
    store.add("Anna", Sample("1", ANNA))
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert FILE in NOT_KEPT_EITHER
    assert [path.name for path in store.file.parent.iterdir()] == [FILE]


@pytest.mark.shows("V27")
def test_a_voice_that_another_process_forgot_is_known_no_more(store: VoiceStore, tmp_path: Path) -> None:
    store.add("Anna", Sample("1", ANNA))
    store.add("Ben", Sample("2", BEN))
    assert VoiceStore(tmp_path).forget("ANNA")
    assert [*store.known()] == ["Ben"]
    assert not VoiceStore(tmp_path).forget("Anna")
    assert VoiceStore(tmp_path).forget("Ben")
    assert not store.file.exists()
    assert store.known() == {}


def test_an_utterance_is_one_person_s_and_the_oldest_goes(store: VoiceStore) -> None:
    store.add("Anna", Sample("1", ANNA))
    store.add("Ben", Sample("1", BEN))
    assert [*store.known()] == ["Ben"]
    store.add("Ben", *(Sample(str(number), person(number)) for number in range(2, 20)))
    assert [each.event_id for each in store.known()["Ben"]] == [str(number) for number in range(20 - MOST_OF_ONE, 20)]
    assert float(store.known()["Ben"][-1].vector @ person(19)) > 0.999


@pytest.mark.parametrize("text", ["", "{", "[]", '{"voices": {"Anna": [{"event": "1", "vector": "AAAA"}]}}', "\x00"])
def test_a_damaged_file_knows_nobody(store: VoiceStore, text: str) -> None:
    store.file.write_text(text)
    assert store.known() == {}
    store.add("Carl", Sample("1", CARL))
    assert [*store.known()] == ["Carl"]
