"""Finds what files add: tools, observers of the bus, facts for the situation. A broken file is one line."""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, Final, TypeAlias, cast

import structlog
from msgspec import Struct
from msgspec.structs import replace

import agent.tools
from agent.bus import Bus
from agent.context.situation import SituationProvider
from agent.errors import ToolFailed
from agent.event import Event
from agent.model.messages import ToolSpec
from agent.tools.mcp.schema import SchemaRefused, legal_schema
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_members
from agent.tools.tool import (
    DEFAULT_TIMEOUT,
    AnyArguments,
    Declaration,
    Tool,
    awaited,
    filled_in,
    tool,
    with_secrets,
)
from memory.json_value import Json, fields, listed

log = structlog.get_logger()

PLUMBING: Final = frozenset({"memory", "tool"})
"""Files of `agent.tools` that hold no tools, or whose tools come with the graph they act upon."""

DEFINITION: Final = "_TOOL"
"""How the name of a definition ends: a mapping in OpenAI's form beside the function that it is named after."""

OBSERVE: Final = "observe"
SITUATION: Final = "situation"
COMMAND: Final = "command"

BESIDE: Final = frozenset({OBSERVE, SITUATION, COMMAND})
"""What else a file may hold: an observer of the bus, facts for the situation, a command of `nakari`."""

OWN: Final = "nakari_tools_"
"""Begins the names of the modules that a person's files become."""

OWN_GROUP: Final = "own files"
"""What the tools of a person's own files are found under."""

NOT_SHARED: Final = "{tool} is the household's, and whoever speaks is no member of it: do without it"

WRITABLE_BY_OTHERS: Final = 0o002

PATIENCE: Final = 1.0
"""Seconds that a start waits for all of a person's files; what takes longer joins later, and the box listens before."""

LATE: Final = "it was not loaded within {seconds:g} s; let it do what takes long inside its functions, not at its top"

Observe: TypeAlias = Callable[[Event], Awaitable[None]]


class Observer(Struct, frozen=True):
    """A function `observe(envelope)` of a file, and one of the topics that its TOPICS name."""

    file: str
    topic: str
    observe: Observe


class FileContent(Struct, frozen=True):
    """What one file adds."""

    tools: Sequence[Tool] = ()
    observers: Sequence[Observer] = ()
    situation: Sequence[SituationProvider] = ()
    """The functions `situation(lease)` of files."""
    secrets: Mapping[str, str] = {}
    """Those that its tools declare, "" where nobody set one."""


class Loading(Struct, frozen=True):
    """A person's file while a thread of its own loads it."""

    file: str
    content: "Future[FileContent]"


class Discovered:
    """What files add."""

    def __init__(self) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.observers: tuple[Observer, ...] = ()
        self.situation: tuple[SituationProvider, ...] = ()
        self.own: tuple[str, ...] = ()
        """Names of the tools from the person's own files."""
        self.broken: dict[str, str] = {}
        """What is wrong with a file, with its line, by the file's name."""
        self.lacking: dict[str, tuple[str, ...]] = {}
        """The secrets that nobody set, by the tool that is not offered for want of them."""
        self.late: tuple[Loading, ...] = ()
        """Files that were not loaded when the start could wait no longer; broken until they are."""

    def loops(self, bus: Bus) -> dict[str, Callable[[], Coroutine[None, None, None]]]:
        """Return what shows each observer the envelopes of its topic, until cancelled."""
        return {
            f"own: {each.file}, {each.topic}": partial(bus.attend, each.topic, each.observe) for each in self.observers
        }

    def describe(self) -> dict[str, Json]:
        """Return the person's own tools and what is wrong with their files, for the status and the doctor."""
        lacking: dict[str, Json] = {name: [*secrets] for name, secrets in self.lacking.items()}
        return {"own": [*self.own], "broken": dict(self.broken), "lacking": lacking}

    def keep(
        self, file: str, load: Callable[[], FileContent], shares: Callable[[str], bool] | None = None
    ) -> FileContent:
        """Add what a file adds: all of it, or nothing where anything is wrong with it; return what was added.

        With `shares` it is a person's own, for members only. Raises nothing.
        """
        try:
            content = load()
            _check_names([*self.tools, *content.tools])
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a stranger's file does, the others load
            self.broken[file] = told(error, file)
            log.warning("tool_file_broken", file=file, reason=self.broken[file])
            return FileContent()
        kept = []
        for each in content.tools:
            if missing := tuple(name for name in each.secrets if not content.secrets[name]):
                self.lacking[each.name] = missing
                log.warning("tool_not_offered", tool=each.name, fix=f"set {', '.join(missing)}")
            else:
                group = Path(file).stem if shares is None else OWN_GROUP
                kept.append(replace(with_secrets(each, content.secrets), group=group))
        if shares is not None:
            self.own += tuple(each.name for each in kept)
            kept = [for_members(each, shares, NOT_SHARED.format(tool=each.name)) for each in kept]
        self.broken.pop(file, None)
        self.tools += tuple(kept)
        self.observers += tuple(content.observers)
        self.situation += tuple(content.situation)
        return replace(content, tools=kept)


def discover(
    context: ToolContext | None,
    folder: Path | None = None,
    secret: Callable[[str], str] = lambda _: "",
    shares: Callable[[str], bool] = lambda _: True,
    patience: float = PATIENCE,
) -> Discovered:
    """Return what the files of `agent/tools/` and of `folder` add; of two tools with one name the first counts.

    `secret` returns a key or password by its name, "" where nobody set it. `shares` says, at each call, whether an
    owner may use the household's own tools. Without a context, what wants one is only looked at. The files of `folder`
    are waited for `patience` seconds, all together; what is not loaded then is `late`. Raises nothing.
    """
    found = Discovered()
    for name in _files_of_package():
        load = partial(importlib.import_module, f"{agent.tools.__name__}.{name}")
        found.keep(f"{name}.py", partial(_content_of, f"{name}.py", load, context, secret))
    until, loading = monotonic() + patience, list[Loading]()
    for file in _files_of(folder):
        read = partial(_content_of, file.name, partial(load_file, file), context, secret)
        loading.append(Loading(file.name, _begun(file.name, read)))
        _wait(loading[-1], min(until, monotonic() + patience / 4))  # side by side only with what takes long
    for each in loading:
        if _wait(each, until):
            found.keep(each.file, each.content.result, shares)
            continue
        found.late += (each,)
        found.broken[each.file] = LATE.format(seconds=patience)
        log.warning("tool_file_late", file=each.file, reason=found.broken[each.file])
    return found


def _wait(loading: Loading, until: float) -> bool:
    """Wait for a file until then, on `time.monotonic`; return whether it is loaded, well or not."""
    try:
        loading.content.exception(timeout=max(0.0, until - monotonic()))
    except TimeoutError:
        return False
    return True


def _begun(file: str, load: Callable[[], FileContent]) -> "Future[FileContent]":
    """Load a file in a thread that holds up nobody: neither the start, nor the other files, nor the end."""
    content: Future[FileContent] = Future()
    content.set_running_or_notify_cancel()  # so that nobody can cancel it, and the thread can always answer

    def run() -> None:
        try:
            content.set_result(load())
        except BaseException as error:  # noqa: BLE001  it is raised where the content is taken
            content.set_exception(error)

    threading.Thread(target=run, name=f"loads {file}", daemon=True).start()
    return content


def _content_of(
    file: str, load: Callable[[], ModuleType], context: ToolContext | None, secret: Callable[[str], str]
) -> FileContent:
    """Load a file. Raises what is wrong with it."""
    module = load()
    tools = tools_of(module, context)
    secrets = {name: secret(name) for each in tools for name in each.secrets}
    situation = (module.situation,) if hasattr(module, SITUATION) else ()
    return FileContent(tools, _observers_of(module, file), situation, secrets)


def _check_names(tools: Iterable[Tool]) -> None:
    names = Counter(tool.name for tool in tools)
    if twice := next((name for name, count in names.items() if count > 1), ""):
        raise ValueError(f"there is a tool named {twice} already: rename this one")


def tools_of(module: ModuleType, context: ToolContext | None) -> list[Tool]:
    """Return the tools of one file, in whichever form it has them.

    A function `tools(context)` that returns them; functions decorated with `@tool`; definitions `XXX_TOOL` in OpenAI's
    form beside the function of that name; or, where there is none of these, all its public functions with a docstring.
    For the last two TIMEOUT, EFFECT, IS_SLOW and SECRETS at the top of the file declare what a decorator would.
    Raises ValueError for a file without any, and for a definition without its function.
    """
    if callable(make := vars(module).get("tools")):
        return [*make(context)] if context is not None else []
    members = [*vars(module).items()]
    made = [each for _, each in members if isinstance(each, Tool)]
    made += [_defined(module, each) for name, each in members if name.endswith(DEFINITION) and isinstance(each, dict)]
    if not made:
        made = [tool(each, **_declared(module)) for each in _functions_of(module)]
    if not (made or any(name in vars(module) for name in BESIDE)):
        raise ValueError("it holds no tool: a function with a docstring and typed arguments is one")
    return made


def _observers_of(module: ModuleType, file: str) -> list[Observer]:
    observe, topics = vars(module).get(OBSERVE), getattr(module, "TOPICS", ())
    if observe is None:
        return []
    if not topics or isinstance(topics, str):
        raise ValueError('observe() wants TOPICS, such as ("tools.results",)')
    watch = cast("Observe", awaited(observe))
    return [Observer(file, topic, watch) for topic in topics]


def _files_of_package() -> list[str]:
    found = pkgutil.iter_modules(agent.tools.__path__)
    return sorted(each.name for each in found if not each.ispkg and each.name not in PLUMBING)


def _files_of(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    return sorted(file for file in folder.glob("*.py") if not file.name.startswith(("_", ".")))


def load_file(file: Path) -> ModuleType:
    """Run a person's file. Raises what it raises, and PermissionError for one that others could have written."""
    told = file.stat()
    if told.st_mode & WRITABLE_BY_OTHERS or told.st_uid not in {0, os.geteuid()}:
        raise PermissionError(f"others may write to it; `chmod o-w {file}`, and let it belong to you or to root")
    spec = importlib.util.spec_from_file_location(f"{OWN}{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("it cannot be loaded")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _functions_of(module: ModuleType) -> Iterator[Callable[..., Any]]:
    for name, each in vars(module).items():
        is_own = inspect.isfunction(each) and each.__module__ == module.__name__
        if is_own and not name.startswith("_") and each.__doc__ and name not in BESIDE:
            yield each


def _declared(module: ModuleType) -> Declaration:
    return {
        "timeout": getattr(module, "TIMEOUT", DEFAULT_TIMEOUT),
        "effect": getattr(module, "EFFECT", "irreversible"),
        "is_slow": getattr(module, "IS_SLOW", False),
        "secrets": getattr(module, "SECRETS", ()),
    }


def _defined(module: ModuleType, definition: Mapping[str, Any]) -> Tool:
    """Return the tool of a definition, with OpenAI's "function" around it or without."""
    told = definition.get("function", definition)
    name = str(told.get("name", ""))
    function = vars(module).get(name)
    if function is None:
        raise ValueError(f"its definition names {name or 'no function'}, and there is no such function in it")
    try:
        spec = ToolSpec(name, str(told.get("description", "")), legal_schema(told.get("parameters") or {}))
    except SchemaRefused as refused:
        raise ValueError(f"{name} cannot be told to a model: {refused}") from refused
    call = awaited(function)

    async def run(root: dict[str, object], **filled: object) -> Json:
        if wrong := _wrong(root, spec):
            raise ToolFailed(f"{name} was called with wrong arguments ({wrong}); correct them and call it again")
        return await call(**root, **filled)

    return Tool(spec, AnyArguments, run, tuple(filled_in(function)), **_declared(module))


def _wrong(given: Mapping[str, object], spec: ToolSpec) -> str:
    """Return what the definition does not take, "" where it takes it all; what is in each argument, the tool judges."""
    missing = [name for name in listed(spec.parameters.get("required")) if name not in given]
    unknown = [name for name in given if name not in fields(spec.parameters.get("properties"))]
    parts: Sequence[tuple[str, Iterable[object]]] = (("missing", missing), ("unknown", unknown))
    return "; ".join(f"{what}: {', '.join(map(str, names))}" for what, names in parts if names)


def told(error: BaseException, file: str) -> str:
    """Return one line: the number of the file's own line where there is one, and what is wrong."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"line {error.lineno}: {error.msg}"
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).name == file]
    place = f"line {lines[-1]}: " if lines else ""
    kind = "" if isinstance(error, ValueError | PermissionError) and not lines else f"{type(error).__name__}: "
    return f"{place}{kind}{' '.join(str(error).split()) or 'it ended by itself'}"
