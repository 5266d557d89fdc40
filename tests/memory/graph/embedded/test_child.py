"""A child process as callbacks: its answer, its last words, its end."""

import asyncio
from pathlib import Path

from memory.graph.embedded.launch import LAST_WORDS, Child
from tests.memory.graph_looks import Process


async def run(folder: Path, program: str, first_line: bytes = b"") -> Child:
    (folder / "program.py").write_text(f"import os, signal, sys, time\n{program}\n", encoding="utf-8")
    return await Child.run("program", folder, first_line)


async def test_it_hears_its_first_line_and_answers_one(tmp_path: Path) -> None:
    child = await run(tmp_path, "print('heard', input(), flush=True); print('more'); sys.stdin.read()", b"hello")
    assert await child.answer == b"heard hello"
    assert child.end == "still running"
    await child.stop(5)
    assert child.end == "ended with code 0"


async def test_ctrl_c_does_not_reach_it(tmp_path: Path) -> None:
    child = await run(tmp_path, "print(os.getsid(0) == os.getpid(), flush=True)")
    assert await child.answer == b"True"
    await child.ended.wait()


async def test_an_end_without_an_answer_is_an_empty_one(tmp_path: Path) -> None:
    child = await run(tmp_path, "print('why', file=sys.stderr); sys.exit(3)")
    assert await child.answer == b""
    await child.ended.wait()
    assert (child.end, child.last_words) == ("ended with code 3", "why")


async def test_an_answer_given_just_before_the_end_is_not_lost(tmp_path: Path) -> None:
    child = await run(tmp_path, "os.write(1, b'done\\n'); os._exit(1)")
    assert await child.answer == b"done"
    await child.ended.wait()


async def test_only_the_end_of_its_complaints_is_kept(tmp_path: Path) -> None:
    child = await run(tmp_path, "[print('complaint', n, file=sys.stderr) for n in range(20000)]")
    await child.ended.wait()
    assert child.last_words.endswith("complaint 19999")
    assert len(child.last_words) <= LAST_WORDS


async def test_an_endless_answer_is_not_kept(tmp_path: Path) -> None:
    child = await run(tmp_path, "sys.stdout.write('x' * 1000000)")
    assert await child.answer == b""
    await child.ended.wait()


async def test_it_ends_when_its_input_does_or_is_killed(tmp_path: Path) -> None:
    child = await run(tmp_path, "print('up', flush=True); sys.stdin.read(); signal.pause()")
    await child.answer
    process = Process(child.pid)
    await child.stop(0.1)
    assert child.end == "was killed by SIGKILL"
    assert process.ends_within(0)


async def test_stopping_twice_and_killing_the_dead_is_nothing(tmp_path: Path) -> None:
    child = await run(tmp_path, "sys.stdin.read()")
    async with asyncio.TaskGroup() as group:
        group.create_task(child.stop(5))
        group.create_task(child.stop(5))
    child.kill()
    await child.stop(5)
    assert child.end == "ended with code 0"
