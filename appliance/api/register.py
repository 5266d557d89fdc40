"""The register: everything that may be asked, described once, and what every request has in common."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

import structlog
from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, StringConstraints, TypeAdapter, ValidationError

from appliance.api.caller import Caller
from appliance.errors import Exit, Problem, problem_of
from memory.json_value import Json


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("should say something")
    return text


def _no_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError("should be the name of a file; none has a zero byte")
    return text


FileName = Annotated[str, AfterValidator(_no_zero)]
Words = Annotated[str, AfterValidator(_not_blank)]
Name = Annotated[str, StringConstraints(max_length=200), AfterValidator(_not_blank)]


class Asked(BaseModel):
    """A request; each kind of it has its own name as `do`, and nothing else there."""

    # Its validator is made when it is first asked: some sixty of them are a twentieth of the start.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    do: str = ""

    def __init_subclass__(cls, *, do: str) -> None:
        """Declare the field as a class would that writes `do: Literal["ping"] = "ping"`; its fields are made after."""
        super().__init_subclass__()
        cls.__annotations__["do"] = Literal[do]
        cls.do = do


Q = TypeVar("Q", bound=Asked)

Answer: TypeAlias = Mapping[str, Json]
"""One JSON object. A failure has `error`, one sentence, and `code`, an exit code of `nakari`, where known."""

Tell: TypeAlias = Callable[[Answer], None]
"""Passes on an answer that is not the last, without waiting. Raises `Gone` when nobody reads any more."""

Around: TypeAlias = Callable[[Asked, Caller], AbstractAsyncContextManager[None]]
"""Returns what stands around a command."""

WENT_WRONG: Final = "something went wrong inside; the log says what"

NOT_THEIRS: Final = "{do} is for the household: ask it on the box, without a key"

_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)

log = structlog.get_logger()


class Gone(Exception):
    """Whoever asked left, or stopped reading."""


class BadRequest(Exception):
    """What is no request; its text is the sentence that its sender gets."""


class Entry(Struct, Generic[Q], frozen=True):
    """One thing that may be asked, at `POST /requests/<do>` and in a frame of the WebSocket."""

    model: type[Q]
    """The request: its `do`, and what else it says."""
    answer_model: object
    """The type of the last answer, for the OpenAPI document."""
    handler: Callable[[Q, Caller, Tell], Awaitable[Answer]]
    """Does what is asked and returns the last answer. What it raises is told in one sentence."""
    place: str = ""
    """A second address, for people: a method and a path, such as "GET /events/{id}"."""
    is_for_all: bool = False
    """Whether every owner may ask, of what is theirs; else only the household."""
    is_command: bool = False
    """Whether somebody has it do something at once: published on the bus, and its result too."""
    is_streamed: bool = False
    """Whether answers come before the last one."""
    only_tells: bool = False
    """Whether nothing is lost by leaving it when whoever asked has gone: the event stays in the mailbox."""

    @property
    def do(self) -> str:
        """Its name."""
        return name_of(self.model)


AnyEntry: TypeAlias = Entry[Any]


def name_of(model: type[Asked]) -> str:
    """Return the name of a request."""
    return str(get_args(model.model_fields["do"].annotation)[0])


class Register:
    """Everything that may be asked of this box."""

    def __init__(self, entries: Iterable[AnyEntry], around_commands: Around) -> None:
        """Index the entries. Raises `ValueError` for two of one name or place."""
        found = [*entries]
        self._entries = {entry.do: entry for entry in found}
        places = [entry.place for entry in found if entry.place]
        if len(self._entries) < len(found) or len(set(places)) < len(places):
            raise ValueError("two requests have one name or one place")
        self._around = around_commands

    def __iter__(self) -> Iterator[AnyEntry]:
        return iter(self._entries.values())

    def find(self, do: str) -> AnyEntry:
        """Return the entry of this name. Raises `BadRequest`."""
        if do not in self._entries:
            raise BadRequest(f"nothing here is called {do[:80]!r}; there are {', '.join(sorted(self._entries))}")
        return self._entries[do]

    async def answer(self, entry: Entry[Q], request: Q, caller: Caller, tell: Tell) -> Answer:
        """Return the last answer, a failure as its sentence. Raises `Gone`, and nothing else."""
        if not (entry.is_for_all or caller.is_household):
            return failure_of(Problem(NOT_THEIRS.format(do=entry.do), Exit.NOT_ALLOWED))
        try:
            if not entry.is_command:
                return await entry.handler(request, caller, tell)
            async with self._around(request, caller):
                return await entry.handler(request, caller, tell)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001  told to the one who asked; the door stays open for the others
            return failure_of(error)


def failure_of(error: Exception) -> dict[str, Json]:
    """Return a failure as it is told to whoever asked; a bug of ours is logged."""
    problem = problem_of(error)
    if problem is None:
        log.error("request_failed", exc_info=error)
        return {"error": WENT_WRONG}
    return {"error": problem.sentence, "code": int(problem.code)}


def parse(text: bytes, models: Sequence[type[Asked]]) -> Asked:
    """Return the request of a JSON object that says by `do` which of the models it is. Raises `BadRequest`."""
    names = {name_of(model): model for model in models}
    given = object_of(text)
    model = names.get(str(given.get("do")))
    if model is None:
        raise BadRequest(f'a request is one JSON object with "do": {", ".join(names)}')
    return understood(model, given)


def object_of(text: bytes) -> dict[str, Json]:
    """Return the JSON object of a text; {} of an empty one. Raises `BadRequest`."""
    if not text.strip():
        return {}
    try:
        given = _JSON.validate_json(text)
    except ValidationError as error:
        raise BadRequest(sentence_of(error, "")) from error
    if not isinstance(given, dict):
        raise BadRequest("a request is one JSON object")
    return given


def understood(model: type[Q], given: Mapping[str, Json]) -> Q:
    """Return the request that a JSON object makes; its `do` may be left out. Raises `BadRequest`."""
    told = {"do": name_of(model), **given}
    try:
        return model.model_validate_json(json.dumps(told))  # as JSON: strict, and yet times are texts there
    except ValidationError as error:
        raise BadRequest(sentence_of(error, name_of(model))) from error


def sentence_of(error: ValidationError, name: str) -> str:
    """Return what is wrong first, with its place, in one sentence; `name` stands for the whole."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return f"this is no JSON: {first['ctx']['error']}"
    place = ".".join(str(part) for part in first["loc"]) or name
    what = first["msg"].removeprefix("Value error, ")
    return f"{place}: {what[0].lower()}{what[1:]}"
