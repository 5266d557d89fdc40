"""A model fetched from a server that speaks the hub's protocol, through its real client, and all that goes wrong."""

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from audio.errors import ModelNotFound
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.catalog import NEEDED, PREPROCESSOR, WEIGHTS, find_model
from audio.recognizer.models.hub import HubFile, fetch, is_intact, whisper_model
from tests.audio.hub_server import LARGE, OF_TINY, REVISION, WEIGHTS_BYTES, Hub, Refusal, git_hash, serving
from tests.audio.spoken import HOUSEHOLD_WHISPER

TINY = "Systran/faster-whisper-tiny"
AT_ONCE = (0.0, 0.0)
"""Two further tries, without a pause."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub()) as hub:
        yield hub


class Follower:
    """Remembers what it is told; can interrupt, as Ctrl-C does, when so many bytes are here."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.told: list[tuple[int, int]] = []
        self.has_waited = threading.Event()

    def waits(self) -> None:
        self.has_waited.set()

    def has(self, here: int, in_all: int) -> None:
        self.told.append((here, in_all))
        if self.stop_at is not None and here >= self.stop_at:
            raise KeyboardInterrupt


def fetched(hub: Hub, models: Path, follower: Follower | None = None) -> Path:
    return fetch(whisper_model("tiny"), models, follower or Follower(), hub.address, AT_ONCE)


def refused(hub: Hub, models: Path, name: str = "tiny", address: str = "") -> str:
    """Return the sentence that is raised; nothing that looks like a model may be left."""
    with pytest.raises(ModelNotFound) as raised:
        fetch(whisper_model(name), models, Follower(), address or hub.address, AT_ONCE)
    assert find_model(models / name) is None
    assert not (models / name).exists()
    assert "\n" not in str(raised.value)
    assert constants.HF_HUB_OFFLINE
    return str(raised.value)


@pytest.mark.shows("V9")
def test_a_model_is_fetched_by_name_though_the_client_is_kept_offline(hub: Hub, tmp_path: Path) -> None:
    assert constants.HF_HUB_OFFLINE
    folder = fetched(hub, tmp_path)
    assert folder == tmp_path / "tiny"
    FasterWhisperRecognizer(folder, "en", 1).warm()
    assert sorted(path.name for path in folder.iterdir()) == sorted([*NEEDED, "vocabulary.json"])
    assert all((folder / name).read_bytes() == OF_TINY[name] for name in NEEDED)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]
    assert constants.HF_HUB_OFFLINE


def test_a_model_with_a_preprocessor_file_gets_it(hub: Hub, tmp_path: Path) -> None:
    hub.repositories[TINY] = OF_TINY | {PREPROCESSOR: (HOUSEHOLD_WHISPER / PREPROCESSOR).read_bytes()}
    assert (fetched(hub, tmp_path) / PREPROCESSOR).is_file()


def test_each_file_is_asked_for_at_the_revision_that_was_listed_and_nobody_is_told_who_asks(
    hub: Hub, tmp_path: Path
) -> None:
    fetched(hub, tmp_path)
    files = [path for _, path, _ in hub.asked if "/resolve/" in path]
    assert files
    assert all(f"/resolve/{REVISION}/" in path for path in files)
    assert hub.authorized == []


def test_progress_is_told_from_nothing_to_all(hub: Hub, tmp_path: Path) -> None:
    follower = Follower()
    fetched(hub, tmp_path, follower)
    whole = sum(len(OF_TINY[name]) for name in (*NEEDED, "vocabulary.json"))
    here = [here for here, _ in follower.told]
    assert here == sorted(here)
    assert (here[0], here[-1]) == (0, whole)
    assert {in_all for _, in_all in follower.told} == {whole}
    assert len(follower.told) > 10


def test_what_is_there_already_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    fetched(hub, tmp_path)
    hub.asked.clear()
    assert fetched(hub, tmp_path) == tmp_path / "tiny"
    assert hub.asked == []


@pytest.mark.shows("V9")
def test_a_connection_that_breaks_is_taken_up_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [1_000_000, 600_000]
    folder = fetched(hub, tmp_path)
    assert (folder / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]
    ranges = [asked for name, asked in hub.sent() if name == WEIGHTS]
    starts = [int(asked.removeprefix("bytes=").rstrip("-")) for asked in ranges[1:]]
    assert ranges[0] == ""
    assert 700_000 < starts[0] <= 1_000_000
    assert starts[0] < starts[1] <= starts[0] + 600_000


def test_a_connection_that_breaks_again_and_again_without_a_byte_is_given_up(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [1_000_000, 0, 0]
    assert "cannot be reached" in refused(hub, tmp_path)
    assert hub.cuts == []
    assert (tmp_path / "tiny.part" / WEIGHTS).stat().st_size > 700_000


@pytest.mark.shows("V9")
def test_an_interrupted_fetch_leaves_a_part_that_the_next_goes_on_from(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        fetched(hub, tmp_path, Follower(stop_at=1_500_000))
    kept = (tmp_path / "tiny.part" / WEIGHTS).stat().st_size
    assert kept > 1_000_000
    assert not (tmp_path / "tiny").exists()
    hub.asked.clear()
    follower = Follower()
    folder = fetched(hub, tmp_path, follower)
    assert hub.sent() == [(WEIGHTS, f"bytes={kept}-")]
    assert (folder / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]
    assert not (tmp_path / "tiny.part").exists()


def test_a_hub_that_knows_no_ranges_sends_it_all_again(hub: Hub, tmp_path: Path) -> None:
    hub.knows_ranges = False
    hub.cuts = [1_000_000]
    assert (fetched(hub, tmp_path) / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]


@pytest.mark.shows("V9")
def test_a_byte_that_changed_on_the_way_is_noticed_and_fetched_anew(hub: Hub, tmp_path: Path) -> None:
    hub.flipped = 1
    assert (fetched(hub, tmp_path) / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]
    assert [name for name, _ in hub.sent()].count(WEIGHTS) == 2


@pytest.mark.shows("V9")
def test_bytes_that_keep_changing_never_become_a_model(hub: Hub, tmp_path: Path) -> None:
    hub.flipped = 2
    sentence = refused(hub, tmp_path)
    assert sentence.startswith(f"the model tiny could not be fetched: model.bin arrived damaged from {hub.address}")
    assert f"put its files into {tmp_path / 'tiny'} by hand" in sentence
    assert not (tmp_path / "tiny.part" / WEIGHTS).exists()


@pytest.mark.parametrize("kept", [b"of an older version" * 1000, b"\0" * (WEIGHTS_BYTES + 1), b"\0" * WEIGHTS_BYTES])
def test_a_part_that_is_not_of_this_file_costs_a_second_fetch_and_no_more(
    hub: Hub, tmp_path: Path, kept: bytes
) -> None:
    (tmp_path / "tiny.part").mkdir()
    (tmp_path / "tiny.part" / WEIGHTS).write_bytes(kept)
    assert (fetched(hub, tmp_path) / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]


def test_an_empty_file_on_the_hub_is_a_file(hub: Hub, tmp_path: Path) -> None:
    empty = HubFile("config.json", "", 0, git_hash(b""))
    (tmp_path / "config.json").write_bytes(b"")
    assert is_intact(tmp_path / "config.json", empty)


def test_a_digest_of_another_kind_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert is_intact(tmp_path / "x", HubFile("x", "", 3, '"mirror-1"'))
    assert not is_intact(tmp_path / "x", HubFile("x", "", 4, '"mirror-1"'))
    assert not is_intact(tmp_path / "x", HubFile("x", "", 3, git_hash(b"abd")))


def test_a_model_that_lacks_a_file_on_the_hub_is_told_before_anything_is_fetched(hub: Hub, tmp_path: Path) -> None:
    hub.repositories[TINY] = {name: content for name, content in OF_TINY.items() if name != "tokenizer.json"}
    assert refused(hub, tmp_path) == f"the hub's {TINY} is no faster-whisper model: tokenizer.json missing"
    assert hub.sent() == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_listed_and_not_there_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.refusals["head"] = [Refusal(404, {"X-Error-Code": "EntryNotFound"})]
    assert f"{hub.address} does not give it to us (404)" in refused(hub, tmp_path)


def test_a_model_that_the_hub_does_not_have_is_told(hub: Hub, tmp_path: Path) -> None:
    sentence = refused(hub, tmp_path, "base")
    assert sentence.startswith(f"the model base could not be fetched: {hub.address} does not give it to us (404); see")
    assert "$HF_ENDPOINT" in sentence
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "refusal", "words"),
    [
        ("info", Refusal(429, {"Retry-After": "30"}), "has no time for us (429, too many requests); try again in 30 s"),
        ("head", Refusal(429), "has no time for us (429, too many requests); try again later"),
        ("info", Refusal(500), "has a fault of its own (500); try again later"),
        ("head", Refusal(503, {"Retry-After": "Fri"}), "has a fault of its own (503); try again later"),
        ("info", Refusal(401), "does not give it to us (401)"),
        ("get", Refusal(403), "does not give it to us (403)"),
        ("info", Refusal(200, {}, b"<html>Log in to use the guest network"), "is no hub (Expecting value"),
        ("info", Refusal(200, {}, b"{}"), "is no hub ('id')"),
    ],
)
def test_a_refusal_is_one_sentence_with_the_mend(
    hub: Hub, tmp_path: Path, kind: str, refusal: Refusal, words: str
) -> None:
    hub.refusals[kind] = [refusal]
    sentence = refused(hub, tmp_path)
    assert sentence.startswith("the model tiny could not be fetched: ")
    assert f"{hub.address} {words}" in sentence


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refusal_in_the_middle_that_passes_is_waited_out(hub: Hub, tmp_path: Path, status: int) -> None:
    hub.refusals["get"] = [Refusal(status), Refusal(status)]
    assert find_model(fetched(hub, tmp_path))


def test_a_refusal_in_the_middle_that_stays_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.refusals["get"] = [Refusal(503) for _ in range(3)]
    assert "has a fault of its own (503); try again later, what has come is kept" in refused(hub, tmp_path)
    assert hub.refusals["get"] == []


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (
            "http://127.0.0.1:9",
            "http://127.0.0.1:9 cannot be reached ([Errno 111] Connection refused); look at the net",
        ),
        ("http://127.0.0.1:port", "what answers at http://127.0.0.1:port is no hub (Invalid port: 'port')"),
        ("gopher://127.0.0.1", "what answers at gopher://127.0.0.1 is no hub"),
        ("nowhere", "what answers at nowhere is no hub"),
    ],
)
def test_a_hub_that_is_not_there_is_told(tmp_path: Path, address: str, words: str) -> None:
    sentence = refused(Hub(), tmp_path, address=address)
    assert sentence.startswith(f"the model tiny could not be fetched: {words}")


def test_an_unknown_name_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="there is no Whisper model 'bass'"):
        fetch(whisper_model("bass"), tmp_path, Follower(), hub.address)
    assert hub.asked == []


def test_what_somebody_puts_there_by_hand_is_not_touched(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text("{}")
    with pytest.raises(
        ModelNotFound, match=r"tiny is there and lacks model.bin, tokenizer.json, vocabulary.json; comp"
    ):
        fetched(hub, tmp_path)
    assert [path.name for path in (tmp_path / "tiny").iterdir()] == ["config.json"]


def test_an_empty_folder_in_its_place_is_no_hindrance(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    assert find_model(fetched(hub, tmp_path))


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(hub: Hub, tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    hub.refusals["head"] = []
    huge = Refusal(
        302,
        {
            "X-Linked-Size": str(free + LARGE),
            "X-Linked-ETag": '"x"',
            "X-Repo-Commit": REVISION,
            "Location": f"http://localhost:{hub.port}/cdn/x",
        },
    )
    hub.refusals["head"] = [huge]
    with pytest.raises(OSError, match=r"MB are still to come, \d+ MB are free"):
        fetched(hub, tmp_path)
    assert hub.sent() == []


def test_two_at_once_wait_for_each_other_and_one_fetches(hub: Hub, tmp_path: Path) -> None:
    follower = Follower()
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    second = threading.Thread(target=fetched, args=[hub, tmp_path, follower])
    second.start()
    assert follower.has_waited.wait(30)
    assert hub.asked == []
    shutil.copytree(HOUSEHOLD_WHISPER, tmp_path / "tiny")
    os.close(handle)
    second.join()
    assert hub.asked == []
    assert follower.told == []
