"""Keys and values of many rows that begin alike: the common prefix stored once, the rest of each row in a slot.

The first `live` slots belong to rows that are being decoded, in order; some of those after them keep what finished rows left, so that a
prompt which continues one of them need not be computed again. Decides nothing about who is admitted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from toolwise_engine.attention import aligned, attend_with_mass, merge
from toolwise_engine.network import Network

FIRST_SLOTS = 32
"""Slots of a new cache."""


def token_bytes(network: Network) -> int:
    """Memory of one token's keys and values."""
    s = network.shape
    return s.layers * 2 * s.key_heads * s.head_dim * network.dtype.itemsize


class Spare:
    """Memory of a cache given up, for the next one: fresh memory of gigabytes costs seconds. Holds one tensor, the largest it was given."""

    def __init__(self) -> None:
        self._held: Tensor | None = None

    def zeros(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
        """A tensor of zeros, in the memory held where that is enough."""
        held, count = self._held, math.prod(shape)
        if held is None or held.dtype != dtype or held.numel() < count:
            return torch.zeros(shape, dtype=dtype, device=device)
        self._held = None
        return held[:count].zero_().view(shape)

    def give(self, tensor: Tensor) -> None:
        """Takes the memory of a tensor that nobody uses any more."""
        flat = tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0)
        if self._held is None or self._held.numel() < flat.numel():
            self._held = flat


class PrefixCache:
    """kv: [layers, keys and values, slots, key heads, capacity, dim]. The first `live` slots belong to rows that are being decoded.

    `kept`: slot -> the tokens after the prefix that a finished row left in it, oldest first.
    """

    def __init__(self, network: Network, prefix: list[int], spare: Spare) -> None:
        s = network.shape
        self._spare = spare
        self.prefix = prefix
        self.live = 0
        self.kept: dict[int, list[int]] = {}
        self._shape = s
        self.kv = torch.zeros(s.layers, 2, 0, s.key_heads, 0, s.head_dim, dtype=network.dtype, device=network.device)
        self.prefix_kv = torch.empty(s.layers, 2, s.key_heads, len(prefix), s.head_dim, dtype=network.dtype, device=network.device)
        if prefix:
            ids = torch.tensor(prefix, device=network.device)
            network.hidden(ids, torch.arange(len(prefix), device=network.device), _PrefixAttention(self.prefix_kv))

    @property
    def slots(self) -> int:
        """Slots allocated."""
        return self.kv.shape[2]

    @property
    def capacity(self) -> int:
        """Tokens a slot holds."""
        return self.kv.shape[4]

    def bytes_for(self, slots: int, capacity: int) -> int:
        """Memory of the slots, were they that many and that long."""
        s = self._shape
        return s.layers * 2 * s.key_heads * s.head_dim * self.kv.element_size() * slots * capacity

    def reserve(self, slots: int, capacity: int, most_bytes: int) -> dict[int, int]:
        """Makes room for at least `slots` rows of `capacity` tokens; doubles as far as `most_bytes` allows, so that it is rare.

        Where longer rows leave room for fewer, the oldest kept ones go. Kept rows may move: returns their new slots by the old ones.
        """
        if slots <= self.slots and capacity <= self.capacity:
            return {slot: slot for slot in self.kept}
        capacity = self.capacity if capacity <= self.capacity else _up(max(capacity, self.capacity + self.capacity // 2), 64)
        wanted = max(slots, self.live + len(self.kept), FIRST_SLOTS, self.slots if slots <= self.slots else 2 * self.slots)
        affordable = most_bytes // max(1, self.bytes_for(1, capacity))
        count = _up(max(slots, self.live, min(wanted, affordable)), 8)
        kept = list(self.kept)[max(0, len(self.kept) - (count - max(slots, self.live))) :]
        at = {slot: count - 1 - i for i, slot in enumerate(kept)}
        s = self._shape
        grown = self._spare.zeros((s.layers, 2, count, s.key_heads, capacity, s.head_dim), self.kv.dtype, self.kv.device)
        grown[:, :, : self.live, :, : self.capacity] = self.kv[:, :, : self.live]
        if at:
            source, target = (torch.tensor(column, device=self.kv.device) for column in (kept, list(at.values())))
            grown[:, :, target, :, : self.capacity] = self.kv[:, :, source]
        self.release()
        self.kv = grown
        self.kept = {at[slot]: self.kept[slot] for slot in kept}
        return at

    def release(self) -> None:
        """Gives the memory of keys and values up, for other caches."""
        self._spare.give(self.kv)

    def free(self, start: int) -> list[int]:
        """Slots from `start` on that hold nothing, the last first."""
        return [slot for slot in range(self.slots - 1, start - 1, -1) if slot not in self.kept]

    def move(self, moves: list[tuple[int, int]], length: int) -> None:
        """Copies the first `length` tokens of slots, all at once: (from, to) pairs."""
        moves = [(a, b) for a, b in moves if a != b]
        if moves and length:
            source, target = (torch.tensor(column, device=self.kv.device) for column in zip(*moves, strict=True))
            self.kv[:, :, target, :, :length] = self.kv[:, :, source, :, :length]


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


class _PrefixAttention:
    """Causal attention over one sequence, whose keys and values it writes down."""

    def __init__(self, kv: Tensor) -> None:
        self._kv = kv

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        q, k, v = (x.transpose(0, 1)[None] for x in (query, key, value))
        self._kv[layer, 0], self._kv[layer, 1] = k[0], v[0]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale, enable_gqa=q.shape[1] != k.shape[1])
        return out[0].transpose(0, 1).reshape(len(query), -1)


@dataclass(slots=True)
class _Part:
    """Rows of one cache in the stream: `begin` is the first of their `tokens`; with one token a row nothing is padded (`padded` None)."""

    cache: PrefixCache
    first: int
    rows: int
    begin: int
    tokens: int
    queries: int
    keys: int
    written: Tensor
    mask: Tensor
    padded: Tensor | None


class CachedAttention:
    """New tokens of rows in caches: writes their keys and values, then attends to the prefix and to the row's own tokens."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._ids: list[int] = []
        self._positions: list[Tensor] = []

    def add(self, cache: PrefixCache, first: int, starts: list[int], chunks: list[list[int]]) -> None:
        """Appends rows in the slots from `first` on: each brings a chunk of tokens after the `starts` own tokens its slot holds."""
        rows, heads = len(chunks), cache._shape.key_heads
        lengths, begun = torch.tensor([len(c) for c in chunks]), torch.tensor(starts)
        queries = int(lengths.max())
        keys = int((lengths + begun).max())
        own = begun[:, None] + torch.arange(queries)
        real = torch.arange(queries) < lengths[:, None]
        padded = None if bool(real.all()) and queries == 1 else real.flatten().nonzero()[:, 0]
        slot = (first + torch.arange(rows))[:, None].expand(rows, queries)
        at, slot = own[real], slot[real]
        written = ((slot[:, None] * heads + torch.arange(heads)) * cache.capacity + at[:, None]).flatten()
        device = cache.kv.device
        seen = torch.arange(keys, device=device) <= own.to(device)[..., None]
        mask = torch.where(seen, 0.0, float("-inf")).to(cache.kv.dtype)
        groups = cache._shape.heads // heads
        mask = aligned(mask[:, None, None].expand(rows, 1, groups, queries, keys).reshape(rows, 1, groups * queries, keys))
        written, padded = written.to(device), None if padded is None else padded.to(device)
        self._parts.append(_Part(cache, first, rows, len(self._ids), int(lengths.sum()), queries, keys, written, mask, padded))
        self._ids.extend(token for chunk in chunks for token in chunk)
        self._positions.append(at + len(cache.prefix))

    def run(self, network: Network) -> Tensor:
        """Final hidden states of all tokens added, in order."""
        ids, positions = torch.tensor(self._ids, device=network.device), torch.cat(self._positions).to(network.device)
        return network.hidden(ids, positions, self)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        outputs = [self._attend(part, layer, query, key, value, scale) for part in self._parts]
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)

    def _attend(self, part: _Part, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        cache, (heads, dim), key_heads = part.cache, query.shape[1:], key.shape[1]
        span = slice(part.begin, part.begin + part.tokens)
        keys, values = cache.kv[layer, 0], cache.kv[layer, 1]
        keys.view(-1, dim).index_copy_(0, part.written, key[span].reshape(-1, dim))
        values.view(-1, dim).index_copy_(0, part.written, value[span].reshape(-1, dim))
        rows, length, groups = part.rows, part.queries, heads // key_heads
        q = query[span]
        if part.padded is not None:
            q = q.new_zeros(rows * length, heads, dim).index_copy_(0, part.padded, q)
        q = q.reshape(rows, length, key_heads, groups, dim).permute(0, 2, 3, 1, 4).reshape(rows, key_heads, groups * length, dim)
        slots = slice(part.first, part.first + rows)
        out, mass = attend_with_mass(q, keys[slots, :, : part.keys], values[slots, :, : part.keys], part.mask, scale)
        if cache.prefix:
            shared = q.transpose(0, 1).reshape(1, key_heads, rows * groups * length, dim)
            before, before_mass = attend_with_mass(shared, cache.prefix_kv[layer, 0][None], cache.prefix_kv[layer, 1][None], None, scale)
            before = before.view(key_heads, rows, groups * length, dim).transpose(0, 1)
            before_mass = before_mass.view(key_heads, rows, groups * length).transpose(0, 1)
            out = merge(before, before_mass, out, mass)
        out = out.view(rows, key_heads, groups, length, dim).permute(0, 3, 1, 2, 4).reshape(rows * length, heads * dim)
        return out if part.padded is None else out.index_select(0, part.padded)
