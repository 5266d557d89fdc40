"""Commands that begin with a slash: what is one, who may, in which language, and what an unknown one gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from appliance.api.caller import Caller
from appliance.api.requests.box import Forget, Hush
from appliance.commands.about_box import duration, explained, ping, status
from appliance.commands.about_you import forget, mute
from appliance.commands.registry import Asking, Command, Commands
from appliance.config.agent.models import ModelSettings
from appliance.config.sections import Settings, VoiceSettings
from appliance.errors import Exit, Problem
from memory.json_value import Json

pytestmark = pytest.mark.shows("F18", "F19")

ADA = Caller("ad" * 32)


@dataclass
class ScriptedBox:
    """A box that answers from a script and keeps what it was told."""

    told: list[str] = field(default_factory=list)

    async def ping(self) -> Mapping[str, Json]:
        return {"version": "1.2", "uptime_seconds": 4000.4, "waiting": 3}

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        timers: Json = {"waiting": 2, "next": ""}
        return {"version": "1.2", "uptime_seconds": 5.0, "mailbox": {"pending": 3}, "timers": timers, "run": None}

    async def hush(self, request: Hush) -> str:
        self.told.append(request.what)
        return f"Done: {request.what}."

    async def forget(self, request: Forget) -> str:
        self.told.append(f"{request.last} {request.minutes}")
        return "Forgotten."


NOTHING = ("Nothing.", "什么也不做。")


def commands(house: str = "en") -> Commands:
    return Commands(
        [
            Command(("ping", "在吗"), "", ("Whether it is there.", "在不在。"), ping),
            Command(("status", "状态"), "", ("How it is.", "现在怎么样。"), status),
            Command(("mute", "静音"), "[off]", NOTHING, mute, is_for_all=False),
            Command(("forget", "忘记"), "[N]", NOTHING, forget, is_for_all=False),
        ],
        house,
    )


async def answer(text: str, caller: Caller | None = None, box: ScriptedBox | None = None, house: str = "en") -> str:
    return await commands(house).answer(text, box or ScriptedBox(), caller or Caller(), "cli")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/ping", "ping"),
        ("/Ping", "ping"),
        ("/ping  now ", "ping"),
        ("/forget\n3", "forget"),
        ("/状态", "状态"),
        ("/shrug", "shrug"),
        ("/etc/passwd what is this", ""),
        ("/tmp/x", ""),
        ("//ping", ""),
        ("/", ""),
        ("/ 5", ""),
        ("/5 of it", ""),
        (" /ping", ""),
        ("what does /ping do", ""),
        ("", ""),
    ],
)
def test_only_a_slash_and_a_word_at_the_beginning_is_a_command(text: str, name: str) -> None:
    assert commands().name_in(text) == name


async def test_ping_tells_version_uptime_and_what_waits() -> None:
    assert await answer("/ping") == "pong: nakari 1.2, up 1 h 6 min, 3 waiting"
    assert await answer("/在吗") == "在：nakari 1.2，已运行 1 h 6 min，3 件事在等"


async def test_status_is_a_few_lines_in_the_language_of_the_command() -> None:
    assert (await answer("/status")).splitlines()[1] == "Mailbox: 3 waiting, 0 put aside, 0 given up."
    assert (await answer("/状态")).splitlines()[2] == "计时器：2 个。"


async def test_help_lists_what_whoever_asks_may_do() -> None:
    assert (await answer("/help")).splitlines() == [
        "/forget [N] — Nothing.",
        "/help [NAME] — What commands there are, or what one does.",
        "/mute [off] — Nothing.",
        "/ping — Whether it is there.",
        "/status — How it is.",
    ]
    assert [line.partition(" ")[0] for line in (await answer("/帮助", ADA)).splitlines()] == ["/在吗", "/帮助", "/状态"]
    assert await answer("/help /mute") == "/mute [off] — Nothing."


async def test_an_unknown_one_gets_the_nearest() -> None:
    assert (await answer("/stauts")).startswith("There is no command /stauts. Did you mean /status?")
    assert "Did you mean" not in await answer("/shrug")
    assert "put a space before a text" in await answer("/shrug")
    assert (await answer("/shrug", house="zh")).startswith("没有 /shrug 这个命令。")
    assert "是不是 /状态？" in await answer("/状太")


async def test_what_acts_on_the_room_is_the_households() -> None:
    box = ScriptedBox()
    assert await answer("/mute", box=box) == "Done: mute."
    assert await answer("/静音 关", box=box) == "Done: unmute."
    with pytest.raises(Problem, match="for the household") as refused:
        await answer("/mute", ADA, box)
    assert refused.value.code is Exit.NOT_ALLOWED
    assert box.told == ["mute", "unmute"]


async def test_forget_takes_turns_or_minutes_and_guesses_nothing() -> None:
    box = ScriptedBox()
    for text in ("/forget", "/forget 3", "/forget 10 min", "/忘记 5分钟"):
        await answer(text, box=box)
    assert box.told == ["1 None", "3 None", "1 10.0", "1 5.0"]
    for text in ("/forget everything", "/forget 0", "/forget -1", "/forget 10000"):
        with pytest.raises(Problem, match="Say how many"):
            await answer(text, box=box)


def asked(words: str) -> Asking:
    return Asking(ScriptedBox(), Caller(), "cli", "en", words)


def test_config_shows_what_differs_one_section_or_one_key_with_its_meaning() -> None:
    settings = Settings(voice=VoiceSettings(volume=40), model=ModelSettings(name="x"))
    assert "voice.volume = 40" in explained(settings, asked(""))
    assert "reflexes" not in explained(settings, asked(""))
    assert explained(settings, asked("voice.volume")) == "voice.volume = 40\nLoudness of the voice."
    assert 'voice.engines = ["edge", "espeak"]' in explained(settings, asked("[voice]"))
    assert explained(Settings(), asked("")) == "All is as shipped."
    for wrong, sentence in (("vocie", "no section vocie"), ("voice.loud", "has no key loud")):
        with pytest.raises(Problem, match=sentence):
            explained(settings, asked(wrong))


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3600, "1 h"), (90_000, "1 d 1 h")]
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert duration(seconds) == told
