"""A log that cannot be written takes nothing down with it."""

import sys

from toolwise_engine.worker import log_error


class FullDisk:
    def write(self, _text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_an_error_that_cannot_be_logged_is_no_second_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", FullDisk())
    log_error(ValueError("x"), "save_weights")
