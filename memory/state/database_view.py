"""The state database to look at only, also while the service has it."""

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack

from memory.errors import StateUnreadable
from memory.state.database import Database


class DatabaseView(Database):
    """Reads what another process may be writing: no lock is taken, no schema is run, and every write fails."""

    def _open(self, schemas: Sequence[str]) -> None:
        with ExitStack() as held:
            try:
                if not self.path.exists():
                    raise StateUnreadable(f"nothing was kept yet: there is no {self.path}; `nakari run` makes it")
                connection = sqlite3.connect(
                    f"{self.path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5.0
                )
                held.callback(connection.close)
                connection.row_factory = sqlite3.Row
                connection.execute("SELECT 1 FROM sqlite_master")
            except sqlite3.Error as error:
                raise StateUnreadable(
                    f"the state database {self.path} cannot be read ({error}); `nakari doctor` looks into it"
                ) from error
            self._connection = connection
            self._held = held.pop_all()
