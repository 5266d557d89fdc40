"""A state that an earlier nakari left becomes this one's or stays what it was; one of a later nakari is left alone."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from appliance.admin import exchange, upgrade
from appliance.admin.local import local_admin
from appliance.admin.restoring import restore_archive
from appliance.api.requests.memory import Backup
from appliance.doctor.examine import Verdict
from appliance.doctor.memory import database
from appliance.errors import Exit, Problem
from appliance.wiring.memory.state import open_state
from memory.errors import StateUnusable
from memory.state.database import MIGRATIONS, StateInUse, locked
from memory.state.journal import Entry
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_exchange import OLD, ROOT, STAYS, killing, read, write
from tests.appliance.admin.upgrade_program import renamed
from tests.appliance.command import nakari

STEPS = (renamed,)
UPGRADED = {**OLD, "audit/1": "old, upgraded", "buttons.json": "old"}
del UPGRADED["switches.json"]


def layout_of(state: Path) -> object:
    return json.loads((state / upgrade.FILE).read_text())["layout"]


def an_old_one(state: Path) -> None:
    write(state, OLD | STAYS | {"before-mine/nakari.db": "older"})


def looks(state: Path) -> str:
    """Say whether a state is the old one or the upgraded one, whole; anything else is returned as it is."""
    found = read(state)
    asides = {name: text for name, text in found.items() if name.startswith("before-2")}
    aside = {name.partition("/")[2]: text for name, text in asides.items()}
    plain = {name: text for name, text in found.items() if not name.startswith(("before-", f"{upgrade.COPY}/"))}
    assert found["before-mine/nakari.db"] == "older"
    if plain == OLD | STAYS and not aside:
        return "old"
    plain.pop(upgrade.FILE, None)
    return "new" if (plain, aside) == (UPGRADED | STAYS, OLD) else f"half: {plain}, aside {aside}"


def test_a_new_folder_and_one_without_a_note_say_their_layout(tmp_path: Path) -> None:
    upgrade.bring_to_date(tmp_path / "new")
    write(tmp_path / "old", OLD)
    upgrade.bring_to_date(tmp_path / "old")
    upgrade.bring_to_date(tmp_path / "later", steps=STEPS)
    assert [layout_of(tmp_path / name) for name in ("new", "old", "later")] == [1, 1, 2]
    assert {name: text for name, text in read(tmp_path / "old").items() if name != upgrade.FILE} == OLD


def test_an_old_state_is_led_step_by_step_and_put_aside_as_it_was(tmp_path: Path) -> None:
    an_old_one(tmp_path)
    told: list[tuple[int, int]] = []
    with closing(socket.socket(socket.AF_UNIX)) as door:
        door.bind(str(tmp_path / "nakari.sock"))
        upgrade.bring_to_date(tmp_path, lambda done, of: told.append((done, of)), STEPS)
    (aside,) = upgrade.put_aside(tmp_path)
    (aside / "nakari.sock").unlink()
    assert looks(tmp_path) == "new"
    assert layout_of(tmp_path) == 2
    assert told[-1] == (15, 15)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.shows("H7", "A24")
def test_killed_before_any_step_it_is_the_old_or_becomes_the_new(tmp_path: Path) -> None:
    became: list[str] = []
    is_cut_off = True
    with killing("upgrade_program") as killed_before:
        while is_cut_off:
            state = tmp_path / str(len(became))
            an_old_one(state)
            is_cut_off = killed_before(len(became) + 1, state)
            exchange.finish(state)
            became.append(looks(state))
            upgrade.bring_to_date(state, steps=STEPS)
            assert looks(state) == "new"
            assert not (state / upgrade.COPY).exists()
    assert became[0] == "old"
    assert became == sorted(became, reverse=True), "once it was decided, it stays decided"
    assert became.count("new") > len(OLD)


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    an_old_one(tmp_path)

    def fails(state: Path) -> None:
        shutil.rmtree(state / "audit")
        raise KeyError("key")

    with pytest.raises(StateUnusable, match=r"could not be brought to layout 2 \('key'\); it is as it was"):
        upgrade.bring_to_date(tmp_path, steps=(fails,))
    assert looks(tmp_path) == "old"
    assert not (tmp_path / upgrade.COPY).exists()


def test_without_room_for_a_copy_nothing_is_changed(tmp_path: Path) -> None:
    an_old_one(tmp_path)
    with (tmp_path / "audit" / "2").open("w") as large:
        large.truncate(1 << 42)  # on no disk of ours; it takes no room
    with pytest.raises(StateUnusable, match=r"takes 4194304 MB, and \d+ MB are free; free some disk space"):
        upgrade.bring_to_date(tmp_path, steps=STEPS)
    (tmp_path / "audit" / "2").unlink()
    assert looks(tmp_path) == "old"


def test_a_file_in_place_of_the_state_folder_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    with pytest.raises(StateUnusable, match=r"state folder .*Not a directory.*; move that away"):
        upgrade.bring_to_date(tmp_path / "state")


def test_a_state_that_somebody_has_open_is_left_alone(tmp_path: Path) -> None:
    an_old_one(tmp_path)
    descriptor = locked(tmp_path / exchange.DATABASE)
    with pytest.raises(StateInUse):
        upgrade.bring_to_date(tmp_path, steps=STEPS)
    os.close(descriptor)
    assert looks(tmp_path) == "old"


@pytest.mark.parametrize("said", ["", "1", "[" * 100_000, '{"layout": "two"}', '{"layout": null, "nakari": "0.1.0"}'])
def test_a_note_that_says_nothing_is_told(tmp_path: Path, said: str) -> None:
    write(tmp_path, OLD | {upgrade.FILE: said})
    with pytest.raises(StateUnusable, match=r"is damaged: it does not say .*; restore it from a backup, or write \{"):
        upgrade.bring_to_date(tmp_path)


async def test_a_database_that_was_emptied_is_no_new_one(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    async with open_state(box.state) as state:
        await state.journal.append(Entry("speech.heard", {"words": "hello"}, owner_key="household"))
    write(box.state, {"audit/1": "a line"})
    os.truncate(box.state / exchange.DATABASE, 0)
    with pytest.raises(StateUnusable, match=r"nakari\.db is empty, .*: the folder still has audit; restore a back"):
        async with open_state(box.state):
            pass
    assert (box.state / exchange.DATABASE).stat().st_size == 0
    line = await asyncio.to_thread(database, box.config())
    assert (line.verdict, line.fix) == (Verdict.FAULT, f"restore a backup, or move {box.state} away to begin anew")
    shutil.rmtree(box.state / "audit")
    async with open_state(box.state):  # as a first start leaves it that was killed before it wrote
        pass


def written(state: Path) -> dict[str, int]:
    """Return when each file was written last, in nanoseconds; locks are anybody's."""
    return {
        str(file): file.stat().st_mtime_ns for file in state.rglob("*") if file.is_file() and file.suffix != ".lock"
    }


async def spoken(state: Path, words: str) -> None:
    async with open_state(state) as opened:
        await opened.journal.append(Entry("speech.heard", {"words": words}, owner_key="household"))


async def heard(state: Path, word: str) -> int:
    async with open_state(state) as opened:
        return len(await opened.journal.search(word, "household"))


def asked(box: KeptBox, *words: str) -> tuple[int, str]:
    """Run the command as a person would type it; return how it ended and what it said."""
    ran = nakari(box.folder, "--config", box.file, *words)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.shows("H7")
async def test_a_backup_of_a_newer_nakari_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    one, other, file = KeptBox(tmp_path / "one"), KeptBox(tmp_path / "other"), tmp_path / "all.nakari"
    async with local_admin(one.config()) as admin:
        (one.state / upgrade.FILE).write_text('{"layout": 2, "nakari": "9.0.0"}')
        await admin.act(Backup(file=str(file)), silent)
    await spoken(other.state, "mine")
    before = written(other.state)
    with pytest.raises(Problem, match=r"was made by a newer nakari \(0.1.0\); nothing was changed. Upgrade this one"):
        await restore_archive(other.config(), file, silent)
    assert written(other.state) == before


@pytest.mark.shows("H7")
def test_an_installation_finds_out_before_the_running_one_is_stopped(tmp_path: Path) -> None:
    (tmp_path / upgrade.FILE).write_text('{"layout": 2, "nakari": "9.0.0"}')
    env = {**os.environ, "HOME": str(tmp_path), "STATE_DIRECTORY": str(tmp_path)}
    command = [sys.executable, "-m", "appliance.selfcheck"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
    assert ran.returncode == Exit.CANNOT_CREATE, ran.stderr
    assert "was written by a newer nakari (9.0.0, with layout 2" in ran.stderr


def test_a_database_that_was_moved_away_leaves_the_rest_to_be_upgraded(tmp_path: Path) -> None:
    an_old_one(tmp_path)
    upgrade.bring_to_date(tmp_path)
    (tmp_path / "nakari.db").unlink()
    upgrade.bring_to_date(tmp_path, steps=STEPS)
    assert (tmp_path / "audit" / "1").read_text() == "old, upgraded"
    assert layout_of(tmp_path) == 2


@pytest.mark.shows("C11", "H7")
def test_what_an_upgrade_put_aside_stays_for_a_fortnight(tmp_path: Path) -> None:
    an_old_one(tmp_path)
    upgrade.bring_to_date(tmp_path, steps=STEPS)
    (tmp_path / "before-a-person-s-upgrade").mkdir()
    at = datetime.now(UTC)
    upgrade.remove_old(tmp_path, at + upgrade.KEPT - timedelta(minutes=1))
    assert len(upgrade.put_aside(tmp_path)) == 2
    upgrade.remove_old(tmp_path, at + upgrade.KEPT + timedelta(minutes=1))
    assert sorted(folder.name for folder in tmp_path.glob("before-*")) == ["before-a-person-s-upgrade", "before-mine"]


def test_every_migration_of_the_database_has_a_step() -> None:
    assert len(upgrade.STEPS) >= len(MIGRATIONS), "the nakari before could not use its own state again"


@pytest.mark.shows("H7")
def test_the_state_of_a_newer_nakari_is_refused_with_the_way_back(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    box.config()  # writes it
    asyncio.run(spoken(box.state, "before"))
    write(box.state, {"audit/1": "old", "switches.json": "old"})
    upgrade.bring_to_date(box.state, steps=STEPS)
    before = written(box.state)
    code, said = asked(box, "ask", "what time is it")
    aside = upgrade.put_aside(box.state)[0]
    assert code == Exit.CANNOT_CREATE
    assert f"a newer nakari (0.1.0, with layout 2 where this one knows 1); {upgrade.MEND}: nakari restore" in said
    assert said.endswith(f"{aside}\n")
    assert written(box.state) == before
    assert re.search(r'"name": "database", "state": "fault", "what": "[^"]*newer', asked(box, "doctor", "--json")[1])
    assert asked(box, "restore", str(aside))[0] == 0
    assert asyncio.run(heard(box.state, "before")) == 1
    assert (box.state / "switches.json").exists()


def test_a_state_of_another_user_is_told_as_such(tmp_path: Path) -> None:
    """Left behind by a `sudo nakari` in somebody's home: it is damaged for nobody."""
    upgrade.bring_to_date(tmp_path / "state")
    (tmp_path / "state" / upgrade.FILE).chmod(0)
    program = (
        "import os, sys, pathlib\nfrom appliance.admin import upgrade\nfrom memory.errors import StateUnusable\n"
        "if os.geteuid() == 0:\n    os.seteuid(65534)\n"
        "try:\n    upgrade.check(pathlib.Path(sys.argv[1]))\nexcept StateUnusable as error:\n    print(error)"
    )
    tmp_path.chmod(0o755)
    (tmp_path / "state").chmod(0o755)
    command = [sys.executable, "-c", program, str(tmp_path / "state")]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True).stdout
    assert "layout.json is another user's; run this as that user" in told
    assert f"chown -R USER {tmp_path / 'state'}" in told
