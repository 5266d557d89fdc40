"""What a real Home Assistant answers to sentences, written as tests/data/home/conversation.json.

usage: python -m tests.home.record FOLDER     of one that scripts/home-assistant started there
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

import httpx

RECORDED: Final = Path(__file__).parents[1] / "data/home/conversation.json"
SAID: Final = (
    ("en", "turn on the bed light"),
    ("en", "turn off the kitchen light"),
    ("en", "set the desk lamp to 50 percent"),
    ("en", "turn on the balcony light"),
    ("en", "turn off all the lights"),
    ("en", "turn off the lights in the living room"),
    ("en", "what is the outside temperature"),
    ("en", "is the front door locked"),
    ("en", "unlock the front door"),
    ("en", "open the garage door"),
    ("en", "add milk to my shopping list"),
    ("en", "turn on the moon"),
    ("en", "turn on the lights in the attic"),
    ("en", "tell me a joke"),
    ("en", "hm"),
    ("zh-CN", "打开床头灯"),
    ("zh-CN", "关闭客厅的灯"),
    ("zh-CN", "室外温度是多少"),
    ("zh-CN", "解锁前门"),
    ("zh-CN", "讲个笑话"),
    ("xx", "turn on the bed light"),
)
"""Sentences in their order, with the language that is named to it."""


async def main(folder: Path) -> None:
    """Say each sentence, and record the answers."""
    home = json.loads((folder / "home.json").read_text())
    answers = []
    async with httpx.AsyncClient(
        base_url=home["url"], headers={"Authorization": f"Bearer {home['token']}"}, timeout=20
    ) as http:
        for language, text in SAID:
            asked = {"text": text, "language": language}
            answer = await http.post("/api/conversation/process", json=asked)
            answers.append({"asked": asked, "status": answer.status_code, "answer": answer.json()})
    words = json.dumps(answers, ensure_ascii=False, indent=1, sort_keys=True)
    RECORDED.write_text(words + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
