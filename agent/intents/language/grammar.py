"""The spoken commands as a grammar, so that a recognizer without a large language model can hear them."""

from typing import Final

COMMAND: Final = "command"
"""The top rule."""

_ORDERS: Final[dict[str, list[str]]] = {
    COMMAND: [
        "(<time> | <date> | <timer> | <timer_cancel> | <timer_status> | <alarm> | <volume>) [please]",
        "(<remind> | <remember> | <recall> | <talk>)",
    ],
    "time": [
        "what time is it [now]",
        "what is the time",
        "tell me the time",
        "(do you know | can you tell me) what time it is",
    ],
    "date": [
        "what day is it [today]",
        "what day is tomorrow",
        "what is the date [today | tomorrow]",
        "what is today's date",
        "tell me the date",
    ],
    "timer": [
        "(set | start) a timer for <length>",
        "(set | start) a <exact_length> timer",
        "set a <dish> timer for <length>",
        "timer for <length>",
        "wake me [up] in <length>",
        "remind me in <length>",
    ],
    "timer_cancel": [
        "(cancel | stop) (the | my) (timer | alarm)",
        "turn off the alarm",
        "cancel the (<dish> | <exact_length>) timer",
        "cancel all [my] (timers | alarms)",
    ],
    "timer_status": [
        "how (much time | long) is left [on the timer]",
        "(what | which) timers are (set | running)",
        "what are my (timers | alarms | reminders)",
        "when is my [next] alarm",
    ],
    "alarm": [
        "set an alarm for <clock> [<period>]",
        "wake me [up] at <clock> [<period>]",
        "wake me [up] tomorrow at <clock>",
    ],
    "remind": [
        "remind me to <task> (at <clock> [<period>] | in <length> | tomorrow at <clock>)",
        "remind me to <task> [tomorrow]",
    ],
    "volume": [
        "turn (the volume | it) (up | down)",
        "volume (up | down)",
        "[a little] (louder | quieter)",
        "set the volume to <level> [percent]",
        "mute [the speaker]",
    ],
    "remember": [
        "remember that my <thing> (is | are) (in | on | under) the <place>",
        "remember that (my <person> | the dog | the cat) is called <name>",
        "remember that i parked on level (one | two | three | four | five)",
        "remember that the (plumber | doctor | dentist) comes on <weekday>",
        "remember that i am allergic to (nuts | milk | eggs | cats | dogs)",
        "remember that my favorite color is (green | blue | red | yellow | black | white)",
        "remember that the spare key is under the (mat | bench | table)",
    ],
    "recall": [
        "where (is | are) my <thing>",
        "where did i (put my <thing> | park)",
        "where is the spare key",
        "what is (my <person> | the dog | the cat) called",
        "when does the (plumber | doctor | dentist) come",
        "when is (my next meeting | the dentist appointment)",
        "what am i allergic to",
        "what is my favorite color",
        "what did i say about (my (<thing> | <person>) | the (plumber | doctor | dentist))",
    ],
    "talk": [
        "hello [there | computer]",
        "good (morning | afternoon | evening | night)",
        "goodbye",
        "i am (home | leaving)",
        "are you there",
        "can you hear me",
        "how are you [doing]",
        "status report",
        "thank you",
        "who are you",
        "what is your name",
        "what can you do",
        "help me",
        "say that again",
        "repeat that [please]",
        "never mind",
        "cancel that",
        "stop [talking]",
        "be quiet [please]",
        "go to sleep",
        "yes [please]",
        "no [thank you]",
    ],
}
"""What is said, by what it asks for."""

_ONE_TO_NINE: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS: Final = [
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]

_NUMBERS: Final[dict[str, list[str]]] = {
    "exact_length": ["<number> (second | minute | hour)"],
    "length": [
        "one (second | minute | hour)",
        "<number> (seconds | minutes | hours)",
        "half an hour",
        "an hour [and a half]",
        "(a quarter | three quarters) of an hour",
        "one hour and <number> minutes",
    ],
    "clock": [
        "<hour> [o'clock]",
        "<hour> (fifteen | thirty | forty five)",
        "half past <hour>",
        "[a] quarter (past | to) <hour>",
    ],
    "period": ["in the (morning | afternoon | evening)", "at night"],
    "hour": [*_ONE_TO_NINE, "ten", "eleven", "twelve"],
    "number": ["<digit>", *_TEENS, "(twenty | thirty | forty | fifty) [<digit>]", "sixty"],
    "digit": _ONE_TO_NINE,
    "level": ["<digit>", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"],
}
"""Times and lengths of time; numbers from one to sixty."""

_WORDS: Final[dict[str, list[str]]] = {
    "dish": ["pizza", "pasta", "tea", "egg", "laundry"],
    "task": [
        *("call my mother", "take my medicine", "water the plants", "take out the trash"),
        *("buy bread", "buy milk", "feed the cat", "go to bed"),
    ],
    "thing": ["keys", "key", "glasses", "phone", "wallet", "bag", "umbrella", "passport", "charger", "medicine", "car"],
    "place": [
        *("drawer", "table", "kitchen", "bedroom", "bathroom", "living room", "hall", "garage"),
        *("car", "cupboard", "shelf", "desk", "bag", "fridge", "sofa", "bed"),
    ],
    "person": ["sister", "brother", "mother", "father", "daughter", "son", "wife", "husband", "friend"],
    "name": ["anna", "maria", "julia", "sarah", "emma", "peter", "paul", "david", "thomas", "max", "tom", "lucy"],
    "weekday": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
}
"""Things, people and places of a household: what is remembered and asked for without a model."""


def command_grammar(language: str = "en") -> dict[str, list[str]]:
    """Return rules by name: alternatives in JSGF expansion syntax, the top rule is `command`.

    Every sentence of it is understood by the offline model; its words are in lower case and in CMU's pronouncing
    dictionary. Languages other than English have no rules: {}.
    """
    if language != "en":
        return {}
    return {rule: list(said) for rules in (_ORDERS, _NUMBERS, _WORDS) for rule, said in rules.items()}
