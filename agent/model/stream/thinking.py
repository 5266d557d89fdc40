"""Text that begins with <think>…</think> is cut in two as it arrives: what is meant for others, and what is not."""

from typing import Final

TAGS: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}


class ThinkingSplitter:
    """Takes the text of one answer in pieces; only what stands at its beginning, or after other thinking, is thinking.

    Half a tag waits for its rest. Thinking that is never closed is thinking to the end: it is not spoken.
    """

    def __init__(self) -> None:
        self._held = ""
        self._end = ""
        """The tag that closes what is open; empty outside."""
        self._has_begun = False
        """Whether text for others came: from then on nothing is thinking."""

    def feed(self, text: str) -> tuple[str, str]:
        """Return what this piece adds to the text for others, and to the thinking."""
        spoken, thought = "", ""
        self._held += text
        while self._held:
            if self._has_begun:
                spoken, self._held = spoken + self._held, ""
            elif self._end:
                inside, found, rest = self._held.partition(self._end)
                kept = 0 if found else _begun(inside, self._end)
                thought += inside[: len(inside) - kept]
                self._held = rest if found else inside[len(inside) - kept :]
                if not found:
                    break
                self._end = ""
            elif not self._look_at_start():
                break
        return spoken, thought

    def finish(self) -> tuple[str, str]:
        """Return what was held back, in the same way."""
        held, self._held = self._held, ""
        return ("", held) if self._end else (held, "")

    def _look_at_start(self) -> bool:
        """Decide whether thinking begins here or text; False while that is open."""
        bare = self._held.lstrip()
        for tag, end in TAGS.items():
            if bare.startswith(tag):
                self._end, self._held = end, bare.removeprefix(tag)
                return True
        self._has_begun = bool(bare) and not any(tag.startswith(bare) for tag in TAGS)
        return self._has_begun


def _begun(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if tag.startswith(text[-size:])), 0)
