"""How addresses, streets, parts of a book, rulers, numbers that name a thing, and versions are read in English."""

import re
from typing import Final

from audio.tts.verbalize.numerals import cardinal, decimal, digits, ordinal, two_digits, year
from audio.tts.verbalize.rules import ROMAN, Rule, either, roman_value, rule

_STREETS: Final = {
    **{"Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Hwy": "Highway", "Pkwy": "Parkway"},
    **{"St": "Street", "Dr": "Drive"},
}
_BEGINS = "The|It|He|She|They|We|You|I|There|Then|This|That|Turn|Take|Go|Is|Are|Do|In|At|On|And|But"
"""What begins a sentence, and is no name of a doctor or a saint."""

_GREETS = "Hi|Hello|Dear|Yes|No|Thanks|Sorry|The|Our|My|And|Is|Ask|See|Call"
"""What stands before a doctor, and is no name of a street."""

_CITED: Final = {
    **{"ch": "chapter", "fig": "figure", "figs": "figures", "vol": "volume", "eq": "equation", "p": "page"},
    **{"ext": "extension", "sect": "section", "apt": "apartment"},
}

_PARTS = "Chapter|Act|Scene|Part|Volume|Book|Section|Phase|World War|Type|Super Bowl|Season|Episode|Appendix|Article"
_RULERS = (
    "Albert|Alexander|Alfonso|Benedict|Boniface|Carlos|Catherine|Charles|Christian|Clement|Edward|Elizabeth|Ferdinand|"
    "Francis|Frederick|George|Gregory|Gustav|Henry|Innocent|Ivan|James|John|Joseph|Juan|Leo|Leopold|Louis|Mary|"
    "Napoleon|Nicholas|Otto|Paul|Peter|Philip|Pius|Ptolemy|Ramesses|Ramses|Richard|Robert|Rudolf|Sixtus|Wilhelm|William"
)
_NO_NAME = "The|An|In|On|At|My|Your|His|Her|Our|Their|This|That|And|Or|But|With|For|Use|Size|Grade|Press|Type|Word"


def _street(found: re.Match[str]) -> str:
    return f"{found[1]}{_STREETS[found[2]]}{found[3] or ''}"


def _cited(found: re.Match[str]) -> str:
    said = _CITED[found[1].lower()]
    return f"{said if found[1].islower() else said.capitalize()} "


def _numbered(found: re.Match[str]) -> str:
    return f"{found[1]} {cardinal(roman_value(found[2]))}"


def _ruler(found: re.Match[str]) -> str:
    return f"{found[1]} the {ordinal(roman_value(found[2]))}"


_ENDED = r"(?:(\.)(?=\s*$|\s+(?![NSEW]{1,2}\b)[A-Z])|\.?)"
"""The full stop of an abbreviation, which stays where the sentence may end with it."""

TITLES: Final[tuple[Rule, ...]] = (
    rule(rf"\b(\d+\s(?:[A-Z][a-z]+\s){{1,3}})(St|Dr)\b{_ENDED}", _street),
    rule(rf"\b((?:[A-Z][a-z]+|\d+(?:st|nd|rd|th))\s)({'|'.join(list(_STREETS)[:-2])})\b{_ENDED}", _street),
    rule(
        rf"\b((?!(?:{_GREETS})\b)(?:[A-Z][a-z]+|\d+(?:st|nd|rd|th))\s)(St|Dr)\b"
        rf"(?:(\.)(?=\s*$|\s+(?:{_BEGINS})\b)|\.?(?!\w|\.|\s+[A-Z]))",
        _street,
    ),
    rule(r"\bSt\.?(?=\s[A-Z][a-z])", "Saint"),
    rule(rf"(?i)(?<![\w.])({either(_CITED)})\.\s?(?=\d|[IVXL]+\b)", _cited),
    rule(rf"\b({_PARTS})\s({ROMAN})\b(?!')", _numbered),
    rule(
        rf"\b({ROMAN})(?:th)?(?=\s(?:century|centuries|dynasty|Olympi))", lambda found: ordinal(roman_value(found[1]))
    ),
    rule(rf"\b({_RULERS})\s((?=[IVX]{{2}}|[VX]\b(?!\.\s?[A-Z])){ROMAN})\b", _ruler),
    rule(rf"\b(?!(?:{_NO_NAME})\b)([A-Z][a-z]{{2,}})\s((?!XX+\b)(?=[IVX]{{2}}){ROMAN})\b", _numbered),
)
"""After a name with one letter is a letter, and after a name with I stands the speaker: only rulers have a V or X."""


_DIALLED = "(?:call|dial|ring|phone|text)"
_THEN = "for|if|in|or|and|now|to|when|at|on|from|with|immediately|right|first|straight|instead|again"
_PLATE = "plate|license|licence|registration"
_VERSES = (
    "Genesis|Exodus|Leviticus|Deuteronomy|Psalms?|Proverbs|Isaiah|Matthew|Acts|Romans|Corinthians|Ephesians|Hebrews"
)
_SPELT_AFTER = "pin|code|zip|password|postcode|passcode"
_NUMBERED = r"room|flight|apartment|apt|suite|gate|highway|route|bus|line|boeing"


def _dotted(found: re.Match[str]) -> str:
    return found[0].replace("@", " at ").replace(".", " dot ").replace("_", " ")


def _hashtag(found: re.Match[str]) -> str:
    return f"hashtag {re.sub(r'(?<=[a-z])(?=[A-Z])|_+', ' ', found[1])}"


def _called(found: re.Match[str]) -> str:
    """Return the number by which something is called: `Room 502`, `flight 2490`."""
    figures = found[2]
    if len(figures) == 4 and figures[0] != "0":
        return f"{found[1]} {year(int(figures))}"
    if len(figures) != 3 or figures.endswith("00") or figures[0] == "0":
        return f"{found[1]} {digits(figures) if figures[0] == '0' else decimal(figures)}"
    return f"{found[1]} {digits(figures[0])} {two_digits(int(figures[1:]))}"


def _spelt(found: re.Match[str]) -> str:
    return f"{found[1]}{digits(found[2])}"


def _dialled(found: re.Match[str]) -> str:
    return found[1] + re.sub(r"\d+", lambda number: digits(number[0]), found[2])


def _path(found: re.Match[str]) -> str:
    """Return where a file is: `/etc/hosts`."""
    words = {"/": " slash ", "\\": " backslash ", ":": " colon", ".": " dot ", "~": "tilde", "_": " "}
    return re.sub(r"[/\\:.~_]", lambda sign: words[sign[0]], found[0]).strip()


def _letters(found: re.Match[str]) -> str:
    """Return letters and figures one by one: `00:1A:2B:3C:4D:5E`; each group by itself."""
    groups = re.findall(r"\w+", found[2])
    return found[1] + ", ".join(" ".join(digits(one) if one.isdigit() else one for one in group) for group in groups)


NAMES: Final[tuple[Rule, ...]] = (
    rule(r"(?<![^\s(\"'“‘])(?<!\d\s)(?:~|\.\.?)?/\.?[A-Za-z_][\w-]*(?:\.[\w-]+)*(?:/\.?[\w-]+(?:\.[\w-]+)*)*/?", _path),
    rule(r"\b[A-Z]:(?:\\[\w-]*(?:\.[\w-]+)*)+", _path),
    rule(r"(?i)(?<![\w:-])()([\da-f]{2}([:-])[\da-f]{2}(?:\3[\da-f]{2}){4})(?![\w:-])", _letters),
    rule(r"\b(ISBN(?:-1[03])?:? )(\d[\d -]{8,15}[\dX])\b", _letters),
    rule(r"(?<![\w-])()(97[89](?:-\d{1,7}){3}-\d)(?![\w-])", _letters),
    rule(r"(?<![\w-])()([A-Z]{2,3}-\d{3,4})(?![\w-]|\.\d)", _letters),
    rule(rf"(?i)\b((?:{_PLATE})(?: number)?(?: is|:)? )((?-i:[A-Z]{{1,3}})[ -]?\d{{1,4}})\b", _letters),
    rule(rf"\b((?:{_VERSES}) \d{{1,3}}):(\d{{1,3}})\b", r"\1 verse \2"),
    rule(r"(?<=Boeing )()(\d\d\d)-(?=\d)", lambda found: f"{_called(found)} dash "),
    rule(r"(?<!\w)#([A-Z]+)-?(\d+)\b", lambda found: f"number {found[1]} {digits(found[2])}"),
    rule(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", _dotted),
    rule(r"(?<![\w.])(?:[A-Za-z0-9][\w-]+\.)+[a-z]{2,6}(?![\w.]*\w)", _dotted),
    rule(r"(?<![\w.])\.(?=\d)", "0."),
    rule(
        rf"(?i)\b({_DIALLED}\s+)((?:\d{{3,6}}(?:, or |, | or | and ))*\d{{3,6}})"
        rf"(?=\s*[.,;:!?)](?!\d)|\s*$|\s(?:{_THEN})\b)",
        _dialled,
    ),
    rule(r"(?<![\w.,$€£+/-])()(911|112|999)(?=\s*(?:$|[.,!?)](?!\d)))", _spelt),
    rule(rf"(?i)\b((?:{_SPELT_AFTER})(?:\s(?:is|code))?:?\s)(\d{{3,}})\b", _spelt),
    *TITLES,
    rule(rf"(?i)\b((?:{_NUMBERED})\s)(\d{{3,4}})(?![\w:]|[.,-]\d)", _called),
    rule(r"(?<![A-Za-z])([A-Z]{2}\s?)(\d{3,4})(?![\w:/]|[.,]\d|\s?%)", _called),
    rule(r"(?<!\w)#(\d+)", r"number \1"),
    rule(r"(?:\b(?:No|Nr)\.|№)\s?(?=\d)", "number "),
    rule(r"(?<!\w)#(\w+)", _hashtag),
    rule(r"(?<!\w)@(?=\w)", "at "),
)
