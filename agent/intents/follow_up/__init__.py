"""What words mean after those before them: and another for ten; no, make that fifteen; plus thirty; put it back."""
