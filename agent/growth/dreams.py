"""What the last night changed in the memory, in one sentence: the counts of its writes, with no word of their own."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec import Struct

from agent.growth import cursor
from agent.intents.intent import Language
from memory.history.audit import AuditLog
from memory.history.audit_record import changes, summed
from memory.state.database import Database

EVER: Final = datetime.min.replace(tzinfo=UTC)

_WORDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "nodesCreated": ("{n} thing is new", "{n} things are new", "新记了{n}件事"),
    "nodesDeleted": ("{n} is gone", "{n} are gone", "放下了{n}件"),
    "relationshipsCreated": ("{n} link was made", "{n} links were made", "连起了{n}处"),
    "relationshipsDeleted": ("{n} link was cut", "{n} links were cut", "断开了{n}处"),
    "propertiesSet": ("{n} detail was set", "{n} details were set", "改了{n}处细节"),
}
"""Of one and of several in English, and in Chinese."""

_NONE: Final = {"en": "I have not gone over my memory at night yet.", "zh": "我还没有在夜里整理过记忆。"}
_NOTHING: Final = {
    "en": "In the night of {day} I went over my memory and left it as it was.",
    "zh": "{day}那天夜里，我把记忆过了一遍，什么也没有改。",
}
_CHANGED: Final = {
    "en": "In the night of {day} I went over my memory: {what}.",
    "zh": "{day}那天夜里，我把记忆过了一遍：{what}。",
}


class Dreams(Struct, frozen=True):
    """Tells of the last night that was completed; its writes are in the audit log of the household's graph."""

    database: Database
    audit: AuditLog
    zone: tzinfo

    async def tell(self, language: Language) -> str:
        """Return the sentence. Raises `StateUnusable`."""
        night = await self.database.read(cursor.last_night)
        if night is None:
            return told(None, {}, language)
        began, ids = night

        def stats() -> dict[str, int]:
            return summed(each for each in changes(self.audit.outline(), EVER) if each.event_id in ids)

        return told(began.astimezone(self.zone), await asyncio.to_thread(stats), language)


def told(night: datetime | None, stats: Mapping[str, int], language: Language) -> str:
    """Return the sentence; `night` is when it began, in the household's zone, None where there was none."""
    if night is None:
        return _NONE[language]
    counts = [(words, stats[name]) for name, words in _WORDS.items() if stats.get(name)]
    parts = [words[2 if language == "zh" else 0 if count == 1 else 1].format(n=count) for words, count in counts]
    day = f"{night:%Y-%m-%d}" if language == "en" else f"{night.month}月{night.day}日"
    joined = ", ".join(parts) if language == "en" else "，".join(parts)
    return (_CHANGED if parts else _NOTHING)[language].format(day=day, what=joined)
