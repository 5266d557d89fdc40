"""A `journalctl` that speaks the real one's JSON: give its folder as PATH, and it prints the entries beside it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = """#!{python}
import json, signal, sys, pathlib
options = dict((word.partition("=")[0], word.partition("=")[2]) for word in sys.argv[1:])
with (pathlib.Path(__file__).parent / "asked").open("a") as asked:
    asked.write(json.dumps(sys.argv[1:]) + "\\n")
if options["--unit"] != "nakari" or options["--output"] != "json":
    sys.exit("this journal holds nakari, as JSON")
entries = json.loads((pathlib.Path(__file__).parent / "entries").read_text())
least, since = int(options.get("--priority", 7)), float(options.get("--since", "@0")[1:]) * 1e6
entries = [e for e in entries if int(e["PRIORITY"]) <= least and int(e["__REALTIME_TIMESTAMP"]) >= since]
if options.get("--lines", "all") != "all":
    entries = entries[-int(options["--lines"]):]
for entry in entries:
    if "--all" not in options and len(entry["MESSAGE"]) > 4096:
        entry = entry | dict(MESSAGE=None)
    print(json.dumps(entry), flush=True)
if "--follow" in options:
    signal.pause()
"""
"""Fields, their types and the limit of 4096 bytes as journalctl(1) and systemd.journal-fields(7) describe them."""


def entry(seconds: float, message: str | bytes, priority: int = 6) -> dict[str, object]:
    """Return what journalctl prints of one line, logged so many seconds after 1970."""
    return {
        "__CURSOR": f"s=0;i={seconds}",
        "__REALTIME_TIMESTAMP": str(int(seconds * 1e6)),
        "__MONOTONIC_TIMESTAMP": "1234567",
        "_BOOT_ID": "0" * 32,
        "_SYSTEMD_UNIT": "nakari.service",
        "_TRANSPORT": "stdout",
        "SYSLOG_IDENTIFIER": "nakari",
        "PRIORITY": str(priority),
        "MESSAGE": list(message) if isinstance(message, bytes) else message,
    }


def install(folder: Path, entries: Sequence[dict[str, object]]) -> Path:
    """Write the program and its journal into a folder, and return the program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entries").write_text(json.dumps(list(entries)))
    program = folder / "journalctl"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return program


def asked(folder: Path) -> list[list[str]]:
    """Return the arguments of each call so far."""
    return [json.loads(line) for line in (folder / "asked").read_text().splitlines()]
