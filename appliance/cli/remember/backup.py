"""Commands that put everything it is into one file, and back."""

from pathlib import Path

import click

from appliance.cli.root import PATH, configured, nakari, to_be_made
from appliance.cli.telling import AS_JSON, tell
from appliance.cli.terminal import progress
from appliance.config.options import Invocation
from memory.json_value import Json


@nakari.command()
@click.argument("file", type=PATH)
@AS_JSON
@click.pass_obj
def backup(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Write everything it is into a new FILE.

    Graph, journal, mailbox, timers, settings, audit log and snapshots, of one moment; it goes on meanwhile. Models are
    left out: they can be fetched again. Whoever has the file can read it all.
    """
    import asyncio

    config = configured(invocation)
    from appliance.admin.local import open_admin
    from appliance.api.requests.memory import Backup

    path = to_be_made(file)

    async def run() -> Json:
        with progress("backing up") as told:
            async with open_admin(config) as admin:
                return await admin.act(Backup(file=str(path)), told)

    tell(asyncio.run(run()), as_json=as_json)


@nakari.command()
@click.argument("file", type=PATH)
@AS_JSON
@click.pass_obj
def restore(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Make this box what the backup FILE holds.

    On this machine or another; stop the service first. A torn, changed or foreign file is refused before anything is
    changed. What was here is kept aside, in a folder that is named at the end.
    """
    import asyncio

    config = configured(invocation, log="CRITICAL")  # a store that is gone is what it begins with
    from appliance.admin.progress import in_hundredths
    from appliance.admin.restoring import restore_archive

    with progress("restoring") as told:
        found = asyncio.run(restore_archive(config, file.absolute(), in_hundredths(told)))
    tell(found, as_json=as_json)
