"""What a person chooses in front of the memory of a slow appliance is what is asked for, and stays chosen."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from playwright.sync_api import Page, Route, expect

from memory.json_value import Json
from tests.console.door import ScriptedDoor
from tests.console.scripted_house import answers, node, schema

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]

NODES: Final = 50_000

AT_ONCE: Final = """() => {
  const seen = new MutationObserver(() => {
    const [labels, howMany] = document.querySelectorAll('main select')
    if (!labels?.options[0].text.includes('50,000')) return
    seen.disconnect()
    howMany.value = '500'
    howMany.dispatchEvent(new Event('change', { bubbles: true }))
  })
  seen.observe(document.body, { subtree: true, childList: true, characterData: true })
}"""
"""Chooses in the instant in which the labels are drawn: sooner than React runs the effects of that drawing."""


@pytest.fixture
def door(door: ScriptedDoor) -> ScriptedDoor:
    door.answers |= {**answers(), "memory.schema": schema(NODES), "memory.query": as_many_as_asked}
    return door


@pytest.fixture
def page(tab: Page, address: str) -> Iterator[Page]:
    tab.goto(address)
    yield tab
    tab.unroute_all()


def as_many_as_asked(payload: dict[str, Json]) -> Mapping[str, Json]:
    """Answer a look with as many nodes as it wants."""
    most = sum(map(int, re.findall(r"LIMIT (\d+)", str(payload["cypher"]))))
    return {"result": {"records": [{"nodes": [node(i, "Memory") for i in range(most)], "links": []}]}}


def test_what_is_chosen_in_the_instant_of_the_first_look_is_not_lost(page: Page) -> None:
    page.evaluate(AT_ONCE)
    page.get_by_role("link", name="Memory").click()
    expect(page.get_by_label("How many")).to_have_value("500")
    expect(page.get_by_test_id("picture")).to_have_attribute("data-nodes", "500")


def test_what_is_chosen_before_the_labels_are_known_is_judged_by_them(page: Page) -> None:
    held: list[Route] = []
    page.route("**/requests/memory.schema", lambda route: held.append(route))
    page.get_by_role("link", name="Memory").click()
    page.get_by_label("How many").select_option("everything")
    held[0].continue_()
    expect(page.get_by_test_id("refused")).to_contain_text("These are 50,000 nodes, and at most 2,000 can be drawn")


def test_a_look_that_is_not_answered_yet_is_let_go_of_for_a_refusal(page: Page) -> None:
    page.route("**/requests/memory.query", lambda route: None)
    page.get_by_role("link", name="Memory").click()
    expect(page.get_by_label("Label")).to_contain_text("50,000")
    with page.expect_event("requestfailed"):
        page.get_by_label("How many").select_option("everything")
    expect(page.get_by_test_id("refused")).to_contain_text("These are 50,000 nodes")
    expect(page.get_by_role("status").filter(has_text="Shown: 0 nodes")).to_have_count(1)


def test_what_was_chosen_stands_there_after_a_look_at_something_else(page: Page) -> None:
    page.get_by_role("link", name="Memory").click()
    page.get_by_label("Label").select_option("Person (6)")
    page.get_by_label("How many").select_option("up to 100")
    expect(page.get_by_test_id("picture")).to_have_attribute("data-nodes", "100")
    page.get_by_role("link", name="Written").click()
    page.get_by_role("link", name="Graph").click()
    expect(page.get_by_label("Label")).to_have_value("Person")
    expect(page.get_by_label("How many")).to_have_value("100")
