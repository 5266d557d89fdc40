"""Who is let in over HTTP, and what a browser on a strange page, a proxy or a stranger gets; over real sockets."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import websockets
from websockets.typing import Origin

from agent.event import HOUSEHOLD
from appliance.config.network.http import HttpSettings
from appliance.errors import Exit
from appliance.http.access.middleware import HEADERS
from tests.appliance.http.served import Served, serving

pytestmark = pytest.mark.shows("F25")

ADA = "ad" * 32


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, HttpSettings(names=("nakari.home",))) as served:
        yield served


async def test_a_program_of_the_household_on_this_machine_needs_nothing(box: Served) -> None:
    async with box.client() as program:
        for host in ("127.0.0.1:8420", "localhost:8420", "[::1]:8420", "127.0.0.1"):
            told = await program.get("/whoami", headers={"Host": host})
            assert (told.status_code, told.json()) == (200, {"owner": HOUSEHOLD})


@pytest.mark.parametrize("user", [1000, None])
async def test_anybody_elses_program_on_this_machine_needs_a_token(box: Served, user: int | None) -> None:
    box.user = user
    async with box.client() as program:
        refused = await program.get("/whoami")
        assert (refused.status_code, refused.json()["code"]) == (401, Exit.NOT_ALLOWED)
        assert "nakari token create NAME" in refused.json()["error"]
        assert refused.headers["www-authenticate"] == "Bearer"
        bearer = {"Authorization": f"Bearer {box.tokens.create('theirs', ADA)}"}
        assert (await program.get("/whoami", headers=bearer)).json() == {"owner": ADA}
        assert (await program.get("/whoami", headers={"Authorization": "Bearer sk-none"})).status_code == 401
        assert (await program.get("/whoami", headers={"Authorization": "Basic bmFrYXJp"})).status_code == 401


async def test_a_member_of_the_group_is_the_household(box: Served) -> None:
    box.user = 1000
    box.members.add(1000)
    async with box.client() as program:
        assert (await program.get("/whoami")).json() == {"owner": HOUSEHOLD}


async def test_a_token_says_whose_words_they_are_also_on_this_machine(box: Served) -> None:
    token = box.tokens.issue(ADA, 60)
    async with box.client(Authorization=f"bearer {token}") as program:
        assert (await program.get("/whoami")).json() == {"owner": ADA}
    async with box.client(Authorization=f"Bearer {token[:-1]}x") as program:
        assert (await program.get("/whoami")).status_code == 401


async def test_a_key_that_is_no_token_takes_nothing_from_a_program_of_the_household(box: Served) -> None:
    async with box.client(Authorization="Bearer sk-whatever-the-library-wants") as program:
        assert (await program.get("/whoami")).json() == {"owner": HOUSEHOLD}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.", "2130706433"]
)
async def test_a_rebound_name_is_refused(box: Served, host: str) -> None:
    async with box.client(Host=host) as page:
        refused = await page.get("/whoami")
        assert refused.status_code == 421
        assert "[http] names" in refused.json()["error"]


@pytest.mark.parametrize("host", ["", "user@127.0.0.1", "127.0.0.1:port"])
async def test_what_is_no_name_is_no_host(box: Served, host: str) -> None:
    async with box.client(Host=host) as page:
        assert (await page.get("/whoami")).status_code == 400


async def test_under_a_name_of_its_own_a_program_needs_a_token(box: Served) -> None:
    async with box.client(Host="nakari.home") as program:
        assert (await program.get("/whoami")).status_code == 401
        bearer = {"Authorization": f"Bearer {box.tokens.create('phone')}"}
        assert (await program.get("/whoami", headers=bearer)).status_code == 200


FOREIGN = [
    "https://evil.example",
    "null",
    "http://127.0.0.1:3000",
    "https://127.0.0.1:8420",
    "http://localhost:8420",
    "",
]


@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_page_of_another_origin_is_refused_whatever_it_shows(box: Served, origin: str) -> None:
    token = box.tokens.create("phone")
    async with box.client(Host="127.0.0.1:8420", Origin=origin, Authorization=f"Bearer {token}") as page:
        for refused in (await page.get("/whoami"), await page.post("/echo", json={}), await page.options("/whoami")):
            assert refused.status_code in (400, 403)
            assert not [name for name in refused.headers if name.startswith("access-control")]


async def test_its_own_page_is_let_in(box: Served) -> None:
    async with box.client(Host="127.0.0.1:8420", Origin="http://127.0.0.1:8420") as page:
        assert (await page.post("/echo", json={"a": 1})).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_an_image_of_a_strange_page_asks_nothing_and_a_link_may_lead_here(box: Served, site: str) -> None:
    async with box.client(Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="image") as image:
        assert (await image.get("/whoami")).status_code == 403
    async with box.client(Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document") as link:
        assert (await link.get("/")).status_code == 200
        assert (await link.post("/echo")).status_code == 403
    async with box.client(Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe") as frame:
        assert (await frame.get("/")).status_code == 403


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
)
async def test_a_form_of_a_strange_page_changes_nothing(box: Served, kind: str) -> None:
    async with box.client(Content_Type=kind) as form:
        refused = await form.post("/echo", content=b'{"do": "forget"}')
        assert refused.status_code == 415
        assert "application/json" in refused.json()["error"]


async def test_a_form_with_a_token_beside_it_is_no_strange_pages(box: Served) -> None:
    token = box.tokens.create("script")
    async with box.client(Content_Type="text/plain", Authorization=f"Bearer {token}") as program:
        assert (await program.post("/echo", content=b"x")).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"])
async def test_who_comes_through_a_proxy_that_nobody_named_is_not_the_household(box: Served, header: str) -> None:
    async with box.client(**{header: "127.0.0.1"}) as strange:
        assert (await strange.get("/whoami")).status_code == 401


async def test_behind_a_proxy_its_word_is_taken_and_everybody_shows_a_token(tmp_path: Path) -> None:
    settings = HttpSettings(names=("nakari.home",), behind_proxy=("127.0.0.1",), failures_per_minute=1)
    async with serving(tmp_path, settings) as box:
        bearer = {"Authorization": f"Bearer {box.tokens.create('phone', ADA)}"}
        passed_on = {
            "X-Forwarded-For": "6.6.6.6, 192.0.2.7",
            "X-Forwarded-Host": "nakari.home",
            "X-Forwarded-Proto": "https",
        }
        async with box.client() as program:
            assert (await program.get("/whoami")).status_code == 401, "a proxy that adds nothing opens nothing"
            assert (await program.get("/whoami", headers=passed_on)).status_code == 401
            own = {"Origin": "https://nakari.home"}
            assert (await program.get("/whoami", headers=passed_on | bearer | own)).json() == {"owner": ADA}
            strange = {"Origin": "http://nakari.home"}
            assert (await program.get("/whoami", headers=passed_on | bearer | strange)).status_code == 403
            wrong = {"Authorization": "Bearer x"}
            assert (await program.get("/whoami", headers=passed_on | wrong)).status_code == 401
            assert (await program.get("/whoami", headers=passed_on | wrong)).status_code == 429
            other = passed_on | {"X-Forwarded-For": "192.0.2.7, 192.0.2.8"}
            assert (await program.get("/whoami", headers=other | wrong)).status_code == 401, "who guesses waits alone"
            plain = passed_on | {"X-Forwarded-Proto": "http"}
            assert (await program.get("/whoami", headers=plain | bearer)).status_code == 403
            assert (await program.get("/whoami", headers=bearer | {"X-Forwarded-For": "so"})).status_code == 400


async def test_beside_a_proxy_a_browser_on_the_box_gets_the_page_with_what_it_loads(tmp_path: Path) -> None:
    settings = HttpSettings(names=("nakari.home",), behind_proxy=("127.0.0.1",))
    async with serving(tmp_path, settings) as box:
        for host in ("127.0.0.1:8420", "localhost:8420"):
            async with box.client(Host=host, Origin=f"http://{host}") as page:
                assert (await page.get("/")).status_code == 200, "a module script says its Origin"
                assert (await page.get("/whoami")).status_code == 401
                entered = await page.post("/login", json={"token": box.tokens.issue(ADA)})
                assert (entered.status_code, "; Secure" in entered.headers["set-cookie"]) == (200, False)
            for strange in ("http://evil.example", "http://127.0.0.1:3000", f"https://{host}", "http://nakari.home"):
                async with box.client(Host=host, Origin=strange) as page:
                    assert (await page.get("/")).status_code == 403
        async with box.client(Host="nakari.home", Origin="http://nakari.home") as page:
            assert (await page.get("/")).status_code == 403, "the proxy speaks https"


@pytest.mark.parametrize("query", ["token={}", "access_token=x", "TOKEN=", "api_key=x", "q=it+is+{}"])
async def test_a_token_in_an_address_is_refused_and_not_repeated(box: Served, query: str) -> None:
    token = box.tokens.create("phone")
    async with box.client() as program:
        refused = await program.get(f"/whoami?{query.format(token)}")
        assert refused.status_code == 400
        assert "revoke it" in refused.json()["error"]
        assert token not in refused.text
        assert (await program.get(f"/{token}")).status_code == 400


async def test_the_page_is_for_everybody_and_its_cookie_is_for_no_script(box: Served) -> None:
    box.user = 1000
    token = box.tokens.create("phone", ADA)
    async with box.client() as page:
        assert (await page.get("/")).status_code == 200
        for typed, told in (("nakari_wrong", "this token is not known here"), (" ", "type a token")):
            refused = await page.post("/login", json={"token": typed})
            assert (refused.status_code, told in refused.text) == (401, True)
            assert "Bearer" not in refused.text, "that is for programs"
        entered = await page.post("/login", json={"token": f" {token}\n"})
        cookie = entered.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=34560000"))
        assert "Secure" not in cookie
        assert (await page.get("/whoami")).json() == {"owner": ADA}
        assert (await page.post("/logout")).status_code == 200
        assert (await page.get("/whoami")).status_code == 401


async def test_a_cookie_whose_token_was_revoked_is_taken_away(box: Served) -> None:
    box.tokens.create("phone", ADA)
    async with box.client(Cookie="nakari=nakari_of_the_day_before_yesterday") as page:
        refused = await page.get("/whoami")
        assert refused.status_code == 401
        assert refused.headers["set-cookie"].startswith("nakari=; Path=/; Max-Age=0")


async def test_a_cookie_whose_token_was_revoked_takes_nothing_that_everybody_may_have(tmp_path: Path) -> None:
    async with serving(tmp_path, HttpSettings(failures_per_minute=1), user=1000) as box:
        dead = box.tokens.create("phone", ADA)
        box.tokens.revoke("phone")
        for shown in ({"Cookie": f"nakari={dead}"}, {"Cookie": "nakari=gone"}, {"Authorization": f"Bearer {dead}"}):
            async with box.client(**shown) as page:
                assert [(await page.get("/")).status_code for _ in range(3)] == [200] * 3, "that is no guess"
                assert (await page.post("/login", json={"token": box.tokens.issue(ADA)})).status_code == 200
        async with box.client(Cookie=f"nakari={dead}") as page:
            assert (await page.get("/whoami")).status_code == 401


async def test_over_https_of_a_proxy_the_cookie_is_secure(tmp_path: Path) -> None:
    settings = HttpSettings(names=("nakari.home",), behind_proxy=("127.0.0.1",))
    async with serving(tmp_path, settings) as box, box.client(Host="nakari.home") as page:
        entered = await page.post("/login", json={"token": box.tokens.create("phone")})
        assert "; Secure" in entered.headers["set-cookie"]


async def test_who_asks_too_much_is_told_when_to_come_again(tmp_path: Path) -> None:
    async with serving(tmp_path, HttpSettings(requests_per_minute=10)) as box:
        token = box.tokens.create("phone")
        async with box.client() as program:
            assert [(await program.get("/whoami")).status_code for _ in range(11)] == [*[200] * 10, 429]
            refused = await program.get("/whoami")
            assert refused.headers["retry-after"] == "6"
            assert refused.json()["error"] == "that is too much at once: try again in 6 s"
            bearer = {"Authorization": f"Bearer {token}"}
            assert (await program.get("/whoami", headers=bearer)).status_code == 200, "each has a rate of their own"
            box.clock.now += 6
            assert [(await program.get("/whoami")).status_code for _ in range(2)] == [200, 429]


async def test_who_guesses_has_to_wait_and_who_has_a_token_beside_them_has_not(tmp_path: Path) -> None:
    settings = HttpSettings(failures_per_minute=3)
    async with serving(tmp_path, settings, user=1000) as box, box.client() as guesser:
        wrong, right = ({"Authorization": f"Bearer {each}"} for each in ("nakari_x", box.tokens.create("phone")))
        assert [(await guesser.get("/whoami", headers=wrong)).status_code for _ in range(4)] == [401, 401, 401, 429]
        assert (await guesser.post("/login", json={"token": "x"})).status_code == 429
        assert (await guesser.get("/whoami", headers=right)).status_code == 200
        assert (await guesser.get("/whoami", headers=wrong)).status_code == 429
        box.clock.now += 20
        assert (await guesser.get("/whoami", headers=wrong)).status_code == 401


async def test_every_answer_says_that_it_is_for_no_other_page(box: Served) -> None:
    async with box.client() as program:
        for answer in (await program.get("/whoami"), await program.get("/nowhere"), await program.get("/?token=x")):
            assert HEADERS.items() <= answer.headers.items()


async def test_a_websocket_of_a_strange_page_is_refused_and_its_own_is_let_in(box: Served) -> None:
    url = f"ws://127.0.0.1:{box.port}/ws"
    for origin in ("https://evil.example", "null", f"http://localhost:{box.port}"):
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(url, origin=Origin(origin))
        assert refused.value.response.status_code == 403
    for own in (Origin(f"http://127.0.0.1:{box.port}"), None):
        async with websockets.connect(url, origin=own) as let_in:
            assert await let_in.recv() == HOUSEHOLD
    box.user = 1000
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(url)
    assert refused.value.response.status_code == 401
    token = box.tokens.create("phone", ADA)
    for headers in ({"Cookie": f"nakari={token}"}, {"Authorization": f"Bearer {token}"}):
        async with websockets.connect(url, additional_headers=headers) as let_in:
            assert await let_in.recv() == ADA


async def test_no_order_is_taken_once_its_token_is_revoked(box: Served) -> None:
    bearer = {"Authorization": f"Bearer {box.tokens.create('phone', ADA)}"}
    async with websockets.connect(f"ws://127.0.0.1:{box.port}/orders", additional_headers=bearer) as socket:
        await socket.send("light")
        assert await socket.recv() == "taken: light"
        box.tokens.revoke("phone")
        await socket.send("set a timer for 3 hours")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
    assert box.orders == ["light"]


async def test_a_quiet_websocket_is_closed_once_its_token_is_revoked(box: Served) -> None:
    bearer = {"Authorization": f"Bearer {box.tokens.create('phone', ADA)}"}
    async with websockets.connect(f"ws://127.0.0.1:{box.port}/ws", additional_headers=bearer) as socket:
        assert await socket.recv() == ADA
        box.tokens.revoke("phone")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "the token is good no longer")


async def test_a_body_that_comes_on_after_its_token_was_revoked_is_refused(box: Served) -> None:
    bearer = {"Authorization": f"Bearer {box.tokens.create('phone', ADA)}", "Content-Type": "application/json"}
    is_revoked = False

    async def body() -> AsyncIterator[bytes]:
        nonlocal is_revoked
        yield b"[1,"
        is_revoked = box.tokens.revoke("phone")
        yield b"2]"

    async with box.client() as program:
        refused = await program.post("/echo", content=body(), headers=bearer)
    assert is_revoked
    assert (refused.status_code, "was revoked" in refused.text) == (401, True)


async def test_a_stream_ends_once_its_token_is_revoked(box: Served) -> None:
    bearer = {"Authorization": f"Bearer {box.tokens.create('phone', ADA)}"}
    async with box.client() as program, program.stream("GET", "/stream", headers=bearer) as stream:
        pieces = stream.aiter_text()
        box.pieces.put_nowait("one")
        assert await anext(pieces) == "one"
        box.tokens.revoke("phone")
        box.pieces.put_nowait("two")
        assert [piece async for piece in pieces] == []
    bearer = {"Authorization": f"Bearer {box.tokens.issue(ADA, 60)}"}
    async with websockets.connect(f"ws://127.0.0.1:{box.port}/ws", additional_headers=bearer) as socket:
        assert await socket.recv() == ADA
        box.tokens.forget(ADA)
        box.pieces.put_nowait("one")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
