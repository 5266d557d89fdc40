"""The spoken commands as a grammar, so that a recognizer without a large language model can hear them."""

from typing import Final

COMMAND: Final = "command"
"""The top rule."""

_DIGITS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS: Final = [
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty"]

_ENGLISH: Final[dict[str, list[str]]] = {
    COMMAND: ["[nakari] <order>", "<order> please"],
    "order": [
        "<time>",
        "<date>",
        "<timer>",
        "<alarm>",
        "<volume>",
        "<remember>",
        "<recall>",
        "<talk>",
    ],
    "time": ["what time is it [now]", "what is the time", "tell me the time", "do you know what time it is"],
    "date": ["what day is it [today]", "what is the date [today]", "what is today's date", "tell me the date"],
    "timer": [
        "(set | start) a timer for <length>",
        "(set | start) a <length> timer",
        "set a (pizza | pasta | tea | egg | laundry) timer for <length>",
        "timer for <length>",
        "remind me in <length>",
        "(cancel | stop) the timer",
        "cancel the (pizza | pasta | tea | egg | laundry) timer",
        "cancel all timers",
        "how much time is left [on the timer]",
        "how long is left on the timer",
        "what timers are set",
    ],
    "length": [
        "one (minute | hour | second)",
        "<number> (minutes | seconds)",
        "<digit> hours",
        "half an hour",
        "a quarter of an hour",
        "an hour and a half",
        "one hour and <number> minutes",
    ],
    "alarm": [
        "(set an alarm for | wake me [up] at) <clock> [in the morning | in the evening]",
        "wake me [up] tomorrow at <clock>",
    ],
    "clock": ["<hour> [o'clock]", "half past <hour>", "quarter past <hour>", "quarter to <hour>", "<hour> thirty"],
    "volume": [
        "turn the volume (up | down)",
        "turn it (up | down)",
        "[a little] (louder | quieter)",
        "volume (up | down)",
        "set the volume to <tens> percent",
    ],
    "remember": [
        "remember that my <thing> (is | are) (in | on | under) the <place>",
        "remember that my <person> is called <name>",
    ],
    "recall": [
        "where (is | are) my <thing>",
        "where did i put my <thing>",
        "what is my <person> called",
        "what did i say about my (<thing> | <person>)",
    ],
    "talk": [
        "hello",
        "good morning",
        "good evening",
        "good night",
        "goodbye",
        "thank you",
        "who are you",
        "what is your name",
        "what can you do",
        "how are you",
        "can you hear me",
        "never mind",
        "stop",
        "be quiet",
        "yes",
        "yes please",
        "no",
        "no thank you",
        "help",
    ],
    "thing": ["keys", "key", "glasses", "phone", "wallet", "bag", "umbrella", "passport", "charger", "medicine", "car"],
    "place": [
        "drawer",
        "table",
        "kitchen",
        "bedroom",
        "bathroom",
        "living room",
        "hall",
        "garage",
        "car",
        "cupboard",
        "shelf",
        "desk",
        "bag",
        "fridge",
        "sofa",
        "bed",
    ],
    "person": ["sister", "brother", "mother", "father", "daughter", "son", "wife", "husband", "dog", "cat", "friend"],
    "name": ["anna", "maria", "julia", "sarah", "emma", "peter", "paul", "david", "thomas", "max", "tom", "lucy"],
    "number": ["<digit>", *_TEENS, "<tens_below_sixty> [<digit>]", "sixty"],
    "digit": _DIGITS,
    "tens_below_sixty": _TENS,
    "tens": ["ten", *_TENS, "sixty", "seventy", "eighty", "ninety"],
    "hour": [*_DIGITS, "ten", "eleven", "twelve"],
}
"""Words of CMU's pronouncing dictionary in lower case; what a recognizer lacks of them it must leave out by itself."""


def command_grammar(language: str = "en") -> dict[str, list[str]]:
    """Return rules by name: alternatives in JSGF expansion syntax, the top rule is `command`.

    Every sentence of it is understood by the offline model. Languages other than English have no rules: {}.
    """
    return {rule: list(alternatives) for rule, alternatives in _ENGLISH.items()} if language == "en" else {}
