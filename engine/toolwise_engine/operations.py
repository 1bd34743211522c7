"""What the worker does for each training request: the calls on a policy, and the results as the wire names them. Worker thread only."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toolwise_engine.base_model import BaseModel
from toolwise_engine.checkpoints import Address, CheckpointStore
from toolwise_engine.errors import user_error
from toolwise_engine.policy import AdamParams, Policy
from toolwise_engine.samplers import Source
from toolwise_engine.sessions import Model
from toolwise_engine.snapshot import Snapshot
from toolwise_engine.wire import TrainRequest
from toolwise_engine.worker import Worker


def create(model: Model) -> dict:
    if model.closed is not None:
        raise user_error(f"create_model did not run: {model.closed}.")
    try:
        model.policy = Policy.create(
            model.base.folder,
            model.base.dtype,
            device=model.base.device,
            train_unembed=model.train_unembed,
            train_attn=model.train_attn,
            train_mlp=model.train_mlp,
            rank=model.rank,
            seed=model.seed or 0,
        )
    except Exception as error:
        model.failed = str(error).strip()[:300] or type(error).__name__
        raise
    return {"type": "create_model", "model_id": model.id, "base_model": model.base.name, "lora_config": model.lora_config}


def forward(model: Model, request: TrainRequest) -> dict:
    return train_result(policy_of(model).forward(request.data, request.loss_fn), {}, "forward")


def forward_backward(model: Model, request: TrainRequest) -> dict:
    logprobs, metrics = policy_of(model).forward_backward(request.data, request.loss_fn, request.config)
    return train_result(logprobs, metrics, "forward_backward")


def optim_step(model: Model, adam: AdamParams) -> dict:
    policy = policy_of(model)
    metrics = policy.optim_step(adam)
    model.changed = True
    return {"type": "optim_step", "metrics": metrics, "policy_version": policy.version}


def save(model: Model, address: Address, store: CheckpointStore, optimizer: bool) -> dict:
    """save_weights, and save_weights_for_sampler with a name (then without optimizer)."""
    policy = policy_of(model)
    store.write(
        address,
        lambda folder: policy.save(folder, optimizer=optimizer),
        model.base.name,
        policy.version,
        optimizer,
        model.lora_config if model.rank else None,
    )
    kind = "save_weights" if address.kind == "weights" else "save_weights_for_sampler"
    result: dict = {"type": kind, "path": str(address), "policy_version": policy.version}
    if kind == "save_weights_for_sampler":
        result["sampling_session_id"] = None
    return result


def publish(model: Model, source: Source, sampler_id: str, kept: int) -> dict:
    """A snapshot in memory for a sampling session; of a model the newest `kept` that differ stay."""
    if model.changed or not model.published:
        source.snapshot = policy_of(model).snapshot()
        model.changed = False
    else:
        source.snapshot = model.published[-1].snapshot
    version = source.snapshot.version
    model.published.append(source)
    while len({id(entry.snapshot) for entry in model.published}) > kept:
        old = model.published.pop(0)
        old.drop(
            f"This sampling session holds policy version {old.snapshot.version}, which is no longer kept: the newest {kept} of a model are."
        )
    return {"type": "save_weights_for_sampler", "path": None, "sampling_session_id": sampler_id, "policy_version": version}


def load(model: Model, address: Address, store: CheckpointStore, optimizer: bool) -> dict:
    facts = store.facts(address)
    if optimizer and not facts.optimizer:
        raise user_error(f"Checkpoint {address} has no optimizer state: load it with optimizer false.")
    policy = policy_of(model)
    policy.load(store.folder(address), optimizer=optimizer)
    model.changed = True
    return {"type": "load_weights", "path": str(address), "policy_version": policy.version}


def unload(model: Model, worker: Worker) -> dict:
    reason = model.closed or "the model was unloaded"
    worker.cancel_samplings(lambda sampling: sampling.source.model is model, f"asample was cancelled: {reason}.")
    model.policy = None
    for source in model.published:
        source.drop(f"This sampling session is closed: {reason}.")
    model.published.clear()
    return {"type": "unload_model", "model_id": model.id, "status": "unloaded"}


def release(model: Model, source: Source) -> None:
    """Free a published snapshot that no one will ask for again."""
    if source in model.published:
        model.published.remove(source)
        model.changed = model.changed or not model.published
    source.drop("This sampling session was deleted.")


def load_snapshot(base: BaseModel, checkpoint: Path | None) -> Snapshot:
    return Snapshot.load(base.folder, base.dtype, checkpoint, base.device)


def policy_of(model: Model) -> Policy:
    if model.policy is None:
        raise user_error(f"Model {model.id} is not loaded.")
    return model.policy


def train_result(logprobs: list[np.ndarray], metrics: dict, kind: str) -> dict:
    outputs = [
        {"logprobs": {"data": np.ascontiguousarray(values, dtype=np.float32), "dtype": "float32", "shape": [len(values)]}}
        for values in logprobs
    ]
    return {"type": kind, "loss_fn_output_type": "scalar", "loss_fn_outputs": outputs, "metrics": metrics}
