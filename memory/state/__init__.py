"""The state database: journal, tiers, recall, retention, settings of owners."""
