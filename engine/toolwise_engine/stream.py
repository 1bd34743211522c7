"""A flat stream for training and scoring: many sequences without padding, in which a common beginning stands once.

Sequences become a tree of segments by longest common prefix. Every segment is laid out once; its queries see the segments above it and,
causally, itself. Segments of similar length are attended to in one padded call. Exact: sharing changes no value, only the work.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

MIN_SHARED = 16
"""A common beginning shorter than this is computed again: a segment of its own would cost more than it saves."""

MAX_DEPTH = 4
"""Segments on the way from the first token to the last."""


def common_prefix(first: list[int], second: list[int]) -> int:
    """Length of the longest common prefix."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


@dataclass(slots=True)
class _Segment:
    tokens: list[int]
    above: list[_Segment]
    start: int
    offset: int = 0

    def indices(self) -> range:
        return range(self.offset, self.offset + len(self.tokens))


@dataclass(slots=True)
class _Block:
    """Segments attended to in one call: query and key indices into the stream, flattened from [rows, queries] and [rows, keys].

    On a GPU segments with nothing above them need no mask: they are attended to causally, which its fastest kernels do.
    """

    rows: int
    queries: Tensor
    keys: Tensor
    mask: Tensor | None
    kept: Tensor


@dataclass(slots=True)
class Stream:
    """ids and positions [N]; for every sequence, in the caller's order, the stream index of each of its tokens; and the attention."""

    ids: Tensor
    positions: Tensor
    sources: list[Tensor]
    blocks: list[_Block]

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        heads, dim = query.shape[1:]
        shared = heads // key.shape[1]
        outputs = []
        for block in self.blocks:
            q, k, v = (
                x.index_select(0, at).view(block.rows, -1, *x.shape[1:]).transpose(1, 2)
                for x, at in ((query, block.queries), (key, block.keys), (value, block.keys))
            )
            if block.mask is None:
                out = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale, enable_gqa=shared > 1)
                outputs.append(out.transpose(1, 2).reshape(-1, heads * dim).index_select(0, block.kept))
                continue
            mask = block.mask if block.mask.dtype == query.dtype else block.mask.to(query.dtype)
            # The query heads of one key head become rows of one attention: a third less time than grouped heads.
            length = q.shape[2]
            folded = q.reshape(block.rows, -1, shared * length, dim)
            out = F.scaled_dot_product_attention(folded, k, v, attn_mask=mask.repeat(1, 1, shared, 1), scale=scale)
            out = out.view(block.rows, heads, length, dim)
            outputs.append(out.transpose(1, 2).reshape(-1, heads * dim).index_select(0, block.kept))
        return torch.cat(outputs)


def build_stream(sequences: list[list[int]], dtype: torch.dtype, device: torch.device | None = None) -> Stream:
    """Lays the sequences out, on the CPU, and hands them to `device`. `dtype` is that of the masks: the network's."""
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    ordered = [sequences[i] for i in order]
    shared = [common_prefix(a, b) for a, b in zip(ordered, ordered[1:], strict=False)]
    segments: list[_Segment] = []
    chains: list[list[_Segment]] = [[] for _ in ordered]

    def grow(low: int, high: int, start: int, above: list[_Segment]) -> None:
        """Segments of the sequences low..high, which agree up to `start`."""
        alone = high - low == 1
        common = len(ordered[low]) if alone else min(shared[low : high - 1])
        if alone or (common - start >= MIN_SHARED and len(above) < MAX_DEPTH - 1):
            if common > start:
                segment = _Segment(ordered[low][start:common], above, start)
                segments.append(segment)
                above, start = [*above, segment], common
            if alone:
                chains[low] = above
                return
        first = low
        for i in range(low, high):
            if i == high - 1 or shared[i] - start < MIN_SHARED or len(above) >= MAX_DEPTH - 1:
                grow(first, i + 1, start, above)
                first = i + 1

    grow(0, len(ordered), 0, [])
    groups = _group(segments)
    offset = 0
    for group in groups:
        for segment in group:
            segment.offset = offset
            offset += len(segment.tokens)
    laid = [segment for group in groups for segment in group]
    sources: list[Tensor] = [torch.empty(0, dtype=torch.long)] * len(order)
    for i, chain in zip(order, chains, strict=True):
        sources[i] = torch.tensor([at for segment in chain for at in segment.indices()], dtype=torch.long)
    return Stream(
        ids=torch.tensor([token for segment in laid for token in segment.tokens], device=device),
        positions=torch.tensor([segment.start + k for segment in laid for k in range(len(segment.tokens))], device=device),
        sources=sources,
        blocks=[_block(group, dtype, device or torch.device("cpu")) for group in groups],
    )


def _group(segments: list[_Segment]) -> list[list[_Segment]]:
    """Segments of similar length together, so that little is padded."""
    groups: list[list[_Segment]] = []
    for segment in sorted(segments, key=lambda s: (len(s.tokens), s.start)):
        longest = max(len(segment.tokens), 16)
        if groups and longest <= 1.5 * max(len(groups[-1][0].tokens), 16):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _block(group: list[_Segment], dtype: torch.dtype, device: torch.device) -> _Block:
    rows = len(group)
    queries = max(len(s.tokens) for s in group)
    keys = max(s.start + len(s.tokens) for s in group)
    query_at, key_at = torch.zeros(rows, queries, dtype=torch.long), torch.zeros(rows, keys, dtype=torch.long)
    mask = torch.full((rows, 1, queries, keys), float("-inf"))
    kept = torch.zeros(rows, queries, dtype=torch.bool)
    for row, segment in enumerate(group):
        own, start = len(segment.tokens), segment.start
        query_at[row, :own] = torch.arange(segment.offset, segment.offset + own)
        key_at[row, : start + own] = torch.tensor([at for s in [*segment.above, segment] for at in s.indices()])
        mask[row, 0, :, :start] = 0.0
        mask[row, 0, :own, start : start + own] = torch.full((own, own), float("-inf")).triu_(1)
        mask[row, 0, own:, 0] = 0.0
        kept[row, :own] = True
    begins = all(segment.start == 0 for segment in group)
    if begins and device.type != "cpu":
        mask = None
    return _Block(
        rows,
        query_at.flatten().to(device),
        key_at.flatten().to(device),
        None if mask is None else mask.to(device, dtype),
        kept.flatten().nonzero()[:, 0].to(device),
    )


def split_by_size(sequences: list[list[int]], max_tokens: int) -> list[list[int]]:
    """Indices of the sequences in micro-batches whose streams hold about `max_tokens` at most, relatives together."""
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    batches: list[list[int]] = []
    size = 0
    for place, i in enumerate(order):
        length = len(sequences[i])
        fresh = length - (common_prefix(sequences[order[place - 1]], sequences[i]) if batches else 0)
        if batches and size + fresh <= max_tokens:
            batches[-1].append(i)
            size += fresh
        else:
            batches.append([i])
            size = length
    return batches
