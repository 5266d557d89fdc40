"""Files that come to the door before their question: in pieces, bounded, each owner's to itself."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.attachments.attachment import MOST_TOGETHER, Document, Image
from agent.attachments.documents import MOST_BYTES
from agent.errors import NotAttached
from agent.mailbox import SCHEMA
from appliance.api.attaching import MOST_OF_ALL, MOST_OF_ONE, Attaching, described
from appliance.errors import Exit
from appliance.http import attachments
from memory.state.database import Database
from memory.state.images import FRESH_SECONDS, Images
from tests.agent.files import png
from tests.appliance.door_fakes import ScriptedHandler, serving, visiting

pytestmark = pytest.mark.shows("G9", "G17")


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
async def door(tmp_path: Path, seconds: Seconds) -> AsyncIterator[Attaching]:
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    yield Attaching(Images(tmp_path / "images", database, clock=seconds), seconds)
    await database.close()


async def test_an_image_is_looked_at_and_kept(door: Attaching) -> None:
    cat = png(64, 48)
    found = await door.keep("household", "1", "cat.png", cat)
    assert described(found) == {"name": "cat.png", "type": "image/png", "width": 64, "height": 48}
    [image] = await door.given("household", ["1", "1"])
    assert isinstance(image, Image)
    assert image.bytes == len(cat)


async def test_files_of_two_owners_under_one_name_are_two_files(door: Attaching) -> None:
    await door.keep("household", "1", "a.txt", b"the household's own")
    await door.keep("ada", "1", "a.txt", b"Ada's")
    [ours], [theirs] = await door.given("household", ["1"]), await door.given("ada", ["1"])
    assert isinstance(ours, Document)
    assert isinstance(theirs, Document)
    assert (ours.text, theirs.text) == ("the household's own", "Ada's")


def test_large_files_that_come_at_the_same_time_are_bounded_together(door: Attaching) -> None:
    with ExitStack() as coming:
        for _ in range(3):
            coming.enter_context(door.coming("household"))(MOST_BYTES)
        fourth = coming.enter_context(door.coming("household"))
        with pytest.raises(NotAttached, match="too many large files come at the same time"):
            fourth(MOST_BYTES)
        with pytest.raises(NotAttached, match="the file has more than 20 MB: attach a part of it"):
            fourth(MOST_BYTES + 1)
    with door.coming("household") as count:
        count(MOST_BYTES)


async def test_files_of_all_owners_together_are_bounded(door: Attaching) -> None:
    picture = png()
    for number in range(MOST_OF_ALL):
        await door.keep(f"owner {number % 5}", str(number), "a.png", picture)
    with (
        pytest.raises(NotAttached, match="too many files were attached in the last 15 minutes"),
        door.coming("household"),
    ):
        pass


async def test_a_file_comes_by_http_as_it_is(door: Attaching, tmp_path: Path) -> None:
    path = tmp_path / "n.sock"
    async with (
        serving(path, ScriptedHandler(), routers=lambda: [attachments.router(door)]),
        visiting(path) as program,
    ):
        taken = await program.client.post("/attachments", params={"name": "cat.png"}, content=png(64, 48))
        assert taken.json()["attachment"]["type"] == "image/png"
        assert (await door.given("household", [taken.json()["id"]]))[0].name == "cat.png"
        damaged = await program.client.post("/attachments", params={"name": "cat.png"}, content=png()[:40])
        assert (damaged.status_code, damaged.json()["code"]) == (404, Exit.NO_INPUT)
        nameless = await program.client.post("/attachments", content=b"x")
        assert (nameless.status_code, nameless.json()["error"]) == (422, "name: field required")


async def test_an_owner_has_so_many_places_and_time_makes_room(door: Attaching, seconds: Seconds) -> None:
    for number in range(MOST_OF_ONE):
        with pytest.raises(NotAttached, match="is damaged"):
            await door.keep("ada", str(number), "cat.png", png()[:40])
    with pytest.raises(NotAttached, match="too many files were attached"):
        await door.keep("ada", "more", "cat.png", png())
    await door.keep("ben", "his", "cat.png", png())
    with pytest.raises(NotAttached, match="too many files were attached"):
        await door.keep("ada", "another", "a.txt", b"x")
    seconds.now += FRESH_SECONDS + 1
    await door.keep("ada", "more", "cat.png", png())


async def test_documents_of_one_question_share_the_room_there_is(door: Attaching) -> None:
    names = [str(number) for number in range(3)]
    for name in names:
        await door.keep("household", name, "long.txt", b"word " * 10_000)
    found = [each for each in await door.given("household", names) if isinstance(each, Document)]
    assert sum(len(each.text) for each in found) <= MOST_TOGETHER
    assert {each.extent.rpartition(", ")[2] for each in found} == {f"its first {MOST_TOGETHER // 3} characters"}


async def test_images_of_one_question_have_a_bound_together(door: Attaching) -> None:
    names = [str(number) for number in range(4)]
    for name in names:
        await door.keep("household", name, f"{name}.png", png(junk=3_200_000 + int(name)))
    with pytest.raises(NotAttached, match="the images have more than 12 MB together: ask about fewer"):
        await door.given("household", names)
    assert len(await door.given("household", names[1:])) == 3


async def test_forgetting_takes_what_waits_too(door: Attaching) -> None:
    await door.keep("household", "1", "cat.png", png())
    door.forget()
    with pytest.raises(NotAttached, match="attach it again"):
        await door.given("household", ["1"])
