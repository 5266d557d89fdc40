"""The spoken commands as a grammar, so that a recognizer without a large language model can hear them."""

from typing import Final

from agent.tables import table

COMMAND: Final = "command"
"""The top rule."""


def command_grammar(language: str = "en") -> dict[str, list[str]]:
    """Return rules by name: alternatives in JSGF expansion syntax, the top rule is `command`.

    Every sentence of it is understood by the offline model; its words are in lower case and in CMU's pronouncing
    dictionary. Languages other than English have no rules: {}.
    """
    rules = table(__package__, "grammar.yaml") if language == "en" else {}
    return {rule: [*said] for rule, said in rules.items()}
