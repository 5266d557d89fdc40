"""The page in front of the real appliance: asked, interrupted, muted, restarted under the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from tests.agent.openai_script import Gate, call, calls, reply
from tests.console.conftest import FLAGS
from tests.console.house import NAME, House
from tests.service.process import Running

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.shows("F24")]


@pytest.fixture(scope="module")
def flags() -> tuple[str, ...]:
    """The appliance has a name besides its address."""
    return (*FLAGS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House.built(tmp_path_factory.mktemp("house"), {}) as built:
        yield built


@pytest.fixture(scope="module")
def running(house: House) -> Iterator[Running]:
    """One start for all of them: what they leave behind stands above in the conversation."""
    with house.running() as process:
        yield process


@pytest.fixture
def page(tab: Page, house: House, running: Running) -> Page:
    assert running.process.poll() is None
    tab.goto(house.address)
    expect(tab.get_by_test_id("state")).to_have_attribute("data-state", "idle")
    return tab


def ask(page: Page, words: str) -> None:
    page.get_by_role("textbox").fill(words)
    page.keyboard.press("Enter")


DONE = call("complete_event", {"summary": "told"})


def answered(page: Page, words: str) -> None:
    """Expect the last answer to be these words, and whole."""
    expect(page.get_by_test_id("answer").last).to_have_text(words)
    expect(page.get_by_test_id("turn").last).to_have_attribute("data-status", "COMPLETED")


def test_an_answer_grows_and_a_reload_in_the_middle_loses_nothing(page: Page, house: House) -> None:
    gate = Gate()
    house.answer(reply("The moon is far. ", gate, "It is 384,000 km away.", also=[DONE]))
    ask(page, "How far is the moon?")
    expect(page.get_by_test_id("answer")).to_have_text("The moon is far.")
    page.reload()
    expect(page.get_by_test_id("answer")).to_have_text("The moon is far.")
    house.open(gate)
    answered(page, "The moon is far. It is 384,000 km away.")
    expect(page.get_by_test_id("question")).to_have_text("How far is the moon?")


def test_what_is_asked_before_the_past_is_told_stands_below_it(context: BrowserContext, house: House) -> None:
    sockets: list[WebSocketRoute] = []
    past: list[str | bytes] = []
    is_told = False

    def hold(page_side: WebSocketRoute) -> None:
        sockets.append(page_side)
        page_side.connect_to_server().on_message(
            lambda message: page_side.send(message) if is_told else past.append(message)
        )

    page = context.new_page()
    page.route_web_socket("**/ws?*", hold)
    page.goto(house.address)
    house.answer(reply("It is seven.", also=[DONE]))
    ask(page, "How late is it?")
    expect(page.get_by_test_id("question")).to_have_text(["How late is it?"])
    while not any('"snapshot"' in str(each) for each in past):
        page.wait_for_timeout(50)
    is_told = True
    for message in past:
        sockets[0].send(message)
    answered(page, "It is seven.")
    expect(page.get_by_test_id("question")).to_have_text(["How far is the moon?", "How late is it?"])


def test_a_tool_s_card_and_a_timer_that_rings(page: Page, house: House) -> None:
    set_timer = calls(call("set_timer", {"seconds": 2, "label": "tea"}))
    house.answer(set_timer, reply("Two seconds.", also=[DONE]), reply("Your tea.", also=[DONE]))
    ask(page, "Set a tea timer for two seconds")
    card = page.get_by_test_id("tool").last
    expect(card).to_have_attribute("data-status", "ok")
    card.locator("summary").click()
    expect(card).to_contain_text('"label": "tea"')
    ringing = page.get_by_role("region", name="It rings")
    expect(ringing).to_contain_text("tea")
    answered(page, "Your tea.")
    ringing.get_by_role("button", name="Stop it").click()
    expect(ringing).to_have_count(0)


def test_the_room_is_muted_from_the_page(page: Page) -> None:
    page.get_by_role("link", name="Now").click()
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_test_id("state")).to_have_attribute("data-muted", "true")
    page.get_by_role("button", name="Unmute").click()
    expect(page.get_by_test_id("state")).to_have_attribute("data-muted", "false")


def test_an_answer_that_was_stopped_says_so(page: Page, house: House) -> None:
    gate = Gate()
    house.answer(reply("Once there was a fox. ", gate, "It lived in a wood."))
    ask(page, "Tell me a story")
    expect(page.get_by_test_id("answer").last).to_have_text("Once there was a fox.")
    page.get_by_role("button", name="Stop", exact=True).click()
    stopped = page.get_by_test_id("turn").last
    expect(stopped.get_by_text("Interrupted")).to_be_visible()
    expect(stopped.get_by_test_id("answer")).to_have_text("Once there was a fox.")
    expect(stopped.locator("del")).to_have_count(0)


def test_events_made_on_the_page_are_in_the_mailbox(page: Page, house: House) -> None:
    page.get_by_role("link", name="Now").click()
    house.answer(calls(call("complete_event", {"summary": "noted"})))
    page.get_by_label("What is it about?").fill("The parcel has come")
    page.get_by_role("button", name="Put it into the mailbox").click()
    expect(page.get_by_text("It is in the mailbox.")).to_be_visible()
    page.get_by_role("link", name="Talk").click()
    expect(page.get_by_text("The parcel has come")).to_be_visible()


def test_a_command_is_answered_though_no_model_is_asked(page: Page) -> None:
    page.get_by_role("textbox").fill("/pi")
    page.get_by_role("button", name="/ping").click()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("answer").last).to_contain_text("pong: nakari")


def test_under_another_name_a_token_is_asked_for(browser: Browser, house: House, running: Running) -> None:
    assert running.process.poll() is None
    made = house.household.run("token", "create", "phone")
    (token,) = (word for word in made.stdout.split() if len(word) > 30)
    with browser.new_context(locale="en-GB") as context:
        page = context.new_page()
        page.goto(house.address.replace("127.0.0.1", NAME))
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_test_id("state")).to_have_attribute("data-state", "idle")
        page.get_by_role("link", name="Now").click()
        expect(page.get_by_text("No timer is set.")).to_be_visible()


def test_a_restart_under_the_page_is_caught_up_with(page: Page, house: House, running: Running) -> None:
    """The last one of this file: it ends the appliance of the others."""
    house.answer(reply("It is dry.", also=[DONE]))
    ask(page, "Is it raining?")
    answered(page, "It is dry.")
    running.kill()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    ask(page, "And tomorrow?")
    house.answer(reply("It rains tomorrow.", also=[DONE]))
    with house.running():
        answered(page, "It rains tomorrow.")
    expect(page.get_by_test_id("answer").nth(-2)).to_have_text("It is dry.")
