"""Logs: JSON lines for machines, short lines for a terminal; no secret ever, spoken words only where that is wanted."""

import errno
import logging
import math
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, tzinfo
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from queue import Full, Queue
from typing import Final, TextIO

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from appliance.config.load import Config
from appliance.errors import ConfigError
from appliance.hints import typed_here

log = structlog.get_logger()

MOST_WAITING: Final = 2_000
"""Lines that wait for a reader, a few MB; those that come while so many do are counted, and told of afterwards."""

FAREWELL: Final = 2.0
"""Seconds in which the last lines can be written before the process ends without them."""


class Writer(logging.Handler):
    """Hands lines to a thread, which gives them to the handlers, in order.

    A terminal that was stopped (Ctrl-S), a journal that hangs and a disk that does not answer hold up no loop: the
    thread alone waits for them. A kill loses what it has not written yet, a few milliseconds' worth.
    """

    def __init__(self, handlers: Sequence[logging.Handler]) -> None:
        super().__init__()
        self.handlers = [*handlers]
        """As of a `logging.Logger`."""
        self._lines: Queue[logging.LogRecord | threading.Event | None] = Queue(MOST_WAITING)
        """None ends them; an event is set where it stands."""
        self._lost = 0
        threading.Thread(target=self._write_all, name="log: lines to whoever reads them", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line, at once."""
        try:
            self._lines.put_nowait(record)
        except Full:
            self._lost += 1

    def flush(self) -> None:
        """Return when all that waits is written, or could not be for `FAREWELL` seconds."""
        written = threading.Event()
        with suppress(Full):
            self._lines.put(written, timeout=FAREWELL)
            written.wait(FAREWELL)

    def close(self) -> None:
        """Write what waits, as `flush` does, and end the thread."""
        self.flush()
        with suppress(Full):
            self._lines.put_nowait(None)
        super().close()

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            if isinstance(line, threading.Event):
                line.set()
                continue
            for handler in self.handlers[:]:
                if line.levelno >= handler.level:
                    handler.handle(line)
            if self._lost:
                lost, self._lost = self._lost, 0
                log.warning("log_lines_lost", lines=lost, reason="whoever reads the log did not for a while")


@contextmanager
def written_beside() -> Iterator[None]:
    """Have the lines of this process written by a thread in the block; for a service, in which nothing may wait."""
    root = logging.getLogger()
    writer = Writer(root.handlers)
    root.handlers[:] = [writer]
    try:
        yield
    finally:
        root.handlers[:] = writer.handlers
        writer.close()


def flush() -> None:
    """Return when the lines are written that were logged so far; where nobody reads them, after `FAREWELL`."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def handlers_here() -> list[logging.Handler]:
    """Return the list of what writes lines in this process, to look into or to change."""
    root = logging.getLogger()
    return next((each.handlers for each in root.handlers if isinstance(each, Writer)), root.handlers)


OURS = ("appliance", "agent", "audio", "memory")
"""Loggers that follow `[log] level`; everybody else's are heard from warning on."""

SILENCED = ("aioesphomeapi", "mcp", "neo4j", "zeroconf")
"""Loggers that tell of an outage what the exception tells too, a line for each try: heard only when all is lost."""

WORD_KEYS = frozenset({"words", "text_spoken", "arguments"})
"""The only keys under which anything that was said, or written by the agent, may be logged."""

FILE_BYTES = 5_000_000
"""Size at which the log file is turned over."""
FILE_COPIES = 3

SHORTEST_SECRET = 4
"""Characters; a shorter one would blot out ordinary text."""

PRIORITY = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}
"""syslog priorities, as sd-daemon(3) wants them in front of a line."""

_SECRET_KEY = re.compile(r"(^|[_-])(api[_-]?key|password|passwd|secret|token|authorization|credential)$", re.IGNORECASE)
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}"  # OpenAI, Anthropic, DeepSeek, OpenRouter
    r"|\bnakari_[\w-]{43}"  # our own tokens
    r"|\bAIza[\w-]{30,}"  # Google
    r"|\b(?:gh[pousr]|hf)_\w{20,}"  # GitHub, Hugging Face
    r"|\beyJ[\w-]{8,}\.[\w.-]+"  # JSON web token
    r"|(?<=Bearer )[^\s\"']+"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # user:password@host
)


class Redaction:
    """The one processor that takes out what no log may hold: secrets always, words when `[log] words` is false."""

    def __init__(self, secrets: Iterable[str], words: bool) -> None:
        self._secrets = sorted({text for text in secrets if len(text) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._words = words

    def __call__(self, logger: WrappedLogger, name: str, event_dict: EventDict) -> EventDict:
        """Return the line with every value made plain and clean, at any depth."""
        return {key: self._of(key, value) for key, value in event_dict.items()}

    def clean(self, text: str) -> str:
        """Return a text without known secrets and without what looks like one."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _KEY_LIKE.sub("***", text)

    def _of(self, key: str, value: object) -> object:
        if key in WORD_KEYS and not self._words:
            return "(not logged)"
        if isinstance(value, str) and _SECRET_KEY.search(key):
            return "***"
        return self._plain(value)

    def _plain(self, value: object) -> object:
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict):
            return {self.clean(str(key)): self._of(str(key), inner) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._plain(inner) for inner in value]
        return self.clean(value if isinstance(value, str) else str(value))


def redaction_of(config: Config) -> Redaction:
    """Return the redaction that knows this configuration's secrets."""
    return Redaction((secret.reveal() for secret in config.secrets.values()), config.log.words)


def configure(config: Config, stderr: TextIO, *, at_least: int = logging.DEBUG) -> None:
    """Set up logging for this process, once, before anything logs; a second call replaces the first.

    `at_least` keeps what is less important off stderr, for a command whose output is meant for a person, unless
    `[log] level` is "debug". Raises `ConfigError` when the log file cannot be written, OSError when there is no room.
    """
    redaction = redaction_of(config)
    level = logging.getLevelNamesMapping()[config.log.level.upper()]
    screen = logging.StreamHandler(stderr)
    screen.setLevel(level if level == logging.DEBUG else max(level, at_least))
    screen.setFormatter(_formatter(redaction, _renderer(config.supervisor.journal_stream, stderr, config.zone)))
    handlers: list[logging.Handler] = [screen]
    if config.log.file:
        handlers.append(_file_handler(Path(config.log.file).expanduser(), redaction))
    _install(handlers, level)


def configure_again(config: Config) -> None:
    """Go by another `[log]` from now on, on the stderr that `configure` was given. Raises what that raises."""
    screens = [each for each in handlers_here() if type(each) is logging.StreamHandler]
    configure(config, screens[0].stream if screens else sys.stderr)


def keep_crash(error: BaseException, redaction: Redaction, state_folder: Path) -> Path | None:
    """Write an unexpected exception's traceback to the state folder; return the file, or None where that fails.

    The newest one only, so that a crash in a loop fills no disk.
    """
    text = redaction.clean("".join(traceback.format_exception(error)))
    file = state_folder / "last-crash.txt"
    try:
        state_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _open_private(file, os.O_TRUNC) as out:
            out.write(text)
    except (OSError, ValueError):  # ValueError: a path that no system knows
        return None
    return file


def line_at(moment: datetime, event_dict: EventDict) -> str:
    """Return a line for people: time of day, level, what happened, its values; no traceback, one line always.

    The time is `moment`, in its own zone.
    """
    event_dict.pop("timestamp", None)
    level, event = event_dict.pop("level"), event_dict.pop("event")
    error = str(event_dict.pop("exception", "")).rstrip().rpartition("\n")[2]
    event_dict.pop("logger", None)
    values = [f"{key}={value}" for key, value in event_dict.items()]
    line = " ".join([f"{moment:%H:%M:%S}", f"{level:<7}", str(event), *values, *filter(None, [error])])
    return typed_here("".join(character if character.isprintable() else " " for character in line))


def lasting(stream: TextIO) -> TextIO:
    """Return a stream to the same place on a descriptor of its own.

    sounddevice sends descriptor 2 to nowhere while PortAudio starts, and a frozen sound server makes that last: what
    is wrong would be told to nobody.
    """
    try:
        return os.fdopen(os.dup(stream.fileno()), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError):
        return stream


def is_journal(stream: TextIO, journal_stream: str) -> bool:
    """Whether a stream ends in the journal: $JOURNAL_STREAM is inherited, so its inode has to be the stream's."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return journal_stream == f"{status.st_dev}:{status.st_ino}"


class _PrivateFile(RotatingFileHandler):
    """A log file that only its owner reads, and that several processes may write to."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line; into the new file when another process has turned the old one over.

        Where that cannot be, as when its folder was taken away or the disk is full, the line is lost and nobody fails.
        """
        try:
            if self.stream is not None and not self._is_current(self.stream):
                # A file that cannot be closed is left all the same.
                stream, self.stream = self.stream, None
                stream.close()
        except OSError:
            self.handleError(record)
        super().emit(record)

    def _is_current(self, stream: TextIO) -> bool:
        try:
            return os.path.samestat(os.fstat(stream.fileno()), Path(self.baseFilename).stat())
        except (OSError, ValueError):
            return False

    def _open(self) -> TextIOWrapper:
        return _open_private(Path(self.baseFilename), os.O_APPEND)


def _open_private(path: Path, how: int) -> TextIOWrapper:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "w", encoding="utf-8")


def _file_handler(path: Path, redaction: Redaction) -> logging.Handler:
    if path.is_fifo():  # opened, it waits for a reader for ever, and every command with it
        raise ConfigError(f"the log file {path} is a pipe; correct [log] file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = _PrivateFile(path, maxBytes=FILE_BYTES, backupCount=FILE_COPIES)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # that is no fault of the configuration
        raise ConfigError(f"the log file {path} cannot be written: {error.strerror}; correct [log] file") from error
    handler.setFormatter(_formatter(redaction, structlog.processors.JSONRenderer(ensure_ascii=False)))
    return handler


def _renderer(journal_stream: str, stderr: TextIO, zone: tzinfo) -> Processor:
    to_json = structlog.processors.JSONRenderer(ensure_ascii=False)
    if is_journal(stderr, journal_stream):
        return lambda logger, name, line: f"<{PRIORITY[line['level']]}>{to_json(logger, name, line)!s}"
    if stderr.isatty():  # as `nakari logs` tells them
        return lambda _, __, line: line_at(datetime.fromisoformat(line["timestamp"]).astimezone(zone), line)
    return to_json


def _formatter(redaction: Redaction, renderer: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_first_steps(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            redaction,
            renderer,
        ],
    )


def _first_steps() -> list[Processor]:
    """Return what happens to every line, whether structlog or the standard library made it."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _install(handlers: list[logging.Handler], level: int) -> None:
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_first_steps(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    root, here = logging.getLogger(), handlers_here()
    replaced, here[:] = here[:], handlers
    for old in replaced:
        old.close()
    root.setLevel(max(level, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    for name in SILENCED:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False  # a closed stderr must not print tracebacks about itself
    threading.excepthook = _log_thread


def _log_thread(what: threading.ExceptHookArgs) -> None:
    if what.exc_type is not SystemExit:
        error = what.exc_value or what.exc_type()
        logging.getLogger("appliance").error("thread_failed", exc_info=error)
