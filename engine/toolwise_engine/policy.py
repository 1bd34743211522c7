"""One trainable model: float32 master weights, a compute copy, accumulated gradients, AdamW. Samples nothing; a snapshot of it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from toolwise_engine.checkpoint import load_moments, load_weights, save_checkpoint
from toolwise_engine.datum import AdamParams, Datum
from toolwise_engine.errors import user_error
from toolwise_engine.export import write_model_folder
from toolwise_engine.lora import Lora
from toolwise_engine.losses import NEEDS_ADVANTAGES, check_loss, loss_and_slope
from toolwise_engine.memory import share
from toolwise_engine.network import Network, load_network
from toolwise_engine.optimizer import AdamW
from toolwise_engine.scoring import score, score_with_gradient
from toolwise_engine.snapshot import Snapshot, load_tokenizer, lora_of, misfit, put, refuse_other_kind
from toolwise_engine.stream import build_stream, split_by_size

__all__ = ["AdamParams", "Datum", "Policy"]

TRAINING_BYTES = 12
"""Of a trained weight, not allocated yet when a policy is made: its gradient and AdamW's two moments, float32."""


class Policy:
    """`version` counts optimizer steps and travels with checkpoints. `tokens_seen` counts what went through the layers."""

    def __init__(self, folder: Path, network: Network, masters: dict[str, Tensor], frozen: frozenset[str]) -> None:
        self._folder = folder
        self._network = network
        self._masters = masters
        self._trained = {name: tensor for name, tensor in masters.items() if network.part(name) not in frozen}
        if not self._trained:
            raise user_error("nothing to train: every part of the model is frozen")
        for name in self._trained:
            network.weights[name].requires_grad_(True)
        self._optimizer = AdamW(self._trained)
        self._gradients: dict[str, Tensor] | None = None
        self._tokenizer = load_tokenizer(folder)
        self._snapshot: Snapshot | None = None
        self._activation_bytes = share(network.device, TRAINING_BYTES * sum(t.numel() for t in self._trained.values()))
        self.version = 0
        self.tokens_seen = 0

    @classmethod
    def create(
        cls,
        folder: Path,
        dtype: str,
        train_unembed: bool = True,
        train_attn: bool = True,
        train_mlp: bool = True,
        rank: int = 0,
        seed: int = 0,
        device: str = "cpu",
    ) -> Policy:
        """Loads a Hugging Face folder; dtype is "bfloat16" or "float32". Rank 0 trains the weights (norms in any case), else adapters."""
        parts = {"unembed": train_unembed, "attn": train_attn, "mlp": train_mlp}
        lora = Lora(rank, seed, **parts) if rank > 0 else None
        network, masters = load_network(Path(folder), getattr(torch, dtype), lora, device)
        return cls(Path(folder), network, masters, frozenset(part for part, trained in parts.items() if not trained))

    def forward(self, data: list[Datum], loss_fn: str = "cross_entropy") -> list[np.ndarray]:
        """Log-probs of the targets at temperature 1, float32; 0.0 at positions of weight 0, which are not computed."""
        check_loss(loss_fn, {})
        self._check(data)
        outputs = [np.zeros(len(d.tokens), dtype=np.float32) for d in data]
        with torch.no_grad():
            for batch in self._batches(data, keeps=1):
                hidden, places, targets = self._hidden([data[i] for i in batch])
                self._spread(score(self._network, hidden, targets), places, [outputs[i] for i in batch])
        return outputs

    def forward_backward(
        self, data: list[Datum], loss_fn: str, config: dict[str, float] | None = None
    ) -> tuple[list[np.ndarray], dict[str, float]]:
        """Adds the gradient of the loss summed over all tokens to what is accumulated. Returns log-probs as `forward` does, and metrics."""
        config = config or {}
        check_loss(loss_fn, config)
        self._check(data)
        if loss_fn in NEEDS_ADVANTAGES:
            for i, d in enumerate(data):
                if d.advantages is None or d.logprobs is None:
                    raise user_error(f"datum {i}: {loss_fn} needs logprobs and advantages")
        outputs = [np.zeros(len(d.tokens), dtype=np.float32) for d in data]
        totals = {"loss:sum": 0.0, "tokens:sum": 0.0}
        try:
            for batch in self._batches(data, keeps=self._network.shape.layers):
                self._backward([data[i] for i in batch], [outputs[i] for i in batch], loss_fn, config, totals)
        except BaseException:
            self._clear()
            raise
        return outputs, totals

    def optim_step(self, adam: AdamParams) -> dict[str, float]:
        """One AdamW update with the accumulated gradient, which is cleared, also where the update is refused."""
        if self._gradients is None:
            raise user_error("optim_step without a gradient: call forward_backward first")
        try:
            norm = self._optimizer.step(self._gradients, adam)
        finally:
            self._clear()
        put(self._trained, {name: self._network.weights[name].detach() for name in self._trained})
        self.version += 1
        self._snapshot = None
        return {"grad_norm": norm, "learning_rate": adam.learning_rate}

    def snapshot(self) -> Snapshot:
        """A frozen copy for sampling; the same one until the weights change."""
        if self._snapshot is None:
            self._snapshot = Snapshot(self._network.copy().packed(), self.version, self._tokenizer)
        return self._snapshot

    def save(self, folder: Path, optimizer: bool) -> None:
        """Writes a checkpoint folder, atomically: weights in float32 and, if asked, the optimizer's state."""
        lora = self._network.lora
        state = {"version": self.version, **({"lora": lora.state()} if lora else {})}
        save_checkpoint(Path(folder), self._masters, self._optimizer.state() if optimizer else None, state)

    def load(self, folder: Path, optimizer: bool) -> None:
        """Takes weights and version from a checkpoint; the optimizer's state too if asked, else it starts anew."""
        masters, state = load_weights(Path(folder))
        refuse_other_kind(lora_of(state), self._network.lora)
        misfit(masters, self._masters)
        moments = load_moments(Path(folder), state) if optimizer else (0, {}, {})
        put(masters, {n: t.detach() for n, t in self._masters.items()})
        put(self._masters, {n: self._network.weights[n].detach() for n in self._masters})
        self._optimizer.restore(*moments)
        self._clear()
        self._snapshot = None
        self.version = state["version"]

    def export(self, folder: Path) -> None:
        """Writes a plain Hugging Face folder in compute precision: the source folder's files with these weights, adapters merged in."""
        write_model_folder(self._folder, Path(folder), self._network)

    # The passes

    def _check(self, data: list[Datum]) -> None:
        if not data:
            raise user_error("no data")
        limit = self._network.shape.max_context
        for i, d in enumerate(data):
            d.check(i, self._network.shape.vocabulary)
            if len(d.tokens) > limit:
                raise user_error(f"datum {i} has {len(d.tokens)} tokens; the model takes {limit}")

    def _batches(self, data: list[Datum], keeps: int) -> list[list[int]]:
        """Micro-batches by the memory of a pass that keeps the activations of `keeps` layers."""
        s = self._network.shape
        width = 10 * s.hidden + 3 * (s.heads + 2 * s.key_heads) * s.head_dim + 5 * s.feed_forward
        per_token = width * self._network.dtype.itemsize * keeps
        return split_by_size([d.tokens for d in data], max(256, self._activation_bytes // per_token))

    def _hidden(self, data: list[Datum]) -> tuple[Tensor, list[np.ndarray], Tensor]:
        """Final hidden states before the targets that count, all data after one another; their positions in each datum; the targets."""
        stream = build_stream([d.tokens for d in data], self._network.dtype, self._network.device)
        self.tokens_seen += len(stream.ids)
        places = [np.arange(len(d.tokens)) if d.weights is None else np.flatnonzero(np.asarray(d.weights)) for d in data]
        rows = torch.cat([source[torch.from_numpy(at)] for source, at in zip(stream.sources, places, strict=True)])
        targets = torch.from_numpy(np.concatenate([np.asarray(d.targets, dtype=np.int64)[at] for d, at in zip(data, places, strict=True)]))
        hidden = self._network.hidden(stream.ids, stream.positions, stream)
        return hidden.index_select(0, rows.to(hidden.device)), places, targets.to(hidden.device)

    def _spread(self, logprobs: Tensor, places: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        begin, values = 0, logprobs.cpu().numpy()
        for at, output in zip(places, outputs, strict=True):
            output[at] = values[begin : begin + len(at)]
            begin += len(at)

    def _backward(
        self, data: list[Datum], outputs: list[np.ndarray], loss_fn: str, config: dict[str, float], totals: dict[str, float]
    ) -> None:
        network = self._network
        hidden, places, targets = self._hidden(data)

        def column(name: str, default: float) -> Tensor:
            lists = [getattr(d, name) for d in data]
            rows = [
                np.full(len(at), default) if v is None else np.asarray(v, dtype=np.float32)[at] for v, at in zip(lists, places, strict=True)
            ]
            return torch.from_numpy(np.concatenate(rows).astype(np.float32)).to(network.device)

        weights, old, advantages = column("weights", 1.0), column("logprobs", 0.0), column("advantages", 0.0)

        def slope(logprobs: Tensor, rows: slice) -> Tensor:
            loss, steep = loss_and_slope(loss_fn, config, logprobs, weights[rows], old[rows], advantages[rows])
            totals["loss:sum"] += float(loss.double().sum())
            return steep

        gradients = self._accumulated()
        if not len(targets):
            return
        logprobs, pull = score_with_gradient(network, hidden.detach(), targets, slope, gradients)
        totals["tokens:sum"] += len(targets)
        self._spread(logprobs, places, outputs)
        if hidden.requires_grad:
            hidden.backward(pull)
        for name, gradient in gradients.items():
            weight = network.weights[name]
            if weight.grad is not None:
                gradient.add_(weight.grad)
                weight.grad = None

    def _accumulated(self) -> dict[str, Tensor]:
        if self._gradients is None:
            self._gradients = {name: torch.zeros_like(tensor, requires_grad=False) for name, tensor in self._trained.items()}
        return self._gradients

    def _clear(self) -> None:
        self._gradients = None
        for name in self._trained:
            self._network.weights[name].grad = None
