"""The ears, put together: microphone, recognizers and their choice, and the way into the mailbox."""
