"""The bodies of the requests that carry tokens: read and checked here, so that what reaches the worker is right.

Reads JSON bodies into the engine's nouns and writes results as JSON bytes. Knows no HTTP and no tensors.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from toolwise_engine import fields
from toolwise_engine.datum import AdamParams, Datum
from toolwise_engine.errors import user_error
from toolwise_engine.fields import refuse
from toolwise_engine.losses import LOSSES, NEEDS_ADVANTAGES
from toolwise_engine.sample_request import Lockstep, SampleRequest

MAX_SAMPLES = 1024
MAX_LOCKSTEP = 65536
MAX_SEED = 2**63 - 1
MAX_SEQ_ID = 2**53


@dataclass(slots=True)
class Limits:
    """What a base model can take."""

    name: str
    vocabulary: int
    context: int


@dataclass(slots=True)
class TrainRequest:
    data: list[Datum]
    loss_fn: str
    config: dict[str, float]


def parse_body(raw: bytes) -> dict[str, Any]:
    """A request's body as an object; an empty body is an empty object."""
    if not raw:
        return {}
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise user_error(f"The body is not JSON: {error}.") from None
    if type(body) is not dict:
        refuse("The body", "a JSON object", body)
    return body


def parse_model_input(value: Any, field: str, limits: Limits) -> list[int]:
    """Token ids of a ModelInput `{"chunks": [{"type": "encoded_text", "tokens": [...]}]}`; other kinds of chunk are refused by name."""
    if type(value) is not dict:
        refuse(field, 'an object {"chunks": [...]}', value)
    chunks = value.get("chunks")
    if type(chunks) is not list:
        refuse(f"{field}.chunks", "a list", chunks)
    tokens: list[int] = []
    for index, chunk in enumerate(chunks):
        if type(chunk) is not dict or chunk.get("type", "encoded_text") != "encoded_text":
            kind = chunk.get("type") if type(chunk) is dict else chunk
            refuse(f"{field}.chunks[{index}].type", '"encoded_text", the only kind this engine takes', kind)
        part = fields.check_tokens(chunk.get("tokens"), f"{field}.chunks[{index}].tokens", limits.vocabulary)
        tokens = part if not tokens else tokens + part
    if not tokens:
        raise user_error(f"{field} holds no tokens: expected at least one.")
    return tokens


def parse_tensor(value: Any, field: str) -> Any:
    """The flat `data` of a dense one-dimensional TensorData."""
    if type(value) is not dict:
        refuse(field, 'an object {"data": [...], "dtype": "int64" or "float32"}', value)
    if value.get("sparse_crow_indices") is not None or value.get("sparse_col_indices") is not None:
        raise user_error(f"{field} is sparse: this engine takes dense tensors.")
    data = value.get("data")
    shape = value.get("shape")
    if shape is not None and type(data) is list and shape != [len(data)]:
        refuse(f"{field}.shape", f"[{len(data)}], the length of its data", str(shape))
    return data


def parse_datum(value: Any, field: str, loss_fn: str, limits: Limits) -> Datum:
    """One datum, its lists of equal length, with what the loss needs."""
    if type(value) is not dict:
        refuse(field, "an object", value)
    tokens = parse_model_input(value.get("model_input"), f"{field}.model_input", limits)
    count = len(tokens)
    if count > limits.context:
        raise user_error(f"{field} has {count} tokens: {limits.name} takes at most {limits.context}.")
    inputs = value.get("loss_fn_inputs")
    if type(inputs) is not dict:
        refuse(f"{field}.loss_fn_inputs", "an object", inputs)
    name = f"{field}.loss_fn_inputs"
    if "target_tokens" not in inputs:
        refuse(f"{name}.target_tokens", "the token to predict at each position")
    targets = fields.check_tokens(
        parse_tensor(inputs["target_tokens"], f"{name}.target_tokens"), f"{name}.target_tokens.data", limits.vocabulary
    )
    if len(targets) != count:
        raise user_error(
            f"{name}.target_tokens has {len(targets)} tokens and model_input has {count}: they must be equally long (shift before sending)."
        )
    numbers: dict[str, list[float]] = {}
    for key, tensor in inputs.items():
        if key == "target_tokens":
            continue
        if key not in ("weights", "logprobs", "advantages"):
            raise user_error(f"{name}.{key} is not known to this engine: it takes target_tokens, weights, logprobs and advantages.")
        numbers[key] = fields.check_numbers(parse_tensor(tensor, f"{name}.{key}"), f"{name}.{key}.data", count)
    if loss_fn in NEEDS_ADVANTAGES:
        for key in ("logprobs", "advantages"):
            if key not in numbers:
                refuse(f"{name}.{key}", f"one number a target, which {loss_fn} needs")
    return Datum(tokens, targets, numbers.get("weights"), numbers.get("logprobs"), numbers.get("advantages"))


def parse_train(body: dict, field: str, limits: Limits) -> TrainRequest:
    """`forward_backward_input` or `forward_input`: data, loss_fn, loss_fn_config."""
    request = fields.get_object(body, field)
    loss_fn = request.get("loss_fn")
    if type(loss_fn) is not str or loss_fn not in LOSSES:
        refuse(f"{field}.loss_fn", f"one of {', '.join(LOSSES)}", loss_fn)
    config = parse_loss_config(request.get("loss_fn_config"), loss_fn, field)
    data = fields.get_list(request, "data", f"{field}.data")
    if not data:
        raise user_error(f"{field}.data is empty: expected at least one datum.")
    return TrainRequest([parse_datum(datum, f"data[{index}]", loss_fn, limits) for index, datum in enumerate(data)], loss_fn, config)


def parse_loss_config(config: Any, loss_fn: str, field: str) -> dict[str, float]:
    if config is None:
        return {}
    if type(config) is not dict:
        refuse(f"{field}.loss_fn_config", "an object of numbers", config)
    allowed = LOSSES[loss_fn]
    result: dict[str, float] = {}
    for key, value in config.items():
        if key not in allowed:
            known = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise user_error(f"{field}.loss_fn_config.{key} is not a key of {loss_fn}: {known}.")
        if value is None:
            continue
        result[key] = fields.get_number(config, key, None, 0.0, float("inf"), f"{field}.loss_fn_config.{key}")
    low, high = result.get("clip_low_threshold", 0.8), result.get("clip_high_threshold", 1.2)
    if low > high:
        raise user_error(
            f"{field}.loss_fn_config.clip_low_threshold is {low:g}, above clip_high_threshold {high:g}: both are bounds of the ratio."
        )
    if "dual_clip" in result and result["dual_clip"] <= 1:
        refuse(f"{field}.loss_fn_config.dual_clip", "a number above 1", result["dual_clip"])
    return result


def parse_adam(body: dict) -> AdamParams:
    """`adam_params`, with the protocol's defaults."""
    params = body.get("adam_params")
    if params is None:
        params = {}
    if type(params) is not dict:
        refuse("adam_params", "an object", params)
    infinity = float("inf")

    def number(field: str, default: float, high: float = infinity) -> float:
        return fields.get_number(params, field, default, 0.0, high, f"adam_params.{field}")

    known = ("learning_rate", "beta1", "beta2", "eps", "weight_decay", "grad_clip_norm", "type")
    for key in params:
        if key not in known:
            raise user_error(f"adam_params.{key} is not known to this engine: it takes {', '.join(known[:-1])}.")
    beta1, beta2 = number("beta1", 0.9, 1.0), number("beta2", 0.95, 1.0)
    for name, beta in (("beta1", beta1), ("beta2", beta2)):
        if beta >= 1:
            refuse(f"adam_params.{name}", "a number from 0 to below 1", beta)
    return AdamParams(
        learning_rate=number("learning_rate", 1e-4),
        beta1=beta1,
        beta2=beta2,
        eps=number("eps", 1e-12),
        weight_decay=number("weight_decay", 0.0),
        grad_clip_norm=number("grad_clip_norm", 0.0),
    )


def parse_sample(body: dict, limits: Limits) -> SampleRequest:
    """An asample body. Its id and snapshot are filled in by the worker when its turn comes."""
    prompt = parse_model_input(body.get("prompt"), "prompt", limits)
    params = body.get("sampling_params")
    if type(params) is not dict:
        refuse("sampling_params", "an object", params)
    room = limits.context - len(prompt)
    if room < 1:
        raise user_error(f"prompt has {len(prompt)} tokens: {limits.name} takes at most {limits.context} with the answer.")
    max_tokens = fields.get_int(params, "max_tokens", room, 1, 2**31, "sampling_params.max_tokens")
    if max_tokens > room:
        raise user_error(
            f"prompt has {len(prompt)} tokens and sampling_params.max_tokens is {max_tokens}: "
            f"together they are over the {limits.context} that {limits.name} takes."
        )
    temperature = fields.get_number(params, "temperature", 1.0, 0.0, 1e6, "sampling_params.temperature")
    top_p = fields.get_number(params, "top_p", 1.0, 0.0, 1.0, "sampling_params.top_p")
    if top_p <= 0:
        refuse("sampling_params.top_p", "a number above 0, at most 1", top_p)
    top_k = fields.get_int(params, "top_k", -1, -1, 2**31, "sampling_params.top_k")
    if top_k == 0:
        refuse("sampling_params.top_k", "-1 (off) or at least 1", top_k)
    seed = fields.get_int(params, "seed", secrets.randbits(63), 0, MAX_SEED, "sampling_params.seed")
    ids, strings = parse_stop(params.get("stop"), limits)
    if (more := params.get("stop_token_ids")) is not None:
        ids = ids + fields.check_tokens(more, "sampling_params.stop_token_ids", limits.vocabulary)
    if (topk := body.get("topk_prompt_logprobs")) not in (None, 0):
        refuse("topk_prompt_logprobs", "0, as this engine does not offer it", topk)
    return SampleRequest(
        id="",
        snapshot=None,
        prompt=prompt,
        num_samples=fields.get_int(body, "num_samples", 1, 1, MAX_SAMPLES),
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        seed=seed,
        stop_token_ids=ids,
        stop_strings=strings,
        prompt_logprobs=fields.get_bool(body, "prompt_logprobs", False),
        entropy=fields.get_bool(body, "entropy", False),
        lockstep=parse_lockstep(body.get("lockstep")),
    )


def parse_stop(stop: Any, limits: Limits) -> tuple[list[int], list[str]]:
    """`stop`: a string, a list of strings, or a list of token ids; one kind at a time."""
    if stop is None:
        return [], []
    if type(stop) is str:
        stop = [stop]
    if type(stop) is not list:
        refuse("sampling_params.stop", "a string, a list of strings, or a list of token ids", stop)
    if not stop:
        return [], []
    kinds = set(map(type, stop))
    if kinds == {str}:
        if "" in stop:
            raise user_error("sampling_params.stop holds an empty string: it would stop at once.")
        return [], stop
    if kinds == {int}:
        return fields.check_tokens(stop, "sampling_params.stop", limits.vocabulary), []
    raise user_error("sampling_params.stop mixes kinds: expected strings only or token ids only (stop_token_ids takes ids beside strings).")


def parse_lockstep(value: Any) -> Lockstep | None:
    if value is None:
        return None
    if type(value) is not dict:
        refuse("lockstep", "an object {key, size, index}", value)
    key = value.get("key")
    if type(key) is not str or not key:
        refuse("lockstep.key", "a string", key)
    size = fields.get_int(value, "size", None, 1, MAX_LOCKSTEP, "lockstep.size")
    index = fields.get_int(value, "index", None, 0, MAX_LOCKSTEP, "lockstep.index")
    if index >= size:
        refuse("lockstep.index", f"a whole number from 0 to {size - 1}", index)
    return Lockstep(key, size, index)


def encode(value: Any) -> bytes:
    """JSON bytes; numpy arrays are written as lists, and NaN as null."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
