"""What the configuration file may say, a dataclass a section; the file read, shown, and judged value by value."""
