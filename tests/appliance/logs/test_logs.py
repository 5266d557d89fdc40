"""Logs: planted secrets and planted words, at every depth and by every way in; what machines and people read."""

import io
import json
import logging
import os
import pty
import shutil
import stat
import threading
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TextIO

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from appliance.config.load import Config, Secret, Supervisor, load
from appliance.config.sections import LogSettings
from appliance.errors import ConfigError
from appliance.logs import configure as logs

SECRET = "hunter22-very-private"
SPOKEN = "my daughter is ill"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    found = load(environ={"HOME": str(tmp_path)})
    return replace(found, secrets={"HOUSE_KEY": Secret(SECRET)}, state_folder=tmp_path / "state")


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Undo what `configure` does to the process."""
    root = logging.getLogger()
    handlers, level, raising, hook = root.handlers[:], root.level, logging.raiseExceptions, threading.excepthook
    yield
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    logging.raiseExceptions, threading.excepthook = raising, hook
    for name in (*logs.OURS, *logs.SILENCED):
        logging.getLogger(name).setLevel(logging.NOTSET)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail(error: Exception) -> None:
    raise error


def with_log(config: Config, **changes: object) -> Config:
    return replace(config, log=replace(LogSettings(), **changes))


@pytest.mark.shows("F26", "H4")
def test_a_step_is_one_json_line_with_its_values_and_where_it_belongs(config: Config) -> None:
    stderr = io.StringIO()
    logs.configure(config, stderr)
    with structlog.contextvars.bound_contextvars(run_id="r1", turn=3):
        structlog.get_logger("agent.loop").info("utterance_ended", seconds=1.25, words="何时\nwake up", parts=("a", 1))
        logging.getLogger("audio.playback").warning("late by %d", 3)
    ended, late = lines(stderr)
    assert ended["timestamp"] == str(ended["timestamp"])
    assert str(ended.pop("timestamp")).endswith("Z")
    assert ended == {
        "event": "utterance_ended",
        "level": "info",
        "logger": "agent.loop",
        "run_id": "r1",
        "turn": 3,
        "seconds": 1.25,
        "words": "何时\nwake up",
        "parts": ["a", 1],
    }
    assert (late["event"], late["level"], late["run_id"], late["logger"]) == (
        "late by 3",
        "warning",
        "r1",
        "audio.playback",
    )


@pytest.mark.parametrize("level", ["debug", "info"])
def test_a_library_s_requests_and_retries_are_not_logged(config: Config, level: str) -> None:
    stderr = io.StringIO()
    logs.configure(with_log(config, level=level), stderr)
    logging.getLogger("neo4j.pool").error("[#0000] connection refused")
    logging.getLogger("httpx").info("HTTP Request: POST http://house/v1")
    logging.getLogger("httpcore.connection").debug("connect_tcp.started")
    logging.getLogger("httpx").warning("heard")
    assert [line["event"] for line in lines(stderr)] == ["heard"]


@pytest.mark.shows("H4")
def test_no_secret_is_logged_by_any_way_in(config: Config) -> None:
    stderr = io.StringIO()
    logs.configure(config, stderr)
    log = structlog.get_logger("appliance.x")
    event = f"asked_with_{SECRET}"
    log.info(event, deep={"list": [SECRET, {SECRET: (SECRET,)}]}, object=ValueError(SECRET))
    log.info("request", headers={"Authorization": "Basic abc", "api_key": "short", "X-Api-Key": "q"}, password="p")
    logging.getLogger("agent.y").error("failed with %s", SECRET)
    try:
        fail(RuntimeError(f"401 for {SECRET}"))
    except RuntimeError:
        log.exception("call_failed")
    assert len(lines(stderr)) == 4
    assert SECRET not in stderr.getvalue()
    assert "RuntimeError: 401 for ***" in str(lines(stderr)[3]["exception"])
    assert lines(stderr)[1]["headers"] == {"Authorization": "***", "api_key": "***", "X-Api-Key": "***"}
    assert lines(stderr)[1]["password"] == "***"


@pytest.mark.shows("H4")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-proj-abcdefghijklmnop1234 sent", "key *** sent"),
        ("sk-ant-api03-abcdefghijklmnop", "***"),
        (f"GET /?token=nakari_{'a-_9' * 10}xyz HTTP/1.1", "GET /?token=*** HTTP/1.1"),
        ("sk-or-v1-0123456789abcdef0123", "***"),
        ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "***"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "***"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("eyJhbGciOiJI.eyJzdWIi.sig", "***"),
        ("neo4j://me:pass@host:7687", "neo4j://***@host:7687"),
        (
            "the task-force asked sk-8 at http://127.0.0.1:11434/v1",
            "the task-force asked sk-8 at http://127.0.0.1:11434/v1",
        ),
    ],
)
def test_what_looks_like_a_key_is_taken_for_one(text: str, clean: str) -> None:
    assert logs.Redaction((), words=True).clean(text) == clean


SHAPES = st.recursive(
    st.just(SECRET) | st.text(max_size=5).map(lambda text: text + SECRET) | st.integers() | st.just(KeyError(SECRET)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.just(SECRET) | st.text(), inner),
)


@pytest.mark.shows("H4")
@given(SHAPES)
def test_no_shape_of_a_value_carries_a_secret_out(value: object) -> None:
    cleaned = logs.Redaction((SECRET,), words=True)(None, "", {"event": "x", "value": value})
    assert SECRET not in json.dumps(cleaned)


@pytest.mark.shows("H4")
@given(SHAPES.map(str), st.sampled_from(sorted(logs.WORD_KEYS)))
def test_no_depth_carries_words_out(said: str, key: str) -> None:
    deep = {"event": "x", "a": [{"b": {key: said, "n": [{key: [said]}]}}]}
    cleaned = logs.Redaction((), words=False)(None, "", deep)
    assert cleaned["a"] == [{"b": {key: "(not logged)", "n": [{key: "(not logged)"}]}}]


def test_counts_of_tokens_are_no_secrets_and_a_tiny_secret_blots_nothing_out() -> None:
    redact = logs.Redaction(("a", "abcd", "abcdefgh"), words=True)
    line = {"prompt_tokens": 12, "token": 3, "event": "a man", "long": "abcdefgh", "odd": float("nan")}
    assert redact(None, "", line) == line | {"long": "***", "odd": "nan"}


@pytest.mark.shows("H4")
def test_words_are_logged_only_where_that_is_wanted(config: Config) -> None:
    for wanted in (True, False):
        stderr = io.StringIO()
        logs.configure(with_log(config, words=wanted), stderr)
        log = structlog.get_logger("agent.loop")
        log.info("heard", words=SPOKEN, seconds=2.0)
        log.info("reply_spoken", sentences=[{"text_spoken": SPOKEN, "n": 1}])
        log.info("heard", words=[SPOKEN])
        assert (SPOKEN in stderr.getvalue()) is wanted
        assert [line["event"] for line in lines(stderr)] == ["heard", "reply_spoken", "heard"]
        assert lines(stderr)[0]["seconds"] == 2.0


def test_our_level_is_the_set_one_and_others_are_heard_from_warning_on(config: Config) -> None:
    stderr = io.StringIO()
    logs.configure(with_log(config, level="debug"), stderr)
    for name in ("audio.turns.vad", "httpx"):
        structlog.get_logger(name).debug("said")
        logging.getLogger(name).info("told")
        logging.getLogger(name).warning("warned")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old function", DeprecationWarning, stacklevel=1)
    said = [f"{line['logger']} {line['event']}" for line in lines(stderr)]
    assert said[:4] == ["audio.turns.vad said", "audio.turns.vad told", "audio.turns.vad warned", "httpx warned"]
    assert "old function" in said[4]


def test_a_short_command_is_quiet_unless_debugging(config: Config) -> None:
    for level, seen in (("info", ["loud"]), ("error", []), ("debug", ["soft", "loud"])):
        stderr = io.StringIO()
        logs.configure(with_log(config, level=level), stderr, at_least=logging.WARNING)
        structlog.get_logger("appliance.cli.main").info("soft")
        structlog.get_logger("appliance.cli.main").warning("loud")
        assert [line["event"] for line in lines(stderr)] == seen


@pytest.mark.shows("H4")
def test_the_journal_gets_priorities(config: Config, tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w+", encoding="utf-8") as stderr:
        status = os.fstat(stderr.fileno())
        told = replace(config, supervisor=Supervisor(journal_stream=f"{status.st_dev}:{status.st_ino}"))
        logs.configure(told, stderr)
        log = structlog.get_logger("appliance.x")
        log.info("one")
        log.warning("two")
        log.error("three", secret=SECRET)
        stderr.seek(0)
        written = stderr.read().splitlines()
    assert [line[:3] for line in written] == ["<6>", "<4>", "<3>"]
    assert [json.loads(line[3:])["event"] for line in written] == ["one", "two", "three"]


def test_a_terminal_that_inherited_the_journal_s_variable_is_no_journal(config: Config) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as other:
        assert not logs.is_journal(other, "8:1")
    assert not logs.is_journal(io.StringIO(), "")


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield stream, ours
    os.close(ours)


def test_a_terminal_gets_short_lines_and_no_traceback(config: Config, terminal: tuple[TextIO, int]) -> None:
    stream, other_end = terminal
    logs.configure(config, stream)
    try:
        fail(ValueError("no such voice"))
    except ValueError:
        structlog.get_logger("appliance.x").exception("voice_failed", voice="edge", key=SECRET)
    stream.flush()
    line = os.read(other_end, 4096).decode()
    assert line.endswith("error   voice_failed voice=edge key=*** ValueError: no such voice\r\n")
    assert line.count("\n") == 1


def test_a_terminal_gets_times_in_the_households_zone(config: Config, terminal: tuple[TextIO, int]) -> None:
    stream, other_end = terminal
    zone = timezone(timedelta(hours=13, minutes=17))
    logs.configure(replace(config, zone=zone), stream)
    began = datetime.now(zone)
    structlog.get_logger("appliance.x").info("listening")
    stream.flush()
    told = os.read(other_end, 4096).decode()
    assert told[:8] in {f"{each:%H:%M:%S}" for each in (began, datetime.now(zone))}


@pytest.mark.shows("F26", "H4")
def test_the_file_is_private_turned_over_and_always_json(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "logs/nakari.log"
    logs.configure(with_log(config, file=str(file)), io.StringIO(), at_least=logging.WARNING)
    log = structlog.get_logger("agent.loop")
    for number in range(12):
        log.info("step", number=number, padding="x" * 500_000, key=SECRET)
    kept = sorted(file.parent.iterdir())
    assert [path.name for path in kept] == ["nakari.log", "nakari.log.1"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert all(path.stat().st_size <= logs.FILE_BYTES for path in kept)
    newest = [json.loads(line) for line in kept[0].read_text(encoding="utf-8").splitlines()]
    assert newest[-1]["number"] == 11
    assert newest[-1]["key"] == "***"


def test_a_log_file_that_cannot_be_written_is_said(config: Config, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"file/x\.log cannot be written: .*; correct \[log\] file"):
        logs.configure(with_log(config, file=str(tmp_path / "file/x.log")), io.StringIO())


def test_a_log_file_that_is_a_pipe_is_said_and_not_waited_for(config: Config, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"pipe is a pipe; correct \[log\] file"):
        logs.configure(with_log(config, file=str(tmp_path / "pipe")), io.StringIO())


def test_a_log_file_whose_folder_is_taken_away_ends_nothing_and_comes_back(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "logs/nakari.log"
    stderr = io.StringIO()
    logs.configure(with_log(config, file=str(file)), stderr)
    log = structlog.get_logger("agent.loop")
    log.info("before")
    shutil.rmtree(file.parent)
    log.info("meanwhile")
    file.parent.mkdir()
    log.info("after")
    assert [line["event"] for line in lines(stderr)] == ["before", "meanwhile", "after"]
    assert [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()] == ["after"]


def test_a_thread_that_fails_is_a_line_not_a_traceback(config: Config) -> None:
    stderr = io.StringIO()
    logs.configure(config, stderr)
    thread = threading.Thread(target=lambda: int(SECRET))
    thread.start()
    thread.join()
    (line,) = lines(stderr)
    assert line["event"] == "thread_failed"
    assert SECRET not in str(line["exception"])


def test_a_crash_is_kept_cleaned_and_private_the_newest_only(config: Config) -> None:
    for number in (1, 2):
        kept = logs.keep_crash(
            RuntimeError(f"number {number} with {SECRET}"), logs.redaction_of(config), config.state_folder
        )
        assert kept == config.state_folder / "last-crash.txt"
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == "RuntimeError: number 2 with ***\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_crash_that_cannot_be_kept_is_not_a_second_one(config: Config, tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    assert logs.keep_crash(RuntimeError("x"), logs.redaction_of(config), config.state_folder) is None
