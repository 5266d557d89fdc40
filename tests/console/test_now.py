"""*Now* in a real Chromium: timers count down and ring, the mailbox is changed, the room is muted."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from memory.json_value import Json
from tests.console.door import ScriptedDoor

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]


@pytest.fixture
def now(page: Page) -> Page:
    page.get_by_role("link", name="Now").click()
    expect(page.get_by_role("heading", name="Mailbox")).to_be_visible()
    return page


def test_a_timer_counts_down_and_rings(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    start = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    page.clock.install(time=start)
    page.reload()
    due = (start + timedelta(minutes=10)).isoformat()
    door.answers["timers"] = {"timers": [{"id": "t1", "label": "tea", "due": due, "repeats": ""}]}
    page.get_by_role("link", name="Now").click()
    countdown = page.get_by_test_id("countdown")
    expect(countdown).to_be_visible()
    page.clock.pause_at(start + timedelta(minutes=1))
    page.clock.run_for(1_000)
    expect(countdown).to_have_text("8:59")
    page.clock.run_for(61_000)
    expect(countdown).to_have_text("7:58")
    page.clock.resume()
    door.answers["timers"] = {"timers": []}
    door.say("timer", {"id": "t1", "label": "tea", "due": due, "state": "rings"})
    expect(page.get_by_test_id("timer")).to_have_count(0)
    ringing = page.get_by_role("region", name="It rings")
    expect(ringing).to_contain_text("tea")
    door.answers["hush"] = {"done": "Stopped."}
    ringing.get_by_role("button", name="Stop it").click()
    assert door.next_request("hush") == {"what": "stop"}
    expect(ringing).to_have_count(0)


def test_a_refusal_is_said_beside_its_own_ring_alone(own_page: Page, door: ScriptedDoor) -> None:
    now = datetime.now(UTC).isoformat()
    ringing = own_page.get_by_role("region", name="It rings")
    door.say("timer", {"id": "t1", "label": "tea", "due": now, "state": "rings"})
    ringing.get_by_role("button", name="Stop it").click()
    expect(ringing).to_contain_text("there is no request hush")
    door.say("timer", {"id": "t1", "label": "tea", "due": now, "state": "ended"})
    expect(ringing).to_have_count(0)
    door.say("timer", {"id": "t2", "label": "rice", "due": now, "state": "rings"})
    expect(ringing).to_contain_text("rice")
    expect(ringing).not_to_contain_text("there is no request hush")


def test_a_timer_is_cancelled(now: Page, door: ScriptedDoor) -> None:
    due = (datetime.now(UTC) + timedelta(minutes=3)).isoformat()
    door.answers["timers"] = {"timers": [{"id": "t1", "label": "tea", "due": due, "repeats": ""}]}
    door.answers["events.change"] = {"done": "Cancelled."}
    door.say("timer", {"id": "t1", "label": "tea", "due": due, "state": "set"})
    now.get_by_role("button", name="Cancel: tea").click()
    assert door.next_request("events.change") == {"id": "t1", "cancel": True}


def test_the_room_is_muted(now: Page, door: ScriptedDoor) -> None:
    def hush(payload: dict[str, Json]) -> dict[str, Json]:
        return {"done": str(payload["what"])}

    door.answers["hush"] = hush
    now.get_by_role("button", name="Mute").click()
    assert door.next_request("hush") == {"what": "mute"}
    door.say("state", {"state": "idle", "tool": None, "muted": True})
    expect(now.get_by_test_id("state")).to_have_text("Muted")
    now.get_by_role("button", name="Unmute").click()
    assert door.next_request("hush") == {"what": "unmute"}


def test_events_are_created_reprioritised_and_cancelled(now: Page, door: ScriptedDoor) -> None:
    door.answers |= {"enqueue": {"id": "e1"}, "events.change": {"done": "Done."}}
    now.get_by_label("What is it about?").fill("The parcel has come")
    now.get_by_label("Priority").select_option("+2")
    now.get_by_role("button", name="Put it into the mailbox").click()
    assert door.next_request("enqueue") == {"type": "note", "content": "The parcel has come", "priority": 2}
    listed: dict[str, Json] = {"id": "e1", "type": "note", "words": "The parcel has come", "when": "now", "priority": 2}
    door.answers["events"] = {"events": [listed]}
    door.say("mailbox", {"counts": {"pending": 1}})
    expect(now.get_by_test_id("event")).to_contain_text("The parcel has come")
    expect(now.get_by_test_id("counts")).to_contain_text("Waiting 1")
    now.get_by_role("button", name="More urgent").click()
    assert door.next_request("events.change") == {"id": "e1", "priority": 3}
    now.get_by_role("button", name="Cancel: The parcel has come").click()
    assert door.next_request("events.change") == {"id": "e1", "cancel": True}


def test_a_refusal_is_told_in_the_appliance_s_own_sentence(now: Page) -> None:
    now.get_by_role("button", name="Louder").click()
    expect(now.get_by_role("alert")).to_contain_text("there is no request hush")
