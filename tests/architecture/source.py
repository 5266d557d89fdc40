"""The repository as the architecture tests see it: tracked and new files, parsed once."""

import ast
import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("appliance", "agent", "audio", "memory")


@cache
def files(*patterns: str) -> tuple[Path, ...]:
    """Return the files git tracks or would add, by glob, in order, relative to the root."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(
        path for name in sorted(set(listed.stdout.split("\0"))) if name and (ROOT / (path := Path(name))).is_file()
    )


def sources() -> tuple[Path, ...]:
    """Return every Python file of the four packages."""
    return files(*(f"{package}/*.py" for package in PACKAGES))


def suite() -> tuple[Path, ...]:
    """Return every Python file under tests/."""
    return files("tests/*.py")


@cache
def text(path: Path) -> str:
    """Return what stands in a file."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """Return a file's syntax tree.

    No garbage is looked for meanwhile: of a million nodes that all stay there is none, and it takes four fifths of the
    time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text(path), filename=str(path))
    finally:
        if was_on:
            gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file's syntax tree, in the order of `ast.walk`."""
    return tuple(ast.walk(tree(path)))


def forget() -> None:
    """Let go of the trees and texts, which are hundreds of megabytes: whoever runs after this need not carry them."""
    for kept in (tree, nodes, text):
        kept.cache_clear()


def length(path: Path) -> int:
    """Return a file's number of lines."""
    return len(text(path).splitlines())


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each imported module's dotted name with its line; relative imports count as the package's own."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (path.parts[0] if node.level else node.module or ""), node.lineno


def is_for_types_only(path: Path, line: int) -> bool:
    """Say whether a line stands in an `if TYPE_CHECKING:` block."""
    return any(
        isinstance(node, ast.If)
        and ast.unparse(node.test).endswith("TYPE_CHECKING")
        and node.lineno <= line <= (node.body[-1].end_lineno or 0)
        for node in nodes(path)
    )
