"""The mind of ears on other machines: a room for each, their turns in, sentences out."""
