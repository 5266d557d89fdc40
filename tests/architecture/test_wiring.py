"""Parts are joined in their constructors: nothing that can be called is assigned to another object from outside."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from appliance.config.file import SECTIONS
from appliance.config.meaning import settings_of
from tests.architecture.source import nodes, sources

ALLOWED: dict[str, str] = {
    "agent/model/litellm_thread.py _create_ssl_context": "the library has no switch for all of its clients",
    "agent/model/litellm_thread.py async_maybe_transform": "the library has no other way in",
    "agent/model/litellm_thread.py update_response_metadata": "the library prices every answer and has no switch",
    "agent/model/litellm_thread.py _iter_events": "OpenAI's client has no other way in before it reads JSON",
    "agent/model/litellm_thread.py chunk_parser": "litellm has no other way in to what it drops",
    "agent/model/litellm_thread.py make_call": "the stream of some providers is made within litellm's first chunk",
    "agent/model/litellm_thread.py task": "the future of the call that was begun",
    "agent/run/act.py refused": "a truth value",
    "agent/tools/mcp/client.py stream": "an event hook of httpx bounds the response's own stream",
    "appliance/cli/root.py config": "what was read for the commands below it",
    "appliance/http/listening/tls.py sni_callback": "where ssl asks for the certificate of each handshake",
    "appliance/logs/configure.py excepthook": "where Python asks for it",
    "audio/recognizer/faster_whisper.py encode": "the library has no other way in",
}
"""Where it is right all the same, as `file attribute`, and why."""


@cache
def methods() -> frozenset[str]:
    """Return the names of all functions and methods of the product that are called as such, not read as properties."""
    return frozenset(
        node.name
        for path in sources()
        for node in functions(path)
        if not any("property" in ast.unparse(each) or "setter" in ast.unparse(each) for each in node.decorator_list)
    )


def assignments(path: Path) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    """Yield each attribute of something else than `self` that a file assigns, with what it gets."""
    for node in nodes(path):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [pair for target in targets for pair in pairs_of(target, value)]
            case ast.AnnAssign(target=one, value=ast.expr() as value) | ast.AugAssign(target=one, value=value):
                pairs = [(one, value)]
            case ast.Call(func=ast.Name(id="setattr"), args=[base, ast.Constant(value=str(name)), value]):
                pairs = [(ast.Attribute(base, name, lineno=node.lineno), value)]
            case _:
                continue
        for target, value in pairs:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) not in {"self", "cls"}:
                yield target, value


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return what each element of a target gets."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(element, value) for element in target.elts] if isinstance(target, ast.Tuple) else [(target, value)]


def can_be_called(value: ast.expr, known: frozenset[str], local: frozenset[str]) -> bool:
    """Whether a value has a lambda in it, or a function or method that is named without being called."""
    called = {id(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
    bases = {id(node.value) for node in ast.walk(value) if isinstance(node, ast.Attribute)}
    return any(
        isinstance(node, ast.Lambda)
        or (isinstance(node, ast.Attribute) and node.attr in known and id(node) not in called | bases)
        or (isinstance(node, ast.Name) and node.id in local and id(node) not in called | bases)
        for node in ast.walk(value)
    )


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions and methods of a file."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def joined_from_outside(path: Path, known: frozenset[str]) -> Iterator[str]:
    """Yield each assignment of a file that joins two parts."""
    local = frozenset(node.name for node in functions(path))
    for target, value in assignments(path):
        if can_be_called(value, known, local):
            yield f"{path} {target.attr}"


def silent_defaults(path: Path) -> Iterator[str]:
    """Yield each public attribute that begins as a function that does nothing, until somebody sets it."""
    idle = {node.name for node in functions(path) if not node.args.args and is_empty(node)}
    fields = {each for node in nodes(path) if isinstance(node, ast.ClassDef) for each in node.body}
    for node in nodes(path):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                begins = value
            case ast.AnnAssign(target=ast.Attribute(attr=name), value=ast.expr() as value):
                begins = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if node in fields:
                begins = value
            case _:
                continue
        if isinstance(begins, ast.Call):  # field(default=lambda …)
            begins = next((each.value for each in begins.keywords if each.arg == "default"), begins)
        is_idle = isinstance(begins, ast.Lambda) or (isinstance(begins, ast.Name) and begins.id in idle)
        if is_idle and not name.startswith("_"):
            yield f"{path} {name}"


def is_empty(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has nothing but its docstring, or ends at once."""
    return all(
        isinstance(each, ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Return) and each.value is None)
        for each in function.body
    )


@cache
def all_joined() -> frozenset[str]:
    """Return what `joined_from_outside` finds in the whole product."""
    return frozenset(each for path in sources() for each in joined_from_outside(path, methods()))


def test_parts_are_joined_in_constructors() -> None:
    assert sorted(all_joined() - ALLOWED.keys()) == []


def test_no_attribute_does_nothing_until_somebody_sets_it() -> None:
    found = {each for path in sources() for each in silent_defaults(path)}
    assert sorted(found - ALLOWED.keys()) == []


def test_no_exception_outlives_its_reason() -> None:
    found = {each for path in sources() for each in silent_defaults(path)}
    assert sorted(ALLOWED.keys() - found - all_joined()) == []


def exchangeable(path: Path) -> Iterator[str]:
    """Yield each call that is given two settings of one type by their places: exchanged, nothing would complain."""
    kinds = {
        (name, key): type(default) for name, section in SECTIONS.items() for key, default, _ in settings_of(section)
    }
    kinds |= {(name, key): kind for (_, key), kind in kinds.items() for name in ("settings", "told")}
    for node in nodes(path):
        if isinstance(node, ast.Call):
            given = [(last_of(each.value), each.attr) for each in node.args if isinstance(each, ast.Attribute)]
            known = [kinds[each] for each in given if each in kinds]
            if len(set(known)) < len(known):
                yield f"{path}:{node.lineno} {ast.unparse(node)}"


def last_of(value: ast.expr) -> str:
    """Return the last name of `config.memory` or `self._settings`: by it the wiring calls a section."""
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return name.lstrip("_")


def test_settings_of_one_type_are_given_by_name() -> None:
    wiring = [path for path in sources() if "wiring" in path.parts]
    assert [each for path in wiring for each in exchangeable(path)] == []
