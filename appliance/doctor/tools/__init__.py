"""What the doctor looks at of what the agent may do: tools, files, code, web, Home Assistant."""
