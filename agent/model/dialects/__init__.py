"""What models write into their text: thinking, tool calls in many notations, and tools told in the prompt."""
