"""Checkpoints on disk: `tinker://<model_id>/weights/<name>` lives in DIR/<model_id>/weights/<name>, and sampler weights beside it.

A checkpoint appears whole or not at all: it is written to a sibling folder that is then renamed. What is in it is the policy's affair,
apart from `checkpoint.json`, which says what it belongs to.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from toolwise_engine.errors import server_error, user_error

Kind = Literal["weights", "sampler_weights"]
KINDS: tuple[Kind, ...] = ("weights", "sampler_weights")
_PATH = re.compile(r"tinker://([a-zA-Z0-9_:-]{1,128})/(weights|sampler_weights)/([a-zA-Z0-9_-]{1,128})")
_FACTS = "checkpoint.json"


@dataclass(frozen=True)
class Address:
    """Where a checkpoint is, as the wire names it."""

    model_id: str
    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"tinker://{self.model_id}/{self.kind}/{self.name}"


@dataclass(frozen=True)
class Facts:
    """What a checkpoint belongs to."""

    base_model: str
    policy_version: int
    optimizer: bool
    created: str
    lora_config: dict | None = None
    """As create_model was given it; absent in checkpoints of all weights, and in old ones."""


def parse_address(path: str, field: str = "path") -> Address:
    match = _PATH.fullmatch(path)
    if match is None:
        raise user_error(
            f'{field} is "{path[:200]}": expected tinker://<model_id>/weights/<name> or tinker://<model_id>/sampler_weights/<name>.'
        )
    model_id, kind, name = match.groups()
    return Address(model_id, kind, name)  # type: ignore[arg-type]


class CheckpointStore:
    """The folder of all checkpoints. One process uses it at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._mend()

    def folder(self, address: Address) -> Path:
        return self.root / address.model_id / address.kind / address.name

    def exists(self, address: Address) -> bool:
        return (self.folder(address) / _FACTS).is_file()

    def facts(self, address: Address) -> Facts:
        """404 where there is no such checkpoint."""
        try:
            return Facts(**json.loads((self.folder(address) / _FACTS).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise user_error(f"Checkpoint {address} does not exist.", 404) from None
        except (ValueError, TypeError):
            raise server_error(f"Checkpoint {address} is damaged: its {_FACTS} cannot be read.") from None

    def write(
        self,
        address: Address,
        write: Callable[[Path], None],
        base_model: str,
        policy_version: int,
        optimizer: bool,
        lora_config: dict | None = None,
    ) -> None:
        """Let `write` fill a new folder, then put it in the address's place; whatever was there stays until the new one is whole."""
        folder = self.folder(address)
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = folder.parent / f".{address.name}.{secrets.token_hex(4)}.new"
        draft.mkdir()
        try:
            write(draft)
            facts = Facts(base_model, policy_version, optimizer, datetime.now(timezone.utc).isoformat(timespec="seconds"), lora_config)
            with (draft / _FACTS).open("w", encoding="utf-8") as stream:
                json.dump(asdict(facts), stream)
                stream.flush()
                os.fsync(stream.fileno())
            self._replace(folder, draft)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def delete(self, address: Address) -> None:
        self.facts(address)
        folder = self.folder(address)
        grave = folder.parent / f".{address.name}.{secrets.token_hex(4)}.gone"
        folder.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)

    def models(self) -> list[str]:
        """Ids of models that have a checkpoint."""
        return sorted(path.name for path in self.root.iterdir() if path.is_dir() and self.list(path.name))

    def list(self, model_id: str) -> list[tuple[Address, Facts]]:
        """A model's checkpoints, the newest first."""
        found = []
        for kind in KINDS:
            parent = self.root / model_id / kind
            for path in sorted(parent.iterdir()) if parent.is_dir() else []:
                address = Address(model_id, kind, path.name)
                if not path.name.startswith(".") and self.exists(address):
                    found.append((address, self.facts(address)))
        return sorted(found, key=lambda entry: entry[1].created, reverse=True)

    def _replace(self, folder: Path, draft: Path) -> None:
        if not folder.exists():
            draft.rename(folder)
        else:
            old = folder.parent / f".{folder.name}.old"
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            draft.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        sync_folder(folder.parent)

    def _mend(self) -> None:
        """Clear what a killed process left: drafts, and an old checkpoint whose successor did not come into place."""
        for path in self.root.glob("*/*/.*"):
            if path.name.endswith(".old") and not (target := path.parent / path.name[1:-4]).exists():
                path.rename(target)
            else:
                shutil.rmtree(path, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
