"""Which folder is a model, and fetching one from a server that speaks the hub's protocol."""

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import constants

from audio.errors import ModelNotFound
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models import NEEDED, VOCABULARIES, check_model_folder, fetch_model, find_model, repository_of
from tests.audio.spoken import HOUSEHOLD_WHISPER

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return shutil.copytree(HOUSEHOLD_WHISPER, tmp_path / "model", copy_function=shutil.copy)


def test_a_whole_folder_is_a_model(model: Path) -> None:
    check_model_folder(model)
    assert find_model(model) == model
    (model / "vocabulary.json").rename(model / "vocabulary.txt")
    assert find_model(model) == model


@pytest.mark.parametrize("name", [*NEEDED, VOCABULARIES[0]])
def test_a_folder_that_lacks_a_file_is_none_and_the_sentence_names_it(name: str, model: Path) -> None:
    (model / name).unlink()
    assert find_model(model) is None
    with pytest.raises(ModelNotFound, match=f"{name} missing; set"):
        FasterWhisperRecognizer(model)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert find_model(tmp_path / "nowhere") is None
    with pytest.raises(ModelNotFound, match=r"nowhere is no folder; set \[ears\] model"):
        check_model_folder(tmp_path / "nowhere")


def test_a_damaged_model_is_told_with_the_mend(model: Path) -> None:
    (model / "model.bin").chmod(0o644)
    (model / "model.bin").write_bytes((model / "model.bin").read_bytes()[:100_000])
    with pytest.raises(ModelNotFound, match=r"is damaged .*; fetch it again"):
        FasterWhisperRecognizer(model).warm()


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    assert repository_of("base") == "Systran/faster-whisper-base"
    with pytest.raises(ModelNotFound, match="no Whisper model 'bass'; take one of tiny, base, small"):
        repository_of("bass")


@dataclass
class Hub:
    """A server that speaks as much of the hub's protocol as its client asks for."""

    folder: Path
    port: int = 0
    fetched: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def info(self) -> bytes:
        files = [{"rfilename": path.name} for path in sorted(self.folder.iterdir())]
        return json.dumps({"id": "x", "modelId": "x", "sha": REVISION, "siblings": files}).encode()

    def tree(self) -> bytes:
        return json.dumps(
            [
                {"type": "file", "path": path.name, "size": path.stat().st_size, "oid": digest(path)}
                for path in sorted(self.folder.iterdir())
            ]
        ).encode()


def digest(path: Path) -> str:
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


class HubHandler(BaseHTTPRequestHandler):
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = self.path.split("?")[0]
        if "/resolve/" in path:
            self._file(self.hub.folder / path.rsplit("/", 1)[1], with_body=with_body)
        elif "/tree/" in path:
            self._send(200, self.hub.tree(), {"Content-Type": "application/json"})
        elif path.startswith("/api/models/Systran/faster-whisper-tiny"):
            self._send(200, self.hub.info(), {"Content-Type": "application/json"})
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _file(self, path: Path, *, with_body: bool) -> None:
        if not path.is_file():
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        if with_body:
            self.hub.fetched.append(path.name)
        headers = {"ETag": f'"{digest(path)}"', "X-Repo-Commit": REVISION}
        self._send(200, path.read_bytes(), headers, with_body=with_body)

    def _send(self, status: int, body: bytes, headers: dict[str, str], *, with_body: bool = True) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name upstream gave it
        return


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub(HOUSEHOLD_WHISPER)
    handler = type("Handler", (HubHandler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.port = server.server_port
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield hub
    server.shutdown()
    server.server_close()


@pytest.mark.shows("V9")
def test_a_model_is_fetched_by_name_though_the_client_is_kept_offline(hub: Hub, tmp_path: Path) -> None:
    assert constants.HF_HUB_OFFLINE
    folder = fetch_model("tiny", tmp_path, hub.address)
    assert folder == tmp_path / "tiny"
    FasterWhisperRecognizer(folder, "en").warm()
    assert sorted(hub.fetched) == sorted([*NEEDED, "vocabulary.json"])
    assert constants.HF_HUB_OFFLINE


def test_what_is_there_already_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    fetch_model("tiny", tmp_path, hub.address)
    hub.fetched.clear()
    fetch_model("tiny", tmp_path, hub.address)
    assert hub.fetched == []


def test_a_name_that_the_hub_does_not_have_is_told(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"the model base could not be fetched .*look at the network"):
        fetch_model("base", tmp_path, hub.address)
    assert constants.HF_HUB_OFFLINE


def test_a_hub_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound) as raised:
        fetch_model("tiny", tmp_path, "http://127.0.0.1:9")
    assert "\n" not in str(raised.value)
    assert f"put its files into {tmp_path / 'tiny'} by hand" in str(raised.value)


def test_a_hub_without_a_whole_model_is_told(hub: Hub, model: Path, tmp_path: Path) -> None:
    (model / "tokenizer.json").unlink()
    hub.folder = model
    with pytest.raises(ModelNotFound, match=r"tokenizer.json missing"):
        fetch_model("tiny", tmp_path, hub.address)
