"""What the agent can do: one file a family of tools, each tool a function."""
