"""A second device where there is none: tensors that live "elsewhere", so that tests find what a GPU would refuse.

Such a tensor is a wrapper around a CPU tensor that says its device is `meta`; torch needs no driver for that name. What is computed are
real numbers. As on a GPU, an operation over tensors of both devices fails (a number in a tensor without dimensions may come along, copies
may cross), and so does reading one as a numpy array. Stricter than a GPU: indices have to be on the tensor's own device too, since there
they would be copied over in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE = torch.device("meta")
_CROSSES = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}


class TwoDevices(Exception):
    """An operation met tensors of two devices."""


class Elsewhere(torch.Tensor):
    """A tensor of the second device; `held` holds its numbers."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Elsewhere:
        made = torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype, device=ELSEWHERE
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return _dispatch(func, args, kwargs or {})


def _dispatch(func: Any, args: tuple, kwargs: dict) -> Any:
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    away = any(isinstance(x, Elsewhere) for x in tensors)
    strict = func.__name__.startswith("_f")  # Of _foreach_* and _fused_* numbers without dimensions are no exception.
    if away and func not in _CROSSES and any((strict or x.dim() > 0) and not isinstance(x, Elsewhere) for x in tensors):
        places = ", ".join(f"{list(x.shape)} {'elsewhere' if isinstance(x, Elsewhere) else 'on the CPU'}" for x in tensors)
        raise TwoDevices(f"{func}: {places}")
    asked = kwargs.get("device")
    if asked is not None:
        away = torch.device(asked) == ELSEWHERE
        kwargs = {**kwargs, "device": torch.device("cpu")}
    result = func(*tree_map(_held_by, args), **tree_map(_held_by, kwargs))
    if func is torch.ops.aten.copy_.default:
        return args[0]
    written = _written(func, args, kwargs)
    if written:
        return written[0] if len(written) == 1 else tuple(written)
    return tree_map(lambda x: Elsewhere(x) if isinstance(x, torch.Tensor) else x, result) if away else result


def _held_by(x: Any) -> Any:
    return x.held if isinstance(x, Elsewhere) else x


def _written(func: Any, args: tuple, kwargs: dict) -> list[Any]:
    """The arguments that an in-place operation, or one with `out`, returns."""
    schema = func._schema
    returned = [r.alias_info.before_set for r in schema.returns if r.alias_info is not None and r.alias_info.is_write]
    given = {a.name: value for a, value in zip(schema.arguments, args, strict=False)} | kwargs
    names = [next(a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.before_set == alias) for alias in returned]
    return [given[name] for name in names]


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return _dispatch(func, args, kwargs or {})


_READ = {torch.Tensor.tolist, torch.Tensor.item, torch.Tensor.__bool__, torch.Tensor.__int__, torch.Tensor.__float__}
_MEMORY = {torch.Tensor.data_ptr, torch.Tensor.untyped_storage}


class _Functions(TorchFunctionMode):
    """What does not pass through the dispatcher as an operation."""

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.tensor and torch.device(kwargs.get("device") or "cpu") == ELSEWHERE:
            return Elsewhere(torch.tensor(*args, **{**kwargs, "device": None}))
        if args and isinstance(args[0], Elsewhere):
            if func is torch.Tensor.numpy:
                raise TypeError("a tensor that is elsewhere has no numpy array: use .cpu() first")
            if func in _READ or func in _MEMORY:
                with torch._C.DisableTorchFunction():
                    return func(args[0].held, *args[1:], **kwargs)
        return func(*args, **kwargs)


@contextmanager
def second_device() -> Iterator[torch.device]:
    """Inside the block there is a second device; what is made on it is of no use afterwards."""
    fused = "torch.optim.optimizer._get_fused_kernels_supported_devices"
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    # So that a module's parameters stay the same objects when it moves, as they do from the CPU to a GPU: tied weights stay tied.
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with patch(fused, lambda: ["cpu", ELSEWHERE.type]), _Functions(), _Operations():
            yield ELSEWHERE
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swaps)
