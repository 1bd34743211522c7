"""A checkpoint is whole or absent, and the old one stays until the new one is in place."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from toolwise_engine import fields
from toolwise_engine.checkpoints import Address, CheckpointStore, parse_address
from toolwise_engine.errors import EngineError, sentence_for

PLACE = Address("model_1", "weights", "a")


def write_text(text: str):
    return lambda folder: (folder / "data").write_text(text)


def read(store: CheckpointStore) -> str:
    return (store.folder(PLACE) / "data").read_text()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_written_is_listed_with_its_facts(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "new" / "folder")
    store.write(PLACE, write_text("1"), "tiny", 3, True)
    [(address, facts)] = store.list("model_1")
    assert (address, facts.base_model, facts.policy_version, facts.optimizer) == (PLACE, "tiny", 3, True)
    assert store.models() == ["model_1"]
    assert CheckpointStore(store.root).facts(PLACE) == facts


def test_a_name_ends_where_it_ends() -> None:
    parse_address("tinker://model_1/weights/a")
    for path in ("tinker://model_1/weights/a\n", "tinker://model_1\n/weights/a", "tinker://model_1/weights/..", "tinker://../weights/a"):
        with pytest.raises(EngineError, match="expected tinker"):
            parse_address(path)
    with pytest.raises(EngineError, match="expected letters"):
        fields.get_identifier({"path": "a\n"}, "path")


def test_a_failed_write_leaves_the_old_checkpoint_and_nothing_else(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.write(PLACE, write_text("old"), "tiny", 1, False)

    def disk_full(folder: Path) -> None:
        (folder / "data").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError) as caught:
        store.write(PLACE, disk_full, "tiny", 2, False)
    assert sentence_for(caught.value, "save_weights") == (
        "server",
        "The disk is full: save_weights did not finish, and nothing that was saved before it has changed.",
    )
    assert read(store) == "old" and store.facts(PLACE).policy_version == 1
    assert names(tmp_path / "model_1" / "weights") == ["a"]


def test_a_full_disk_is_recognised_when_safetensors_tells_it() -> None:
    error = RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")
    assert sentence_for(error, "save_weights")[1].startswith("The disk is full")


def test_a_new_checkpoint_replaces_the_old_one(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.write(PLACE, write_text("old"), "tiny", 1, False)
    store.write(PLACE, write_text("new"), "tiny", 2, False)
    assert read(store) == "new"
    assert names(tmp_path / "model_1" / "weights") == ["a"]


def test_a_process_killed_between_two_renames_loses_nothing(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.write(PLACE, write_text("old"), "tiny", 1, False)
    folder = store.folder(PLACE)
    folder.rename(folder.parent / ".a.old")
    (folder.parent / ".a.0123.new").mkdir()
    (folder.parent / "..a.0123.new.45").mkdir()
    assert read(CheckpointStore(tmp_path)) == "old"
    assert names(folder.parent) == ["a"]


def test_a_deleted_checkpoint_is_gone(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.write(PLACE, write_text("1"), "tiny", 1, False)
    store.delete(PLACE)
    assert store.list("model_1") == [] and names(tmp_path / "model_1" / "weights") == []
    with pytest.raises(EngineError) as caught:
        store.delete(PLACE)
    assert (caught.value.status, caught.value.message) == (404, "Checkpoint tinker://model_1/weights/a does not exist.")


def test_a_damaged_checkpoint_is_called_so(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.write(PLACE, write_text("1"), "tiny", 1, False)
    (store.folder(PLACE) / "checkpoint.json").write_text("{")
    with pytest.raises(EngineError, match="is damaged"):
        store.facts(PLACE)


@pytest.mark.parametrize(
    "path",
    [
        "x",
        "tinker://m/weights/../../etc",
        "tinker://../weights/a",
        "tinker://m/weights/.a",
        "tinker://m/other/a",
        "tinker://m/weights/a/b",
        "tinker://m/weights/",
    ],
)
def test_a_path_cannot_leave_the_folder(path: str) -> None:
    with pytest.raises(EngineError, match="expected tinker://<model_id>/weights/<name>"):
        parse_address(path)


def test_a_path_reads_back_as_it_is_written() -> None:
    assert parse_address(str(PLACE)) == PLACE
