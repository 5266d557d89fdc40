"""*Memory* in front of the real appliance and its real graph: drawn, explored, asked, compared, as it was."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from memory.json_value import Json
from tests.console.house import SECONDS, House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.shows("F24")]

PEOPLE: Final = 40
NODES: Final = 500


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house that remembers forty people and what each of them said, 500 nodes in all."""
    settings: dict[str, dict[str, object]] = {"memory": {"enabled": True, "embeddings": "off"}}
    with House.built(tmp_path_factory.mktemp("house"), settings) as built, built.running():
        write(built, "UNWIND range(1, $most) AS i CREATE (:Person {name: 'Person ' + toString(i), n: i})", most=PEOPLE)
        said = "UNWIND range(1, $most) AS i MATCH (p:Person {n: i % 40 + 1}) "
        write(built, said + "CREATE (:Note {text: 'note ' + toString(i)})-[:ABOUT]->(p)", most=NODES - PEOPLE)
        yield built


def write(house: House, cypher: str, **params: Json) -> None:
    """Let the appliance remember something."""
    told = ask(house, "tool", {"name": "memory_write", "arguments": {"cypher": cypher, "params": params}})
    assert "error" not in told


def ask(house: House, do: str, payload: dict[str, Json]) -> dict[str, Json]:
    answer = httpx.post(f"{house.address}requests/{do}", json=payload, timeout=SECONDS)
    told: dict[str, Json] = answer.json()
    return told


@pytest.fixture
def page(tab: Page, house: House) -> Page:
    tab.goto(f"{house.address}#/memory")
    expect(tab.get_by_test_id("picture")).not_to_have_attribute("data-nodes", "0")  # an empty one has settled too
    expect(tab.get_by_test_id("picture")).to_have_attribute("data-settled", "true")
    return tab


def go(page: Page, part: str) -> None:
    page.get_by_role("navigation", name="Memory").get_by_role("link", name=part).click()


def search(page: Page, words: str) -> None:
    page.get_by_role("searchbox").fill(words)
    page.get_by_role("searchbox").press("Enter")


def test_500_nodes_are_drawn_and_a_click_opens_the_neighbourhood(page: Page) -> None:
    picture = page.get_by_test_id("picture")
    page.get_by_label("How many").select_option("up to 500")
    expect(picture).to_have_attribute("data-nodes", str(NODES))
    expect(picture).to_have_attribute("data-links", str(NODES - PEOPLE))
    expect(picture).to_have_attribute("data-settled", "true")
    assert colours(page) > 3, "there should be nodes of two labels, links and the ground"
    search(page, "note 377")
    expect(page.get_by_test_id("node")).to_contain_text("note 377")
    expect(picture).to_have_attribute("data-nodes", "1")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_test_id("node")).to_have_count(0)
    click_the_middle(page)
    expect(picture).to_have_attribute("data-nodes", "2")
    expect(page.get_by_role("status").filter(has_text="Shown: 2 nodes and 1 relationship.")).to_have_count(1)
    expect(picture.locator("canvas[aria-hidden=true]")).not_to_have_count(0)
    expect(picture.locator("canvas:not([aria-hidden=true])")).to_have_count(0)
    page.get_by_test_id("node").get_by_role("button", name="Person 18").click()
    expect(picture).to_have_attribute("data-nodes", "13")
    expect(page.get_by_test_id("node")).to_contain_text("note 17")


def click_the_middle(page: Page) -> None:
    """Click where a node is that is drawn alone."""
    box = page.get_by_test_id("picture").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def colours(page: Page) -> int:
    """Return how many different colours the picture has, of some thousand of its points."""
    return int(
        page.evaluate(
            """async () => {
              const made = document.createElement('canvas')
              const layers = [...document.querySelectorAll('[data-testid=picture] canvas')]
              made.width = layers[0].width; made.height = layers[0].height
              const context = made.getContext('2d')
              await new Promise(requestAnimationFrame)
              for (const layer of layers) context.drawImage(layer, 0, 0)
              const { data } = context.getImageData(0, 0, made.width, made.height)
              const seen = new Set()
              for (let i = 0; i < data.length; i += 4) seen.add([data[i], data[i + 1], data[i + 2], data[i + 3]].join())
              return seen.size
            }"""
        )
    )


def test_the_same_is_a_list_for_the_keyboard_and_screen_readers(page: Page) -> None:
    page.get_by_role("button", name="As a list").press("Enter")
    page.get_by_label("Label").select_option("Person (40)")
    persons = page.get_by_role("region", name="Person")
    expect(persons.get_by_role("listitem")).to_have_count(PEOPLE)
    persons.get_by_role("button", name="Person 7 ").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Person 7")).to_contain_text("note 6")
    expect(page.get_by_role("region", name="Note")).to_be_visible()


def test_without_webgl_there_is_the_list(browser: Browser, house: House) -> None:
    context = browser.new_context(locale="en-GB")
    context.add_init_script(
        "const given = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        "  return kind.startsWith('webgl') ? null : given.call(this, kind, ...rest) }"
    )
    page = context.new_page()
    page.goto(f"{house.address}#/memory")
    expect(page.get_by_test_id("node-list")).to_contain_text("Person 1")
    expect(page.get_by_text("This browser cannot draw the picture")).to_be_visible()
    expect(page.get_by_role("button", name="As a picture")).to_have_count(0)
    context.close()


def test_a_statement_is_answered_as_a_table_and_drawn(page: Page) -> None:
    go(page, "Cypher")
    page.get_by_label("Cypher statement").fill("MATCH (n:Person) WHERE n.n < 4 RETURN n, n.name AS name ORDER BY n.n")
    page.keyboard.press("Control+Enter")
    table = page.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(4)
    expect(table).to_contain_text("(:Person Person 2)")
    page.get_by_role("button", name="Draw 3 nodes").click()
    expect(page.get_by_test_id("picture")).to_have_attribute("data-nodes", "3")


REFUSED: Final = {
    "CREATE (n:Person)": "only reads",
    "MATCH (n": "Syntax error",
    "MATCH (n) DETACH DELETE n": "only reads",
}
"""By turns, so that no sentence is the one before."""


def test_a_refusal_is_the_appliance_s_sentence(page: Page, house: House) -> None:
    go(page, "Cypher")
    for cypher, sentence in REFUSED.items():
        page.get_by_label("Cypher statement").fill(cypher)
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("alert")).to_contain_text(sentence)
        counted = ask(house, "memory.query", {"cypher": "MATCH (n:Person) RETURN count(n) AS count"})
        assert counted == {"result": {"records": [{"count": PEOPLE}]}}, cypher


def test_what_was_written_today_is_told(page: Page, house: House) -> None:
    write(house, "CREATE (:Tea {name: $name})", name="green tea")
    go(page, "Written")
    newest = page.get_by_test_id("write").first
    expect(newest).to_contain_text("CREATE (:Tea {name: $name})")
    expect(newest).to_contain_text("+1 node")
    write(house, "MATCH (t:Tea) DELETE t")
    page.get_by_role("button", name="Refresh").click()
    expect(newest).to_contain_text("−1 node")


def test_snapshots_are_taken_compared_and_looked_back_at(page: Page, house: House) -> None:
    go(page, "Snapshots")
    page.get_by_role("button", name="Take one now").click()
    expect(page.get_by_test_id("snapshot").first).to_contain_text("500 nodes, 460 relationships")
    write(house, "MATCH (p:Person {n: 40}) CREATE (:Cat {name: 'Mimi'})-[:LIVES_WITH]->(p)")
    page.get_by_role("button", name="Compare").click()
    differences = page.get_by_test_id("differences")
    expect(differences).to_contain_text("Came 1 node, 1 relationship")
    expect(differences).to_contain_text("(:Cat Mimi) -[LIVES_WITH]-> (:Person Person 40)")
    search_now(page, "mimi")
    expect(page.get_by_test_id("node")).to_contain_text("Mimi")
    go(page, "Snapshots")
    page.get_by_test_id("snapshot").first.get_by_role("link", name="Look").click()
    expect(page.get_by_test_id("as-of")).to_contain_text(str(datetime.now(UTC).year))
    expect(page.get_by_test_id("picture")).to_have_attribute("data-nodes", "300")
    search(page, "mimi")
    expect(page.get_by_test_id("refused")).to_contain_text("Nothing in the memory has these words")
    page.get_by_role("button", name="Back to now").click()
    search(page, "mimi")
    expect(page.get_by_test_id("node")).to_contain_text("Mimi")
    write(house, "MATCH (c:Cat) DETACH DELETE c")


def search_now(page: Page, words: str) -> None:
    go(page, "Graph")
    search(page, words)


GRAINS: Final = 5_000
"""Ten times as many in `scripts/bench whole`."""


def test_thousands_of_nodes_are_refused_and_the_page_goes_on(page: Page, house: House, every_step: bool) -> None:
    """The last one of this file: what the others count would be lost among these."""
    grains = 10 * GRAINS if every_step else GRAINS
    write(house, "UNWIND range(1, $most) AS i CREATE (:Grain {n: i})", most=grains)
    write(house, "CREATE (:Sack {name: 'sack'})")
    write(house, "MATCH (s:Sack) MATCH (g:Grain) CREATE (s)-[:HOLDS]->(g)")
    page.reload()
    picture, refused = page.get_by_test_id("picture"), page.get_by_test_id("refused")
    expect(picture).to_have_attribute("data-nodes", "300")
    page.get_by_label("How many").select_option("everything")
    expect(refused).to_contain_text(f"These are {NODES + grains + 1:,} nodes, and at most 2,000 can be drawn")
    expect(picture).to_have_attribute("data-nodes", "300")
    search(page, "sack")
    expect(picture).to_have_attribute("data-nodes", "1")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_test_id("node")).to_have_count(0)
    click_the_middle(page)
    expect(page.get_by_test_id("node")).to_contain_text(f"200 of {grains:,} relationships are shown")
    go(page, "Cypher")
    page.get_by_label("Cypher statement").fill("MATCH (n:Grain) RETURN collect(n) AS all")
    page.get_by_role("button", name="Run").click()
    expect(refused).to_contain_text(f"These are {grains:,} nodes")
    expect(page.get_by_role("cell")).to_contain_text(f"[{grains}]")
    page.get_by_label("Cypher statement").fill("MATCH (n:Grain) RETURN n")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("at least 1000 more rows")).to_be_visible()
