"""The agent: takes one event at a time out of the mailbox, through a ReAct loop that never ends."""
