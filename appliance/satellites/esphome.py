"""Connections by aioesphomeapi, which is loaded when a device is dialled: it takes more than a second and 30 MB."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from agent.web.guard import own_address
from appliance.satellites.errors import SatelliteGone, SatelliteRefused
from appliance.satellites.interfaces import About, Features, Incoming, PlayedFormat, VoiceEvent
from appliance.satellites.sightings import mac_of, printable

if TYPE_CHECKING:
    from aioesphomeapi import DeviceInfo, EntityInfo, EntityState
    from aioesphomeapi.client import APIClient

ANSWER_SECONDS: Final = 10.0
"""For one answer of it."""

FAREWELL_SECONDS: Final = 2.0

KEY_PLACE: Final = (
    "it stands in its ESPHome configuration (api: encryption: key), or in Home Assistant's file "
    ".storage/core.config_entries as noise_psk"
)

ANOTHER_HAS_IT: Final = b"Multiple API Clients"
"""What firmware logs, as an error, when somebody asks for a voice that it gives to somebody else (voice_assistant.cpp);
there is no other sign."""


class EspHome(Struct, frozen=True):
    """Connects to devices, as `Dial`."""

    zone: str = ""
    """The time zone that a device without a clock is told; "" tells it no time."""
    connect_seconds: float = 20.0
    """For connection, handshake and login together; a device on a bad radio link takes a few."""
    ping_seconds: float = 10.0
    """Between two pings; after 4.5 times as long without an answer the connection is over (aioesphomeapi)."""

    async def __call__(self, address: str, port: int, key: str, mac: str) -> "EspHomeSession":
        """Return a connection, logged in, as `Dial` does."""
        await asyncio.to_thread(import_module, "aioesphomeapi")
        from aioesphomeapi.client import APIClient

        client = APIClient(
            address,
            port,
            None,
            client_info="nakari",
            keepalive=self.ping_seconds,
            noise_psk=key or None,
            expected_mac=mac.replace(":", "") or None,
            timezone=self.zone or None,
            provide_time=bool(self.zone),
        )
        where = f"{address}:{port}"
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def stopped(_: bool) -> None:
            if not over.done():
                over.set_result(None)

        try:
            with _told(where, mac):
                async with asyncio.timeout(self.connect_seconds):
                    await client.connect(on_stop=stopped, login=True)
                    info = await client.device_info()
            about = _about(info)
            _check(info, about, mac, where)
        except BaseException:
            client.force_disconnect()
            raise
        return EspHomeSession(client, info, about, over)


def _check(info: "DeviceInfo", about: About, mac: str, where: str) -> None:
    """Raise SatelliteRefused for another device, or one whose voice cannot be had over the connection."""
    from aioesphomeapi import VoiceAssistantFeature

    if not about.id:
        raise SatelliteRefused(f"what answers at {where} does not say its MAC address")
    if mac and about.id != mac:
        raise SatelliteRefused(f"{where} is another device: {about.name} ({about.id}), not {mac}")
    if not info.voice_assistant_feature_flags:
        raise SatelliteRefused(f"{about.name} ({about.id}) is no voice assistant: its firmware has none")
    if not info.voice_assistant_feature_flags & VoiceAssistantFeature.API_AUDIO:
        raise SatelliteRefused(
            f"{about.name} ({about.id}) cannot send sound over its connection: "
            "give it firmware of ESPHome 2024.4 or newer"
        )


def _about(info: "DeviceInfo") -> About:
    firmware = info.project_version if info.project_name and info.project_version else info.esphome_version
    model = " ".join(filter(None, (info.manufacturer, info.model)))
    return About(
        mac_of(info.mac_address),
        printable(info.name),
        printable(info.friendly_name),
        printable(model),
        printable(firmware),
    )


@contextmanager
def _told(where: str, mac: str) -> Iterator[None]:
    """Tell a failure of the library in one sentence, as ours."""
    from aioesphomeapi import core

    try:
        yield
    except core.InvalidEncryptionKeyAPIError as error:
        who = f"{printable(error.received_name or '') or 'the device'} ({mac_of(error.received_mac or '') or where})"
        raise SatelliteRefused(f"this is not the key of {who}: {KEY_PLACE}") from error
    except core.RequiresEncryptionAPIError as error:
        raise SatelliteRefused(f"the device at {where} wants its key: {KEY_PLACE}") from error
    except core.EncryptionPlaintextAPIError as error:
        raise SatelliteRefused(f"the device at {where} knows no encryption, and a key was given for it") from error
    except core.BadMACAddressAPIError as error:
        other = f"{printable(error.received_name)} ({mac_of(error.received_mac)})"
        raise SatelliteRefused(f"{where} is another device: {other}, not {mac}") from error
    except core.InvalidAuthAPIError as error:
        raise SatelliteRefused(
            f"the device at {where} wants a password, which ESPHome has given up: let it have a key instead"
        ) from error
    except (core.TimeoutAPIError, TimeoutError) as error:
        raise SatelliteGone(f"what is at {where} does not answer in time") from error
    except (core.ResolveAPIError, core.SocketAPIError) as error:
        reason = error.__cause__ if isinstance(error.__cause__, OSError) else None
        raise SatelliteGone(f"{where} is not reached ({reason.strerror if reason else 'it hung up'})") from error
    except (core.HandshakeAPIError, core.ProtocolAPIError) as error:
        raise SatelliteRefused(f"what answers at {where} does not speak ESPHome's native API") from error
    except core.APIConnectionError as error:
        raise SatelliteGone(f"the connection to {where} broke off ({type(error).__name__})") from error


class EspHomeSession:
    """A connection, as `Session`."""

    def __init__(self, client: "APIClient", info: "DeviceInfo", about: About, over: "asyncio.Future[None]") -> None:
        self.about = about
        self._client = client
        self._flags = info.voice_assistant_feature_flags
        self._over = over
        self._incoming: Incoming | None = None
        self._player: int | None = None
        self._mute: int | None = None

    @property
    def local_address(self) -> str:
        """The IP address of this machine on the connection, as routing has it."""
        return own_address(self._client.connected_address or "")

    async def listen(self, incoming: Incoming) -> Features:
        """Take its voice; return what it can do. Raises SatelliteGone, SatelliteRefused."""
        from aioesphomeapi import LogLevel

        self._incoming = incoming
        with _told(self.about.name, self.about.id):
            entities, _ = await self._client.list_entities_services()
            formats = self._find(entities)
            self._client.subscribe_logs(self._read_log, log_level=LogLevel.LOG_LEVEL_ERROR)
            self._subscribe(incoming)
            words = await self._wake_words()
        if self._over.done():
            self._over.result()
            raise SatelliteGone(f"{self.about.name} hung up")
        return self._features(formats, words)

    def _features(self, formats: tuple[PlayedFormat, ...], words: tuple[str, ...]) -> Features:
        from aioesphomeapi import VoiceAssistantFeature as Flag

        def has(flag: Flag) -> bool:
            return bool(self._flags & flag)

        return Features(
            has_microphone=has(Flag.VOICE_ASSISTANT),
            speaker=has(Flag.SPEAKER),
            announce=has(Flag.ANNOUNCE),
            timers=has(Flag.TIMERS),
            start_conversation=has(Flag.START_CONVERSATION),
            has_player=self._player is not None,
            has_mute=self._mute is not None,
            formats=formats,
            wake_words=words,
        )

    def _find(self, entities: "list[EntityInfo]") -> tuple[PlayedFormat, ...]:
        """Note the keys of its media player and of its microphone's switch; return what the player wants."""
        from aioesphomeapi import MediaPlayerFormatPurpose, MediaPlayerInfo, SwitchInfo

        formats: tuple[PlayedFormat, ...] = ()
        for entity in entities:
            if isinstance(entity, MediaPlayerInfo) and self._player is None:
                self._player = entity.key
                formats = tuple(
                    PlayedFormat(
                        printable(each.format),
                        each.sample_rate,
                        each.num_channels,
                        each.purpose is MediaPlayerFormatPurpose.ANNOUNCEMENT,
                    )
                    for each in entity.supported_formats[:16]
                )
            elif isinstance(entity, SwitchInfo) and self._mute is None and "mute" in _words(entity):
                self._mute = entity.key
        return formats

    def _subscribe(self, incoming: Incoming) -> None:
        async def started(_: str, __: int, ___: object, phrase: str | None) -> int | None:
            return 0 if incoming.wake(printable(phrase or "")) else None

        async def stopped(aborted: bool) -> None:
            incoming.stopped(aborted)

        async def heard(pcm: bytes, _: bytes | None) -> None:
            incoming.audio(pcm[: len(pcm) // 2 * 2])

        async def finished(_: object) -> None:
            incoming.announcement_finished()

        takers: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {"handle_start": started, "handle_stop": stopped}
        takers |= {"handle_audio": heard, "handle_announcement_finished": finished}
        self._client.subscribe_voice_assistant(**takers)

    async def _wake_words(self) -> tuple[str, ...]:
        from aioesphomeapi.core import TimeoutAPIError

        try:
            told = await self._client.get_voice_assistant_configuration(ANSWER_SECONDS)
        except TimeoutAPIError:  # older firmware has no answer
            return ()
        active = {*told.active_wake_words}
        return tuple(printable(each.wake_word) for each in told.available_wake_words if each.id in active)

    def _read_log(self, told: Any) -> None:
        if ANOTHER_HAS_IT in told.message and not self._over.done():
            self._over.set_exception(
                SatelliteRefused(
                    f"{self.about.name} gives its voice to another program, such as Home Assistant: let go of it there "
                    "(disable its Assist satellite), nakari takes it then"
                )
            )
            self._over.exception()  # it may be that nobody waits for it any more

    def ask_states(self) -> None:
        """Have the state of its switch and its volume told, now and when they change; after `listen`."""
        self._do(self._client.subscribe_states, self._read_state)

    def _read_state(self, state: "EntityState") -> None:
        from aioesphomeapi import MediaPlayerEntityState, SwitchState

        if self._incoming is None:
            return
        if isinstance(state, MediaPlayerEntityState) and state.key == self._player:
            self._incoming.volume(min(1.0, max(0.0, state.volume)))
        elif isinstance(state, SwitchState) and state.key == self._mute:
            self._incoming.muted(state.state)

    async def ended(self) -> None:
        """Return when the connection is over. Raises SatelliteRefused when it cannot be used any more."""
        await asyncio.shield(self._over)

    async def close(self) -> None:
        """End the connection: with a farewell, or at once where that is not answered."""
        from aioesphomeapi.core import APIConnectionError

        with suppress(TimeoutError, APIConnectionError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self._client.disconnect()
        self._client.force_disconnect()
        await asyncio.sleep(0)  # the library tells of the end in a task of its own

    def tell(self, event: VoiceEvent, data: Mapping[str, str]) -> None:
        """Tell a step of its run."""
        from aioesphomeapi import VoiceAssistantEventType

        self._do(self._client.send_voice_assistant_event, VoiceAssistantEventType(event), dict(data))

    async def announce(self, url: str, text: str, *, start_conversation: bool, patience_seconds: float) -> None:
        """Let it play; return when playback ended. Raises SatelliteGone."""
        from aioesphomeapi.core import APIConnectionError, TimeoutAPIError

        try:
            await self._client.send_voice_assistant_announcement_await_response(
                url, patience_seconds, text, start_conversation=start_conversation
            )
        except TimeoutAPIError as error:
            raise SatelliteGone(
                f"{self.about.name} did not say within {patience_seconds:g} s that it played"
            ) from error
        except APIConnectionError as error:
            raise SatelliteGone(f"{self.about.name} went away while it played") from error

    def stop_media(self) -> None:
        """Silence its media player."""
        from aioesphomeapi import MediaPlayerCommand

        if self._player is not None:
            self._do(self._client.media_player_command, self._player, command=MediaPlayerCommand.STOP)

    def send_audio(self, pcm: bytes) -> None:
        """Send raw sound."""
        self._do(self._client.send_voice_assistant_audio, pcm)

    def set_volume(self, level: float) -> None:
        """Set its loudspeaker's, in [0, 1]."""
        if self._player is not None:
            self._do(self._client.media_player_command, self._player, volume=level)

    def set_muted(self, is_muted: bool) -> None:
        """Mute its microphone, or open it."""
        if self._mute is not None:
            self._do(self._client.switch_command, self._mute, is_muted)

    def _do(self, send: Callable[..., None], *words: Any, **more: Any) -> None:
        from aioesphomeapi.core import APIConnectionError

        with suppress(APIConnectionError):  # `ended` tells that it is gone
            send(*words, **more)


def _words(entity: "EntityInfo") -> set[str]:
    """Return the words of an entity's names: newer firmware sends no object id."""
    return {*entity.name.lower().split(), *entity.object_id.lower().split("_")}
