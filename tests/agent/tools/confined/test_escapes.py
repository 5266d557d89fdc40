"""Whatever stands in an allowed folder, nothing outside of it is read or written, and nothing blocks."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agent.errors import ToolFailed
from agent.tools.confined.folders import MOST_A_DAY, MOST_WRITTEN, PAGE, Folders
from agent.tools.confined.search import search

pytestmark = pytest.mark.shows("G6")

SECRET = "the key of the safe"
ROUNDS = 1000


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """An allowed folder beside a secret."""
    (tmp_path / "secret.txt").write_text(SECRET)
    folder = tmp_path / "papers"
    (folder / "letters").mkdir(parents=True)
    (folder / "letter.txt").write_text("Dear Ada")
    return folder


@pytest.fixture
def folders(papers: Path) -> Folders:
    return Folders([papers], {})


@contextmanager
def exchanging(one: Callable[[], None], other: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Do both in turn, as fast as it goes, in another thread; give what tells whether that went on for long enough."""
    over, done = threading.Event(), [0]

    def exchange() -> None:
        while not over.is_set():
            one()
            other()
            done[0] += 1

    thread = threading.Thread(target=exchange, name="exchanges what stands there")
    thread.start()
    try:
        yield lambda: done[0] > ROUNDS
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "path",
    [
        "papers/../secret.txt",
        "../secret.txt",
        "papers/letters/../../secret.txt",
        "/etc/passwd",
        "~/.ssh/id_ed25519",
        "papers//../secret.txt",
        "papers/.ssh/id_ed25519",
        "papers/a\nb",
        "papers/a\0b",
        "secret.txt",
        "",
        "papers",
        f"papers/{'a' * 300}",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_for_reading_writing_and_searching(folders: Folders, path: str) -> None:
    with pytest.raises(ToolFailed):
        folders.read(path)
    with pytest.raises(ToolFailed):
        folders.write(path, "x", "new")
    if path not in ("", "papers"):
        with pytest.raises(ToolFailed):
            folders.list(path)
        with pytest.raises(ToolFailed):
            search(folders, "key", path)


def test_a_link_out_of_the_folder_is_refused_told_and_not_searched(folders: Folders, papers: Path) -> None:
    (papers / "link.txt").symlink_to(papers.parent / "secret.txt")
    (papers / "up").symlink_to(papers.parent)
    with pytest.raises(ToolFailed, match="links are not followed"):
        folders.read("papers/link.txt")
    with pytest.raises(ToolFailed, match="links are not followed"):
        folders.read("papers/up/secret.txt")
    with pytest.raises(ToolFailed, match="links are not followed"):
        folders.write("papers/up/new.txt", "x", "new")
    with pytest.raises(ToolFailed):
        folders.write("papers/link.txt", "x", "replace")
    assert {each.name: each.kind for each in folders.list("papers").entries}["link.txt"] == "link"
    assert not [match for match in search(folders, "safe").matches if match.line]
    assert (papers.parent / "secret.txt").read_text() == SECRET


def test_a_file_exchanged_for_a_link_at_the_last_moment_is_never_followed(folders: Folders, papers: Path) -> None:
    def link() -> None:
        (papers / "a").symlink_to(papers.parent / "secret.txt")
        (papers / "a").replace(papers / "letter.txt")

    def file() -> None:
        (papers / "b").write_text("Dear Ada")
        (papers / "b").replace(papers / "letter.txt")

    texts, refusals = set(), set()
    with exchanging(link, file) as enough:
        while not enough():
            try:
                texts.add(folders.read("papers/letter.txt").text)
            except ToolFailed as error:
                refusals.add(str(error))
    assert texts <= {"Dear Ada"}
    assert not [refusal for refusal in refusals if SECRET in refusal]


def test_a_folder_exchanged_for_a_link_at_the_last_moment_is_never_followed(folders: Folders, papers: Path) -> None:
    inside, outside = papers / "letters", papers.parent / "real"
    outside.mkdir()
    for place in (inside, outside):
        (place / "a.txt").write_text("theirs")

    def link() -> None:
        inside.rename(papers / "kept")
        inside.symlink_to(outside)

    def folder() -> None:
        inside.unlink()
        (papers / "kept").rename(inside)

    with exchanging(link, folder) as enough:
        while not enough():
            with suppress(ToolFailed):
                folders.write("papers/letters/a.txt", "mine", "replace")
    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("a.txt", "theirs")]


def test_a_file_with_a_second_name_outside_is_not_read(folders: Folders, papers: Path) -> None:
    (papers / "hard.txt").hardlink_to(papers.parent / "secret.txt")
    with pytest.raises(ToolFailed, match="second name"):
        folders.read("papers/hard.txt")
    with pytest.raises(ToolFailed, match="second name"):
        folders.write("papers/hard.txt", "x", "append")
    assert not search(folders, "safe").matches
    assert (papers.parent / "secret.txt").read_text() == SECRET


def test_a_pipe_a_socket_and_a_device_block_nothing(folders: Folders, papers: Path) -> None:
    os.mkfifo(papers / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(papers / "socket"))
        for name in ("pipe", "socket"):
            with pytest.raises(ToolFailed, match="is no file but a"):
                folders.read(f"papers/{name}")
        if os.geteuid() == 0:
            os.mknod(papers / "zero", 0o20666, os.makedev(1, 5))
            with pytest.raises(ToolFailed, match="is no file but a device"):
                folders.read("papers/zero")
        assert search(folders, "ada").files >= 3


def test_a_pipe_that_takes_a_files_place_blocks_nothing(folders: Folders, papers: Path) -> None:
    def pipe() -> None:
        os.mkfifo(papers / "a")
        (papers / "a").replace(papers / "letter.txt")

    def file() -> None:
        (papers / "b").write_text("Dear Ada")
        (papers / "b").replace(papers / "letter.txt")

    with exchanging(pipe, file) as enough:
        while not enough():
            try:
                assert folders.read("papers/letter.txt").text in ("Dear Ada", "")
            except ToolFailed:
                continue


@pytest.mark.parametrize("place", [".", "..", "../..", "state", "state/inner"])
def test_no_folder_that_holds_or_lies_in_what_is_nakaris_own_is_used(tmp_path: Path, place: str) -> None:
    """Also by a link, and at each use: a link may be turned to it later."""
    (tmp_path / "a/state/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to((tmp_path / "a" / place).resolve())
    for folder in ((tmp_path / "a" / place).resolve(), tmp_path / "link"):
        folders = Folders([folder], {tmp_path / "a/state": "nakari's own state"})
        (name,) = folders.names
        assert folders.trouble(name)[0] == "never"
        with pytest.raises(ToolFailed, match="nakari's own state"):
            folders.list(name)


def test_a_sparse_file_of_10_gb_is_told_from_text_and_costs_nothing(folders: Folders, papers: Path) -> None:
    with (papers / "sparse").open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(ToolFailed, match=r"no text \(10737418240 bytes"):
        folders.read("papers/sparse")
    assert not search(folders, "ada", "papers").matches[1:]
    with (papers / "log.txt").open("wb") as file:
        file.write(b"beginning " * 2000)
        file.truncate(10 * 2**30)
    assert folders.read("papers/log.txt").end == PAGE
    assert not search(folders, "beginning").is_whole


def test_a_zip_bomb_is_a_binary_file_and_never_unpacked(folders: Folders, papers: Path) -> None:
    import zipfile

    with zipfile.ZipFile(papers / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    with pytest.raises(ToolFailed, match="holds no text"):
        folders.read("papers/bomb.zip")
    assert not search(folders, "zeros").matches


def test_what_is_written_is_bounded_by_file_and_by_day(folders: Folders, papers: Path) -> None:
    with pytest.raises(ToolFailed, match="1000000 bytes at most"):
        folders.write("papers/large.txt", "x" * (MOST_WRITTEN + 1), "new")
    for number in range(MOST_A_DAY // MOST_WRITTEN):
        folders.write(f"papers/{number}.txt", "x" * MOST_WRITTEN, "new")
    with pytest.raises(ToolFailed, match="no more may be until tomorrow"):
        folders.write("papers/more.txt", "x", "new")
    assert not [each.name for each in papers.iterdir() if each.name.startswith(".")], "nothing unfinished stays"
