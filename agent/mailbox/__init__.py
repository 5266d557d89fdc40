"""The mailbox: a durable queue of events, by priority then arrival, with one event in hand at a time."""

from agent.mailbox.economy import Allowance
from agent.mailbox.mail import CHILDREN, MAX_ATTEMPTS, PERSON, EventBox, Lease, MailboxRecord, State, Wake
from agent.mailbox.mailbox import SCHEMA, ArrivalObserver, ChangeObserver, Mailbox
from agent.time.clock_steps import Wait, waiting_by

__all__ = [
    "CHILDREN",
    "MAX_ATTEMPTS",
    "PERSON",
    "SCHEMA",
    "Allowance",
    "ArrivalObserver",
    "ChangeObserver",
    "EventBox",
    "Lease",
    "Mailbox",
    "MailboxRecord",
    "State",
    "Wait",
    "Wake",
    "waiting_by",
]
