"""Everything she has to do: durable, by priority then arrival, one event in hand at a time."""

from agent.mailbox.mail import CHILDREN, MAX_ATTEMPTS, PERSON, Filed, InHand, State, Wake
from agent.mailbox.mailbox import SCHEMA, Mailbox, Wait, waiting_by

__all__ = [
    "CHILDREN",
    "MAX_ATTEMPTS",
    "PERSON",
    "SCHEMA",
    "Filed",
    "InHand",
    "Mailbox",
    "State",
    "Wait",
    "Wake",
    "waiting_by",
]
