"""Who the box knows: the household, its members, visitors with graphs of their own; and their erasure."""
