"""The tools there are: found in files, told to a model or found by it, and who may use them."""
