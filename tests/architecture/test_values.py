"""Values are passed down: a function that needs two of them is not given the whole configuration."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import files, nodes

EDGES = ("appliance/cli/", "appliance/config/", "appliance/wiring/", "appliance/service.py", "appliance/egress.py")
"""Where the configuration is read, handed out, and looked at as a whole."""

ALLOWED: dict[str, str] = {
    "appliance/admin/archive.py everything_of": "makes a value of it",
    "appliance/admin/local.py _erase_alone": "opens state, graph and owners as the wiring does",
    "appliance/admin/local.py erase_everything": "opens them where no service runs",
    "appliance/admin/local.py local_admin": "opens state and graph as the wiring does",
    "appliance/admin/local.py open_admin": "opens them where no service runs",
    "appliance/admin/mcp_server.py serve": "opens them for each request",
    "appliance/admin/restoring.py restore_archive": "opens them on what was restored",
    "appliance/admin/reload.py __init__": "compares it with another",
    "appliance/admin/reload.py _at": "looks up any value",
    "appliance/admin/reload.py _take_over": "compares it with another",
    "appliance/api/client.py service_of": "looks at its doors, its state and its machines",
    "appliance/api/client.py service_that_came": "looks for it as that does",
    "appliance/bench/rehearsal.py config_of": "makes another of it",
    "appliance/bench/rehearsal.py rehearse": "opens a box as the service does",
    "appliance/bench/rehearsal.py rehearsing": "opens a box as the service does",
    "appliance/doctor/examine.py _look": "hands it to the checks",
    "appliance/doctor/examine.py examine": "hands it to the checks",
    "appliance/doctor/machine.py _leaving": "asks for all that leaves",
    "appliance/machines/check.py _asked": "opens the engine as the wiring does",
    "appliance/doctor/sound/sound.py tried": "runs two checks",
    "appliance/input/hearing/choose.py hearing_settings": "makes a value of it",
    "appliance/input/whisper/choice.py whisper_settings": "makes a value of it",
    "appliance/logs/configure.py configure": "sets up the process",
    "appliance/logs/configure.py configure_again": "sets up the process",
    "appliance/logs/configure.py redaction_of": "makes a value of it",
    "appliance/machines/joining/login.py login_of": "makes a value of it",
    "appliance/machines/roll.py known_of": "makes a value of it",
    "appliance/machines/roll.py roll_of": "opens the engine as the wiring does",
    "appliance/model/catalog.py catalog_of": "makes a value of it",
    "appliance/model/sentence.py sentence_settings": "makes a value of it",
    "appliance/output/voices.py speech_settings": "makes a value of it",
}
"""Who else is given it, as `file function`, and why."""


def given_everything(path: Path) -> Iterator[str]:
    """Yield each function with a parameter that is a `Config`, and each class with such a field; checks aside."""
    for node in nodes(path):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                told = node.args
                types = [each.annotation for each in (*told.posonlyargs, *told.args, *told.kwonlyargs)]
                is_check = len(types) == 1 and node.returns is not None and ast.unparse(node.returns) == "Line"
                types = [] if is_check else types
            case ast.ClassDef():
                types = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
            case _:
                continue
        if any(names_config(each) for each in types if each is not None):
            yield f"{path} {node.name}"


def names_config(annotation: ast.expr) -> bool:
    """Whether a type is the configuration, or may be it."""
    plain = ast.unparse(annotation).replace("'", "").replace('"', "")
    return "Config" in {each.strip() for each in plain.split("|")}


def found() -> set[str]:
    """Return who is given the configuration beyond the edges."""
    inner = (path for path in files("appliance/*.py") if not str(path).startswith(EDGES))
    return {each for path in inner for each in given_everything(path)}


def test_nobody_but_the_edges_is_given_the_whole_configuration() -> None:
    assert sorted(found() - ALLOWED.keys()) == []


def test_no_exception_outlives_its_reason() -> None:
    assert sorted(ALLOWED.keys() - found()) == []
