"""A local server that speaks a provider's own protocol from a script, and refuses what the provider refuses."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

from tests.agent.openai_server import OpenAiServer, Recorded, Scripted

Part = Mapping[str, Any]
"""A piece of an answer, as the protocol has it: text, thought, a call."""


class ProviderServer(ABC):
    """`async with ... as server: server.enqueue([said("Hello.")]); …`; `requests` are the bodies it was sent.

    Each request takes the next answer; with none left it says that it is overloaded. Leaving the block raises
    AssertionError when it was sent anything that the provider would refuse.
    """

    path: ClassVar[str]
    """Where it answers."""
    key_header: ClassVar[str]
    """The header in which it is shown its key, in small letters."""
    overloaded: ClassVar[tuple[int, str]]
    """Status and words when there is no answer left."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.keys: set[str | None] = set()
        self._answers: deque[Sequence[Part]] = deque()
        self._http = OpenAiServer(pages={self.path: self._answer})

    @property
    def root(self) -> str:
        """The address without any path."""
        return self._http.url.removesuffix("/v1")

    @property
    @abstractmethod
    def url(self) -> str:
        """The address as litellm takes it."""

    @abstractmethod
    def complaint(self, body: Mapping[str, Any]) -> str | None:
        """Return why the provider would refuse the request, None when it is right."""

    @abstractmethod
    def steps(self, parts: Sequence[Part]) -> list[bytes]:
        """Return an answer as the events of its stream."""

    @abstractmethod
    def error(self, status: int, message: str) -> Mapping[str, Any]:
        """Return the body of an error."""

    def enqueue(self, *answers: Sequence[Part]) -> None:
        """Append answers, one for each coming request."""
        self._answers.extend(answers)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, raised, trace)
        if kind is None and self.complaints:
            raise AssertionError(f"the server was sent illegal requests: {self.complaints}")

    def _answer(self, request: Recorded) -> Scripted:
        self.requests.append(request.json)
        self.keys.add(request.headers.get(self.key_header))
        if wrong := self.complaint(request.json):
            self.complaints.append(wrong)
            return self._refusal(400, wrong)
        if not self._answers:
            return self._refusal(*self.overloaded)
        return Scripted(tuple(self.steps(self._answers.popleft())))

    def _refusal(self, status: int, message: str) -> Scripted:
        body = json.dumps(self.error(status, message)).encode()
        return Scripted((body,), status, {"Content-Type": "application/json"})
