"""Memory, health and settings as people see them: accessible, no wider than the screen, and a picture of each."""

from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.console.door import ScriptedDoor
from tests.console.scripted_house import answers
from tests.console.test_looks import LOOKS, PICTURES, SAMPLE, looking, serious

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]

PARTS = {
    "memory/graph": "[data-settled=true]",
    "memory/query": "textarea",
    "memory/written": "[data-testid=write]",
    "memory/snapshots": "[data-testid=snapshot]",
    "memory/journal/event-1": "[data-testid=why] li",
    "health": "[data-testid=step]",
    "settings": "[data-testid=member]",
}
"""Each part, and what is there once it is whole."""


@pytest.fixture
def door(door: ScriptedDoor) -> ScriptedDoor:
    door.answers |= answers()
    return door


def test_the_views_are_accessible_and_have_their_pictures(browser: Browser, address: str, every_step: bool) -> None:
    looks = LOOKS if every_step else SAMPLE
    found = {look: found_in_the_parts(browser, address, look) for look in looks}
    assert found == {look: {} for look in looks}


def found_in_the_parts(browser: Browser, address: str, look: str) -> dict[str, object]:
    """Look at each part, and return what is wrong by its name."""
    found: dict[str, object] = {}
    PICTURES.mkdir(parents=True, exist_ok=True)
    with looking(browser, look) as page:
        for part, sign in PARTS.items():
            page.goto(f"{address}#/{part}")
            expect(page.locator(sign).first).to_be_attached()
            page.wait_for_load_state("networkidle")
            page.screenshot(path=PICTURES / f"{part.replace('/', '-')}-{look}.png")
            if faults := serious(page):
                found[part] = faults
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[f"{part} sideways"] = "it scrolls"
        if look == "chinese":
            expect(page.get_by_role("heading", name="你的身份")).to_be_visible()
    return found


def test_the_tab_key_reaches_everything(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    left = {}
    for part, sign in PARTS.items():
        page.goto(f"{address}#/{part}")
        expect(page.locator(sign).first).to_be_attached()
        page.wait_for_load_state("networkidle")
        wanted = page.evaluate(NUMBER)
        assert wanted > 0, part
        for _ in range(wanted + 15):
            page.keyboard.press("Tab")
        left[part] = sorted({str(place) for place in range(wanted)} - {*page.evaluate("window.reached")})
    assert left == {part: [] for part in PARTS}


NUMBER: Final = """() => {
  const kinds = 'button, a[href], input:not([type=radio]), select, textarea, summary'
  const found = [...document.querySelectorAll('main :is(' + kinds + ')')]
    .filter((each) => !each.disabled && each.checkVisibility())
  found.forEach((each, index) => { each.dataset.place = index })
  document.activeElement?.blur()
  window.reached = []
  window.noted ??= addEventListener('focusin', ({ target }) => window.reached.push(target.dataset.place ?? '')) ?? true
  return found.length
}"""
"""Numbers what the tab key should reach, and keeps from then on what it reaches."""
