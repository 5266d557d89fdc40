"""Who asks at the door: the household, or whoever proves a key; and what a hostile program gets, over real sockets."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from appliance.api.requests.owners import OwnerHandler
from appliance.errors import Exit
from appliance.http.access.middleware import MOST_BYTES
from appliance.owners.owners import CHALLENGE_SECONDS, NO_SUCH_CHALLENGE, Challenges, Owners, Tokens
from memory.errors import RegistrationNeeded
from memory.identity import HOW_TO_REGISTER, Identities, new_key, sign
from memory.json_value import Json
from memory.progress import Progress
from memory.state.database import Database
from memory.state.owner_settings import SCHEMA, Levels, OwnerSettings
from tests.appliance.door_fakes import Program, ScriptedHandler, serving, visiting

pytestmark = pytest.mark.shows("F12", "F13")

NOT_THIS_KEY_S = "the signature is not this key's; sign the challenge with the key you show"


@dataclass
class Doors:
    """A door with owners behind it, and a clock that tests set."""

    path: Path
    handler: ScriptedHandler
    owners: Owners
    now: float = 0.0


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with AsyncExitStack() as stack:
        database = Database(tmp_path / "nakari.db")
        await database.open(SCHEMA)
        stack.push_async_callback(database.close)
        identities = Identities(tmp_path / "identities")

        def may_keep(owner_key: str) -> None:
            if owner_key != HOUSEHOLD and not identities.find(owner_key).is_member:
                raise RegistrationNeeded(HOW_TO_REGISTER)

        settings = OwnerSettings(database, Levels({"most": 10}, {"prompt.persona": "", "calls": 3}), may_keep)
        owners = Owners(identities, settings, Tokens(tmp_path / "tokens", lambda: made.now))
        made = Doors(tmp_path / "nakari.sock", ScriptedHandler(), owners)
        handler = OwnerHandler(owners, Challenges(identities, lambda: made.now), nothing_to_erase)
        await stack.enter_async_context(serving(made.path, made.handler, handler))
        yield made


async def nothing_to_erase(owner_key: str, told: Progress) -> str:
    raise AssertionError


async def challenge_of(program: Program) -> str:
    return str((await program.ask({"do": "challenge"}))["challenge"])


async def proof_of(program: Program, private: bytes) -> dict[str, Json]:
    challenge = await challenge_of(program)
    owner_key, signature = sign(private, challenge)
    return {"do": "prove", "owner_key": owner_key, "challenge": challenge, "signature": signature}


async def proven(program: Program, private: bytes) -> dict[str, Json]:
    """Prove a key, and speak for its owner from then on; return what was said without the token."""
    told = await program.ask(await proof_of(program, private))
    program.prove(str(told.pop("token")))
    return told


async def test_who_proves_a_key_asks_with_it_in_sessions_of_their_own(doors: Doors) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    async with visiting(doors.path) as program, visiting(doors.path) as household:
        assert await proven(program, private) == {"owner_key": key, "name": "Ada", "member": True}
        for each in (program, household):
            await each.ask({"do": "ask", "text": "hi", "session": "desk", "stream": False})
            await each.ask({"do": "enqueue", "type": "bell"})
    assert doors.handler.owners == [key, key, HOUSEHOLD, HOUSEHOLD]
    assert doors.handler.asked == [("hi", f"desk@{key}"), ("bell", f"cli@{key}"), ("hi", "desk"), ("bell", "room")]


async def test_a_visitor_is_told_how_to_become_a_member_and_may_talk(doors: Doors) -> None:
    private, key = new_key()
    async with visiting(doors.path) as program:
        assert await proven(program, private) == {
            "owner_key": key,
            "name": "",
            "member": False,
            "told": HOW_TO_REGISTER,
        }
        heard = await program.ask({"do": "ask", "text": "hi", "stream": False})
        assert heard["status"] == "completed"
        mine: list[dict[str, Json]] = [
            {"do": "settings.set", "name": "calls", "value": 4},
            {"do": "settings.reset", "all": True},
        ]
        for request in mine:
            assert await program.ask(request) == {"error": HOW_TO_REGISTER, "code": Exit.NOT_ALLOWED}
        doors.owners.identities.register("Bob", key)
        assert "done" in await program.ask({"do": "settings.set", "name": "calls", "value": 4})


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "hush", "what": "mute"},
        {"do": "forget"},
        {"do": "calibrate"},
        {"do": "model", "use": "offline"},
        {"do": "tools"},
        {"do": "tool", "name": "memory_query", "arguments": {"cypher": "MATCH (n) RETURN n"}},
        {"do": "memory.snapshot"},
        {"do": "memory.restore"},
        {"do": "memory.past", "until": "2026-11-21T12:00:00Z", "cypher": "MATCH (n) RETURN n"},
        {"do": "memory.audit"},
        {"do": "backup", "file": "/tmp/x"},
    ],
    ids=lambda request: str(request["do"]),
)
async def test_the_room_its_whole_memory_and_the_box_are_the_household_s(
    doors: Doors, request_: Mapping[str, Json]
) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    async with visiting(doors.path) as program:
        await proven(program, private)
        heard = await program.ask(request_)
    assert heard == {
        "error": f"{request_['do']} is for the household: ask it on the box, without a key",
        "code": Exit.NOT_ALLOWED,
    }
    assert doors.handler.told == []


async def test_everybody_is_told_who_they_are_and_the_household_who_belongs_to_it(doors: Doors) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    ada: dict[str, Json] = {"owner_key": key, "name": "Ada"}
    async with visiting(doors.path) as program:
        assert await program.ask({"do": "who"}) == {
            **{"owner_key": HOUSEHOLD, "name": "", "is_household": True, "is_member": False, "token": ""},
            "members": [{"name": "Ada", "owner_key": key}],
        }
        await proven(program, private)
        told = {"is_household": False, "is_member": True, "token": "", "members": []}
        assert await program.ask({"do": "who"}) == {**ada, **told}


@pytest.mark.shows("F14", "F16")
async def test_settings_are_listed_with_their_level_set_and_taken_back(doors: Doors) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    changed: list[str] = []
    doors.owners.observe(changed.append)
    async with visiting(doors.path) as ada, visiting(doors.path) as household:
        await proven(ada, private)
        assert "done" in await ada.ask({"do": "settings.set", "name": "prompt.persona", "value": "Be short."})
        assert "done" in await ada.ask({"do": "settings.set", "name": "calls", "value": 4})
        assert await ada.ask({"do": "settings"}) == {
            "settings": {
                "calls": {"value": 4, "level": "owner"},
                "most": {"value": 10, "level": "system"},
                "prompt.persona": {"value": "Be short.", "level": "owner"},
            }
        }
        assert (await household.ask({"do": "settings"}))["settings"] == {
            "calls": {"value": 3, "level": "default"},
            "most": {"value": 10, "level": "system"},
            "prompt.persona": {"value": "", "level": "default"},
        }
        assert await ada.ask({"do": "settings.reset", "name": "calls"}) == {
            "done": "calls is as it was before you set it."
        }
        assert await doors.owners.of(key) == {"persona": "Be short."}
        assert "done" in await ada.ask({"do": "settings.reset", "all": True})
        assert await doors.owners.of(key) == {}
        assert changed == [key] * 4


@pytest.mark.shows("F16")
@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"do": "settings.set", "name": "most", "value": 99}, "most belongs to the box"),
        (
            {"do": "settings.set", "name": "nonsense", "value": 1},
            "there is no setting 'nonsense'; there are calls, most",
        ),
        ({"do": "settings.set", "name": "calls", "value": "many"}, "calls is a whole number"),
        ({"do": "settings.set", "name": "calls", "value": None}, "value: should be a text, a number, true or false"),
        ({"do": "settings.set", "name": "calls", "value": [1]}, "value: should be a text, a number, true or false"),
        ({"do": "settings.set", "name": "prompt.persona", "value": "x" * 20_001}, "a text of at most 20000 characters"),
        ({"do": "settings.set", "name": "x" * 201, "value": 1}, "name: string should have at most 200 characters"),
        ({"do": "settings.reset"}, 'settings.reset: either a "name", or "all": true'),
        ({"do": "settings.reset", "name": "calls", "all": True}, 'settings.reset: either a "name", or "all": true'),
        ({"do": "settings.reset", "name": "nonsense"}, "there is no setting 'nonsense'"),
    ],
)
async def test_a_wrong_setting_is_one_sentence(doors: Doors, request_: Mapping[str, Json], sentence: str) -> None:
    async with visiting(doors.path) as program:
        before = await program.ask({"do": "settings"})
        heard = await program.ask(request_)
        assert sentence in str(heard["error"])
        assert await program.ask({"do": "settings"}) == before


async def test_a_replayed_proof_proves_nothing(doors: Doors) -> None:
    private, key = new_key()
    async with visiting(doors.path) as honest, visiting(doors.path) as hostile:
        overheard = await proof_of(honest, private)
        refused = {"error": NO_SUCH_CHALLENGE, "code": Exit.NOT_ALLOWED}
        told = await honest.ask(overheard)
        assert told["owner_key"] == key
        assert await hostile.ask(overheard) == refused, "it is used up"
        forged = str(overheard["challenge"])
        for other in (forged[:-1] + ("0" if forged[-1] != "0" else "1"), "0" * len(forged), "é" * 80, forged[:40]):
            assert await hostile.ask(overheard | {"challenge": other}) == refused, "nobody gave it"
        honest.prove(str(told["token"]))
        await hostile.ask({"do": "status"})
        await honest.ask({"do": "status"})
    assert doors.handler.owners == [HOUSEHOLD, key]


async def test_a_token_that_is_nobody_s_or_too_old_opens_nothing(doors: Doors) -> None:
    private, key = new_key()
    async with visiting(doors.path) as program:
        await proven(program, private)
        await program.ask({"do": "status"})
        doors.now += 3601
        refused = await program.client.get("/status")
        assert (refused.status_code, refused.json()["code"]) == (401, Exit.NOT_ALLOWED)
        for token in ("", "nakari_", "nakari_" + "x" * 43, "Ünicode".encode().decode("latin-1")):
            program.prove(token or "nothing")
            assert (await program.client.get("/status")).status_code == 401
    assert doors.handler.owners == [key]


async def test_a_challenge_lasts_a_minute_and_for_one_answer(doors: Doors) -> None:
    private, _ = new_key()
    async with visiting(doors.path) as program:
        late = await proof_of(program, private)
        doors.now += CHALLENGE_SECONDS + 0.1
        assert (await program.ask(late))["error"] == NO_SUCH_CHALLENGE
        tried = await proof_of(program, private)
        assert (await program.ask(tried | {"signature": "00" * 64}))["error"] == NOT_THIS_KEY_S
        assert (await program.ask(tried))["error"] == NO_SUCH_CHALLENGE


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"owner_key": "b" * 64}, NOT_THIS_KEY_S),
        ({"owner_key": "household"}, NOT_THIS_KEY_S),
        ({"owner_key": "../../../etc/passwd"}, NOT_THIS_KEY_S),
        ({"signature": "not hexadecimal"}, NOT_THIS_KEY_S),
        ({"signature": "00"}, NOT_THIS_KEY_S),
        ({"signature": "é" * 128}, NOT_THIS_KEY_S),
        ({"signature": "0" * 201}, "signature: string should have at most 200 characters"),
        ({"owner_key": "0" * (MOST_BYTES // 2)}, "owner_key: string should have at most 200 characters"),
        ({"challenge": "0" * (MOST_BYTES // 2)}, "challenge: string should have at most 200 characters"),
        ({"challenge": "0" * 64}, NO_SUCH_CHALLENGE),
        ({"signature": ""}, "signature: should say something"),
        ({"signature": 5}, "signature: input should be a valid string"),
        ({"name": "Ada"}, "name: extra inputs are not permitted"),
    ],
)
async def test_what_proves_nothing_is_refused_in_words_and_changes_nothing(
    doors: Doors, wrong: Mapping[str, Json], sentence: str
) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    async with visiting(doors.path) as program:
        heard = await program.ask({**await proof_of(program, private), **wrong})
        assert heard["error"] == sentence
        await program.ask({"do": "status"})
        assert (await proven(program, private))["member"] is True
        await program.ask({**await proof_of(program, private), **wrong})
        await program.ask({"do": "status"})
    assert doors.handler.owners == [HOUSEHOLD, key], "after a failure everybody is who they were, never somebody else"


async def test_ten_thousand_challenges_take_nobody_s_away(doors: Doors) -> None:
    private, key = new_key()
    async with visiting(doors.path) as honest, visiting(doors.path) as hostile:
        waiting = await proof_of(honest, private)
        challenges = Challenges(doors.owners.identities, lambda: doors.now)
        assert (
            len({challenges.new() for _ in range(9_900)} | {await challenge_of(hostile) for _ in range(100)}) == 10_000
        )
        assert (await honest.ask(waiting))["owner_key"] == key
        last = await proof_of(hostile, private)
        assert (await hostile.ask(last))["owner_key"] == key, "its own last one holds too"


async def test_who_is_removed_is_a_visitor_with_the_same_token(doors: Doors) -> None:
    private, key = new_key()
    doors.owners.identities.register("Ada", key)
    async with visiting(doors.path) as program:
        await proven(program, private)
        await program.ask({"do": "settings.set", "name": "prompt.persona", "value": "Be short."})
        doors.owners.identities.remove(key)
        heard = await program.ask({"do": "settings"})
        settings = heard["settings"]
        assert isinstance(settings, dict)
        assert settings["prompt.persona"] == {"value": "", "level": "default"}
        assert (await program.ask({"do": "settings.reset", "all": True}))["error"] == HOW_TO_REGISTER
        await program.ask({"do": "status"})
    assert doors.handler.owners == [key], "and never the household"
