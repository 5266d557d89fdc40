"""Commands that listen, speak and answer."""
