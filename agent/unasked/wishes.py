"""What people want to hear unasked, and what not: told in words, acted on without a model, kept as the house's rule."""

import re
from collections.abc import Sequence
from typing import Final

import structlog

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.event import HOUSEHOLD, new_id
from agent.model.messages import Message
from agent.record import step
from agent.run.run import Run
from agent.run.system_replies import phrase
from agent.tools.reply import reply_call
from agent.unasked.announcements import Announcements
from agent.unasked.past import Fate, Matter, last_breath
from memory.chinese import simplified
from memory.state.owner_settings import OwnerSettings

log = structlog.get_logger()

UNWANTED: Final = "announcements.unwanted"
"""The household's setting that keeps what nobody wants to hear: a line each, and in brackets what it came of."""

RULE: Final = "unasked.rule"
"""Topic of a rule that was made, or taken back."""

MOST_RULES: Final = 50
"""The oldest gives way."""

LONGEST: Final = 200
"""Characters of such a wish; what is longer says more, and may be a whole book that was pasted."""

_LINE: Final = re.compile(r"(?P<words>.*?)(?:\s*\[(?P<about>[^\]]*)\])?")

_THOSE: Final = (
    r"(?:such (?:things?|stuff)|(?:things?|stuff) like (?:that|this)|th(?:at|is)(?: sort of thing)?|th[eo]se things)"
)
_ABOUT: Final = rf"(?:(?:about|of|with) )?{_THOSE}"
_THOSE_ZH: Final = "[这那](?:些|种|类|样的?|个)(?:事情?|话|东西|消息)?"
_TELL_ZH: Final = "[再又]?[跟和给对向]?我?(?:说|讲|提醒?|告诉)我?"
_NOT_ZH: Final = "(?:别|不要|不用|不必)"
_NEVER: Final = re.compile(
    "(?:please )?(?:do not|don t|never|stop) "
    rf"(?:(?:tell|remind|bother)(?:ing)? me {_ABOUT}|(?:say|mention)(?:ing)? {_THOSE})|"
    rf"(?:i )?(?:do not|don t) (?:want|need) to (?:hear|know|be told) {_ABOUT}|"
    f"{_NOT_ZH}{_TELL_ZH}{_THOSE_ZH}了?|{_THOSE_ZH}(?:以后)?{_NOT_ZH}{_TELL_ZH}了?|我?不想再?(?:听|知道)到?{_THOSE_ZH}了?"
)
_AGAIN: Final = re.compile(
    rf"(?:you )?(?:(?:may|can) )?(?:tell|remind) me {_ABOUT} again|"
    f"你?又?可以{_TELL_ZH}{_THOSE_ZH}了?|{_THOSE_ZH}(?:以后)?[又还]?(?:是)?可以{_TELL_ZH}了?"
)
_END: Final = re.compile(r" ?(?:any ?more|please|ever again|from now on|thanks|thank you|okay)$")


def is_unwanted(words: str) -> bool:
    """Say whether somebody wants to hear no such thing any more, in English or Chinese."""
    return _says(_NEVER, words)


def is_wanted_again(words: str) -> bool:
    """Say whether somebody takes that back."""
    return _says(_AGAIN, words)


def _says(form: re.Pattern[str], words: str) -> bool:
    if len(words) > LONGEST:
        return False
    plain = re.sub(r"[\W_]+", " ", simplified(words.casefold()).replace("nakari", "")).strip()
    while (shorter := _END.sub("", plain).strip()) != plain:
        plain = shorter
    joined = plain.replace(" ", "").removeprefix("以后").removeprefix("请").removesuffix("吧")
    return form.fullmatch(plain) is not None or form.fullmatch(joined) is not None


def matters(text: str) -> tuple[Matter, ...]:
    """Return what the lines of the setting are about."""
    found = [_LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    return tuple(Matter(each["words"], each["about"] or "") for each in found if each)


def line_of(fate: Fate) -> str:
    """Return the line that keeps people from the like of what was said."""
    about = re.sub(r"[\[\]\s]+", " ", fate.about).strip()
    words = re.sub(r"[\[\]\s]+", " ", fate.words).strip()
    return f"{words} [{about}]" if about else words


class Wishes:
    """Makes rules of a person's words right after an announcement, and takes them back. A `Settler` of the loop."""

    def __init__(self, settings: OwnerSettings, announcements: Announcements, bus: Bus, contexts: Contexts) -> None:
        self._settings = settings
        self._announcements = announcements
        self._bus = bus
        self._contexts = contexts

    @property
    def unwanted(self) -> tuple[Matter, ...]:
        """What is not to be said."""
        return matters(self._lines)

    async def settle(self, run: Run) -> Message | None:
        """Do what the words of the event ask for; return the call that answers them, None where they ask for else."""
        event = run.event
        if not event.is_from_person or event.owner_key != HOUSEHOLD or run.lease.note:
            return None
        if self._lines and is_wanted_again(event.content):
            await self.take_back()
            return await self._answer(run, "wanted_again", [])
        said = [fate for fate in last_breath(self._announcements.just_said) if fate.kind != "urgent"]
        if not said or not is_unwanted(event.content):
            return None
        about = [fate for fate in said if fate.kind in {"own", "notice"}] or said
        await self._keep([line_of(fate) for fate in about])
        return await self._answer(run, "unwanted", [fate.id for fate in about])

    async def take_back(self) -> None:
        """Have such things told again, all of them."""
        await self._settings.set(HOUSEHOLD, UNWANTED, "")
        log.info("announcements_wanted_again")

    @property
    def _lines(self) -> str:
        return str(self._settings.of(HOUSEHOLD, UNWANTED).value)

    async def _keep(self, lines: Sequence[str]) -> None:
        kept = self._lines.splitlines()
        kept += [line for line in lines if line not in kept]
        await self._settings.set(HOUSEHOLD, UNWANTED, "\n".join(kept[-MOST_RULES:]))
        log.info("announcements_unwanted", count=len(lines))

    async def _answer(self, run: Run, name: str, announcements: list[str]) -> Message:
        message = Message("assistant", tool_calls=(reply_call(phrase(name, run.event.content)),))
        run.cycle = new_id()
        rule = step(RULE, run.event, run.id, {"rule": name, "announcements": [*announcements]})
        await self._bus.publish(rule, self._contexts.envelope(run.epoch, run.event, run.id, message, run.cycle))
        self._contexts.append(run.epoch, message)
        return message
