"""The life of one event in the loop: opened, thought about, acted on, closed; or stopped on the way."""
