"""What models write into their text: thinking, tool calls in many notations, and tools told in the prompt.

Nothing that a model leaks is speech. Where to look, and where a new leak is a line in a table:

| what | where |
|---|---|
| marks, tags and labels: of thinking, of calls, of turns, of the prompt said after | `marks.py`, tables alone |
| special tokens that are in none, and what stands before a call of Python's: by their form | `marks.py` |
| what a mark means where it stands, or that people are told of it; what is no word | `reader.py`, `said.py` |
| a call: its notation, name and arguments; nearly JSON | `calls.py`, `heads.py`, `bodies.py`, `mending.py` |
| the notations that are none of tags or JSON: ReAct's labels, an XML element | `react.py`, `elements.py` |
| a stretch of thinking, closed or not | `thinking.py` |
| stage directions, by tables of acts and moods | `directions.py` |
| a server's error in place of an answer | `complains` in `agent.model.faults` |
| the same for the text within a reply | `ReplyText` in `reader.py` |
| what is learnt of one model; tools told in text | `dialect.py` |
"""
