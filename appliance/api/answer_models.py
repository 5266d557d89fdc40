"""What is answered, as types: the OpenAPI document is made of them."""

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12


class Failure(TypedDict):
    """A failure of any request."""

    error: str
    code: NotRequired[int]


class Pong(TypedDict):
    """Somebody is there."""

    pong: bool
    version: str
    uptime_seconds: float
    waiting: int


class Status(TypedDict):
    """How it is; the household is told of each part too."""

    version: str
    uptime_seconds: float
    mailbox: dict[str, int]
    own_work: JsonValue
    timers: dict[str, JsonValue]
    run: dict[str, JsonValue] | None


class Done(TypedDict):
    """One sentence of what was done, "" when there was nothing to do."""

    done: str


class Id(TypedDict):
    """The event that was filed."""

    id: str


class WouldForget(TypedDict):
    """What would be forgotten, the oldest first: id, words, at."""

    events: list[dict[str, str]]


class TextChunk(TypedDict):
    """A piece of an answer in words."""

    event: str
    chunk: str


class Ended(TypedDict):
    """How a question ended; `text` where the answer was wanted whole."""

    event: str
    status: str
    text: NotRequired[str]
    id: NotRequired[str]
    reason: NotRequired[str]
    error: NotRequired[str]
    code: NotRequired[int]


class Mailbox(TypedDict):
    """Events in a state, and how many there are in each."""

    counts: dict[str, int]
    events: list[dict[str, JsonValue]]


class Event(TypedDict):
    """How one event stands; what there is nothing of is left out."""

    id: str
    type: str
    source: str
    state: str
    created_at: str
    content: NotRequired[str]
    due_at: NotRequired[str]
    waits_for: NotRequired[str]
    attempt: NotRequired[int]
    note: NotRequired[str]
    reason: NotRequired[str]
    summary: NotRequired[str]
    figures: NotRequired[dict[str, JsonValue]]


class Waiting(TypedDict):
    """Events that wait, the next one first."""

    events: list[dict[str, JsonValue]]


class Timers(TypedDict):
    """Timers and alarms, the next one first."""

    timers: list[dict[str, str]]


class Result(TypedDict):
    """What came of it; `{"progress": [done, of]}` came before it where it took long."""

    result: JsonValue


class Tools(TypedDict):
    """Tools: name, description and schema each."""

    tools: list[dict[str, JsonValue]]


class Challenge(TypedDict):
    """Something to sign, within a minute."""

    challenge: str


class Proven(TypedDict):
    """Who signed it, and the token that speaks for them."""

    owner_key: str
    name: str
    member: bool
    token: str
    told: NotRequired[str]


class Asker(TypedDict):
    """Who asks: the key, a member's name, the name of the token that was shown, and the household's members."""

    owner_key: str
    name: str
    is_household: bool
    is_member: bool
    token: str
    members: list[dict[str, str]]


class Settings(TypedDict):
    """Settings by name: value, and the level it was set at."""

    settings: dict[str, dict[str, JsonValue]]


class Satellites(TypedDict):
    """The satellites that are paired, each as it is, and those that the network announces."""

    paired: list[dict[str, JsonValue]]
    found: list[dict[str, JsonValue]]
    problem: NotRequired[str]
    """What is wrong with the list of those that are paired."""


class Satellite(TypedDict):
    """What was done, and what is known of the satellite."""

    done: str
    satellite: dict[str, JsonValue]


class Attachment(TypedDict):
    """What a file is, and the id by which a question refers to it."""

    id: str
    attachment: dict[str, JsonValue]


class Usual(TypedDict):
    """Of so many turns of a kind: p50 and p95 of the answer and of each step, in seconds."""

    turns: int
    seconds: dict[str, dict[str, float]]


class Turns(TypedDict):
    """The newest turns, the newest first, and what is usual for those spoken and those written."""

    spoken: Usual
    written: Usual
    turns: list[dict[str, JsonValue]]


class Turn(TypedDict):
    """One turn: its stages in seconds since its beginning, its steps, and why it took as long as it did."""

    event_id: str
    run_id: str
    kind: str
    status: str
    began: str
    stages: dict[str, float]
    steps: dict[str, float]
    models: list[dict[str, JsonValue]]
    tools: list[dict[str, JsonValue]]
    answer_seconds: float | None
    slowest: str
    why: str
    spoken: Usual
    written: Usual


class Why(TypedDict):
    """The event, and what happened for it in order; `sentence` where it was asked for by its words."""

    event: dict[str, JsonValue]
    steps: list[dict[str, JsonValue]]
    cost_usd: float
    sentence: NotRequired[dict[str, JsonValue]]


class Recordings(TypedDict):
    """What the flight recorder has kept, the newest first."""

    recordings: list[dict[str, JsonValue]]


class Recording(TypedDict):
    """What one recorded turn was decided by."""

    id: str
    began: str
    seconds: float
    text: str
    reason: str
    hypotheses: list[dict[str, JsonValue]]
    barge_in: list[list[JsonValue]]
    settings: dict[str, JsonValue]
    probability: list[float]
