"""*Talk* in a real Chromium: words grow, tools open, interruptions strike out, and nothing is lost on the way."""

import re

import pytest
from playwright.sync_api import Page, expect

from memory.json_value import Json
from tests.console.door import ScriptedDoor

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]

RUN = "run-1"


def ask(page: Page, door: ScriptedDoor, words: str, event_id: str = "event-1") -> None:
    """Type a question; the appliance takes it in hand."""
    page.get_by_role("textbox").fill(words)
    page.keyboard.press("Enter")
    sent = door.next_message()
    assert sent["type"] == "user_message"
    door.say("run_started", asked_again(words, event_id), RUN)


def asked_again(words: str, event_id: str = "event-1") -> dict[str, Json]:
    """Return what is told of a question that is taken in hand."""
    return {"event_id": event_id, "session": "console", "source": "http", "content": words, "parent_id": None}


def write(door: ScriptedDoor, chunk: str, event_id: str = "event-1") -> None:
    door.say("text_chunk", {"event_id": event_id, "call_id": "reply-1", "chunk": chunk}, RUN)


def test_a_question_is_answered_word_by_word(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "How are you?")
    for chunk, whole in (("I am", "I am"), (" well,", "I am well,"), (" thank you.", "I am well, thank you.")):
        write(door, chunk)
        expect(page.get_by_test_id("answer")).to_have_text(whole)
    door.say("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "COMPLETED")
    expect(page.get_by_test_id("question")).to_have_text("How are you?")
    expect(page.get_by_role("status").filter(has_text="I am well, thank you.")).to_have_count(1)


def test_a_tool_card_opens_with_arguments_and_result(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Is it cold?")
    door.say("tool_call_started", {"call_id": "c1", "tool_name": "weather", "args": {"place": "Graz"}}, RUN)
    card = page.get_by_test_id("tool")
    expect(card).to_have_attribute("data-status", "running")
    finished: dict[str, Json] = {
        "call_id": "c1",
        "tool_name": "weather",
        "status": "ok",
        "result": "4 °C, fog",
        "seconds": 0.25,
    }
    door.say("tool_call_finished", finished, RUN)
    expect(card).to_have_attribute("data-status", "ok")
    expect(page.get_by_text("4 °C, fog")).to_be_hidden()
    card.locator("summary").press("Enter")
    expect(page.get_by_text("4 °C, fog")).to_be_visible()
    expect(card).to_contain_text('"place": "Graz"')


def test_an_interruption_strikes_out_what_was_not_heard(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Tell me a story")
    write(door, "Once there was a fox. It lived in a wood.")
    page.get_by_role("button", name="Stop").click()
    assert door.next_message() == {"type": "stop"}
    cut = {"event_id": "event-1", "heard": "Once there was a fox.", "unsaid": "It lived in a wood."}
    door.say("interrupted", cut, RUN)
    expect(page.locator("del")).to_have_text(re.compile(r"^\s*It lived in a wood\.$"))
    expect(page.get_by_test_id("answer")).to_have_text("Once there was a fox. It lived in a wood.")


def test_what_comes_within_a_frame_is_one_change(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    page.clock.install(time=0)
    ask(page, door, "Count to three")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "running")
    page.evaluate(
        """() => {
          window.seen = []
          const look = () => window.seen.push(document.querySelector('[data-testid=answer]')?.textContent ?? '')
          new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true})
        }"""
    )
    page.clock.pause_at(3_600_000)
    for chunk in ("One", ", two", ", three."):
        write(door, chunk)
    door.say("tool_call_started", {"call_id": "c1", "tool_name": "weather", "args": {}}, RUN)
    expect(page.get_by_test_id("tool")).to_have_count(1)
    assert {*page.evaluate("window.seen")} == {"One, two, three."}


def test_a_long_answer_is_laid_out_at_its_end_alone(page: Page, door: ScriptedDoor) -> None:
    for words in ("twenty words of it and ", "很长的回答没有空格𠮷"):
        ask(page, door, words, words)
        begun = words * 1_000
        write(door, begun, words)
        answer = page.get_by_test_id("answer").last
        expect(answer).to_have_text(begun.strip())
        answer.evaluate("answer => { window.nodes = [...answer.childNodes].filter(node => node.nodeType === 3) }")
        before = page.evaluate("window.nodes.map(node => node.data)")
        write(door, "the end.", words)
        expect(answer).to_have_text(f"{begun}the end.")
        after = page.evaluate("window.nodes.map(node => node.data)")
        assert len(after) > 2
        assert max(map(len, after)) <= 4_000
        assert after[:-1] == before[:-1]
        assert not any("\udc00" <= piece[0] <= "\udfff" for piece in after)


def test_two_replies_of_a_run_are_two_paragraphs(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Look it up")
    write(door, "One moment.")
    door.say("text_chunk", {"event_id": "event-1", "call_id": "reply-2", "chunk": "Here it is."}, RUN)
    expect(page.get_by_test_id("answer")).to_contain_text("Here it is.")
    assert page.get_by_test_id("answer").inner_text() == "One moment.\n\nHere it is."


def test_what_was_heard_in_the_room_stands_beside_what_was_held_back(page: Page, door: ScriptedDoor) -> None:
    door.say("heard", {"text": "and then he laughed", "event_id": None, "held_back": "nobody was addressed"})
    door.say("heard", {"text": "what time is it", "event_id": "event-9", "held_back": None})
    expect(page.get_by_test_id("held-back")).to_contain_text("nobody was addressed")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "waiting")
    taken = {"event_id": "event-9", "session": "room", "source": "mic", "content": "what time is it", "parent_id": None}
    door.say("run_started", taken, RUN)
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "running")
    expect(page.get_by_test_id("question")).to_have_count(1)


def test_a_question_that_waits_says_for_what(page: Page, door: ScriptedDoor) -> None:
    def told(words: str) -> None:
        expect(page.get_by_test_id("turn").last).to_contain_text(words)

    def asked(words: str) -> None:
        page.get_by_role("textbox").fill(words)
        page.keyboard.press("Enter")
        door.answer(str(door.next_message()["id"]), {"event_id": words})

    asked("Who is there?")
    told("Waiting its turn…")
    door.say("state", {"state": "thinking", "tool": None, "muted": False})
    told("It is still busy with something else…")
    door.say("run_started", asked_again("Who is there?", "Who is there?"), RUN)
    asked("Is it cold?")
    told("It is still busy with something else…")
    asked("And tomorrow?")
    told("It is still busy with something else, and 1 more waits before this…")
    asked("And on Friday?")
    told("and 2 more wait before this…")
    door.say("run_finished", {"event_id": "Who is there?", "status": "COMPLETED", "error": None}, RUN)
    door.say("run_started", asked_again("Is it cold?", "Is it cold?"), "run-2")
    told("and 1 more waits before this…")


def test_a_reload_in_mid_answer_loses_nothing(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "How far is the moon?")
    write(door, "About 384,000")
    door.snapshot |= {"state": "thinking", "run": in_hand("How far is the moon?", "About 384,000")}
    page.reload()
    expect(page.get_by_test_id("answer")).to_have_text("About 384,000")
    write(door, " kilometres.")
    expect(page.get_by_test_id("answer")).to_have_text("About 384,000 kilometres.")
    expect(page.get_by_test_id("question")).to_have_text("How far is the moon?")


def test_what_was_said_before_comes_back(page: Page, door: ScriptedDoor) -> None:
    remember_turn(door, "earlier", "What is the time?", "Ten past four.")
    page.reload()
    expect(page.get_by_test_id("question")).to_have_text("What is the time?")
    expect(page.get_by_test_id("answer")).to_have_text("Ten past four.")
    expect(page.get_by_test_id("tool")).to_have_count(0)


def test_a_lost_connection_comes_back_and_catches_up(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Count to three")
    write(door, "One")
    door.snapshot |= {"run": in_hand("Count to three", "One, two, three.")}
    door.drop()
    expect(page.get_by_test_id("answer")).to_have_text("One, two, three.")
    door.remember("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    remember_turn(door, "event-2", "And to four?", "Four.")
    door.snapshot |= {"run": None}
    door.drop()
    expect(page.get_by_test_id("answer").last).to_have_text("Four.")
    expect(page.get_by_test_id("answer").first).to_have_text("One, two, three.")
    expect(page.locator('[data-testid=turn][data-status="COMPLETED"]')).to_have_count(2)


def test_what_the_page_was_too_slow_for_is_told_again(page: Page, door: ScriptedDoor) -> None:
    remember_turn(door, "event-1", "What is the time?", "Ten past four.")
    door.say("lost", {"count": 4})
    expect(page.get_by_test_id("answer")).to_have_text("Ten past four.")
    door.say("lost", {"count": 2})
    expect(page.get_by_text("2 messages did not reach this page.")).to_be_visible()


def test_what_a_broken_connection_swallowed_of_an_answer_comes_whole(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Count to three")
    write(door, "One")
    reply: dict[str, Json] = {"call_id": "reply-1", "tool_name": "reply", "args": {"text": "One, two, three."}}
    door.remember("tool_call_started", reply, RUN)
    door.remember("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    door.drop()
    expect(page.get_by_test_id("answer")).to_have_text("One, two, three.")


def test_an_answer_in_plain_text_comes_back(page: Page, door: ScriptedDoor) -> None:
    remember_plain_turn(door, "earlier", "What is the time?", "Ten past four.", "Tea time.")
    page.reload()
    expect(page.get_by_test_id("answer")).to_have_text("Ten past four.\n\nTea time.")
    expect(page.get_by_role("link", name="Why?")).to_have_count(1)


def test_what_a_broken_connection_swallowed_of_plain_text_comes_whole(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Count to three")
    write(door, "One")
    door.remember("reply_written", {"event_id": "event-1", "call_id": "reply-1", "text": "One, two, three."}, RUN)
    door.remember("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    door.drop()
    expect(page.get_by_test_id("answer")).to_have_text("One, two, three.")


def test_the_end_of_an_answer_changes_nothing_of_what_stands_there(page: Page, door: ScriptedDoor) -> None:
    door.snapshot |= {"run": in_hand("Look it up", "One moment.\nHere it")}
    page.reload()
    expect(page.get_by_test_id("answer")).to_have_text("One moment.\nHere it")  # its own socket is there
    write(door, " is.")
    door.say("reply_written", {"event_id": "event-1", "call_id": "reply-1", "text": "Here it is."}, RUN)
    door.say("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "COMPLETED")
    expect(page.get_by_test_id("answer")).to_have_text("One moment.\nHere it is.")


def test_an_answer_aloud_comes_back_by_its_sentences(page: Page, door: ScriptedDoor) -> None:
    door.remember("run_started", asked_again("Tell me a story"), RUN)
    ask(page, door, "Tell me a story")
    write(door, "Once there was a fox. It li")
    for call, text in (
        ("filler-event-1", "One moment."),
        ("reply-1", "Once there was a fox."),
        ("reply-1", "It lived in a wood."),
    ):
        door.remember("sentence", {"event_id": "event-1", "call_id": call, "text": text}, RUN)
    cut = {"event_id": "event-1", "heard": "Once there was a fox. It lived", "unsaid": "in a wood. The end."}
    door.remember("interrupted", cut, RUN)
    door.remember("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    door.drop()
    whole = "Once there was a fox. It lived in a wood. The end."
    expect(page.get_by_test_id("answer")).to_have_text(whole)
    page.reload()
    expect(page.locator("del")).to_have_text(re.compile(r"^\s*in a wood\. The end\.$"))


def test_a_stop_while_nobody_is_there_is_told_and_sent_later(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Tell me a story")
    write(door, "Once there was a fox.")
    door.is_away = True
    door.drop()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    for _ in range(3):
        page.get_by_role("button", name="Stop").click()
    expect(page.get_by_test_id("notice")).to_contain_text("it is stopped then")
    expect(page.get_by_test_id("notice")).to_have_count(1)
    door.snapshot |= {"run": in_hand("Tell me a story", "Once there was a fox. It lived")}
    door.is_away = False
    assert door.next_message() == {"type": "stop"}


def test_a_stop_for_an_answer_that_has_ended_meanwhile_stops_no_other(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Tell me a story")
    door.is_away = True
    door.drop()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    door.snapshot |= {"run": in_hand("Another one", "Long ago") | {"event_id": "event-2", "run_id": "run-2"}}
    door.is_away = False
    expect(page.get_by_test_id("answer")).to_have_text("Long ago")
    page.get_by_role("textbox").fill("Are you there?")
    page.keyboard.press("Enter")
    assert door.next_message()["type"] == "user_message"


def test_what_the_page_was_too_slow_for_again_is_told_after_a_rest(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    page.clock.install()
    ask(page, door, "Tell me a story")
    write(door, "Once there was a fox.")
    door.snapshot |= {"state": "idle"}
    door.say("lost", {"count": 1})
    expect(page.get_by_test_id("state")).to_have_attribute("data-state", "idle")
    cut = {"event_id": "event-1", "heard": "Once there was a fox.", "unsaid": ""}
    door.remember("interrupted", cut, RUN)
    door.remember("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    door.say("lost", {"count": 2})
    door.say("snapshot", door.snapshot)
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "unknown")
    laughed: dict[str, Json] = {"text": "he laughed", "event_id": None, "held_back": "nobody was addressed"}
    door.past.append(door.say("heard", laughed))
    expect(page.get_by_test_id("held-back")).to_have_count(1)
    page.clock.run_for(31_000)
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "COMPLETED")
    expect(page.get_by_test_id("turn")).to_contain_text("Interrupted")
    expect(page.get_by_test_id("held-back")).to_have_count(1)


def test_a_question_that_may_be_lost_says_so(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("textbox").fill("Are you there?")
    page.keyboard.press("Enter")
    door.next_message()
    door.drop()
    expect(page.get_by_test_id("turn")).to_contain_text("it may not have arrived")


def test_words_that_act_at_once_are_answered_at_once(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("textbox").fill("louder")
    page.keyboard.press("Enter")
    door.answer(str(door.next_message()["id"]), {"event_id": None, "done": "Volume 70 percent."})
    expect(page.get_by_test_id("answer")).to_have_text("Volume 70 percent.")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "COMPLETED")


def test_what_was_asked_while_nobody_was_there_is_sent_later(page: Page, door: ScriptedDoor) -> None:
    door.is_away = True
    door.drop()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.get_by_role("textbox").fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-status", "sending")
    door.is_away = False
    payload = door.next_message()["payload"]
    assert isinstance(payload, dict)
    assert payload["content"] == "Are you there?"


def wake_up(page: Page) -> None:
    """On a clock that stays with the profile."""
    page.clock.install()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_page_that_wakes_up_leaves_a_connection_that_died(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    door.is_deaf = True
    door.snapshot |= {"state": "idle"}
    wake_up(page)
    page.clock.run_for(4_000)
    expect(page.get_by_test_id("state")).to_have_attribute("data-state", "idle")


def test_a_page_that_wakes_up_keeps_a_connection_that_lives(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    wake_up(page)
    door.say("state", {"state": "speaking", "tool": None, "muted": False})
    expect(page.get_by_test_id("state")).to_have_attribute("data-state", "speaking")
    page.clock.run_for(4_000)
    assert door.connections == 1


def test_a_command_is_offered_and_answered_at_once(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("textbox").fill("/pi")
    page.get_by_role("button", name="/ping").click()
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Enter")
    sent = door.next_message()
    assert isinstance(sent["payload"], dict)
    assert sent["payload"]["content"] == "/ping"
    door.answer(str(sent["id"]), {"event_id": None, "done": "pong: nakari 0.1.0"})
    expect(page.get_by_test_id("answer")).to_have_text("pong: nakari 0.1.0")


def test_what_is_forgotten_leaves_the_page(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "My password is swordfish")
    write(door, "I will remember that.")
    page.get_by_role("textbox").fill("/forget 1")
    page.keyboard.press("Enter")
    door.say("forgotten", {"event_ids": ["event-1"], "since": None})
    door.answer(str(door.next_message()["id"]), {"event_id": None, "done": "It is forgotten."})
    expect(page.get_by_test_id("question")).to_have_count(1)
    expect(page.get_by_test_id("answer")).to_have_text("It is forgotten.")
    assert "swordfish" not in page.content()


def test_what_is_forgotten_by_voice_leaves_an_open_page_with_what_was_held_back(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Is it cold?")
    door.say("heard", {"text": "swordfish, he said", "event_id": None, "held_back": "nobody was addressed"})
    door.say("heard", {"text": "the word is swordfish", "event_id": "event-9", "held_back": None})
    expect(page.get_by_text("swordfish")).to_have_count(2)
    door.say("forgotten", {"event_ids": ["event-9", "event-8"], "since": "2020-01-01T00:00:00+00:00"})
    expect(page.get_by_text("swordfish")).to_have_count(0)
    expect(page.get_by_test_id("question")).to_have_text("Is it cold?")
    assert "swordfish" not in page.content()


def test_a_file_goes_along_with_the_question(page: Page, door: ScriptedDoor) -> None:
    picked = {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"the garden in spring"}
    page.locator("input[type=file]").set_input_files(picked)  # type: ignore[arg-type]
    assert door.next_request("attachments") == {"name": "plan.txt", "bytes": 20}
    page.get_by_role("textbox").fill("What is this?")
    page.get_by_role("button", name="Send").click()
    payload = door.next_message()["payload"]
    assert isinstance(payload, dict)
    assert payload["attachments"] == ["file-1"]
    expect(page.get_by_test_id("turn")).to_contain_text("plan.txt")


def test_a_file_that_is_dropped_goes_along(page: Page, door: ScriptedDoor) -> None:
    dropped = page.evaluate_handle(
        """() => {
          const files = new DataTransfer()
          files.items.add(new File(['tulips'], 'bulbs.txt', {type: 'text/plain'}))
          return files
        }"""
    )
    page.get_by_role("log").dispatch_event("dragover", {"dataTransfer": dropped})
    expect(page.get_by_text("Drop files here")).to_be_visible()
    page.get_by_role("log").dispatch_event("drop", {"dataTransfer": dropped})
    assert door.next_request("attachments") == {"name": "bulbs.txt", "bytes": 6}
    page.get_by_role("button", name="Take bulbs.txt away").click()
    expect(page.get_by_test_id("attached")).to_have_count(0)


def test_what_is_half_typed_is_there_again_after_another_view(page: Page, door: ScriptedDoor) -> None:
    picked = {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"the garden in spring"}
    page.locator("input[type=file]").set_input_files(picked)  # type: ignore[arg-type]
    page.get_by_role("textbox").fill("What is")
    page.get_by_role("link", name="Now").click()
    expect(page.get_by_role("textbox", name="Write to")).to_have_count(0)
    page.get_by_role("link", name="Talk").click()
    expect(page.get_by_role("textbox", name="Write to")).to_have_value("What is")
    expect(page.get_by_test_id("attached")).to_contain_text("plan.txt")


def test_of_a_long_answer_a_screen_reader_is_told_the_beginning(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "Tell me a story")
    write(door, "Once there was a fox. " * 40)
    door.say("run_finished", {"event_id": "event-1", "status": "COMPLETED", "error": None}, RUN)
    told = page.get_by_role("status").filter(has_text="Once there was a fox.")
    expect(told).to_have_text(re.compile(r"^(Once there was a fox\. ){13}…$"))


def test_hebrew_and_arabic_are_read_from_the_right(page: Page, door: ScriptedDoor) -> None:
    ask(page, door, "מה השעה?")
    write(door, "الساعة الرابعة.\nFour o'clock.")
    door.say("heard", {"text": "שלום", "event_id": None, "held_back": "nobody was addressed"})
    expect(page.get_by_test_id("held-back")).to_be_visible()
    for words in ("[data-testid=question]", "[data-testid=answer]", "[data-testid=held-back] q"):
        assert page.locator(words).evaluate("words => getComputedStyle(words).direction") == "rtl"
    page.get_by_role("textbox").fill("שלום")
    assert page.get_by_role("textbox").evaluate("field => getComputedStyle(field).direction") == "rtl"
    places = page.get_by_test_id("answer").evaluate(
        """answer => ['الساعة', 'Four'].map(word => {
          const range = document.createRange()
          range.setStart(answer.firstChild, answer.textContent.indexOf(word))
          range.setEnd(answer.firstChild, answer.textContent.indexOf(word) + word.length)
          const [here, all] = [range.getBoundingClientRect(), answer.getBoundingClientRect()]
          return [here.left - all.left, all.right - here.right].map(Math.round)
        })"""
    )
    assert (places[0][1], places[1][0]) == (0, 0), "each line begins at its own side"


def test_more_than_is_told_again_is_said_at_the_top(page: Page, door: ScriptedDoor) -> None:
    remember_plain_turn(door, "earlier", "What is the time?", "Ten past four.")
    page.reload()
    expect(page.get_by_test_id("turn")).to_have_count(1)
    expect(page.get_by_test_id("earlier")).to_have_count(0)
    door.past.insert(0, door.past[0] | {"event": "lost", "run_id": None, "payload": {"count": 812}})
    page.reload()
    expect(page.get_by_role("listitem").first).to_contain_text("Only the newest part of the conversation is here.")
    expect(page.get_by_text("did not reach this page")).to_have_count(0)
    page.get_by_role("link", name="Find what was said before").click()
    expect(page.get_by_role("link", name="Journal")).to_have_attribute("aria-current", "page")


def test_all_of_the_conversation_is_printed(page: Page, door: ScriptedDoor) -> None:
    for number in range(40):
        remember_plain_turn(door, f"event-{number}", f"Question {number}?", f"Answer {number}.")
    page.reload()
    expect(page.get_by_test_id("turn")).to_have_count(40)
    page.emulate_media(media="print")
    try:
        height = page.get_by_role("log").evaluate("log => log.scrollHeight")
        assert page.evaluate("document.documentElement.scrollHeight") >= height > 2_000
        assert page.get_by_role("log").evaluate("log => log.clientHeight") == height
        expect(page.get_by_role("navigation")).to_be_hidden()
        expect(page.get_by_role("textbox")).to_be_hidden()
    finally:
        page.emulate_media(media="screen")


def test_a_question_names_its_time_and_zone(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("textbox").fill("When is it?")
    page.keyboard.press("Enter")
    payload = door.next_message()["payload"]
    assert isinstance(payload, dict)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", str(payload["client_timestamp_utc"]))
    assert payload["client_timezone_offset"] == page.evaluate("new Date().getTimezoneOffset()")
    assert payload["session"] == "console"


def in_hand(content: str, text: str) -> dict[str, Json]:
    return {
        **{"run_id": RUN, "event_id": "event-1", "session": "console", "source": "console", "content": content},
        **{"parent_id": None, "started_at": "2026-11-22T17:00:00Z", "text": text, "call_id": "reply-1"},
        "tool_calls": [],
    }


def remember_plain_turn(door: ScriptedDoor, event_id: str, content: str, *texts: str) -> None:
    """Let a question have been answered in plain text, as most models do."""
    run = f"run of {event_id}"
    about: dict[str, Json] = {"event_id": event_id, "session": "console", "source": "console", "parent_id": None}
    door.remember("run_started", about | {"content": content}, run)
    for number, text in enumerate(texts):
        door.remember("reply_written", {"event_id": event_id, "call_id": f"text {number}", "text": text}, run)
    door.remember("run_finished", {"event_id": event_id, "status": "COMPLETED", "error": None}, run)


def remember_turn(door: ScriptedDoor, event_id: str, content: str, text: str) -> None:
    """Let a question have been answered while no page was there: what the journal has has no chunks."""
    run = f"run of {event_id}"
    about: dict[str, Json] = {"event_id": event_id, "session": "console", "source": "console", "parent_id": None}
    door.remember("run_started", about | {"content": content}, run)
    reply: dict[str, Json] = {"call_id": f"reply of {event_id}", "tool_name": "reply"}
    door.remember("tool_call_started", reply | {"args": {"text": text}}, run)
    door.remember("tool_call_finished", reply | {"status": "ok", "result": "delivered", "seconds": 0.1}, run)
    door.remember("run_finished", {"event_id": event_id, "status": "COMPLETED", "error": None}, run)
