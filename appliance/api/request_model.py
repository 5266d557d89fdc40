"""What every request at the door has in common: nothing unknown in it, no type guessed, words that say something."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("should say something")
    return text


def _no_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError("should be the name of a file; none has a zero byte")
    return text


FileName = Annotated[str, AfterValidator(_no_zero)]
Words = Annotated[str, AfterValidator(_not_blank)]
Name = Annotated[str, StringConstraints(max_length=200), AfterValidator(_not_blank)]


class Asked(BaseModel):
    """A request."""

    # Its validator is made when it is first asked: some sixty of them are a twentieth of the start.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
