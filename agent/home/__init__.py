"""Home Assistant: its connection, what is in the house, what may not be done unasked, and what is watched for."""
