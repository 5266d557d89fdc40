"""What is written down about what happens, and how it is read again."""
