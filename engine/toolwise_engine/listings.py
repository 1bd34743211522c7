"""What there is, for who asks: runs, checkpoints and sessions in pages. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from toolwise_engine import fields
from toolwise_engine.checkpoints import Address, CheckpointStore, Facts, parse_address
from toolwise_engine.errors import user_error
from toolwise_engine.samplers import Samplers
from toolwise_engine.sessions import Sessions


class Listings:
    """One method an endpoint, as in `service.py`."""

    def __init__(self, sessions: Sessions, samplers: Samplers, store: CheckpointStore) -> None:
        self.sessions = sessions
        self.samplers = samplers
        self.store = store

    def weights_info(self, body: dict) -> dict:
        facts = self.store.facts(parse_address(fields.get_text(body, "tinker_path"), "tinker_path"))
        return {"base_model": facts.base_model, **lora_facts(facts.lora_config), "policy_version": facts.policy_version}

    def training_runs(self, query: Mapping[str, str]) -> dict:
        ids, cursor = page_of(list(dict.fromkeys([*self.sessions.models, *self.store.models()])), query, 100)
        return {"training_runs": [self.training_run(id) for id in ids], "cursor": cursor}

    def all_checkpoints(self, query: Mapping[str, str]) -> dict:
        """Of every model, the newest first."""
        entries = [entry for id in self.store.models() for entry in self.store.list(id)]
        page, cursor = page_of(sorted(entries, key=lambda entry: entry[1].created, reverse=True), query, 100)
        return {"checkpoints": [checkpoint_entry(entry) for entry in page], "cursor": cursor}

    def list_sessions(self, query: Mapping[str, str]) -> dict:
        page, cursor = page_of(self.sessions.ids(), query, 20)
        return {"sessions": page, "cursor": cursor}

    def session(self, session_id: str) -> dict:
        session = self.sessions.find(session_id)
        return {"training_run_ids": [model.id for model in session.models], "sampler_ids": self.samplers.of_session(session_id)}

    def training_run(self, model_id: str) -> dict:
        fields.get_identifier({"training_run_id": model_id}, "training_run_id")
        model, saved = self.sessions.models.get(model_id), self.store.list(model_id)
        if model is None and not saved:
            raise user_error(f"Training run {model_id} is not known: neither a model of this engine nor a checkpoint.", 404)
        newest = {kind: next((entry for entry in saved if entry[0].kind == kind), None) for kind in ("weights", "sampler_weights")}
        return {
            "training_run_id": model_id,
            "base_model": model.base.name if model is not None else saved[0][1].base_model,
            "model_owner": "local",
            **lora_facts(model.lora_config if model is not None else saved[0][1].lora_config),
            "corrupted": False,
            "last_request_time": model.last_request.isoformat() if model is not None else saved[0][1].created,
            "last_checkpoint": checkpoint_entry(newest["weights"]),
            "last_sampler_checkpoint": checkpoint_entry(newest["sampler_weights"]),
            "user_metadata": model.user_metadata if model is not None else None,
        }

    def checkpoints(self, model_id: str) -> dict:
        fields.get_identifier({"training_run_id": model_id}, "training_run_id")
        return {"checkpoints": [checkpoint_entry(entry) for entry in self.store.list(model_id)]}


def lora_facts(config: dict | None) -> dict:
    """What the wire says of a model or a checkpoint by its lora_config; without one all weights are trained."""
    rank = config["rank"] if config else 0
    flags = {name: config[name] if config else None for name in ("train_unembed", "train_mlp", "train_attn")}
    return {"is_lora": rank > 0, "lora_rank": rank or None, **flags}


def page_of(entries: list, query: Mapping[str, str], default: int) -> tuple[list, dict]:
    """The entries that `limit` and `offset` ask for, and the wire's cursor."""
    numbers = {}
    for name, otherwise in (("limit", default), ("offset", 0)):
        text = query.get(name, str(otherwise))
        if not text.isdecimal() or len(text) > 9:
            fields.refuse(name, "a whole number of at least 0", text)
        numbers[name] = int(text)
    offset, limit = numbers["offset"], numbers["limit"]
    return entries[offset : offset + limit], {"offset": offset, "limit": limit, "total_count": len(entries)}


def checkpoint_entry(entry: tuple[Address, Facts] | None) -> dict | None:
    if entry is None:
        return None
    address, facts = entry
    return {
        "checkpoint_id": f"{address.kind}/{address.name}",
        "checkpoint_type": "training" if address.kind == "weights" else "sampler",
        "time": facts.created,
        "tinker_path": str(address),
        "policy_version": facts.policy_version,
        "optimizer": facts.optimizer,
    }
