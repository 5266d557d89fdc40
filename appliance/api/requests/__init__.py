"""What may be asked, a family a file: its models, who answers, and the addresses."""
