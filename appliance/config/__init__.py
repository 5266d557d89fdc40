"""What the configuration file may say, a class a section; the file read, shown, and judged value by value."""
