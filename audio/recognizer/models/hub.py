"""A model from the hub: resumed where it stopped, checked, and in its place whole or not at all.

The hub's own client is asked what there is (files, sizes, digests) and gives the connection; the bytes are written
here, for huggingface_hub 1.33 throws away what it has of a file when it is interrupted (`_download_to_tmp_and_move`),
the weights are one file, and it compares sizes only: a byte that changed on the way would become a model.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from audio.egress import SendsTo
from audio.errors import ModelNotFound
from audio.recognizer.models.catalog import NEEDED, PART, PREPROCESSOR, VOCABULARIES, missing_of, repository_of

if TYPE_CHECKING:
    from httpx import Response

TOO_MANY: Final = 429
REQUEST_TIMEOUT: Final = 408
SERVER_FAULT: Final = 500
NOT_GIVEN: Final = (401, 403, 404)
"""A private model, one behind a licence, one that is not there: the hub tells the first from the last to nobody."""


class Damaged(Exception):
    """What came of a file is not what the hub lists; it was thrown away."""


@contextmanager
def in_a_sentence(name: str, hub: str, target: Path) -> Iterator[None]:
    """Turn what the hub's client raises into `ModelNotFound`; what this machine refuses (`OSError`) stays as it is."""
    from httpx import HTTPError, InvalidURL
    from huggingface_hub import constants

    try:
        yield
    except (HTTPError, InvalidURL, ValueError, KeyError, Damaged) as error:
        why = explain(error, hub or constants.ENDPOINT, target)
        raise ModelNotFound(f"the model {name} could not be fetched: {why}") from error


def may_pass(error: Exception) -> bool:
    """Say whether the same request may well succeed in a while."""
    from httpx import TransportError, UnsupportedProtocol

    if isinstance(error, TransportError):
        return not isinstance(error, UnsupportedProtocol)
    status = _status(error)
    return status in (TOO_MANY, REQUEST_TIMEOUT) or status >= SERVER_FAULT


def explain(error: Exception, hub: str, target: Path) -> str:
    """Return why a model does not come, with the fix, without a name in front."""
    by_hand, kept = f"put its files into {target} by hand", "what has come is kept"
    status, words = _status(error), _first_line(error)
    if isinstance(error, Damaged):
        return f"{words} arrived damaged from {hub}, twice; try again, or {by_hand}"
    if status == TOO_MANY:
        return f"{hub} has no time for us ({status}, too many requests); try again {_when(error)}, {kept}"
    if status >= SERVER_FAULT:
        return f"{hub} has a fault of its own ({status}); try again later, {kept}"
    if status in NOT_GIVEN:
        return f"{hub} does not give it to us ({status}); see whether $HF_ENDPOINT names the right hub, or {by_hand}"
    if may_pass(error):
        return f"{hub} cannot be reached ({words}); look at the network ({kept}), or {by_hand}"
    return f"what answers at {hub} is no hub ({words}); see whether $HF_ENDPOINT or a log-in page is in the way"


def _status(error: Exception) -> int:
    """Return the status of an HTTP answer that is an error, 0 where there was no answer."""
    answer = _answer(error)
    return answer.status_code if answer is not None else 0


def _when(error: Exception) -> str:
    answer = _answer(error)
    seconds = answer.headers.get("Retry-After", "") if answer is not None else ""
    return f"in {seconds} s" if seconds.isdecimal() else "later"


def _answer(error: Exception) -> "Response | None":
    from httpx import HTTPStatusError
    from huggingface_hub.errors import HfHubHTTPError

    return error.response if isinstance(error, HTTPStatusError | HfHubHTTPError) else None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


HUB_SECONDS: Final = 10
"""How long the hub may take to answer, and to send the next piece."""

PIECE: Final = 256 * 1024
"""Bytes written at a time: what an interruption may cost."""

PARTIAL_CONTENT: Final = 206
"""HTTP's answer to a range: the rest comes; anything else is the whole file."""

SHA256_DIGITS: Final = 64
GIT_DIGITS: Final = 40


class HubFile(Struct, frozen=True):
    """One file as the hub describes it."""

    name: str
    url: str
    size: int
    """Bytes."""
    digest: str
    """sha256 (64 digits) of a large file, git's blob hash (40) of a small one, "" where the hub tells none."""


def receive_file(file: HubFile, path: Path, count: Callable[[int], None], pauses: Sequence[float]) -> None:
    """Fetch a file, or what is missing of it. Raises `Damaged` when it is not what was listed, even from the start.

    What lies here from before may be of an older version, or have holes where a power cut took what was not yet on
    the disk.
    """
    for _ in range(2):
        if size_of(path) > file.size:
            path.unlink()
        _receive_all(file, path, count, pauses)
        if is_intact(path, file):
            return
        path.unlink()
    raise Damaged(file.name)


def _receive_all(file: HubFile, path: Path, count: Callable[[int], None], pauses: Sequence[float]) -> None:
    from httpx import HTTPError

    left = list(pauses)
    while True:
        start = size_of(path)
        try:
            return _receive(file, path, start, count)
        except HTTPError as error:
            if size_of(path) > start:
                left = list(pauses)
            if not left or not may_pass(error):
                raise
            time.sleep(left.pop(0))


def _receive(file: HubFile, path: Path, start: int, count: Callable[[int], None]) -> None:
    """Append what is missing from `start` on, on the disk when it returns; a hub that knows no ranges sends it all."""
    from huggingface_hub import get_session

    count(start)
    if start == file.size and path.is_file():
        return
    asked = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with get_session().stream("GET", file.url, headers=asked, timeout=HUB_SECONDS) as response:
        response.raise_for_status()
        with path.open("ab" if response.status_code == PARTIAL_CONTENT else "wb") as out:
            for piece in response.iter_bytes(PIECE):
                out.write(piece)
                count(out.tell())
                if out.tell() > file.size:
                    break
            out.flush()
            os.fsync(out.fileno())


def is_intact(path: Path, file: HubFile) -> bool:
    """Say whether a file has the size and the digest that the hub lists; a digest of another kind proves nothing."""
    if size_of(path) != file.size:
        return False
    with path.open("rb") as content:
        if len(file.digest) == SHA256_DIGITS:
            return hashlib.file_digest(content, "sha256").hexdigest() == file.digest
        if len(file.digest) == GIT_DIGITS:
            return _git_hash(content, file.size) == file.digest
    return True


def _git_hash(content: BufferedReader, size: int) -> str:
    """Return git's name of a blob: SHA-1 over a header and the bytes."""
    return hashlib.file_digest(content, lambda: hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)).hexdigest()


def size_of(path: Path) -> int:
    """Return the bytes that are there of a file, 0 for none."""
    return path.stat().st_size if path.is_file() else 0


PAUSES: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds waited before each further try of a file that stopped coming; after every byte that came they begin anew."""

WHISPER_FILES: Final = (*NEEDED, *VOCABULARIES, PREPROCESSOR)
"""All that are taken of a Whisper model where they are there."""


class HubModel(Struct, frozen=True):
    """What makes a model whole, and where the hub keeps it. Its files lie in one folder here, by their last names."""

    name: str
    kind: str
    """What it is to be, in words: faster-whisper model."""
    repository: str
    files: Collection[str]
    """All that are taken of it where they are there."""
    missing: Callable[[Collection[str]], list[str]]
    """Returns what is missing among these last names of files; nothing of a whole one."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """The request for it, which holds its name; once."""
        return (SendsTo(f"the request for the {self.kind} {self.name}, once", "the Hugging Face hub"),)

    def is_in(self, folder: Path) -> bool:
        """Say whether the folder holds it whole."""
        return folder.is_dir() and not self.missing_in(folder)

    def missing_in(self, folder: Path) -> list[str]:
        """Return the names of the files that this folder lacks."""
        return self.missing([last_name(name) for name in self.files if (folder / last_name(name)).is_file()])


class Audience(Protocol):
    """Who is told how a fetch goes on."""

    def waits(self) -> None:
        """Another process fetches into the same folder; it goes on when that one is done."""

    def has(self, here: int, in_all: int) -> None:
        """So many bytes are here of so many; told at the start, after each piece, and again after a new try."""


def whisper_model(name: str) -> HubModel:
    """Return what the hub is asked for by a faster-whisper name. Raises `ModelNotFound` for one that nobody knows."""
    return HubModel(name, "faster-whisper model", repository_of(name), WHISPER_FILES, missing_of)


def fetch(wanted: HubModel, models: Path, audience: Audience, hub: str = "", pauses: Sequence[float] = PAUSES) -> Path:
    """Fetch a model into `models`/name and return that folder. Blocking, minutes.

    `hub` is the hub's address, "" for its client's choice ($HF_ENDPOINT). What has come so far lies beside, in
    NAME.part: whatever interrupts it, the next call goes on from there. Two at once wait for each other. Raises
    `ModelNotFound`, one sentence with the fix, when the hub does not give it; `OSError` when it cannot be written.
    """
    name, target = wanted.name, models / wanted.name
    if wanted.is_in(target):
        return target
    _refuse_remains(wanted, target)
    models.mkdir(parents=True, exist_ok=True)
    with _alone(models, audience), _online(), in_a_sentence(name, hub, target):
        if not wanted.is_in(target):
            files = _listed(wanted, hub)
            part = models / f"{name}{PART}"
            part.mkdir(exist_ok=True)
            _fetch(files, part, audience, pauses)
            _put_in_place(part, target)
    return target


def last_name(file: str) -> str:
    """Return a file's name without the folders the hub has it in."""
    return file.rpartition("/")[2]


def _listed(wanted: HubModel, hub: str) -> list[HubFile]:
    """Ask the hub which of the wanted files the model has, smallest first. Raises `ModelNotFound` for half a model."""
    from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_url

    endpoint = hub or None
    repository = wanted.repository
    found = HfApi(endpoint=endpoint, token=False).model_info(repository, timeout=HUB_SECONDS)
    names = [sibling.rfilename for sibling in found.siblings or () if sibling.rfilename in wanted.files]
    if missing := wanted.missing([last_name(name) for name in names]):
        raise ModelNotFound(f"the hub's {repository} is no {wanted.kind}: {', '.join(missing)} missing")
    files = []
    for name in names:
        url = hf_hub_url(repository, name, revision=found.sha, endpoint=endpoint)
        told = get_hf_file_metadata(url, token=False, timeout=HUB_SECONDS)
        if told.size is None:
            raise ValueError(f"it tells no size for {name}")
        files.append(HubFile(last_name(name), url, told.size, told.etag or ""))
    return sorted(files, key=lambda file: file.size)


def _fetch(files: Sequence[HubFile], part: Path, audience: Audience, pauses: Sequence[float]) -> None:
    whole, before = sum(file.size for file in files), 0
    _check_space(part, whole - sum(min(file.size, size_of(part / file.name)) for file in files))
    for file in files:

        def count(here: int, before: int = before) -> None:
            audience.has(before + here, whole)

        receive_file(file, part / file.name, count, pauses)
        before += file.size


def _check_space(folder: Path, wanted: int) -> None:
    free = shutil.disk_usage(folder).free
    if wanted > free:
        sentence = f"{wanted / 1e6:.0f} MB are still to come, {free / 1e6:.0f} MB are free"
        raise OSError(errno.ENOSPC, sentence, str(folder))


def _refuse_remains(wanted: HubModel, target: Path) -> None:
    """Raise `ModelNotFound` if something else is in the model's place: it may be what somebody puts there by hand."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        lacks = ", ".join(wanted.missing_in(target))
        raise ModelNotFound(f"{target} is there and lacks {lacks}; complete it, or remove it so that it can be fetched")


def _put_in_place(part: Path, target: Path) -> None:
    """Rename, such that after a power cut the folder is either not there or whole."""
    _sync(part)
    part.replace(target)
    _sync(target.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _alone(folder: Path, audience: Audience) -> Iterator[None]:
    """Hold the folder against other processes, waiting for one that has it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            audience.waits()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a program that is being started may have a copy of the descriptor
        os.close(handle)


@contextmanager
def _online() -> Iterator[None]:
    """Let the hub's client out for one fetch; everywhere else the box keeps it offline."""
    from huggingface_hub import constants

    was_offline, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline
