"""How a machine joins a household: invitation, key, login, the server's users."""
