"""What was found by feeding parsers, each mended: it stays so."""

import json

import pytest

from agent.event import Event, from_json, to_json
from agent.model.stream.events import MAX_EVENT, EventStream
from appliance.errors import Problem
from appliance.machines.joining.invitation import Invitation, read_invitation
from appliance.machines.wire import Stop, Turn, WireRefused, pack, unpack
from memory.history.audit_record import Record

DEEP = b'{"a":' * 30_000


def test_lines_of_data_without_data_are_bounded_too() -> None:
    stream = EventStream()
    for _ in range(MAX_EVENT // 6 // 10_000):
        assert list(stream.feed(b"data:\n" * 10_000)) == []
    with pytest.raises(ValueError, match="an event of more than"):
        list(stream.feed(b"data:\n" * 10_000))


@pytest.mark.parametrize(
    "message", [DEEP, b'{"version": 1e999, "kind": "stop"}', b"[" * 50_000], ids=["objects", "version", "lists"]
)
def test_a_message_that_is_too_deep_or_of_no_version_is_refused(message: bytes) -> None:
    with pytest.raises(WireRefused):
        unpack(message)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (Stop(1), {"epoch": "1"}),
        (Stop(1), {"reply": None}),
        (Turn("kitchen", "", Event("asr_transcript", "hello")), {"room": ["a"]}),
    ],
)
def test_a_message_of_another_machine_with_a_field_of_another_type_is_refused(
    message: Stop | Turn, wrong: dict[str, object]
) -> None:
    assert unpack(pack(message)) == message
    with pytest.raises(WireRefused):
        unpack(json.dumps(json.loads(pack(message)) | wrong).encode())


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": 5},
        {"metadata": []},
        {"priority": "high"},
        {"created_at": "2026-11-23T09:00:00"},
        {"owner_key": None},
    ],
)
def test_an_envelope_with_a_field_of_another_type_is_none(wrong: dict[str, object]) -> None:
    whole = json.loads(to_json(Event("user_text", "hello")))
    with pytest.raises((TypeError, ValueError)):
        from_json(json.dumps(whole | wrong))


def test_an_audit_line_that_is_too_deep_is_no_record() -> None:
    with pytest.raises(ValueError, match="no record of the audit log"):
        Record.from_line(DEEP)


def test_an_invitation_with_half_a_character_is_one_sentence() -> None:
    line = str(Invitation.make("tls://study.home:4222", "home", "kitchen", "ears"))
    with pytest.raises(Problem):
        read_invitation(line.replace("study", "stu\udcffdy"))
