"""A box with a page that listens, to be killed: `python -m tests.appliance.remote.place_program FOLDER [QUESTION]`.

It prints each sentence when it begins to be sent to the page, and ends when all is said.
"""

import asyncio
import sys
from pathlib import Path

from msgspec.structs import replace

from agent.event import ASR_TRANSCRIPT, Event
from agent.model.interface import CachedPrefix, ChatModel
from agent.replies import SENTENCE_STARTED
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.input.event import PERSON_PRIORITY
from appliance.model.catalog import ModelCatalog
from appliance.service import serve
from appliance.wiring.box import open_box
from appliance.wiring.environment import REAL
from tests.appliance.remote.page import Page, session_of
from tests.room.house import TalkativeModel
from tests.service.process import Household

SENTENCES = ("Good morning.", "Turn off the kitchen light.", "Cancel the timer.", "Play some music.")


async def main(folder: Path, question: str) -> None:
    """Ask, or go on with what was asked before a kill."""
    config = load(Household(folder).write(), {"HOME": str(folder)})

    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [TalkativeModel([" ".join(SENTENCES)], "")]

    environment = replace(REAL, models=models, source=lambda ears, options: None)
    async with open_box(config, RunOptions(deaf=True), environment) as box, asyncio.TaskGroup() as group:
        page, household = Page(), box.household
        session = session_of(box, page)
        place = session.listen("console")

        async def until_over() -> None:
            if question:
                asked = Event(ASR_TRANSCRIPT, question, source="remote", session_id="console", priority=PERSON_PRIORITY)
                await household.mailbox.enqueue(asked)
            await household.mailbox.until_idle()
            assert page.played().size or not question
            tell("over")
            telling.cancel()
            place.leave()

        async def sentence(envelope: Event) -> None:
            tell(envelope.content)

        telling = group.create_task(household.bus.attend(SENTENCE_STARTED, sentence))
        group.create_task(serve(box, until_over))


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
