"""A machine that moves to another time zone meanwhile: noticed, told, and begun anew where somebody starts it again."""

import asyncio
from pathlib import Path
from zoneinfo import TZPATH

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from appliance.config.load import Config, load
from appliance.config.options import RunOptions
from appliance.notify import Notifier
from appliance.service import Serving, moved
from appliance.wiring.box import open_box
from tests.appliance.wiring.test_box import Room
from tests.service.process import Household

pytestmark = pytest.mark.shows("V23")


def linked_to(zone: str, link: Path) -> None:
    """Have a link lead to a zone, as `timedatectl set-timezone` does with /etc/localtime."""
    there = next(file for folder in TZPATH if (file := Path(folder, zone)).is_file())
    link.unlink(missing_ok=True)
    link.symlink_to(there)


def here(folder: Path) -> tuple[Config, Path]:
    link = folder / "localtime"
    linked_to("Etc/UTC", link)
    return load(Household(folder).write(), {"HOME": str(folder), "TZ": f":{link}"}), link


async def test_it_has_moved_once_two_looks_say_so(tmp_path: Path) -> None:
    config, link = here(tmp_path)
    looks = iter(["Etc/UTC", "Europe/Berlin", "", "Europe/Berlin", "Etc/UTC", "Europe/Paris", "Europe/Paris"])

    async def rest(_: float) -> None:
        link.unlink(missing_ok=True)
        if zone := next(looks):
            linked_to(zone, link)

    assert await moved(config.zone, config.zone_now, rest) == "Europe/Paris"
    assert not list(looks)


async def test_where_a_zone_is_set_it_never_moves(tmp_path: Path) -> None:
    _, link = here(tmp_path)
    home = Household(tmp_path, {"mind": {"timezone": "Asia/Shanghai"}})
    config, looks = load(home.write(), {"HOME": str(tmp_path), "TZ": f":{link}"}), iter(["Europe/Berlin"] * 3)

    async def rest(_: float) -> None:
        if (zone := next(looks, "")) == "":
            raise TimeoutError
        linked_to(zone, link)

    with pytest.raises(TimeoutError):
        await moved(config.zone, config.zone_now, rest)


@pytest.mark.parametrize("socket", ["", "/run/systemd/notify"])
async def test_it_begins_anew_where_it_is_started_again_and_tells_else(tmp_path: Path, socket: str) -> None:
    config, _ = here(tmp_path)
    config = replace(config, supervisor=replace(config.supervisor, notify_socket=socket))
    told = asyncio.Event()

    async def moves(*_: object) -> str:
        told.set()
        return "Europe/Berlin"

    serving = Serving(config, RunOptions(), Notifier(""), moves=moves)
    with capture_logs() as logged:
        async with open_box(config, RunOptions(), Room().environment()) as box, asyncio.TaskGroup() as group:
            serves = group.create_task(serving.serve(box))
            await told.wait()
            if socket:
                await serves
            serves.cancel()  # a stop would have the process end soon, whatever hangs in it
    fix = next(line["fix"] for line in logged if line["event"] == "zone_changed")
    assert fix.startswith("it starts again") is bool(socket)
    assert serving.has_moved is bool(socket)
