"""What happens in one story, drawn from its seed: who says what when, who interrupts, and what the model answers."""

import json
import random
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.context import block
from agent.context.block import Block, format_time
from agent.context.summary import REQUEST
from agent.event import ASR_TRANSCRIPT, GROWTH, NIGHT, SELF_CREATED, TIMER, Event
from agent.model.messages import Message, ToolCall

NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

SENTENCE: Final = re.compile(r"Part (\w+) of (\w+) is said\.")
"""Each sentence of a story is said once in it, so that one heard twice was spoken twice."""

RINGING: Final = 10_000
"""Stories from this seed on are about a bell: in most answers something is done that cannot be taken back."""

OPENING: Final = 20_000
"""Stories from this seed on are about a door, which opens only on a yes."""

END_OF_NEWS: Final = "that was all"

MOST_ROUNDS: Final = 5
"""Answers to one event after which the scripted model ends it."""


GROWING: Final = 30_000
"""Stories from this seed on are about a conversation that is looked back on; in the odd ones somebody speaks again."""

NIGHTS: Final = 40_000
"""Stories from this seed on are about a night after one; in the odd ones somebody speaks in it."""

MENDING: Final = 50_000
"""Stories from this seed on are about a bell too, and the model writes arguments that are nearly JSON."""

SAID: Final = 3
"""Times that somebody speaks in one."""

ORDER: Final = ("open", "yes")
"""What is said in a story about a door."""


class Arrival(Struct, frozen=True):
    """An event on its way to the mailbox."""

    event: Event
    turns: int
    """Turns of the event loop before it comes."""
    interrupts: bool
    """Whoever sends it speaks over it."""
    answers: bool = False
    """Whether it is said when everything before was heard, to that."""
    late: bool = False
    """Whether it is said in the middle of what comes of a silence."""


def arrivals(seed: int, noon: datetime) -> list[Arrival]:
    """Return the events of a story: people, a timer, its own plans, words that go on."""
    if GROWING <= seed < MENDING:
        turns = random.Random(f"late {seed}").choice((0, 20, 60))
        late = [Arrival(_said(seed, SAID, noon), turns, interrupts=False, late=True)] if seed % 2 else []
        return [*(Arrival(_said(seed, place, noon), 0, interrupts=False) for place in range(SAID)), *late]
    if OPENING <= seed < GROWING:
        said = [Event(ASR_TRANSCRIPT, words, f"event-{seed}-{words}", source="mic", priority=10) for words in ORDER]
        return [Arrival(replace(each, created_at=noon), 0, False, answers=True) for each in said]
    chance = random.Random(f"arrivals {seed}")
    told: list[Arrival] = []
    for place in range(chance.randint(3, 6)):
        event = _event(f"event-{seed}-{place}", chance, noon)
        if told and event.is_from_person and chance.random() < 0.3:
            event = replace(event, metadata={"continues": told[-1].event.id})
        told.append(Arrival(event, chance.choice((0, 0, 20, 60)), chance.random() < 0.3))
    return told


def _said(seed: int, place: int, noon: datetime) -> Event:
    said = Event(ASR_TRANSCRIPT, f"this is {number_of(place)}", f"event-{seed}-{place}", source="mic", priority=10)
    return replace(said, created_at=noon)


def _event(name: str, chance: random.Random, noon: datetime) -> Event:
    kind = chance.choice(("person", "person", "person", "timer", "own", "idle"))
    if kind == "person":
        most = chance.randint(1, 4)
        said = Event(ASR_TRANSCRIPT, "tell me", id=name, source="mic", priority=10, max_tool_calls=most)
        return replace(said, created_at=noon)  # it stands in its context: else no two lives of a story were alike
    if kind == "timer":
        due = noon + timedelta(minutes=chance.randint(0, 10))
        return Event(TIMER, "tea", id=name, source="timer", priority=20, not_before=due)
    return Event(SELF_CREATED, "tidy", id=name, source="self", priority=0 if kind == "own" else -5)


class Answering(Struct, frozen=True):
    """The scripted model's mind: a function of the list alone, so that who asks again is answered alike."""

    seed: int
    noon: datetime

    def answer(self, messages: Sequence[Message]) -> tuple[Message, bool]:
        """Return the answer, and whether the stream breaks off in the middle of it."""
        if messages[-1] == REQUEST:
            return Message("assistant", f"Summed up at {len(messages)}."), len(messages) % 3 == 0
        start = max(place for place, message in enumerate(messages) if message.role == "user")
        seen = block.parse(messages[start].content) or Block("unknown", "", "", "", is_human=False, budget=0)
        turn = messages[start:]
        tag = _tag(seen.event_id, seen.situation.get("Note", ""))
        chance = random.Random(f"{self.seed} {tag} {len(messages)} {messages[-1].content}")
        is_sloppy = self.seed >= MENDING
        told = _Told(chance, messages, turn, tag, self.noon, is_night=seen.event_type == NIGHT, is_sloppy=is_sloppy)
        rounds = sum(message.role == "assistant" for message in turn)
        if GROWING <= self.seed < MENDING:
            return told.looks_back() if seen.event_type in GROWTH else told.ends(), False
        if OPENING <= self.seed < GROWING:
            return told.opens(seen.words, turn[-1].content), False
        if self.seed >= RINGING and rounds < 2:
            return told.rings(), False
        if rounds >= MOST_ROUNDS:
            return told.ends(), False
        return told.anything(), chance.random() < 0.12


class _Told(Struct, frozen=True):
    """One answer in the making."""

    chance: random.Random
    messages: Sequence[Message]
    """All that it answers to."""
    turn: Sequence[Message]
    """Those of the event in hand."""
    tag: str
    noon: datetime
    is_night: bool = False
    is_sloppy: bool = False

    def anything(self) -> Message:
        """Return any answer."""
        ways = (self._goes_on, self._goes_on, self._done, self._done, self._bare, self._suspended, self._summed)
        often = (self._acts, self._acts, self._acts, self._malformed, lambda: Message("assistant"))
        return self.chance.choice((*ways, *often))()

    def rings(self) -> Message:
        """Return an answer that rings the bell, with or without a word about it."""
        said = [self.reply(1)] if self.chance.random() < 0.3 else []
        return self.calls(*said, ("bell", "{}"), ("look", "{}"))

    def opens(self, words: str, last: str) -> Message:
        """Return an answer that opens the door for who asks for it, again where the machine stopped before."""
        is_open = last.startswith(("not done: the machine", "unknown:"))
        if words == ORDER[0] and (is_open or not last.startswith(("opened", "error"))):
            return self.calls(("open_door", "{}"))
        return self.ends()

    def ends(self) -> Message:
        """Return an answer that says something, and no more."""
        return self.calls(self.reply(1), ("complete_event", '{"summary": "told"}'))

    def looks_back(self) -> Message:
        """Return the next step of a look back: what is there, what is new, and a note of each thing that has none.

        Whether a note was written of which nobody knows that is looked up, as a result asks for.
        """
        noted, unsure, listed = set[str](), True, list[str]()
        for message in self.turn:
            if message.role == "tool" and message.content.startswith("notes"):
                noted, unsure = set(message.content.split()[1:]), False
            elif message.content.startswith("noted "):
                noted.add(message.content.split()[1])
            elif message.content.startswith("unknown:"):
                unsure = True
            elif message.content.startswith('{"said"'):
                listed += [each["id"] for each in json.loads(message.content)["said"]]
            elif message.content.startswith(END_OF_NEWS):
                listed += [""]
        if unsure:
            return self.calls(("notes", "{}"))
        if not listed:
            return self.calls(("loose_ends" if self.is_night else "new_since_reflection", "{}"))
        missing = [name for name in listed if name and name not in noted]
        if missing:
            return self.calls(*(("note", json.dumps({"of": name})) for name in missing[:2]))
        return self.calls(("complete_event", '{"summary": "looked back"}'))

    def _goes_on(self) -> Message:
        return self.calls(self.reply(self.chance.randint(2, 4)))

    def _done(self) -> Message:
        return self.calls(self.reply(3), ("bell", "{}"), ("complete_event", '{"summary": "told"}'))

    def _bare(self) -> Message:
        return Message("assistant", self._words(2))

    def _acts(self) -> Message:
        return self.calls(*(self._tool() for _ in range(self.chance.randint(1, 4))))

    def _suspended(self) -> Message:
        return self.calls(self.reply(1), self._suspension())

    def _summed(self) -> Message:
        return self.calls(("compress_context", '{"summary": "All that came before."}'), ("look", "{}"))

    def _malformed(self) -> Message:
        return self.calls(("reply", f'{{"text": "{self._words(1)} Half a sen'), ("look", "{]"), ("nothing", "[]"))

    def calls(self, *wanted: tuple[str, str]) -> Message:
        """Return a message with these calls, whose ids nobody has used."""
        names = random.Random(
            f"{self.messages}"
        )  # an epoch that begins anew may come to the same length and last words
        sloppy = [(name, self._sloppy(arguments)) for name, arguments in wanted] if self.is_sloppy else wanted
        made = [ToolCall(f"call_{self.tag}_{names.getrandbits(64):x}", *call) for call in sloppy]
        return Message("assistant", tool_calls=tuple(made))

    def _sloppy(self, arguments: str) -> str:
        """Return arguments as a careless model writes them."""
        bare = arguments.removesuffix("}")
        ways = (f"{bare},}}" if bare != "{" else "{ }", f"{arguments}{arguments}", f"```json\n{arguments}\n```", bare)
        return self.chance.choice((*ways, arguments.replace('"', "'"), json.dumps(arguments)))

    def reply(self, sentences: int) -> tuple[str, str]:
        """Return a reply that goes on after what was said."""
        return "reply", f'{{"text": "{self._words(sentences)}"}}'

    def _tool(self) -> tuple[str, str]:
        name = self.chance.choice(("look", "look", "bell", "fail", "check_mailbox", "create_event", "remember"))
        return name, f'{{"content": "child {self.chance.getrandbits(32)}"}}' if name == "create_event" else "{}"

    def _suspension(self) -> tuple[str, str]:
        later = format_time(self.noon + timedelta(hours=self.chance.randint(0, 40)))
        waits = self.chance.choice((f'"wake_at": "{later}"', '"wake_on": "children"', '"wake_on": "asr_transcript"'))
        return "suspend_event", f'{{"note": "note {self.chance.getrandbits(48):x}", {waits}}}'

    def _words(self, sentences: int) -> str:
        said = " ".join(m.content + " ".join(call.arguments for call in m.tool_calls) for m in self.turn[1:])
        first = len({number for number, tag in SENTENCE.findall(said) if tag == self.tag})
        numbers = [number_of(place) for place in range(first, first + sentences)]
        return " ".join(f"Part {number} of {self.tag} is said." for number in numbers)


def number_of(place: int) -> str:
    """Return a number in one word of letters, so that nobody speaks it otherwise than it is written."""
    return NUMBERS[place] if place < len(NUMBERS) else NUMBERS[place % len(NUMBERS)] + "x" * (place // len(NUMBERS))


def _tag(event_id: str, note: str) -> str:
    """Return a word of an event and of the note it came back with."""
    chance = random.Random(f"{event_id} {note}")
    return "k" + "".join(chance.choice("aeiou") + chance.choice("bdfgklmnprst") for _ in range(5))
