"""What recall finds: by stems, characters, names, dates, neighbours and notes, and what it does not."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memory.json_value import Json
from memory.recall import Question
from memory.recall.dates import dates_in
from memory.state.journal import Entry
from memory.state.retention import Keep, Retention
from tests.memory.history.test_erasure import found_in
from tests.memory.tier_fixtures import NOON, a_memory, hours, task
from tests.processes import child

HOME = "household"


def reply(words: str, event: str, number: int = 0, call: str = "c1") -> Entry:
    body: dict[str, Json] = {"call_id": call, "number": number, "words": words}
    return Entry("speech.sentence_started", body, event, session_id="room", owner_key=HOME, at=NOON)


def write(event: str, params: dict[str, Json], call: str = "w1", status: str = "ok") -> list[Entry]:
    """What the journal has of a write into the graph: the call, and how it ended."""
    about: dict[str, Json] = {"call_id": call, "tool_name": "memory_write", "cycle": "t1"}
    args = json.dumps({"cypher": "CREATE (:Thing {text: $text})", "params": params})
    ended: dict[str, Json] = {"event": "tool_call_finished", "status": status, **about}
    return [
        Entry("tools.requests", {**about, "args": args}, event, session_id="room", owner_key=HOME, at=NOON),
        Entry("ui.events", ended, event, session_id="room", owner_key=HOME, at=NOON),
    ]


@pytest.mark.shows("D4", "X8")
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We fed the neighbours' cats twice", "who feeds the cat of the neighbour?"),
        ("Wir haben die Blumen im Garten gegossen", "Wer gießt die Blume?"),
        ("Die Straßenbahn fährt um sieben", "strassenbahn"),
        ("Nous avons acheté des pommes", "Qui achète une pomme ?"),
        ("明天去北京开会", "在北京有什么会"),
        ("我的鑰匙在抽屜裡", "钥匙在哪"),
        ("Die Katze heißt Mimi und she likes fish", "fish"),
        ("The plumber is called O'Brien", "what does O'Brien do?"),
        ("He comes at six o’clock", "who comes at six o'clock?"),
        ("On a mangé à l'école", "école"),
    ],
)
async def test_other_forms_of_the_words_find_it(tmp_path: Path, said: str, asked: str) -> None:
    async with a_memory(tmp_path) as memory:
        for number in range(5):
            await memory.heard(f"Something else entirely, number {number}", f"e{number}")
        await memory.heard(said, "it")
        assert (await memory.words_of(asked))[0] == said


async def test_a_word_that_the_index_takes_apart_can_be_asked_for(tmp_path: Path) -> None:
    """The index has no positions, and refuses the phrase that such a word would be to it."""
    async with a_memory(tmp_path) as memory:
        await memory.heard("Put 2½ cups on the coŀlecció", "e")
        for odd in ("2½", "x⅐y", "coŀlecció", "xำy", "xᦰy", "xཌྷy", "x_y", "o'clock", "x’y"):
            assert await memory.words_of(f"what of {odd} cups?") == ["Put 2½ cups on the coŀlecció"], odd


@pytest.mark.shows("G3", "X8")
async def test_what_was_never_said_is_nothing_and_has_no_hits(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("We fed the cats", "e")
        found = await memory.recall.find(Question("When is the piano lesson of Zoe?"), HOME)
        assert (found.sureness, found.hits, found.more) == ("nothing", (), False)
        assert (await memory.recall.find(Question("Who fed the cats?"), HOME)).sureness == "sure"


async def test_who_is_named_and_spoke_comes_first(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("The camping trip was wet", "ben", speaker="Ben")
        await memory.heard("The camping trip was wonderful", "ada", speaker="Ada")
        await memory.heard("The camping trip was long", "eve", speaker="Eve")
        assert (await memory.words_of("How did Ada like the camping trip?"))[0] == "The camping trip was wonderful"


async def test_a_date_in_the_question_brings_what_was_said_then(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        for month in (1, 5, 9):
            memory.now = NOON.replace(month=month, day=7)
            await memory.heard(f"We went to the lake, all {month} of us", f"e{month}")
        assert (await memory.words_of("What did we do at the lake in May 2026?"))[0].endswith("all 5 of us")
        assert (await memory.words_of("What was on January 5 at the lake?"))[0].endswith("all 1 of us")


@pytest.mark.parametrize(
    ("words", "since", "days"),
    [
        ("on 7 May 2023", "2023-05-07", 1),
        ("on May 7th, 2023", "2023-05-07", 1),
        ("2023-05-07", "2023-05-07", 1),
        ("in May 2023", "2023-05-01", 31),
        ("in 2023", "2023-01-01", 361),
        ("am 3. März", "2026-03-03", 1),
        ("in December", "2025-12-01", 31),
        ("十月七号", "2026-10-07", 1),
        ("2023年5月", "2023-05-01", 31),
        ("may I ask", "", 0),
        ("30 February", "", 0),
    ],
)
def test_dates_are_read(words: str, since: str, days: int) -> None:
    found = [(f"{each.since:%Y-%m-%d}", (each.until - each.since).days - 4) for each in dates_in(words, NOON)]
    assert found == ([(since, days)] if since else [])


async def test_what_answers_without_the_words_is_found_beside_its_question(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("Which colour shall the fence get?", "ask")
        await memory.heard("Mint green!", "answer")
        await memory.journal.append(task("Mint tea!", "later", at=NOON + hours(2)))
        found = await memory.recall.find(Question("What colour is the fence?"), HOME)
        assert [hit.id for hit in found.hits] == ["ask", "answer"]  # the tea was another conversation
        [ask] = [hit for hit in found.hits if hit.id == "ask"]
        assert [(line.id, line.words) for line in ask.after] == [("answer", "Mint green!")]
        assert ask.before == ()


@pytest.mark.shows("D4", "X8")
async def test_a_reply_is_found_whole_and_grows_with_its_sentences(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.journal.append(reply("The boat leaves at nine.", "e", 0), reply("Bring a coat.", "e", 1))
        assert await memory.words_of("boat coat") == ["The boat leaves at nine. Bring a coat."]
        await memory.journal.append(reply("And an umbrella.", "e", 2))
        [hit] = (await memory.recall.find(Question("umbrella"), HOME)).hits
        assert (hit.words, hit.speaker) == ("The boat leaves at nine. Bring a coat. And an umbrella.", "you")


@pytest.mark.shows("G3", "D4", "X8")
async def test_what_the_agent_noted_is_found_at_once_and_what_failed_is_not(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("She moved", "e")
        await memory.journal.append(
            *write("e", {"text": "Anna moved to Lisbon", "who": {"name": "Anna"}, "n": 3, "at": "2026-03-02"})
        )
        await memory.journal.append(*write("e", {"text": "Anna moved to Porto"}, "w2", "error"))
        found = await memory.recall.find(Question("Lisbon"), HOME)
        assert [(hit.kind, hit.speaker, hit.id, hit.words) for hit in found.hits] == [
            ("note", "you", "e", "Anna moved to Lisbon; Anna")
        ]
        assert await memory.words_of("Porto") == []


@pytest.mark.shows("E15", "G12", "X8")
async def test_its_words_and_the_agents_sentence_about_them_are_both_found(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("the kettle rattles like mad", "e")
        await memory.marked("e", 0.9, summary="Complained about a kitchen appliance.")
        await memory.heard("stop the lawn mower", "cut")
        await memory.marked("cut", 0.5, summary="interrupted: talked about the garden")
        assert (await memory.words_of("kettle"))[0] == "the kettle rattles like mad"
        assert "Complained about a kitchen appliance." in await memory.words_of("kitchen appliance")
        assert await memory.words_of("garden") == []


async def test_a_hit_s_id_and_paging(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        for number in range(25):
            await memory.heard(f"the train of {number} o'clock", f"e{number}")
        pages = [await memory.recall.find(Question("train", limit=10, skip=skip), HOME) for skip in (0, 10, 20)]
        assert [(len(page.hits), page.more) for page in pages] == [(10, True), (10, True), (5, False)]
        assert len({hit.id for page in pages for hit in page.hits}) == 25


@pytest.mark.shows("F11", "F12", "X8")
async def test_what_is_erased_is_gone_with_its_notes_and_from_the_file(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the xylophone", "e")
        await memory.journal.append(reply("The xylophone,", "e", 0), reply("I know.", "e", 1))
        await memory.journal.append(*write("e", {"text": "has a xylophone"}))
        await memory.heard("the train", "other")
        await memory.fill()
        assert len(await memory.words_of("xylophone")) == 4  # and the neighbour of one
        assert (await memory.recall.find(Question("xylophone"), "another")).hits == ()
        await memory.journal.erase(*(entry.id for entry in await memory.journal.entries(event_id="e")))
        assert await memory.words_of("xylophone") == []
        assert await memory.words_of("train") == ["the train"]
        check = "INSERT INTO recall_words (recall_words) VALUES ('integrity-check')"
        await memory.database.write(lambda connection: connection.execute(check).fetchall())
    assert found_in(tmp_path, "xylophon") == []


@pytest.mark.shows("D1", "X8")
async def test_a_note_outlives_the_details_of_its_call_and_goes_with_the_words(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("We bought a canoe", "e")
        await memory.journal.append(*write("e", {"text": "owns a canoe"}))
        await memory.fill()
        memory.now = NOON + timedelta(days=100)
        for keep, left in ((Keep(details_days=90), 2), (Keep(words_days=50), 0)):
            await Retention(memory.database, keep, is_busy=lambda: False, now=lambda: memory.now).once()
            assert len(await memory.words_of("canoe")) == left


@pytest.mark.shows("F12")
async def test_what_a_search_needs_is_loaded_before_somebody_waits_for_one(tmp_path: Path) -> None:
    async with child("tests.memory.recall.warming_program", str(tmp_path)) as warming:
        assert await warming.line() == "False before"
        assert await warming.line() == "loaded"
