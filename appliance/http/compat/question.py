"""What a program asks in another's protocol: the person's newest words, what is beside them, and the program's own."""

import hashlib
import re
from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from time import monotonic
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agent.event import new_id
from appliance.api.caller import Caller
from appliance.api.program_questions import Item, Question
from appliance.errors import Exit, Problem

MODEL: Final = "nakari"
"""The one model that there is: who thinks behind it is the household's choice."""

LONGEST_PROGRAM: Final = 4_000
"""Characters of a program's own words that are told: some 1,000 tokens. Home Assistant's list of a house is longer."""

CONVERSATION_SECONDS: Final = 120.0
"""Without a question for so long, a conversation is over, and the next one is told the program's words again."""

MOST_CONVERSATIONS: Final = 64
"""Sessions of which it is known what their program said."""

CHORE: Final = "### Task:"
"""How Open WebUI's own questions begin (titles, tags, follow-ups, completions; `DEFAULT_…_PROMPT_TEMPLATE`)."""

_DATA_URL: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,", re.ASCII)
_RETRY: Final = "x-stainless-retry-count"
"""What the SDKs of OpenAI and others, made by one generator, say from the first try on: 0, then one more each time."""


class Asking(Protocol):
    """Who answers."""

    def ask(self, question: Question) -> AsyncGenerator[Item, None]:
        """Yield the words of the answer as they come, the outcome where it was not completed, and the figures.

        Closing it says that nobody listens any more; the event is answered all the same. Raises `Problem`.
        """

    async def attach(self, owner_key: str, name: str, file_name: str, content: bytes) -> None:
        """Keep an image or a document for the question that names it. Raises `NotAttached`."""

    def sees(self) -> bool:
        """Whether who thinks now is shown images."""

    def window(self) -> int:
        """Return the tokens that who thinks now reads; 0 where that is not known."""


class Programs(Struct):
    """Knows what each session's program said of itself, so that it is told once in a conversation.

    Compared without digits: Home Assistant's says the time.
    """

    clock: Callable[[], float] = monotonic
    """Seconds."""
    _said: dict[tuple[str, str], tuple[str, float]] = {}
    """By owner and session: the digest of what was told last, and when something was asked last; the oldest first."""

    def news(self, owner_key: str, session: str, words: str) -> str:
        """Return what is to be told with this question, "" for nothing new."""
        key, now = (owner_key, session), self.clock()
        told, at = self._said.pop(key, ("", now))
        digest = hashlib.sha256(re.sub(r"\d+", "0", words).encode()).hexdigest() if words else ""
        self._said[key] = (digest or told, now)
        while len(self._said) > MOST_CONVERSATIONS:
            del self._said[next(iter(self._said))]
        is_known = digest == told and now - at < CONVERSATION_SECONDS
        return "" if is_known else words[:LONGEST_PROGRAM]


def session_of(caller: Caller) -> str:
    """Return the session of a program: one for each token, another for all that come without one."""
    return caller.session(f"program {caller.program}".strip())


MOST_WORDS: Final = 500_000
"""Characters of what is asked, as of a frame of the WebSocket: a person types less."""


def asked(
    words: str, program: Iterable[str], caller: Caller, headers: Mapping[str, str], programs: Programs
) -> Question:
    """Return the question of a request. Raises `Problem` for none, and for what a program asks for itself."""
    text = words.strip()
    if not text:
        raise Problem("messages: the last one says nothing; put the person's words into it", Exit.USAGE)
    if len(text) > MOST_WORDS:
        raise Problem(f"messages: the last one has more than {MOST_WORDS} characters; attach it as a file", Exit.USAGE)
    if text.startswith(CHORE):
        raise Problem(
            "messages: titles, tags and the like for the program's own use are not made here; "
            "switch them off in the program",
            Exit.USAGE,
        )
    session, owner_key = session_of(caller), caller.owner_key
    key = headers.get("idempotency-key", "")
    event_id = hashlib.sha256(f"{owner_key}\n{session}\n{key}".encode()).hexdigest()[:32] if key else new_id()
    said = programs.news(owner_key, session, "\n\n".join(filter(None, map(str.strip, program))))
    is_retry = headers.get(_RETRY, "0") not in ("", "0")
    return Question(text, session, owner_key, event_id, is_keyed=bool(key), is_retry=is_retry, program=said)


async def with_attached(question: Question, files: Iterable[tuple[str, bytes]], asking: Asking) -> Question:
    """Return the question with files attached, each with its name and its bytes. Raises `NotAttached`."""
    names = []
    for number, (file_name, content) in enumerate(files):
        names.append(f"{question.event_id}-{number}")
        await asking.attach(question.owner_key, names[-1], file_name, content)
    return replace(question, attached=tuple(names))


def content_of(data: str, what: str) -> bytes:
    """Return the bytes of base64, bare or in a data URL. Raises `Problem` for anything else; nothing is fetched."""
    head = _DATA_URL.match(data)
    try:
        return b64decode(data[head.end() :] if head else data, validate=True)
    except (NoBase64, ValueError) as error:
        raise Problem(
            f"{what}: should be base64, as in data:image/png;base64,…; nothing is fetched from another address",
            Exit.USAGE,
        ) from error
