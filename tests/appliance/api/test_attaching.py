"""Files that come to the door before their question: in pieces, bounded, each owner's to itself."""

from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.attachments.attachment import MOST_TOGETHER, Document, Image
from agent.attachments.documents import MOST_BYTES
from agent.errors import NotAttached
from agent.mailbox import SCHEMA
from appliance.api.attaching import MOST_OF_ALL, MOST_OF_ONE, Attach, Attaching
from memory.state.database import Database
from memory.state.images import FRESH_SECONDS, Images
from tests.agent.files import png

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


def piece(content: bytes, name: str = "1", *, more: bool = False, file: str = "cat.png") -> Attach:
    return Attach(do="attach", id=name, name=file, data=b64encode(content).decode(), more=more)


async def test_an_image_comes_in_pieces_and_is_whole(door: Attaching) -> None:
    cat = png(64, 48)
    assert await door.take(piece(cat[:30], more=True), "household") == {"taken": 30}
    whole = await door.take(piece(cat[30:]), "household")
    assert whole == {"attachment": {"name": "cat.png", "type": "image/png", "width": 64, "height": 48}}
    [image] = await door.given("household", ["1", "1"])
    assert isinstance(image, Image)
    assert image.bytes == len(cat)


async def test_pieces_of_two_owners_under_one_name_are_two_files(door: Attaching) -> None:
    await door.take(piece(b"the household's ", more=True, file="a.txt"), "household")
    await door.take(piece(b"Ada's", file="a.txt"), "ada")
    await door.take(piece(b"own", file="a.txt"), "household")
    [ours], [theirs] = await door.given("household", ["1"]), await door.given("ada", ["1"])
    assert isinstance(ours, Document)
    assert isinstance(theirs, Document)
    assert (ours.text, theirs.text) == ("the household's own", "Ada's")


async def test_large_files_that_come_at_the_same_time_are_bounded_together(door: Attaching) -> None:
    for name in ("1", "2", "3"):
        await door.take(piece(bytes(MOST_BYTES), name, more=True), "household")
    with pytest.raises(NotAttached, match="too many large files come at the same time"):
        await door.take(piece(bytes(MOST_BYTES), "4", more=True), "household")
    with pytest.raises(NotAttached, match=r"cat\.png has more than 20 MB: attach a part"):
        await door.take(piece(b"x", "1", more=True), "household")
    await door.take(piece(bytes(MOST_BYTES), "4", more=True), "household")


async def test_files_of_all_owners_together_are_bounded(door: Attaching) -> None:
    for number in range(MOST_OF_ALL):
        await door.take(piece(b"x", str(number), more=True), f"owner {number % 5}")
    with pytest.raises(NotAttached, match="too many files were attached in the last 15 minutes"):
        await door.take(piece(b"x", "one more"), "household")


async def test_a_piece_that_is_no_base64_forgets_the_file(door: Attaching) -> None:
    await door.take(piece(b"one", more=True), "household")
    with pytest.raises(NotAttached, match=r"cat\.png came as something else than base64"):
        await door.take(Attach(do="attach", id="1", name="cat.png", data="~~"), "household")
    with pytest.raises(NotAttached, match="there is no file 1 any more: attach it again"):
        await door.given("household", ["1"])


async def test_an_owner_has_so_many_places_and_time_makes_room(door: Attaching, seconds: Seconds) -> None:
    for number in range(MOST_OF_ONE):
        with pytest.raises(NotAttached, match="is damaged"):
            await door.keep("ada", str(number), "cat.png", png()[:40])
    with pytest.raises(NotAttached, match="too many files were attached"):
        await door.keep("ada", "more", "cat.png", png())
    await door.keep("ben", "his", "cat.png", png())
    with pytest.raises(NotAttached, match="too many files were attached"):
        await door.take(piece(b"", "another"), "ada")
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
