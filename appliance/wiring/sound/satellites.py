"""Satellites, put together: paired devices as the ears and mouths of other rooms, loaded with the first of them."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from appliance.config.sections import SatelliteSettings
from appliance.remote.place import House
from appliance.satellites.interfaces import Device, Devices
from appliance.wiring.sound.output import Output
from audio.loops import Loop

if TYPE_CHECKING:
    from appliance.satellites.talk.station import Stations


class Places:
    """A `DevicesObserver` that makes places of devices; it loads nothing before the first."""

    def __init__(self, settings: SatelliteSettings, output: Output, house: House) -> None:
        self._settings = settings
        self._output = output
        self._house = house
        self._stations: Stations | None = None
        self._has_some = asyncio.Event()

    @property
    def stations(self) -> "Stations":
        """All places; loads what they are made of."""
        if self._stations is None:
            from appliance.satellites.talk.serving import ReplyServer
            from appliance.satellites.talk.station import Neighbours, Stations

            output = self._output
            around = Neighbours(output.rooms, output.company, output.arbiter, output.own_words, output.ringer)
            server = ReplyServer(self._settings.reply_address, self._settings.reply_port)
            self._stations = Stations(self._house, around, server)
            self._has_some.set()
        return self._stations

    def joined(self, device: Device) -> None:
        """Make a device a place."""
        self.stations.joined(device)

    def left(self, device: Device) -> None:
        """Forget a device."""
        self.stations.left(device)

    async def _run(self) -> None:
        await self._has_some.wait()
        await self.stations.run()

    async def _follow(self) -> None:
        await self._has_some.wait()
        await self.stations.follow()

    def loops(self) -> Mapping[str, Loop]:
        """Return what lets them hear and speak, until cancelled."""
        return {
            "satellites: ears and mouths of other rooms": self._run,
            "satellites: runs that are over": self._follow,
        }


def places_of(settings: SatelliteSettings, output: Output, house: House, devices: Devices | None) -> Places:
    """Make places of the paired devices; there are none where `devices` is None."""
    places = Places(settings, output, house)
    if devices is not None:
        devices.observe(places)
    return places
