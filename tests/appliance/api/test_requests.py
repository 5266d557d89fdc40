"""What may be asked at the door: whatever bytes come, the answer is a request or a sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.api.register import Asked, BadRequest
from appliance.api.register import parse as parse_one_of
from appliance.api.requests.box import Ask, Calibrate, Enqueue, Forget, Hush, Ping, Status
from appliance.api.requests.memory import Backup

PLAIN = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    PLAIN | TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)


MODELS = (Ping, Status, Ask, Enqueue, Hush, Forget, Calibrate)


def parse(sent: bytes) -> Asked:
    return parse_one_of(sent, MODELS)


def line(**request: object) -> bytes:
    return json.dumps(request).encode() + b"\n"


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        (line(do="ping"), Ping(do="ping")),
        (line(do="status"), Status(do="status")),
        (line(do="ask", text="hi"), Ask(do="ask", text="hi", session="cli", stream=True)),
        (line(do="ask", text="hi", stream=False), Ask(do="ask", text="hi", stream=False)),
        (line(do="enqueue", type="x"), Enqueue(do="enqueue", type="x", content="", priority=0, metadata={})),
        (b' {"type": "x", "do" : "enqueue"} \r\n', Enqueue(do="enqueue", type="x")),
    ],
)
def test_a_request_is_understood(sent: bytes, understood: object) -> None:
    assert parse(sent) == understood


def test_a_file_that_no_disk_can_have_is_refused_at_the_door() -> None:
    with pytest.raises(BadRequest, match=r"file: .*none has a zero byte"):
        parse_one_of(line(do="backup", file="a\0b"), (Backup,))


@pytest.mark.shows("A1", "A2", "A10")
@given(
    kind=TEXTS.filter(str.strip), content=st.text(st.characters(codec="utf-8")), metadata=st.dictionaries(TEXTS, VALUES)
)
def test_an_event_of_any_type_arrives_unchanged(kind: str, content: str, metadata: dict[str, object]) -> None:
    request = parse(line(do="enqueue", type=kind, content=content, metadata=metadata))
    assert isinstance(request, Enqueue)
    assert (request.type, request.content, request.metadata) == (kind, content, metadata)


@given(st.binary(max_size=200))
def test_no_bytes_whatever_raise_anything_else(sent: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        parse(sent)
    assert "\n" not in str(caught.value)


@given(
    do=st.sampled_from(["ping", "status", "ask", "enqueue", "dance"]), rest=st.dictionaries(TEXTS, VALUES, max_size=4)
)
def test_no_json_whatever_raises_anything_else(do: str, rest: dict[str, object]) -> None:
    try:
        parse(line(**{**rest, "do": do}))
    except BadRequest as refused:
        said = str(refused)
    else:
        said = ""
    assert said or set(rest) <= {"do"} | set(Ask.model_fields) | set(Enqueue.model_fields)


def test_a_request_cannot_be_changed_on_its_way() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Ping(do="ping").do = "ping"


@pytest.mark.shows("V16", "V29")
@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        (line(do="hush", what="mute"), Hush(do="hush", what="mute")),
        (line(do="calibrate"), Calibrate(do="calibrate")),
        (line(do="forget"), Forget(do="forget", last=1)),
        (line(do="forget", minutes=2.5), Forget(do="forget", minutes=2.5)),
    ],
)
def test_a_reflex_is_understood(sent: bytes, understood: object) -> None:
    assert parse(sent) == understood


@pytest.mark.parametrize("asked", [{"do": "hush", "what": "forget"}, {"do": "forget", "last": 0}, {"do": "hush"}])
def test_what_is_no_reflex_is_refused(asked: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        parse(line(**asked))
