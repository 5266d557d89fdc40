"""*Settings* in a real Chromium: an owner's own, this page's looks, the model, who is here, and forgetting."""

import pytest
from playwright.sync_api import Page, expect

from memory.json_value import Json
from tests.console.door import ScriptedDoor
from tests.console.scripted_house import OWNER_KEY, answers

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]


@pytest.fixture
def door(door: ScriptedDoor) -> ScriptedDoor:
    door.answers |= answers()
    return door


@pytest.fixture
def settings(page: Page) -> Page:
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_test_id("member")).to_be_visible()
    return page


def test_an_owner_s_setting_is_set_and_reset(settings: Page, door: ScriptedDoor) -> None:
    calls = settings.get_by_label("Tool calls for one event", exact=False).nth(1)
    calls.fill("4")
    settings.get_by_role("button", name="Save").press("Enter")
    assert door.next_request("settings.set") == {"name": "mind.tool_calls", "value": 4}
    settings.get_by_role("button", name="Back to the default").click()
    assert door.next_request("settings.reset") == {"name": "mind.tool_calls"}


def test_members_are_listed_and_what_is_not_an_owner_s_to_set_is_not_offered(
    settings: Page, door: ScriptedDoor
) -> None:
    expect(settings.get_by_test_id("who")).to_have_text("The household")
    expect(settings.get_by_test_id("member")).to_contain_text(f"Anna{OWNER_KEY}")
    expect(settings.get_by_label("Most tool calls for one event")).to_be_disabled()
    expect(settings.get_by_label("The query that opens each conversation")).to_be_disabled()
    settings.get_by_role("button", name="Take it back").click()
    assert door.next_request("settings.reset") == {"name": "memory.remember_at_start"}


def test_language_and_appearance_are_this_browser_s(settings: Page) -> None:
    settings.get_by_role("radio", name="中文").focus()
    settings.keyboard.press("Space")
    expect(settings.get_by_role("heading", name="你自己的设置")).to_be_visible()
    expect(settings.locator("html")).to_have_attribute("lang", "zh-CN")
    settings.get_by_role("radio", name="深色").focus()
    settings.keyboard.press("Space")
    expect(settings.locator("html")).to_have_attribute("data-theme", "dark")
    settings.reload()
    expect(settings.get_by_role("heading", name="你自己的设置")).to_be_visible()


def test_another_model_is_chosen(settings: Page, door: ScriptedDoor) -> None:
    settings.get_by_label("Which model thinks").select_option("cloud")
    assert door.next_request("model") == {"use": "cloud"}
    expect(settings.get_by_text("cloud thinks from the next event on.")).to_be_visible()


def test_what_would_go_is_shown_and_nothing_else_is_forgotten(settings: Page, door: ScriptedDoor) -> None:
    settings.get_by_label("How much").select_option("the last hour")
    settings.get_by_role("button", name="Show what would go").click()
    assert door.next_request("forget.preview") == {"minutes": 60}
    expect(settings.get_by_test_id("would-go")).to_contain_text("What does Anna like?")
    settings.get_by_role("button", name="Forget this for good").click()
    assert door.next_request("forget") == {"minutes": 60, "these": ["event-1"]}
    expect(settings.get_by_text("I have forgotten that.")).to_be_visible()


def test_a_member_sees_what_is_theirs_alone(page: Page, door: ScriptedDoor) -> None:
    member: dict[str, Json] = {"owner_key": OWNER_KEY, "name": "Anna", "is_household": False, "is_member": True}
    door.answers["who"] = {**member, "token": "phone", "members": []}
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_test_id("who")).to_have_text("Anna, a member")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_role("heading", name="Forget")).to_have_count(0)
    expect(page.get_by_role("heading", name="Members")).to_have_count(0)
