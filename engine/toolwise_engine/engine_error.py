"""The one exception the engine raises on purpose. Says who is to blame, so that the server can answer for it."""

from __future__ import annotations

from typing import Literal

Category = Literal["user", "server"]


class EngineError(Exception):
    """A failed operation. `category` is "user" for a request that cannot be right, "server" for a fault of the engine."""

    def __init__(self, message: str, category: Category = "user") -> None:
        super().__init__(message)
        self.message = message
        self.category: Category = category
