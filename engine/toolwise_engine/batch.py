"""The rows of one snapshot that are decoded together: who comes in, what is computed for them, where their keys and values lie.

Prompts that are equal, or that continue what a finished row left behind, or that begin alike, are computed once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from toolwise_engine.kv_cache import CachedAttention, PrefixCache, Spare, token_bytes
from toolwise_engine.row import Row
from toolwise_engine.sampling import draw, joined, uniforms
from toolwise_engine.snapshot import Snapshot
from toolwise_engine.stream import common_prefix

MIN_SHARED = 32
"""A common prefix shorter than this does not get a cache of its own."""

HEAD_ROWS = 256
"""Rows whose logits are computed in one product."""

DRAWN_ROWS = 32
"""Rows whose tokens are drawn together: their float32 distributions stay in the processor's cache."""

MAX_CACHES = 4
PREFILL_TOKENS = 512
"""Prompt tokens of a row that are computed in one pass."""

PASS_TOKENS = 4 * PREFILL_TOKENS
"""Prompt tokens computed in one pass beside what is decoded: more would leave the processor's cache, and wait no less."""

LATER_TOKENS = 128
"""Room that a row is given beyond its own answer, for the turns that follow it."""

EXPECTED_TOKENS = 256
"""What a row is expected to sample at most, where memory decides how many rows run at once."""


class _Place:
    """One cache and its live rows, in slot order."""

    def __init__(self, cache: PrefixCache) -> None:
        self.cache = cache
        self.rows: list[Row] = []

    def own(self, tokens: list[int]) -> list[int]:
        return tokens[len(self.cache.prefix) :]


class _Unit:
    """Waiting rows with the same tokens: computed once, for the first of them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.tokens = rows[0].tokens


class Batch:
    """`keep` lets finished rows stay in the cache for prompts that continue them; without it runs repeat bit for bit."""

    def __init__(
        self, snapshot: Snapshot, max_rows: int, cache_bytes: int, keep: bool, known_prefixes: list[list[int]], spare: Spare
    ) -> None:
        self.snapshot = snapshot
        self.waiting: deque[Row] = deque()
        self.tokens_seen = 0
        self._max_rows = max_rows
        self._cache_bytes = cache_bytes
        self._keep = keep
        self._known = known_prefixes
        self._spare = spare
        self._places: list[_Place] = []

    def live(self) -> int:
        """Rows being decoded."""
        return sum(len(place.rows) for place in self._places)

    def release(self) -> None:
        """Gives the memory of its caches up. The batch is of no use afterwards."""
        for place in self._places:
            place.cache.release()

    def drop(self, wanted: set[int]) -> None:
        """Removes the rows with these identities, waiting or live."""
        self.waiting = deque(row for row in self.waiting if id(row) not in wanted)
        for place in self._places:
            self._retire(place, [i for i, row in enumerate(place.rows) if id(row) in wanted])

    @torch.no_grad()
    def step(self) -> list[Row]:
        """One pass: decodes a token for every live row and computes the prompts of rows that come in. Returns rows that ended."""
        decoded = [(place, list(place.rows)) for place in self._places if place.rows]
        seated = self._admit() if self.waiting and self.live() < self._max_rows else []
        attention = CachedAttention()
        rows: list[Row] = []
        for place, live in decoded:
            held = [len(row.tokens) - 1 - len(place.cache.prefix) for row in live]
            place.cache.reserve(len(place.rows), max(held) + 1, self._cache_bytes)
            attention.add(place.cache, 0, held, [row.tokens[-1:] for row in live])
            rows += live
        last = list(range(len(rows)))
        stream = len(rows)
        for seat in seated:
            for first, starts, chunks in seat.pieces():
                attention.add(seat.place.cache, first, starts, chunks)
                for chunk in chunks:
                    stream += len(chunk)
                    last.append(stream - 1)
        if not last:
            return []
        hidden = attention.run(self.snapshot.network)
        self.tokens_seen += len(hidden)
        sources = last[: len(rows)]
        at = len(rows)
        for seat in seated:
            seat.spread()
            sources += [last[at + unit] for unit in seat.sources]
            rows += seat.rows
            at += len(seat.units)
        return self._sample(hidden[torch.tensor(sources, device=hidden.device)], rows)

    def _sample(self, hidden: Tensor, rows: list[Row]) -> list[Row]:
        """Draws a token for each row from its last hidden state. Returns rows that ended."""
        requests = [row.request for row in rows]
        random = uniforms(
            np.array([r.seed & 0xFFFFFFFFFFFFFFFF for r in requests], dtype=np.uint64),
            np.array([row.sample for row in rows]),
            np.array([len(row.logprobs) for row in rows]),
        )
        entropy = any(r.entropy for r in requests)
        device = hidden.device
        temperature = torch.tensor([float(r.temperature) for r in requests], device=device)
        top_p = torch.tensor([float(r.top_p) for r in requests], device=device)
        top_k = torch.tensor([r.top_k for r in requests], device=device)
        uniform = torch.from_numpy(random).to(device)
        drawn_rows = DRAWN_ROWS if device.type == "cpu" else HEAD_ROWS
        pieces = []
        for begin in range(0, len(rows), HEAD_ROWS):
            logits = self.snapshot.network.logits(hidden[begin : begin + HEAD_ROWS])
            for at in range(begin, begin + len(logits), drawn_rows):
                part = slice(at, min(at + drawn_rows, begin + len(logits)))
                scores = logits[part.start - begin : part.stop - begin].float()
                pieces.append(draw(scores, temperature[part], top_p[part], top_k[part], uniform[part], entropy))
        drawn = joined(pieces)
        entropies = drawn.entropies.tolist() if drawn.entropies is not None else [None] * len(rows)
        tokenizer = self.snapshot.tokenizer
        ended = []
        for row, token, logprob, h in zip(rows, drawn.tokens.tolist(), drawn.logprobs.tolist(), entropies, strict=True):
            if row.take(token, logprob, h if row.request.entropy else None, tokenizer):
                ended.append(row)
        if ended:
            gone = set(map(id, ended))
            for place in self._places:
                self._retire(place, [i for i, row in enumerate(place.rows) if id(row) in gone])
        return ended

    def _retire(self, place: _Place, ended: list[int]) -> None:
        """Takes rows out; the last live ones fill the holes, so that live slots stay together. What ended rows hold is kept elsewhere."""
        if not ended:
            return
        cache, prefix = place.cache, len(place.cache.prefix)
        longest = max(len(row.tokens) for row in place.rows) - 1 - prefix
        gone = set(ended)
        left = len(place.rows) - len(gone)
        holes = [slot for slot in ended if slot < left]
        fillers = [slot for slot in range(left, len(place.rows)) if slot not in gone]
        moves = list(zip(fillers, holes, strict=True))
        if self._keep:
            moves += self._keep_rows(place, ended, left)
        cache.move(moves, longest)
        for source, target in zip(fillers, holes, strict=True):
            place.rows[target] = place.rows[source]
        del place.rows[left:]
        cache.live = left

    def _keep_rows(self, place: _Place, slots: list[int], left: int) -> list[tuple[int, int]]:
        """Where rows that ended go, behind the `left` live ones: free slots, else those of the oldest kept. No cache grows for it."""
        cache = place.cache
        free = [slot for slot in cache.free(left) if slot not in slots]
        stay = [slot for slot in slots if slot >= left]
        moves = []
        for slot in sorted(slots):
            target = stay.pop(0) if stay else free.pop(0) if free else next(iter(cache.kept), None)
            if target is None:
                break
            cache.kept.pop(target, None)
            cache.kept[target] = place.own(place.rows[slot].tokens[:-1])
            moves.append((slot, target))
        return moves

    # Admission

    def _admit(self) -> list[_Seating]:
        """Gives waiting rows their seats; their prompts are computed by the caller's pass, but for very long ones."""
        taken = self._choose()
        by_tokens: dict[tuple[int, ...], list[Row]] = {}
        for row in taken:
            by_tokens.setdefault(tuple(row.tokens), []).append(row)
        plan: dict[int, list[tuple[_Unit, int | None]]] = {}
        fresh = []
        claimed: set[tuple[int, int]] = set()
        for unit in (_Unit(rows) for rows in by_tokens.values()):
            found = self._continuation(unit, claimed)
            if found is None:
                fresh.append(unit)
            else:
                claimed.add(found)
                plan.setdefault(found[0], []).append((unit, found[1]))
        self._open_places(fresh)
        for unit in fresh:
            place = max(
                (i for i, p in enumerate(self._places) if self._begins(unit.tokens, p.cache.prefix)),
                key=lambda i: len(self._places[i].cache.prefix),
            )
            plan.setdefault(place, []).append((unit, None))
        return [self._seat(self._places[place], entries) for place, entries in plan.items()]

    def _choose(self) -> list[Row]:
        """The next waiting rows for which there are seats and, by estimate, memory; one at least where nothing runs."""
        taken: list[Row] = []
        live, fresh = self.live(), 0
        rows = [row for place in self._places for row in place.rows]
        longest = max((len(row.tokens) for row in rows), default=0)
        per_token = token_bytes(self.snapshot.network)
        while self.waiting and live + len(taken) < self._max_rows:
            row = self.waiting[0]
            longest = max(longest, len(row.tokens) + min(row.limit, EXPECTED_TOKENS))
            if (live or taken) and (live + len(taken) + 1) * longest * per_token > self._cache_bytes:
                break
            if not taken or row.tokens != taken[-1].tokens:
                fresh += len(row.tokens) - max(
                    (len(p.cache.prefix) for p in self._places if self._begins(row.tokens, p.cache.prefix)), default=0
                )
            if taken and fresh > PASS_TOKENS:
                break
            taken.append(self.waiting.popleft())
        return taken

    @staticmethod
    def _begins(tokens: list[int], prefix: list[int]) -> bool:
        return len(prefix) < len(tokens) and tokens[: len(prefix)] == prefix

    def _continuation(self, unit: _Unit, claimed: set[tuple[int, int]]) -> tuple[int, int] | None:
        """The kept row that this prompt continues, the longest: (place, slot)."""
        best: tuple[int, int] | None = None
        longest = 0
        for p, place in enumerate(self._places):
            if not place.cache.kept or not self._begins(unit.tokens, place.cache.prefix):
                continue
            own = place.own(unit.tokens)
            for slot, kept in place.cache.kept.items():
                if longest < len(kept) < len(own) and own[: len(kept)] == kept and (p, slot) not in claimed:
                    best, longest = (p, slot), len(kept)
        return best

    def _open_places(self, fresh: Iterable[_Unit]) -> None:
        """Caches for prefixes that several new prompts share; there is always one without a prefix."""
        if not self._places:
            self._places.append(_Place(PrefixCache(self.snapshot.network, [], self._spare)))
        homeless = [u.tokens for u in fresh if not any(p.cache.prefix and self._begins(u.tokens, p.cache.prefix) for p in self._places)]
        while homeless and len(self._places) < MAX_CACHES:
            first = homeless[0]
            prefix = next((known for known in self._known if self._begins(first, known)), None)
            if prefix is None:
                shared = [s for other in homeless[1:] if (s := common_prefix(first, other)) >= MIN_SHARED]
                length = min(shared, default=0)
                if length < MIN_SHARED:
                    homeless.pop(0)
                    continue
                prefix = first[: min(length, len(first) - 1)]
                if self._keep:
                    self._known.insert(0, prefix)
                    del self._known[8:]
            self._places.append(_Place(PrefixCache(self.snapshot.network, prefix, self._spare)))
            self.tokens_seen += len(prefix)
            homeless = [tokens for tokens in homeless if not self._begins(tokens, prefix) and tokens is not first]

    def _seat(self, place: _Place, entries: list[tuple[_Unit, int | None]]) -> _Seating:
        """Gives the units slots after the live ones, with what is known of their prompts already in them."""
        cache = place.cache
        live, count = cache.live, sum(len(unit.rows) for unit, _ in entries)
        longest = max(len(place.own(unit.tokens)) + min(unit.rows[0].limit, EXPECTED_TOKENS) + LATER_TOKENS for unit, _ in entries)
        moved = cache.reserve(live + count, longest, self._cache_bytes)
        entries = [(unit, moved.get(slot) if slot is not None else None) for unit, slot in entries]
        lengths = {id(unit): len(cache.kept.pop(slot)) if slot is not None else 0 for unit, slot in entries}
        entries.sort(key=lambda e: len(e[0].tokens) - lengths[id(e[0])])
        sources = {slot for _, slot in entries if slot is not None}
        moves = [(slot, live + seat) for seat, (_, slot) in enumerate(entries) if slot is not None]
        held = max(lengths.values())
        # Kept rows whose slots become seats move to free ones, or are given up.
        free = [slot for slot in cache.free(live + count) if slot not in sources]
        for slot in range(live, live + count):
            tokens = cache.kept.pop(slot, None)
            if tokens is not None and free:
                target = free.pop(0)
                cache.kept[target] = tokens
                moves.append((slot, target))
                held = max(held, len(tokens))
        cache.move(moves, held)
        starts = [
            lengths[id(unit)] if slot is not None else self._borrow(place, unit, live + seat) for seat, (unit, slot) in enumerate(entries)
        ]
        units = [unit for unit, _ in entries]
        own = [place.own(unit.tokens) for unit in units]
        self._compute_ahead(place, live, starts, own)
        seating = _Seating(place, live, units, starts, own)
        place.rows += seating.rows
        cache.live = live + count
        return seating

    def _borrow(self, place: _Place, unit: _Unit, slot: int) -> int:
        """Copies what a live row of the cache has in common with this prompt. Returns how many own tokens that is."""
        own = place.own(unit.tokens)[:-1]
        if len(own) < MIN_SHARED:
            return 0
        begin, prefix = own[:MIN_SHARED], len(place.cache.prefix)
        shared, donor = 0, 0
        for i, row in enumerate(place.rows):
            if row.tokens[prefix : prefix + MIN_SHARED] == begin and (same := common_prefix(own, place.own(row.tokens)[:-1])) > shared:
                shared, donor = same, i
        if shared == 0:
            return 0
        place.cache.move([(donor, slot)], shared)
        return shared

    def _compute_ahead(self, place: _Place, first: int, starts: list[int], own: list[list[int]]) -> None:
        """Of prompts too long for one pass beside the others, all but the last piece; `starts` moves on."""
        if sum(len(tokens) - start for tokens, start in zip(own, starts, strict=True)) <= PASS_TOKENS:
            return
        for seat, tokens in enumerate(own):
            while len(tokens) - starts[seat] > PREFILL_TOKENS // 4:
                piece = tokens[starts[seat] : min(starts[seat] + PREFILL_TOKENS, len(tokens) - 1)]
                if not piece:
                    break
                attention = CachedAttention()
                attention.add(place.cache, first + seat, [starts[seat]], [piece])
                self.tokens_seen += len(attention.run(self.snapshot.network))
                starts[seat] += len(piece)


class _Seating:
    """Units that were given the slots from `first` on, with the part of their prompts that is not computed yet."""

    def __init__(self, place: _Place, first: int, units: list[_Unit], starts: list[int], own: list[list[int]]) -> None:
        self.place = place
        self.units = units
        self._first = first
        self._starts = starts
        self._chunks = [tokens[start:] for tokens, start in zip(own, starts, strict=True)]
        self._longest = max(len(tokens) for tokens in own)
        self.rows = [unit.rows[0] for unit in units]
        self.sources = list(range(len(units)))
        self._copies: list[tuple[int, int]] = []
        for seat, unit in enumerate(units):
            for row in unit.rows[1:]:
                self._copies.append((first + seat, first + len(self.rows)))
                self.rows.append(row)
                self.sources.append(seat)

    def pieces(self) -> Iterable[tuple[int, list[int], list[list[int]]]]:
        """Runs of slots whose chunks are of similar length, so that little is padded: (first slot, starts, chunks)."""
        begin = 0
        while begin < len(self._chunks):
            end = begin
            while end < len(self._chunks) and len(self._chunks[end]) <= 2 * len(self._chunks[begin]) + 16:
                end += 1
            yield self._first + begin, self._starts[begin:end], self._chunks[begin:end]
            begin = end

    def spread(self) -> None:
        """Copies what was computed for a unit to its further rows."""
        self.place.cache.move(self._copies, self._longest)
