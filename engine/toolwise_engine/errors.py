"""What can go wrong in the engine, by who is to blame. Every message is one sentence that a person can act on."""

from __future__ import annotations

import errno
from typing import Literal

Category = Literal["user", "server"]


class EngineError(Exception):
    """A request that is wrong (`user`) or that the engine failed to serve (`server`).

    `status` is the HTTP status where the request is refused at once; one that fails later, in its turn, is told by its category alone.
    """

    def __init__(self, category: Category, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.category: Category = category
        self.message = message
        self.status = status if status is not None else (400 if category == "user" else 500)


def user_error(message: str, status: int = 400) -> EngineError:
    """The caller's mistake."""
    return EngineError("user", message, status)


def server_error(message: str) -> EngineError:
    """The engine's failure."""
    return EngineError("server", message)


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on a CPU or a GPU."""
    if isinstance(error, MemoryError) or type(error).__name__ in ("OutOfMemoryError", "AcceleratorOutOfMemoryError"):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and ("can't allocate memory" in text or "out of memory" in text or "not enough memory" in text)


def disk_full(error: BaseException) -> bool:
    """Whether an exception says that the disk, or a quota of it, is full."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return True
    return "No space left on device" in str(error) or "os error 28" in str(error)


def sentence_for(error: BaseException, what: str) -> tuple[Category, str]:
    """Category and sentence of an exception met while doing `what` (for example `forward_backward`)."""
    if isinstance(error, EngineError):
        return error.category, error.message
    if out_of_memory(error):
        return "server", f"The engine ran out of memory in {what}: send fewer or shorter sequences, or free memory on this machine."
    if disk_full(error):
        return "server", f"The disk is full: {what} did not finish, and nothing that was saved before it has changed."
    return "server", f"The engine failed in {what}: {type(error).__name__}: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """The first line of an exception's text, at most 300 characters."""
    text = str(error).strip()
    return (text.splitlines()[0] if text else "no message")[:300]
