"""The rows of one snapshot that are decoded together: who comes in, what is computed for them, where their keys and values lie.

Prompts that are equal, or that continue what a finished row left behind, or that begin alike, are computed once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from toolwise_engine.kv_cache import CachedAttention, PrefixCache, token_bytes
from toolwise_engine.row import Row
from toolwise_engine.sampling import draw, uniforms
from toolwise_engine.snapshot import Snapshot
from toolwise_engine.stream import common_prefix

MIN_SHARED = 32
"""A common prefix shorter than this does not get a cache of its own."""

MAX_CACHES = 4
PREFILL_TOKENS = 512
"""Prompt tokens of a row that are computed in one pass."""


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

    def __init__(self, snapshot: Snapshot, max_rows: int, cache_bytes: int, keep: bool, known_prefixes: list[list[int]]) -> None:
        self.snapshot = snapshot
        self.waiting: deque[Row] = deque()
        self.tokens_seen = 0
        self._max_rows = max_rows
        self._cache_bytes = cache_bytes
        self._keep = keep
        self._known = known_prefixes
        self._places: list[_Place] = []

    def live(self) -> int:
        """Rows being decoded."""
        return sum(len(place.rows) for place in self._places)

    def drop(self, wanted: set[int]) -> None:
        """Removes the rows with these identities, waiting or live."""
        self.waiting = deque(row for row in self.waiting if id(row) not in wanted)
        for place in self._places:
            self._retire(place, [i for i, row in enumerate(place.rows) if id(row) in wanted])

    @torch.no_grad()
    def step(self) -> list[Row]:
        """Decodes one token for every live row, admits and starts waiting ones. Returns rows that ended."""
        ended = self._decode() if self.live() else []
        if self.waiting and self.live() < self._max_rows:
            ended += self._admit()
        return ended

    # Decoding

    def _decode(self) -> list[Row]:
        attention, rows = CachedAttention(), []
        for place in self._places:
            if not place.rows:
                continue
            held = [len(row.tokens) - 1 - len(place.cache.prefix) for row in place.rows]
            self._make_room(place, len(place.rows), max(held) + 1)
            attention.add(place.cache, 0, held, [row.tokens[-1:] for row in place.rows])
            rows += place.rows
        hidden = attention.run(self.snapshot.network)
        self.tokens_seen += len(rows)
        return self._sample(self.snapshot.network.logits(hidden), rows)

    def _sample(self, logits: Tensor, rows: list[Row]) -> list[Row]:
        requests = [row.request for row in rows]
        random = uniforms(
            np.array([r.seed & 0xFFFFFFFFFFFFFFFF for r in requests], dtype=np.uint64),
            np.array([row.sample for row in rows]),
            np.array([len(row.logprobs) for row in rows]),
        )
        entropy = any(r.entropy for r in requests)
        drawn = draw(
            logits.float(),
            torch.tensor([float(r.temperature) for r in requests]),
            torch.tensor([float(r.top_p) for r in requests]),
            torch.tensor([r.top_k for r in requests]),
            torch.from_numpy(random),
            entropy,
        )
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
        """Takes rows out; the last live ones fill the holes, so that live slots stay together."""
        cache = place.cache
        for slot in reversed(ended):
            last = len(place.rows) - 1
            row = place.rows[slot]
            length = max(len(row.tokens), len(place.rows[last].tokens)) - 1 - len(cache.prefix)
            if self._keep:
                cache.swap(slot, last, length)
                cache.kept.insert(0, place.own(row.tokens[:-1]))
            else:
                cache.move([(last, slot)], length)
            place.rows[slot] = place.rows[last]
            place.rows.pop()
            cache.live = last

    # Admission

    def _admit(self) -> list[Row]:
        taken = self._choose()
        by_tokens: dict[tuple[int, ...], list[Row]] = {}
        for row in taken:
            by_tokens.setdefault(tuple(row.tokens), []).append(row)
        units = [_Unit(rows) for rows in by_tokens.values()]
        plan: dict[int, list[tuple[_Unit, int | None, int]]] = {}
        fresh = []
        claimed: set[tuple[int, int]] = set()
        for unit in units:
            found = self._continuation(unit, claimed)
            if found is None:
                fresh.append(unit)
            else:
                place, kept, shared = found
                claimed.add((place, kept))
                plan.setdefault(place, []).append((unit, kept, shared))
        self._open_places(fresh)
        for unit in fresh:
            place = max(
                (i for i, p in enumerate(self._places) if self._begins(unit.tokens, p.cache.prefix)),
                key=lambda i: len(self._places[i].cache.prefix),
            )
            plan.setdefault(place, []).append((unit, None, 0))
        ended: list[Row] = []
        for place, entries in plan.items():
            admitted = self._seat(self._places[place], entries)
            ended += self._sample(*admitted) if admitted is not None else []
        return ended

    def _choose(self) -> list[Row]:
        """The next waiting rows for which there are seats and, by estimate, memory; one at least where nothing runs."""
        taken: list[Row] = []
        live = self.live()
        rows = [row for place in self._places for row in place.rows]
        longest = max((len(row.tokens) for row in rows), default=0)
        per_token = token_bytes(self.snapshot.network)
        while self.waiting and live + len(taken) < self._max_rows:
            row = self.waiting[0]
            longest = max(longest, len(row.tokens) + min(row.limit, EXPECTED_TOKENS))
            if (live or taken) and (live + len(taken) + 1) * longest * per_token > self._cache_bytes:
                break
            taken.append(self.waiting.popleft())
        return taken

    @staticmethod
    def _begins(tokens: list[int], prefix: list[int]) -> bool:
        return len(prefix) < len(tokens) and tokens[: len(prefix)] == prefix

    def _continuation(self, unit: _Unit, claimed: set[tuple[int, int]]) -> tuple[int, int, int] | None:
        """The kept row that this prompt continues best: (place, index in kept, own tokens shared)."""
        best: tuple[int, int, int] | None = None
        for p, place in enumerate(self._places):
            if not place.cache.kept or not self._begins(unit.tokens, place.cache.prefix):
                continue
            own = place.own(unit.tokens)[:-1]
            for k, kept in enumerate(place.cache.kept):
                if (p, k) in claimed:
                    continue
                shared = common_prefix(own, kept)
                if shared >= max(MIN_SHARED, len(kept) // 2) and (best is None or shared > best[2]):
                    best = (p, k, shared)
        return best

    def _open_places(self, fresh: Iterable[_Unit]) -> None:
        """Caches for prefixes that several new prompts share; there is always one without a prefix."""
        if not self._places:
            self._places.append(_Place(PrefixCache(self.snapshot.network, [])))
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
            self._places.append(_Place(PrefixCache(self.snapshot.network, prefix)))
            self.tokens_seen += len(prefix)
            homeless = [tokens for tokens in homeless if not self._begins(tokens, prefix) and tokens is not first]

    def _make_room(self, place: _Place, slots: int, length: int) -> None:
        """Grows a cache; gives up kept rows, oldest first, where memory would not do."""
        cache = place.cache
        used = max(slots, cache.live + len(cache.kept))
        while cache.kept and used > slots and cache.bytes_for(used, max(length, cache.capacity)) > self._cache_bytes:
            cache.kept.pop()
            used = max(slots, cache.live + len(cache.kept))
        cache.reserve(used, length)

    def _seat(self, place: _Place, entries: list[tuple[_Unit, int | None, int]]) -> tuple[Tensor, list[Row]] | None:
        """Gives the units slots after the live ones, computes their prompts, copies them to further samples. Returns logits and rows."""
        cache = place.cache
        live, count = cache.live, sum(len(unit.rows) for unit, _, _ in entries)
        taken = sorted(kept for _, kept, _ in entries if kept is not None)
        longest = max(len(place.own(unit.tokens)) for unit, _, _ in entries)
        entries.sort(key=lambda e: len(e[0].tokens) - e[2])
        # Kept rows move behind the seats of the new ones; those that are continued move into their seats.
        old_kept = cache.kept
        left = [k for k in range(len(old_kept)) if k not in set(taken)]
        budget = len(left)
        while budget and cache.bytes_for(live + count + budget, max(longest, cache.capacity)) > self._cache_bytes:
            budget -= 1
        left = left[:budget]
        cache.reserve(live + count + len(left), longest)
        moves, lengths = [], [0]
        for seat, (_, kept, shared) in enumerate(entries):
            if kept is not None:
                moves.append((live + kept, live + seat))
                lengths.append(shared)
        for seat, k in enumerate(left):
            moves.append((live + k, live + count + seat))
            lengths.append(len(old_kept[k]))
        cache.move(moves, max(lengths))
        cache.kept = [old_kept[k] for k in left]
        starts = [shared for _, _, shared in entries]
        for seat, (unit, kept, _) in enumerate(entries):
            if kept is None:
                starts[seat] = self._borrow(place, unit, live + seat)
        logits = self._prefill(place, live, starts, [place.own(unit.tokens) for unit, _, _ in entries])
        rows = [unit.rows[0] for unit, _, _ in entries]
        sources = list(range(len(entries)))
        copies = []
        for seat, (unit, _, _) in enumerate(entries):
            for row in unit.rows[1:]:
                copies.append((live + seat, live + len(rows)))
                rows.append(row)
                sources.append(seat)
        cache.move(copies, longest)
        place.rows += rows
        cache.live = live + count
        return logits[torch.tensor(sources)], rows

    def _borrow(self, place: _Place, unit: _Unit, slot: int) -> int:
        """Copies what a live row of the cache has in common with this prompt. Returns how many own tokens that is."""
        own = place.own(unit.tokens)[:-1]
        shared, donor = max(((common_prefix(own, place.own(row.tokens)[:-1]), i) for i, row in enumerate(place.rows)), default=(0, 0))
        if shared < MIN_SHARED:
            return 0
        place.cache.move([(donor, slot)], shared)
        return shared

    def _prefill(self, place: _Place, first: int, starts: list[int], own: list[list[int]]) -> Tensor:
        """Computes what the slots from `first` on do not hold yet, a bounded piece of every row at a time. Returns the last logits."""
        starts = list(starts)
        last: list[Tensor | None] = [None] * len(own)
        begin = 0
        while begin < len(own):
            end, tokens = begin, 0
            longest = min(len(own[begin]) - starts[begin], PREFILL_TOKENS)
            while end < len(own) and (end == begin or (tokens < 4 * PREFILL_TOKENS and len(own[end]) - starts[end] <= 2 * longest + 16)):
                tokens += min(len(own[end]) - starts[end], PREFILL_TOKENS)
                end += 1
            while any(starts[i] < len(own[i]) for i in range(begin, end)):
                chunks = [own[i][starts[i] : starts[i] + PREFILL_TOKENS] for i in range(begin, end)]
                attention = CachedAttention()
                going = [i for i, chunk in zip(range(begin, end), chunks, strict=True) if chunk]
                run_first = going[0]
                run_chunks = chunks[run_first - begin :]
                attention.add(place.cache, first + run_first, [starts[i] for i in range(run_first, end)], run_chunks)
                hidden = attention.run(self.snapshot.network)
                self.tokens_seen += len(hidden)
                ends = torch.tensor([len(c) for c in run_chunks]).cumsum(0) - 1
                for i, chunk, at in zip(range(run_first, end), run_chunks, ends.tolist(), strict=True):
                    if chunk:
                        last[i] = hidden[at]
                        starts[i] += len(chunk)
            begin = end
        return self.snapshot.network.logits(torch.stack([h for h in last if h is not None]))
