"""An engine by its URL."""

from memory.engine.access import Login, address
from memory.engine.interface import TAKE_SECONDS, Engine
from memory.engine.names import require_word
from memory.errors import EngineRefused


def engine_at(url: str, household: str, login: Login, *, take_seconds: float = TAKE_SECONDS) -> Engine:
    """Return an engine, not opened yet, for one household: nats:// and tls:// are NATS, redis:// and rediss:// Redis.

    `take_seconds` is how long a message of an inbox that was taken stays in hand, alike on all machines. A user and
    a password in the URL count where `login` has none. Raises `EngineRefused` for another URL, or when the
    client's library is not installed; ValueError for a household that is no name.
    """
    server = address(url)
    require_word(household)
    try:
        if server.scheme in ("nats", "tls"):
            from memory.engine.nats.engine import NatsEngine

            return NatsEngine(server, household, login, take_seconds=take_seconds)
        from memory.engine.redis.engine import RedisEngine

        return RedisEngine(server, household, login, take_seconds=take_seconds)
    except ImportError as error:
        what = f"the client of {server.url} is not installed ({error.name} is missing)"
        raise EngineRefused(f"{what}; install nakari[machines]") from None
