"""Every view as people see it: nothing serious for axe-core, reached by keyboard, and a picture of each to look at."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from memory.json_value import Json
from tests.console.door import SECONDS, ScriptedDoor

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]

PICTURES: Final = Path(__file__).parents[2] / "build" / "console"
VIEWS: Final = ("talk", "now", "memory", "health", "settings")
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
LAPTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
LOOKS: Final = {"phone": (PHONE, "light", "en-GB"), "laptop": (LAPTOP, "light", "en-GB")} | {
    "dark": (LAPTOP, "dark", "en-GB"),
    "chinese": (PHONE, "dark", "zh-CN"),
}
SAMPLE: Final = ("laptop", "chinese")
"""Both widths, both themes and both languages; with `--every-step` all looks are looked at."""

WEATHER: Final = "Tomorrow it will be 12 degrees and dry in the morning. Rain begins at about three."
UNSAID: Final = "In the evening the wind comes up."


@pytest.fixture
def busy_door(door: ScriptedDoor) -> ScriptedDoor:
    """An appliance in the middle of a day."""
    soon = datetime.now(UTC) + timedelta(minutes=4)
    door.answers["timers"] = {"timers": [{"id": "t1", "label": "tea", "due": soon.isoformat(), "repeats": ""}]}
    parcel: dict[str, Json] = {"id": "e1", "type": "note", "words": "The parcel has come", "when": "now", "priority": 0}
    week: dict[str, Json] = {**parcel, "id": "e2", "words": "Write down the week", "when": "2026-11-23 07:00:00 UTC"}
    door.answers["events"] = {"events": [parcel, week]}
    call: dict[str, Json] = {"call_id": "c1", "tool_name": "weather", "args": {"place": "Graz"}}
    asked: dict[str, Json] = {"event_id": "w", "session": "room", "source": "mic", "parent_id": None}
    door.remember("run_started", asked | {"content": "What will the weather be like?"}, "r")
    door.remember("tool_call_started", call, "r")
    door.remember("tool_call_finished", {**call, "status": "ok", "result": "12 °C", "seconds": 0.4}, "r")
    door.remember("interrupted", {"event_id": "w", "heard": WEATHER, "unsaid": UNSAID}, "r")
    door.remember("run_finished", {"event_id": "w", "status": "COMPLETED", "error": None}, "r")
    door.snapshot |= {"mailbox": {"pending": 1, "suspended": 1, "in_hand": 1}, "state": "thinking"}
    door.snapshot["run"] = {
        **{"run_id": "r2", "event_id": "e3", "session": "console", "source": "console", "parent_id": None},
        **{
            "content": "明天提醒我给妈妈打电话",
            "text": "好的，",
            "started_at": "2026-11-22T17:00:00Z",
            "call_id": "reply",
        },
        "tool_calls": [{**call, "tool_name": "set_timer", "status": None, "result": "", "seconds": None}],
    }
    return door


@contextmanager
def looking(browser: Browser, look: str) -> Iterator[Page]:
    """A tab of some size, in light or dark, in English or Chinese."""
    size, scheme, language = LOOKS[look]
    with browser.new_context(
        viewport=size, color_scheme="dark" if scheme == "dark" else "light", locale=language, reduced_motion="reduce"
    ) as context:
        context.set_default_timeout(SECONDS * 1000)
        yield context.new_page()


AT_REST: Final = """
() => document.getAnimations().every((each) => each.playState === 'finished')
  && [...document.querySelectorAll('[style*="opacity"]')].every((each) => getComputedStyle(each).opacity === '1')
"""
"""Nothing moves and every card has come in: what is half transparent for a moment has no contrast to judge."""


def serious(page: Page) -> list[Mapping[str, object]]:
    """Return what axe-core finds serious or critical, once the page is at rest: the rule and where."""
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_function(AT_REST, timeout=SECONDS * 1000)
    found = Axe().run(page).response["violations"]
    return [
        {"rule": each["id"], "help": each["help"], "nodes": [node["html"] for node in each["nodes"]]}
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]


@pytest.mark.usefixtures("busy_door")
def test_the_views_are_accessible_and_have_their_pictures(browser: Browser, address: str, every_step: bool) -> None:
    """Before anything is known, which is how memory, health and settings look when nobody answers them."""
    looks = LOOKS if every_step else SAMPLE
    found = {look: found_in_the_views(browser, address, look) for look in looks}
    assert found == {look: {} for look in looks}


def found_in_the_views(browser: Browser, address: str, look: str) -> dict[str, object]:
    """Look at each view, and return what is wrong by its name."""
    found: dict[str, object] = {}
    PICTURES.mkdir(parents=True, exist_ok=True)
    with looking(browser, look) as page:
        for view in VIEWS:
            page.goto(f"{address}#/{view}")
            expect(page.get_by_test_id("state")).to_have_attribute("data-state", "thinking")
            page.wait_for_load_state("networkidle")
            page.screenshot(path=PICTURES / f"{view}-{look}.png")
            if faults := serious(page):
                found[view] = faults
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[f"{view} sideways"] = "it scrolls"
    return found


def test_the_way_in_is_accessible(context: BrowserContext, door: ScriptedDoor, address: str) -> None:
    door.token = "sesame"
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Token").fill("thief")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.screenshot(path=PICTURES / "login.png")
    assert serious(page) == []


def test_an_opened_card_is_accessible(page: Page, door: ScriptedDoor) -> None:
    asked: dict[str, Json] = {"event_id": "e", "session": "console", "source": "http", "parent_id": None}
    door.say("run_started", asked | {"content": "Is it cold?"}, "r")
    door.say("tool_call_started", {"call_id": "c", "tool_name": "weather", "args": {"place": "Graz"}}, "r")
    page.get_by_test_id("tool").locator("summary").click()
    assert serious(page) == []


def test_the_keyboard_reaches_the_content_first(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_a_view_chosen_by_keyboard_has_the_focus(page: Page) -> None:
    page.get_by_role("link", name="Now").press("Enter")
    expect(page.get_by_role("main", name="Now")).to_be_focused()
    expect(page.get_by_role("link", name="Now")).to_have_attribute("aria-current", "page")


def test_language_and_theme_are_chosen_and_kept(page: Page) -> None:
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("link", name="设置")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.get_by_role("button", name="明暗跟随设备").click()
    page.get_by_role("button", name="浅色").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("link", name="设置")).to_be_visible()
