"""The mailbox: a durable queue of events, by priority then arrival, with one event in hand at a time."""

from agent.mailbox.economy import Allowance as Allowance
from agent.mailbox.mail import CHILDREN as CHILDREN
from agent.mailbox.mail import MAX_ATTEMPTS as MAX_ATTEMPTS
from agent.mailbox.mail import PERSON as PERSON
from agent.mailbox.mail import EventBox as EventBox
from agent.mailbox.mail import Lease as Lease
from agent.mailbox.mail import MailboxRecord as MailboxRecord
from agent.mailbox.mail import State as State
from agent.mailbox.mail import Wake as Wake
from agent.mailbox.mailbox import SCHEMA as SCHEMA
from agent.mailbox.mailbox import Mailbox as Mailbox
from agent.time.clock_steps import Wait as Wait
from agent.time.clock_steps import waiting_by as waiting_by
