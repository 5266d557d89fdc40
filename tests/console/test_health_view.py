"""*Health* in a real Chromium: the waterfall of a turn and why it was slow, levels, the doctor, models, the echo."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator

import pytest
from fastapi.responses import StreamingResponse
from playwright.sync_api import Page, expect

from memory.json_value import Json
from tests.console.door import SECONDS, ScriptedDoor
from tests.console.scripted_house import answers, turn, turns

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24", "V25")]


@pytest.fixture
def door(door: ScriptedDoor) -> ScriptedDoor:
    door.answers |= answers()
    return door


@pytest.fixture
def health(page: Page) -> Page:
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_test_id("waterfall")).to_be_visible()
    return page


def test_the_waterfall_of_a_turn_says_where_the_time_went(health: Page) -> None:
    health.get_by_test_id("turn-row").nth(1).click()
    assert health.url.endswith("#/health/event-1")
    steps = health.get_by_test_id("step")
    expect(steps).to_have_count(11)
    model = steps.filter(has_text="Model, first word")
    expect(model.get_by_role("cell")).to_have_text(["", "0.78", "0.45", "0.90"])
    before = steps.filter(has_text="Recognition").locator("span span").bounding_box()
    after = model.locator("span span").bounding_box()
    assert before is not None
    assert after is not None
    assert before["x"] + before["width"] <= after["x"] + 1, "a step should begin where the one before it ends"
    expect(health.get_by_test_id("why-slow")).to_contain_text("What took longer was the model m")


def test_a_turn_that_ends_is_there_without_being_asked_for(health: Page, door: ScriptedDoor) -> None:
    listed = turns()
    newest = turn(90, 0.5)
    assert isinstance(listed["turns"], list)
    listed["turns"].insert(0, newest)
    door.answers["turns"] = listed
    door.say("turn", newest, "run-90")
    expect(health.get_by_test_id("turn-row")).to_have_count(9)


@pytest.mark.shows("G5")
def test_what_an_answer_came_of_is_shown_from_its_turn(health: Page, door: ScriptedDoor) -> None:
    health.get_by_role("button", name="What it came of").click()
    reasons = health.get_by_test_id("why")
    expect(reasons).to_contain_text("What does Anna like?")
    expect(reasons).to_contain_text("m read 2100 tokens (1900 from its cache)")
    expect(reasons).to_contain_text("unsaid: “green tea.”")
    assert door.next_request("why") == {"what": "event-0"}


def test_levels_are_asked_for_only_while_somebody_looks(page: Page, door: ScriptedDoor) -> None:
    with page.expect_websocket(lambda socket: "levels=true" in socket.url):
        page.get_by_role("link", name="Health").click()
    expect(page.get_by_test_id("state")).to_have_attribute("data-state", "listening")
    door.say("levels", {"microphone_db": -32, "loudspeaker_db": None})
    meter = page.get_by_role("meter", name="Microphone")
    expect(meter).to_have_attribute("aria-valuetext", "-32 dB")
    with page.expect_websocket(lambda socket: "levels=false" in socket.url):
        page.get_by_role("link", name="Talk").click()


def test_the_doctor_s_lines_come_one_by_one(health: Page, door: ScriptedDoor) -> None:
    first, second = threading.Event(), threading.Event()
    lines: list[Json] = [
        {"name": "disk", "state": "ok", "what": "67 GB free", "fix": ""},
        {"name": "sound", "state": "fault", "what": "no microphone", "fix": "plug one in"},
    ]

    async def told() -> AsyncIterator[str]:
        for line, gate in zip(lines, (first, second), strict=True):
            yield json.dumps({"line": line}) + "\n"
            await asyncio.to_thread(gate.wait, SECONDS)
        yield json.dumps({"lines": lines}) + "\n"

    async def doctor() -> StreamingResponse:
        return StreamingResponse(told(), media_type="application/x-ndjson")

    door.app.add_api_route("/requests/doctor", doctor, methods=["POST"])
    door.app.router.routes.insert(0, door.app.router.routes.pop())
    health.get_by_role("button", name="Examine").click()
    shown = health.get_by_test_id("doctor-line")
    expect(shown).to_have_count(1)
    expect(health.get_by_role("button", name="Examining…")).to_be_disabled()
    first.set()
    expect(shown).to_have_count(2)
    expect(shown.nth(1)).to_contain_text("plug one in")
    expect(shown.nth(1)).to_have_attribute("data-state", "fault")
    second.set()
    expect(health.get_by_text("2 lines, 1 of them not in order.")).to_be_attached()


@pytest.mark.shows("V26")
def test_usual_seconds_models_costs_what_leaves_and_the_flight_recorder_are_told(health: Page) -> None:
    expect(health.get_by_test_id("usual-Spoken")).to_contain_text("p50 1.31 s")
    expect(health.get_by_test_id("usual-Spoken")).to_contain_text("p95 2.2 s")
    expect(health.get_by_test_id("usual-Written")).to_contain_text("3 turns")
    models = health.get_by_role("region", name="Models")
    expect(models.get_by_role("row", name="From the cache")).to_contain_text("83 %")
    expect(models.get_by_role("row", name="Cost")).to_contain_text("0.082 $")
    expect(models).to_contain_text("cloud rests for 42 s")
    expect(models).to_contain_text("the words to api.example")
    recorder = health.get_by_role("region", name="Flight recorder")
    expect(recorder).to_contain_text("1 of at most 20 turns are kept, 2.4 MB.")
    expect(recorder).to_contain_text("what does Anna like")


def test_the_echo_is_measured_and_a_refusal_told(health: Page, door: ScriptedDoor) -> None:
    health.get_by_role("button", name="Measure the echo").click()
    expect(health.get_by_text("The echo is 31 dB quieter now.")).to_be_visible()
    del door.answers["calibrate"]
    health.get_by_role("button", name="Measure the echo").click()
    expect(health.get_by_role("alert")).to_contain_text("there is no request calibrate")
