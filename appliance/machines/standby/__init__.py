"""The standby: who leads a household, and who takes over."""
