"""The share of memory: bounded on both sides, and one eighth between."""

import pytest

from toolwise_engine import memory

GIB = 1 << 30


@pytest.mark.parametrize(("total", "share"), [(1 * GIB, 256 << 20), (8 * GIB, 1 * GIB), (24 * GIB, 2 * GIB), (512 * GIB, 2 * GIB)])
def test_share(monkeypatch, total, share):
    monkeypatch.setattr(memory, "total_memory", lambda: total)
    assert memory.share() == share


def test_this_machine_has_memory():
    assert memory.total_memory() >= memory.LEAST
