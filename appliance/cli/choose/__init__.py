"""Commands that set something: the configuration, models, owners, tokens."""
