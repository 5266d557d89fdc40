"""One machine lets another into its household: an nkey for one time, shown once, for a key of its own.

The invitation is a user of the server that may ask one question; who answers is `invite`, for as long as it runs. The
new machine makes its key itself and sends the public half of it: the secret half never travels.
"""

import asyncio
import json
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from appliance.config.network.machines import Role
from appliance.errors import Exit, Problem
from appliance.machines.joining.invitation import Invitation, new_seed, public_of
from appliance.machines.joining.login import keep
from appliance.machines.joining.users import User, UsersFile, joining_inbox, joining_subject
from appliance.version import version
from memory.engine.access import Address, Login, address

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

VERSION: Final = 1
"""Of what is asked and answered."""

PATIENCE: Final = 5.0
"""Seconds for a connection, and for the server to have read who belongs to the household."""


def admit_first(users: UsersFile, name: str, role: Role, save: Callable[[str], Path]) -> None:
    """Add this machine to the household with a new key, whose seed is kept by `save`; neither without the other.

    Raises as `UsersFile.admit`.
    """
    seed = new_seed()
    kept = save(seed)
    others = [user for user in users.read() if user.name.lower() != name.lower()]
    try:
        users.admit([*others, User(name, role, public_of(seed))])
    except BaseException:
        kept.unlink(missing_ok=True)
        raise


def admit_again(users: UsersFile, name: str, role: Role, login: Login) -> bool:
    """Add this machine with the key that it keeps where the household knows that no more; return whether it had to be.

    Raises as `UsersFile.admit`.
    """
    if login.credentials is None or login.credentials.suffix != ".nk":
        return False
    key, known = public_of(login.credentials.read_text(encoding="utf-8").strip()), users.read()
    if any(user.key == key for user in known):
        return False
    users.admit([*(user for user in known if user.name.lower() != name.lower()), User(name, role, key)])
    return True


async def invite(
    invitation: Invitation, url: str, users: UsersFile, login: Login, show: Callable[[str], object], zone: tzinfo
) -> str:
    """Let one machine in; return the version of its nakari.

    `url` is the server as this machine reaches it. `show` is called with the line once it can be used. `zone` is the
    household's.

    However it ends, the invitation is over; others that are open beside it hold. Raises `Problem` where the name is
    taken, or nobody came in time.
    """
    _require_free(invitation.name, _standing(users), zone)
    guest = User(invitation.name, invitation.role, public_of(invitation.seed), time.time() + invitation.seconds)
    try:
        await asyncio.to_thread(users.admit, [*_standing(users), guest])
        await _read_by_server(invitation, url, users, login)

        def let_in(user: User) -> None:
            users.admit([*_standing(users), user])

        return await _answer_once(invitation, await _connected(url, login), lambda: show(str(invitation)), let_in)
    finally:
        users.write([user for user in _standing(users) if user.key != guest.key])


def _standing(users: UsersFile) -> list[User]:
    """Return the machines, and the invitations that are open; one whose command was killed is over with its time."""
    now = time.time()
    return [user for user in users.read() if not user.until or user.until > now]


def _require_free(name: str, known: Sequence[User], zone: tzinfo) -> None:
    """Raise `Problem` where a machine has this name, or is invited under it: nobody could tell the two apart."""
    for user in known:
        if user.name.lower() == name.lower():
            if user.until:
                until = datetime.fromtimestamp(user.until, zone)
                what = f"{name} is invited already, until {until:%H:%M}; end that invitation with Ctrl-C"
                raise Problem(f"{what}, or choose another name", Exit.USAGE)
            raise Problem(
                f"there is a machine {name} already; choose another name, or take that one out with "
                f"`nakari machines remove {name}`",
                Exit.USAGE,
            )


async def _read_by_server(invitation: Invitation, url: str, users: UsersFile, login: Login) -> None:
    """Wait until the server knows the invitation. Raises `Problem` where it does not include the file."""
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            guest = await _guest(invitation, url, login.authority)
        except Problem as problem:
            if problem.code != Exit.NOT_ALLOWED:
                raise
            if asyncio.get_running_loop().time() > until:
                what = f"the server does not read {users.path}: include it in its configuration, in the account of"
                raise Problem(f"{what} {invitation.household} (docs/machines.md)", Exit.CONFIG) from None
            await asyncio.sleep(0.1)
        else:
            await guest.close()
            return


async def _answer_once(
    invitation: Invitation, client: "Client", ready: Callable[[], object], let_in: Callable[[User], None]
) -> str:
    asked: asyncio.Queue[Msg] = asyncio.Queue(1)

    async def take(message: "Msg") -> None:
        if not asked.full():
            asked.put_nowait(message)

    try:
        await client.subscribe(joining_subject(invitation.household, invitation.name), cb=take)
        await client.flush(int(PATIENCE))
        ready()
        try:
            message = await asyncio.wait_for(asked.get(), invitation.seconds)
        except TimeoutError:
            raise Problem("nobody came in time, and the invitation is over; make a new one", Exit.FAULT) from None
        asks = json.loads(message.data)
        key = str(asks["key"])
        if not (key.startswith("U") and key.isalnum() and key.isascii() and len(key) == 56):
            raise Problem("whoever came showed no key; make a new invitation", Exit.FAULT)
        await asyncio.to_thread(let_in, User(invitation.name, invitation.role, key))
        await message.respond(json.dumps({"version": VERSION, "joined": invitation.name}).encode())
        await client.flush(int(PATIENCE))
        return str(asks.get("nakari", ""))[:40]
    finally:
        await client.close()


async def accept(invitation: Invitation, authority: Path | None, save: Callable[[str], Path]) -> Path:
    """Join the household of an invitation; return where the seed of this machine's own key was kept, by `save`.

    The key is kept before it is sent. Raises `Problem`: the server is away or another one, the invitation was used, is
    over or never was, nobody waits for it.
    """
    from nats.errors import Error, NoRespondersError

    guest = await _guest(invitation, invitation.url, authority)
    try:
        seed = new_seed()
        asks = {"version": VERSION, "key": public_of(seed), "nakari": version()}
        kept = save(seed)
        subject = joining_subject(invitation.household, invitation.name)
        try:
            await guest.request(subject, json.dumps(asks).encode(), timeout=30.0)
        except BaseException as error:
            kept.unlink(missing_ok=True)
            if isinstance(error, NoRespondersError):
                what = "nobody waits for this machine any more: start `nakari machines invite` again, and leave it open"
                raise Problem(what, Exit.UNAVAILABLE) from None
            if isinstance(error, (TimeoutError, Error)):
                what = "the machine that invited did not answer; look what it says, and make a new invitation"
                raise Problem(what, Exit.UNAVAILABLE) from None
            raise
    finally:
        await guest.close()
    own = await _connected(invitation.url, Login(credentials=kept, authority=authority))
    await own.close()
    return kept


async def _guest(invitation: Invitation, url: str, authority: Path | None) -> "Client":
    """Return a connection as whoever has the invitation; raises `Problem`."""
    with TemporaryDirectory(prefix="nakari") as folder:  # the client reads a key from a file
        kept = keep(Path(folder), "invitation.nk", invitation.seed)
        return await _connected(url, Login(credentials=kept, authority=authority), joining_inbox(invitation.name))


async def _connected(url: str, login: Login, inbox: str = "") -> "Client":
    """Return a connection that stands; raises `Problem`. A server may have to read first who belongs to it.

    `inbox` is the prefix at which a guest is answered.
    """
    from nats.errors import Error, UnexpectedEOF

    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            return await asyncio.wait_for(_connect(url, login, inbox), PATIENCE)
        except ssl.SSLError as error:
            what = f"the certificate of {address(url).url} is not trusted ({error.reason or error})"
            raise Problem(f"{what}; name the file of its authority with --ca", Exit.UNAVAILABLE) from error
        except (OSError, TimeoutError, Error) as error:
            is_refused = "authorization" in f"{type(error).__name__} {error}".lower()
            # Over TLS a server that refuses may be gone before its word is read.
            is_cut = isinstance(error, (ConnectionResetError, BrokenPipeError, UnexpectedEOF))
            if is_cut and asyncio.get_running_loop().time() < until:
                await asyncio.sleep(0.2)
                continue
            if not is_refused:
                raise _away(url, error) from error
            # An invitation that a server does not know is not asked about again and again.
            if inbox or asyncio.get_running_loop().time() > until:
                raise _refused(url, is_guest=bool(inbox)) from error
            await asyncio.sleep(0.2)


def _away(url: str, error: Exception) -> Problem:
    told = f": {error}" if str(error) else ""
    what = f"{address(url).url} does not answer ({type(error).__name__}{told})"
    return Problem(f"{what}; see whether the server runs and this machine reaches it", Exit.UNAVAILABLE)


def handshake(server: Address, authority: Path | None) -> None:
    """Make a TLS connection to a NATS server and end it. Blocking, `PATIENCE` seconds at most.

    The client says of a certificate that is not trusted only that nobody answered. Raises ssl.SSLError, OSError.
    """
    trust = server.trust(authority)
    if trust is None:
        return
    with socket.create_connection((server.host, server.port), PATIENCE) as plain:
        plain.recv(4096)  # a NATS server introduces itself in the clear before
        trust.wrap_socket(plain, server_hostname=server.host).close()


async def _connect(url: str, login: Login, inbox: str) -> "Client":
    from memory.engine.nats.nkeys import KeyedClient, proof_of

    async def note(error: Exception) -> None:
        """Say nothing: what matters is raised where it is waited for."""

    server = address(url)
    await asyncio.to_thread(handshake, server, login.authority)
    options: dict[str, Any] = {"allow_reconnect": False, "connect_timeout": PATIENCE, "max_reconnect_attempts": 0}
    options |= {"error_cb": note, **proof_of(login, server)}
    if inbox:
        options["inbox_prefix"] = inbox
    client = KeyedClient()
    try:
        await client.connect(server.url, **options)
    except BaseException:
        with suppress(AssertionError):  # of a client that was never connected
            await client.close()
        raise
    return client


def _refused(url: str, *, is_guest: bool) -> Problem:
    where = address(url).url
    if is_guest:
        what = f"{where} does not know this invitation: it was used, it is over, or it is another household's"
        return Problem(f"{what}; make a new one with `nakari machines invite`", Exit.NOT_ALLOWED)
    what = f"{where} does not let this machine in: it was never invited, or was removed"
    return Problem(f"{what}; join it again with `nakari machines invite` and `nakari join`", Exit.NOT_ALLOWED)
