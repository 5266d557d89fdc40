"""What people and programs give beside words: images, shown to a model that sees, and documents, read as text."""
