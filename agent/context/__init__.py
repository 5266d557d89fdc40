"""The context of a model call: a prefix that never changes within an epoch, and the event as an XML block behind it."""
