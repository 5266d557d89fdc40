"""The words of a sentence into what it asks for: one wish or several, and what is wanted of something that rings."""
