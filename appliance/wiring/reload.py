"""What of the configuration can change while the box runs, joined to who goes by it."""

from functools import partial

from appliance.admin.reload import Reload
from appliance.config.load import Config, load
from appliance.logs.configure import configure_again
from appliance.reflexes.verbs import Verbs
from appliance.wiring.unasked import Unasked


def reload_of(config: Config, verbs: Verbs, unasked: Unasked) -> Reload:
    """Return what reads the configuration's file again; `appliance.config.changes.LIVE` names what it takes over."""

    async def log(new: Config) -> None:
        configure_again(new)

    async def volume(new: Config) -> None:
        verbs.configure_volume(new.voice.volume)
        await verbs.kept.keep(volume=None, volume_configured=new.voice.volume)

    async def announcements(new: Config) -> None:
        unasked.said.go_by(new.announcements)

    parts = {
        ("log.level", "log.words", "log.file"): log,
        ("voice.volume",): volume,
        ("announcements.per_day", "announcements.urgent_wait"): announcements,
    }
    return Reload(config, partial(load, config.file), parts)
