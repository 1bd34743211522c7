"""What each endpoint does: checks a request, keeps the books, and hands the work to the worker. Knows the wire, not HTTP.

Every method runs in the HTTP thread and is quick; what takes time goes to the worker, behind a promise.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from toolwise_engine import __version__, fields, operations, wire
from toolwise_engine.base_model import BaseModel
from toolwise_engine.checkpoints import Address, CheckpointStore, parse_address
from toolwise_engine.errors import user_error
from toolwise_engine.futures import Future, Futures
from toolwise_engine.listings import Listings
from toolwise_engine.losses import LOSSES
from toolwise_engine.request_log import RequestLog, digest_of
from toolwise_engine.sample_stream import STREAM_MS, SampleStream
from toolwise_engine.samplers import Samplers, Source
from toolwise_engine.sessions import Model, Session, Sessions
from toolwise_engine.worker import Operation, Sampling, Worker

EXTENSIONS = [
    *("full_fine_tune", "grad_clip_norm", "train_unembed", "frozen_unembed", "lora"),
    *("stop_token_ids", "entropy", "lockstep", "snapshots", "second_model", "stream"),
]
POLL_SECONDS = 40.0


@dataclass(frozen=True)
class Settings:
    """What the engine was started with. `kept_snapshots`: unsaved snapshots kept of each model."""

    models: dict[str, BaseModel]
    threads: int
    device: str = "cpu"
    session_timeout: float = 300.0
    poll_seconds: float = POLL_SECONDS
    kept_snapshots: int = 4


@dataclass(frozen=True)
class Work:
    """What the worker is to do for a request, and what follows when it ended, run or not."""

    run: Callable[[], object]
    after: Callable[[], None] | None = None


class Service:
    """The state of the HTTP thread, and one method an endpoint: body in, answer out."""

    def __init__(self, settings: Settings, store: CheckpointStore, futures: Futures, worker: Worker) -> None:
        self.settings = settings
        self.store = store
        self.futures = futures
        self.worker = worker
        self.sessions = Sessions(settings.session_timeout)
        self.samplers = Samplers()
        self.listings = Listings(self.sessions, self.samplers, store)
        self._reserved: set[Address] = set()
        """Checkpoints whose saving was asked for and has not ended."""

    # --- health, configuration -------------------------------------------------------------------------------------------------------

    def health(self) -> dict:
        return {"status": "ok"}

    def capabilities(self) -> dict:
        models = [
            {
                "model_name": base.name,
                "max_context_length": base.context,
                "weights_hash": base.weights_hash,
                "vocab_size": base.vocabulary,
                "parameters": base.parameters,
                "dtype": base.dtype,
            }
            for base in self.settings.models.values()
        ]
        toolwise = {
            "version": __version__,
            "extensions": EXTENSIONS,
            "losses": {name: list(keys) for name, keys in LOSSES.items()},
            "loss_reduction": "sum",
            "dtype": models[0]["dtype"],
            "device": self.settings.device,
            "threads": self.settings.threads,
        }
        return {"supported_models": models, "toolwise": toolwise}

    def client_config(self, body: dict, raw: bytes) -> dict:
        return {"pjwt_auth_enabled": False, "proto_write_fwdbwd": False, "proto_compress_fwdbwd": False, "use_pyqwest_transport": False}

    def client_dynamic_config(self, body: dict, raw: bytes) -> dict:
        return {"refresh_interval_sec": 3600, "sample_cancel_enabled": False}

    def telemetry(self, body: dict, raw: bytes) -> dict:
        return {"status": "accepted"}

    # --- sessions --------------------------------------------------------------------------------------------------------------------

    def create_session(self, body: dict, raw: bytes) -> dict:
        session = self.sessions.create()
        return {"type": "create_session", "session_id": session.id, "info_message": None, "warning_message": None, "error_message": None}

    def session_heartbeat(self, body: dict, raw: bytes) -> dict:
        self.sessions.touch(fields.get_identifier(body, "session_id"))
        return {"type": "session_heartbeat"}

    def expire_sessions(self) -> None:
        """Unload what silent clients left, and cancel what they asked for."""
        for session in self.sessions.expire():
            reason = f"its session {session.id} expired ({self.settings.session_timeout:g} s without a request)"
            self.samplers.remove_session(session.id)
            for model in session.models:
                self._close(model, reason)
            self.worker.submit(Operation("expire", None, partial(self._cancel_session, session, reason)))

    def _cancel_session(self, session: Session, reason: str) -> None:
        self.worker.cancel_samplings(lambda sampling: sampling.session_id == session.id, f"asample was cancelled: {reason}.")

    # --- models ----------------------------------------------------------------------------------------------------------------------

    def create_model(self, body: dict, raw: bytes) -> dict:
        session = self.sessions.touch(fields.get_identifier(body, "session_id"))
        key = fields.get_int(body, "model_seq_id", -1, -1, wire.MAX_SEQ_ID)
        digest = digest_of("create_model", raw)
        if key >= 0 and key in session.created_models:
            known, model, future = session.created_models[key]
            if known != digest:
                raise user_error(f"model_seq_id {key} was used for another create_model of this session.", 409)
            return self._created(model, future)
        base = self._base(fields.get_text(body, "base_model"))
        lora = body.get("lora_config") or {}
        if type(lora) is not dict:
            fields.refuse("lora_config", "an object", lora)
        rank = fields.get_int(lora, "rank", 0, 0, 65536, "lora_config.rank")
        seed = fields.get_int(lora, "seed", None, 0, 2**63 - 1, "lora_config.seed") if lora.get("seed") is not None else None
        flags = {name: fields.get_bool(lora, name, True, f"lora_config.{name}") for name in ("train_unembed", "train_attn", "train_mlp")}
        model = Model(
            f"model_{secrets.token_hex(8)}", session.id, base, **flags, rank=rank, seed=seed, user_metadata=body.get("user_metadata")
        )
        self.sessions.add_model(model)
        future = self._queue("create_model", model, Work(partial(operations.create, model)))
        if key >= 0:
            session.created_models[key] = (digest, model, future)
        return self._created(model, future)

    def _created(self, model: Model, future: Future) -> dict:
        return {
            "model_id": model.id,
            "base_model": model.base.name,
            "lora_config": model.lora_config,
            "status": "created",
            "request_id": future.id,
        }

    def get_info(self, body: dict, raw: bytes) -> dict:
        model = self.sessions.model(fields.get_identifier(body, "model_id"))
        return {
            "type": "get_info",
            "model_id": model.id,
            "model_name": model.base.name,
            "status": "created",
            "is_lora": model.rank > 0,
            "lora_rank": model.rank,
            "model_data": {
                "arch": model.base.architecture,
                "base_model": model.base.name,
                "model_name": model.base.name,
                "tokenizer_id": model.base.name,
                "lora_config": model.lora_config,
            },
        }

    def unload_model(self, body: dict, raw: bytes) -> dict:
        model = self.sessions.model(fields.get_identifier(body, "model_id"))
        future = self._close(model, "the model was unloaded")
        return {"request_id": future.id, "model_id": model.id}

    def _close(self, model: Model, reason: str) -> Future:
        if model.closed is None:
            model.closed = reason
            model.log = RequestLog()
        self.samplers.remove_model(model)
        return self._queue("unload_model", model, Work(partial(operations.unload, model, self.worker)), always=True)

    # --- training --------------------------------------------------------------------------------------------------------------------

    def forward_backward(self, body: dict, raw: bytes) -> dict:
        return self._train("forward_backward", "forward_backward_input", operations.forward_backward, body, raw)

    def forward(self, body: dict, raw: bytes) -> dict:
        return self._train("forward", "forward_input", operations.forward, body, raw)

    def _train(self, name: str, field: str, run: Callable, body: dict, raw: bytes) -> dict:
        def prepare(model: Model) -> Work:
            return Work(partial(run, model, wire.parse_train(body, field, model.base.limits)))

        return self._in_order(name, body, raw, prepare)

    def optim_step(self, body: dict, raw: bytes) -> dict:
        return self._in_order("optim_step", body, raw, lambda model: Work(partial(operations.optim_step, model, wire.parse_adam(body))))

    def save_weights(self, body: dict, raw: bytes) -> dict:
        def prepare(model: Model) -> Work:
            address = Address(model.id, "weights", fields.get_identifier(body, "path"))
            optimizer = fields.get_bool(body, "optimizer", True)
            return self._saving(model, address, body, optimizer)

        return self._in_order("save_weights", body, raw, prepare)

    def save_weights_for_sampler(self, body: dict, raw: bytes) -> dict:
        def prepare(model: Model) -> Work:
            if body.get("path") is not None:
                address = Address(model.id, "sampler_weights", fields.get_identifier(body, "path"))
                return self._saving(model, address, body, False)
            source = Source(model.base, model=model)
            sampler = self.samplers.create(model.session_id, source)
            return Work(partial(operations.publish, model, source, sampler.id, self.settings.kept_snapshots))

        return self._in_order("save_weights_for_sampler", body, raw, prepare)

    def _saving(self, model: Model, address: Address, body: dict, optimizer: bool) -> Work:
        refuse_ttl(body)
        overwrite = fields.get_bool(body, "overwrite", False)
        if address in self._reserved or (not overwrite and self.store.exists(address)):
            raise user_error(f"Checkpoint {address} exists already: choose another name, or send overwrite true.", 409)
        self._reserved.add(address)

        return Work(partial(operations.save, model, address, self.store, optimizer), partial(self._saved_by_worker, address))

    def _saved_by_worker(self, address: Address) -> None:
        with contextlib.suppress(RuntimeError):  # The HTTP loop is gone: the engine stops.
            self.futures.loop.call_soon_threadsafe(self._saved, address)

    def _saved(self, address: Address) -> None:
        self._reserved.discard(address)
        self.samplers.forget_source(str(address))

    def load_weights(self, body: dict, raw: bytes) -> dict:
        if body.get("session_id") is not None:
            return self._create_by_loading(body, raw)

        def prepare(model: Model) -> Work:
            address = parse_address(fields.get_text(body, "path"))
            self._must_exist(address)
            return Work(partial(operations.load, model, address, self.store, fields.get_bool(body, "optimizer", False)))

        return self._in_order("load_weights", body, raw, prepare)

    def _create_by_loading(self, body: dict, raw: bytes) -> dict:
        """A new model from a checkpoint, of the kind that was saved; its id follows from the session and model_seq_id."""
        session = self.sessions.touch(fields.get_identifier(body, "session_id"))
        key = fields.get_int(body, "model_seq_id", None, 0, wire.MAX_SEQ_ID)
        digest = digest_of("load_weights", raw)
        if key in session.created_models:
            known, _, future = session.created_models[key]
            if known != digest:
                raise user_error(f"model_seq_id {key} was used for another model of this session.", 409)
            return promise(future)
        address = parse_address(fields.get_text(body, "path"))
        facts = self.store.facts(address)
        name = fields.get_optional_text(body, "base_model") or facts.base_model
        if name != facts.base_model:
            raise user_error(f'base_model is "{name[:100]}": the checkpoint is of {facts.base_model}.')
        lora = facts.lora_config or {}
        flags = {flag: lora.get(flag, True) for flag in ("train_unembed", "train_attn", "train_mlp")}
        id = f"{session.id}:train:{key}"
        rank, seed = lora.get("rank", 0), lora.get("seed")
        model = Model(id, session.id, self._base(name), **flags, rank=rank, seed=seed, user_metadata=body.get("user_metadata"))
        self.sessions.add_model(model)
        self._queue("create_model", model, Work(partial(operations.create, model)))
        optimizer = fields.get_bool(body, "optimizer", False)
        future = self._queue("load_weights", model, Work(partial(operations.load, model, address, self.store, optimizer)))
        session.created_models[key] = (digest, model, future)
        return promise(future)

    def _in_order(self, name: str, body: dict, raw: bytes, prepare: Callable[[Model], Work]) -> dict:
        """Queue an operation of a model once; a repeated seq_id gets the promise of the first."""
        model = self.sessions.model(fields.get_identifier(body, "model_id"))
        seq_id = fields.get_int(body, "seq_id", -1, 0, wire.MAX_SEQ_ID)
        if seq_id < 0:
            return promise(self._queue(name, model, prepare(model)))
        digest = digest_of(name, raw)
        future = model.log.find_repeat(seq_id, digest)
        if future is None:
            future = self._queue(name, model, prepare(model))
            model.log.add(seq_id, digest, future)
        return promise(future)

    def _queue(self, name: str, model: Model, work: Work, always: bool = False) -> Future:
        future = self.futures.create()
        self.worker.submit(Operation(name, future, work.run, model, always, work.after))
        return future

    # --- sampling --------------------------------------------------------------------------------------------------------------------

    def create_sampling_session(self, body: dict, raw: bytes) -> dict:
        session = self.sessions.touch(fields.get_identifier(body, "session_id"))
        key = fields.get_int(body, "sampling_session_seq_id", -1, 0, wire.MAX_SEQ_ID)
        digest = digest_of("create_sampling_session", raw)
        if key >= 0 and key in session.created_samplers:
            known, sampler_id = session.created_samplers[key]
            if known != digest:
                raise user_error(f"sampling_session_seq_id {key} was used for another create_sampling_session of this session.", 409)
            return {"type": "create_sampling_session", "sampling_session_id": sampler_id}
        source = self._named_source(body, keep=False)
        sampler = self.samplers.create(session.id, source)
        self.worker.submit(Operation("create_sampling_session", None, source.ready))
        if key >= 0:
            session.created_samplers[key] = (digest, sampler.id)
        return {"type": "create_sampling_session", "sampling_session_id": sampler.id}

    def asample(self, body: dict, raw: bytes) -> dict:
        sampler_id = body.get("sampling_session_id")
        if sampler_id is not None:
            sampler = self.samplers.find(fields.get_identifier(body, "sampling_session_id"))
            self.sessions.touch(sampler.session_id)
            source, session_id = sampler.source, sampler.session_id
        else:
            source, session_id = self._named_source(body, keep=True), None
        request = wire.parse_sample(body, source.base.limits)
        future = self.futures.create()
        sampling = Sampling(future, request, source, session_id)
        if fields.get_bool(body, "stream", False):
            future.sampling = sampling
        self.worker.submit(sampling)
        return {**promise(future), "sample_sequence_ids": [f"{future.id}-{i}" for i in range(request.num_samples)]}

    def _named_source(self, body: dict, keep: bool) -> Source:
        name, path = fields.get_optional_text(body, "base_model"), fields.get_optional_text(body, "model_path")
        if (name is None) == (path is None):
            raise user_error(
                "Where to sample from is not clear: expected sampling_session_id, or exactly one of base_model and model_path."
            )
        if name is not None:
            base = self._base(name)
            load = partial(operations.load_snapshot, base, None)
            return self.samplers.shared(f"base:{name}", lambda: Source(base, load=load), keep)
        address = parse_address(path or "", "model_path")
        self._must_exist(address)
        return self.samplers.shared(str(address), lambda: self._checkpoint_source(address), keep)

    def _checkpoint_source(self, address: Address) -> Source:
        model = self.sessions.models.get(address.model_id)
        base = model.base if model is not None else self._base(self.store.facts(address).base_model)
        load = partial(operations.load_snapshot, base, self.store.folder(address))
        return Source(base, path=str(address), load=load)

    def get_sampler(self, sampler_id: str) -> dict:
        sampler = self.samplers.find(sampler_id)
        return {"sampler_id": sampler.id, "base_model": sampler.source.base.name, "model_path": sampler.source.path}

    def delete_sampler(self, sampler_id: str) -> dict:
        """Our extension: frees a snapshot at once. Requests that run go on."""
        sampler = self.samplers.remove(sampler_id)
        source = sampler.source
        if source.model is not None:
            self.worker.submit(Operation("delete_sampler", None, partial(operations.release, source.model, source)))
        return {"type": "delete_sampler", "sampler_id": sampler_id}

    # --- results ---------------------------------------------------------------------------------------------------------------------

    async def retrieve_future(self, body: dict) -> bytes:
        future = self.futures.find(fields.get_text(body, "request_id"))
        result = await self.futures.wait(future, self.settings.poll_seconds)
        if result is None:
            return wire.encode({"type": "try_again", "request_id": future.id, "queue_state": "active"})
        return result

    def stream_future(self, body: dict) -> SampleStream:
        """Our extension: the tokens of an asample as they are made."""
        future = self.futures.find(fields.get_text(body, "request_id"))
        every = fields.get_number(body, "every_ms", STREAM_MS, 1.0, 10_000.0, "every_ms")
        return SampleStream(self.futures, self.worker, future, every / 1000)

    # --- checkpoints -----------------------------------------------------------------------------------------------------------------

    def weights_info(self, body: dict, raw: bytes) -> dict:
        return self.listings.weights_info(body)

    async def delete_checkpoint(self, model_id: str, kind: str, name: str) -> dict:
        address = parse_address(f"tinker://{model_id}/{kind}/{name}")
        if address in self._reserved:
            raise user_error(f"Checkpoint {address} is being saved: delete it when that is done.", 409)
        self.samplers.forget_source(str(address))
        await asyncio.to_thread(self.store.delete, address)
        return {"type": "delete_checkpoint", "path": str(address)}

    # --- help ------------------------------------------------------------------------------------------------------------------------

    def _base(self, name: str) -> BaseModel:
        base = self.settings.models.get(name)
        if base is None:
            raise user_error(f'base_model is "{name[:100]}": this engine serves {", ".join(self.settings.models)}.')
        return base

    def _must_exist(self, address: Address) -> None:
        if address not in self._reserved and not self.store.exists(address):
            raise user_error(f"Checkpoint {address} does not exist.", 404)


def promise(future: Future) -> dict:
    return {"request_id": future.id, "future_id": future.id, "status": "pending"}


def refuse_ttl(body: dict) -> None:
    if body.get("ttl_seconds") is not None:
        raise user_error("ttl_seconds is not offered by this engine: checkpoints stay until they are deleted.")
