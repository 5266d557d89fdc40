"""An MCP server of a few lines, of the year 2025, for what the official package would not do: KIND FOLDER.

It tells the tools of FOLDER/tools.json, read at each question, and answers a call with its arguments. It ends, at
its beginning and at a call, while there is FOLDER/away. KIND is

- lawful: just that;
- chatty: greets people on standard output;
- endless: writes a line without end;
- stubborn: ends by no request;
- hung: answers no call, and ends by no request;
- slow: answers no call, tells a change instead, and has a tool named cancelled once the call is;
- wrong: answers a call with what is no result;
- half: answers a call with half a character;
- lists: has a list of tools without end.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

kind, folder = sys.argv[1], Path(sys.argv[2])
if (folder / "away").exists():
    sys.exit("I am away")
(folder / "pid").write_text(str(os.getpid()))

extra: list[object] = []
"""More tools, for what became of the calls."""


def write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def say(**message: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def result_of(method: str, params: dict[str, Any]) -> object:
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "bare", "version": "1"},
        }
    if method == "tools/call" and (folder / "away").exists():
        sys.exit("I am away")
    if method == "tools/list":
        more = {"nextCursor": "more"} if kind == "lists" else {}
        return {"tools": json.loads((folder / "tools.json").read_text()) + extra, **more}
    if kind == "wrong":
        return {"content": "no list"}
    if kind == "half":
        return {"content": [{"type": "text", "text": "the sea \ud83c"}]}
    return {"content": [{"type": "text", "text": f"{params['name']} {json.dumps(params['arguments'])}"}]}


def answer(asked: dict[str, Any]) -> None:
    if asked["method"] not in ("initialize", "tools/list", "tools/call"):
        say(id=asked["id"], error={"code": -32601, "message": "no such method"})
    elif kind == "hung" and asked["method"] == "tools/call":
        (folder / "called").touch()
    elif kind == "slow" and asked["method"] == "tools/call":
        say(method="notifications/tools/list_changed")
    else:
        say(id=asked["id"], result=result_of(asked["method"], asked.get("params", {})))


if kind == "endless":
    while True:
        sys.stdout.write("x" * 100_000)
if kind == "chatty":
    write("Welcome to the bare server!")
if kind in ("stubborn", "hung"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "notifications/cancelled":
        extra.append({"name": "cancelled", "inputSchema": {"type": "object"}})
        say(method="notifications/tools/list_changed")
    if "id" in asked:
        answer(asked)
if kind in ("stubborn", "hung"):
    signal.pause()
