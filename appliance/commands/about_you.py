"""Commands about whoever asks: identity, prompt, mute, forget, history, clear."""

import re
from datetime import tzinfo
from typing import Final

from agent.context.carried import Beginning
from agent.context.epochs import Contexts
from agent.event import SYSTEM, Event
from agent.loop import Loop
from agent.prompts import MODULES, shipped
from agent.unasked.announcements import Announcements
from agent.unasked.wishes import Wishes
from appliance.api.requests.box import Forget, Hush
from appliance.api.requests.journal import TOLD, listed
from appliance.commands.registry import Asking, Command
from appliance.errors import Exit, Problem
from appliance.owners.owners import Owners
from memory.identity import HOW_TO_REGISTER, Identity
from memory.state.journal import Journal
from memory.state.owner_settings import PROMPT

USUAL_TURNS: Final = 10
MOST_TURNS: Final = 100

LONGEST: Final = 300
"""Characters of a turn in /history."""

_MINUTES: Final = re.compile(r"(\d+)\s*(?:m|min|minutes?|分钟?)\Z")


def about_you(owners: Owners) -> list[Command]:
    """Return those about a person and the room."""

    async def identity(asking: Asking) -> str:
        return _who(asking, owners.identities.find(asking.caller.owner_key))

    async def prompt(asking: Asking) -> str:
        own = await owners.of(asking.caller.owner_key)
        if asking.words in MODULES:
            return own.get(asking.words) or shipped(asking.words)
        yours, usual = asking.say("your own", "你自己的"), asking.say("as shipped", "默认")
        lines = [f"{name}: {yours if own.get(name) else usual}" for name in MODULES]
        how = asking.say(
            f"/prompt NAME shows one; `nakari settings set {PROMPT}NAME TEXT` changes yours.",
            f"/提示词 NAME 显示一个；`nakari settings set {PROMPT}NAME TEXT` 修改你自己的。",
        )
        return "\n".join([*lines, how])

    return [
        Command(("identity", "身份"), "", ("Who you are here.", "你是谁。"), identity),
        Command(("prompt", "提示词"), "[NAME]", ("Your modules of the prompt.", "你的提示词。"), prompt),
        Command(("mute", "静音"), "[off]", ("Close the ears, or open them.", "静音，或恢复。"), mute, is_for_all=False),
        Command(
            ("forget", "忘记"),
            "[N | N min]",
            ("Erase the last turns, or all of so many minutes.", "忘掉最近几句，或最近几分钟。"),
            forget,
            is_for_all=False,
        ),
    ]


def about_talk(journal: Journal, contexts: Contexts, loop: Loop, zone: tzinfo) -> list[Command]:
    """Return those about what was said; `zone` is that in which times are told."""

    async def history(asking: Asking) -> str:
        wanted = int(asking.words) if asking.words.isdecimal() else USUAL_TURNS
        found = await journal.entries(
            topic=TOLD,
            owner_key=asking.caller.owner_key,
            session_id=asking.session,
            limit=max(1, min(wanted, MOST_TURNS)),
            newest=True,
        )
        told = [(entry.at.astimezone(zone), listed(entry)) for entry in found]
        lines = [f"{at:%H:%M} {each['who']}: {str(each['words'])[:LONGEST]}" for at, each in told if each["words"]]
        return "\n".join(lines) or asking.say("Nothing was said here yet.", "这里还没有说过话。")

    async def clear(asking: Asking) -> str:
        run, owner_key = loop.run_in_hand, asking.caller.owner_key
        if run is not None and (run.event.owner_key, run.event.session_id) == (owner_key, asking.session):
            raise Problem(asking.say("An answer is under way here; then.", "正在回答，稍后再试。"), Exit.UNAVAILABLE)
        cause = Event(SYSTEM, owner_key=owner_key, session_id=asking.session)
        epoch = await contexts.opened(cause)
        if epoch is None:
            return asking.say("There is nothing to clear.", "没有可以清除的。")
        await contexts.anew(epoch, cause, Beginning(None, []))
        return asking.say("We begin anew; the journal and the memory stay.", "重新开始；日志和记忆都还在。")

    return [
        Command(("history", "历史"), "[N]", ("What was said last in this talk.", "这次对话最近说了什么。"), history),
        Command(("clear", "清除"), "", ("Begin this talk anew.", "重新开始这次对话。"), clear),
    ]


def _who(asking: Asking, found: Identity) -> str:
    if asking.caller.is_household:
        return asking.say(
            "You are the household. `nakari identity create NAME` makes a member with a key of their own.",
            "你是家里人。`nakari identity create NAME` 可以给某个人建一个自己的密钥。",
        )
    if found.is_member:
        return asking.say(
            f"You are {found.name}, a member: {found.owner_key}", f"你是成员 {found.name}：{found.owner_key}"
        )
    return f"{found.owner_key}: {HOW_TO_REGISTER}"


async def mute(asking: Asking) -> str:
    """Close the ears, or open them again."""
    is_over = asking.words.lower() in ("off", "关", "取消")
    return await asking.box.hush(Hush(what="unmute" if is_over else "mute"))


async def forget(asking: Asking) -> str:
    """Erase the last turn, the last few, or those of some minutes. Raises `Problem`."""
    if not asking.words:
        return await asking.box.forget(Forget())
    if found := _MINUTES.match(asking.words):
        return await asking.box.forget(Forget(minutes=float(min(int(found[1]), 100_000) or 1)))
    if asking.words.isdecimal() and 0 < int(asking.words) <= 1000:
        return await asking.box.forget(Forget(last=int(asking.words)))
    raise Problem(
        asking.say(
            "Say how many turns, or minutes: /forget 3, /forget 10 min.",
            "要忘掉几句，或几分钟：/忘记 3，/忘记 10 分钟。",
        ),
        Exit.USAGE,
    )


AGAIN = frozenset({"again", "再说", "恢复"})


def about_unasked(announcements: Announcements, wishes: Wishes) -> list[Command]:
    """Return it; for the household alone, whose room it is."""

    async def tell(asking: Asking) -> str:
        if asking.words.lower() in AGAIN:
            await wishes.take_back()
            return asking.say("Such things are told again.", "这些事又会说了。")
        waits = [each.words for each in await announcements.waiting()]
        unwanted = [matter.words for matter in wishes.unwanted]
        head = asking.say(
            f"{len(waits)} wait for a gap, {len(unwanted)} are unwanted.",
            f"{len(waits)} 条等着说，{len(unwanted)} 类不想听。",
        )
        lines = [
            *(asking.say(f"waits: {words}", f"等着说：{words}") for words in waits),
            *(asking.say(f"unwanted: {words}", f"不想听：{words}") for words in unwanted),
            *([asking.say("/unasked again takes that back.", "/播报 再说 可以恢复。")] if unwanted else []),
        ]
        return "\n".join([head, *lines])

    tells = ("What is said unasked, and what is unwanted.", "主动播报：等着说的，不想听的。")
    return [Command(("unasked", "播报"), "[again]", tells, tell, is_for_all=False)]
