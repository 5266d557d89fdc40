"""Commands that tell how it is: ping, status, model, config."""

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from appliance.commands.registry import Asking, Command
from appliance.config.file import SECTIONS
from appliance.config.meaning import settings_of, toml_value
from appliance.config.sections import Settings
from appliance.errors import Exit, Problem
from memory.json_value import Json

Clean = Callable[[str], str]
"""Takes out of a text what looks like a key or a password."""


def about_box(
    use: Callable[[str], Awaitable[str]], chosen: Callable[[], Mapping[str, Json]], settings: Settings, clean: Clean
) -> list[Command]:
    """Return them; `use` has another model think, `chosen` describes who does."""

    async def model(asking: Asking) -> str:
        if asking.words and not asking.caller.is_household:
            raise Problem(asking.say("The household chooses the model.", "模型由家里人选择。"), Exit.NOT_ALLOWED)
        if asking.words:
            return await use(asking.words)
        told = chosen()
        known = ", ".join(map(str, cast("list[str]", told.get("known", []))))
        thinks = told.get("next") or told.get("thinks")
        return asking.say(f"{thinks} thinks. There are {known}.", f"现在思考的是 {thinks}。可以选择：{known}。")

    async def config(asking: Asking) -> str:
        return clean(explained(settings, asking))

    return [
        Command(("ping", "在吗"), "", ("Whether it is there.", "在不在。"), ping),
        Command(("status", "状态"), "", ("How it is.", "现在怎么样。"), status),
        Command(("model", "模型"), "[NAME]", ("Who thinks; or who is to.", "谁在思考，或换一个。"), model),
        Command(
            ("config", "配置"),
            "[SECTION[.KEY]]",
            ("What is configured, and what it means.", "配置了什么，是什么意思。"),
            config,
            is_for_all=False,
        ),
    ]


async def ping(asking: Asking) -> str:
    """Tell version, uptime and how much waits."""
    told = await asking.box.ping()
    up, waiting = duration(cast("float", told["uptime_seconds"])), told["waiting"]
    return asking.say(
        f"pong: nakari {told['version']}, up {up}, {waiting} waiting",
        f"在：nakari {told['version']}，已运行 {up}，{waiting} 件事在等",
    )


async def status(asking: Asking) -> str:
    """Tell in some lines how it is."""
    told = await asking.box.status(asking.caller.owner_key)
    mailbox = cast("dict[str, int]", told["mailbox"])
    timers = cast("dict[str, Json]", told["timers"])
    run = cast("dict[str, Json] | None", told["run"])
    up, version = duration(cast("float", told["uptime_seconds"])), told["version"]
    now = asking.say("an event is in hand", "正在处理一件事") if run else asking.say("nothing is in hand", "现在空闲")
    waiting, aside, dead = (mailbox.get(state, 0) for state in ("pending", "suspended", "dead"))
    first = asking.say(f"nakari {version}, up {up}; {now}.", f"nakari {version}，已运行 {up}；{now}。")
    if unread := told.get("unread"):
        return f"{first}\n{unread}"
    lines = [
        first,
        asking.say(
            f"Mailbox: {waiting} waiting, {aside} put aside, {dead} given up.",
            f"信箱：{waiting} 件在等，{aside} 件搁置，{dead} 件放弃。",
        ),
        asking.say(f"Timers: {timers['waiting']}.", f"计时器：{timers['waiting']} 个。"),
    ]
    return "\n".join(lines)


def explained(settings: Settings, asking: Asking) -> str:
    """Return what is set otherwise than usual, or one section, or one key with its meaning. Raises `Problem`."""
    section, _, key = asking.words.strip("[] ").partition(".")
    if section and section not in SECTIONS:
        known = ", ".join(SECTIONS)
        raise Problem(
            asking.say(f"There is no section {section}; there are {known}.", f"没有 {section}；有 {known}。"),
            Exit.USAGE,
        )
    lines = []
    for name in [section] if section else SECTIONS:
        for each, default, meaning in settings_of(SECTIONS[name]):
            value = getattr(getattr(settings, name), each)
            if key == each:
                return f"{name}.{each} = {toml_value(value)}\n{meaning.text}"
            if section or value != default:
                lines.append(f"{name}.{each} = {toml_value(value)}")
    if key:
        raise Problem(asking.say(f"[{section}] has no key {key}.", f"[{section}] 里没有 {key}。"), Exit.USAGE)
    return "\n".join(lines) or asking.say("All is as shipped.", "全部是默认值。")


def duration(seconds: float) -> str:
    """Return a length of time in its two largest units."""
    whole = int(seconds)
    units = (("d", whole // 86400), ("h", whole // 3600 % 24), ("min", whole // 60 % 60), ("s", whole % 60))
    told = [f"{count} {unit}" for unit, count in units if count]
    return " ".join(told[:2]) or "0 s"
