"""Bodies are read right or refused with one sentence that names the field, what was expected and what came."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from toolwise_engine import wire
from toolwise_engine.errors import EngineError
from toolwise_engine.wire import Limits, parse_adam, parse_body, parse_sample, parse_train

RECORDED = Path(__file__).parent / "recorded"
LIMITS = Limits("tiny", 49152, 512)
INPUTS = "data[0].loss_fn_inputs"


def recorded(name: str) -> dict[str, Any]:
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))["body"]


def sentence(call: Any, *arguments: Any) -> str:
    with pytest.raises(EngineError) as caught:
        call(*arguments)
    assert caught.value.category == "user"
    return caught.value.message


def changed(body: dict, path: list, value: Any) -> dict:
    body = copy.deepcopy(body)
    at = body
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return body


def test_reads_a_recorded_importance_sampling_request() -> None:
    body = recorded("fwdbwd_importance_sampling")
    request = parse_train(body, "forward_backward_input", LIMITS)
    inputs = body["forward_backward_input"]["data"][0]["loss_fn_inputs"]
    first = request.data[0]
    assert request.loss_fn == "importance_sampling" and request.config == {}
    assert first.tokens == body["forward_backward_input"]["data"][0]["model_input"]["chunks"][0]["tokens"]
    assert first.targets == inputs["target_tokens"]["data"]
    assert (first.weights, first.logprobs, first.advantages) == tuple(inputs[key]["data"] for key in ("weights", "logprobs", "advantages"))


def test_reads_a_recorded_ppo_config() -> None:
    request = parse_train(recorded("fwdbwd_ppo_config"), "forward_backward_input", LIMITS)
    assert request.config == {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}


def test_reads_a_recorded_sampling_request_with_stop_strings() -> None:
    request = parse_sample(recorded("asample_stop_string_list"), LIMITS)
    assert request.stop_strings == ["e"] and request.stop_token_ids == []
    assert (request.prompt, request.max_tokens, request.seed) == ([504, 2644, 5242, 335], 6, 7)


def test_reads_recorded_adam_params() -> None:
    adam = parse_adam(recorded("optim_step"))
    assert (adam.learning_rate, adam.beta1, adam.beta2, adam.eps, adam.weight_decay, adam.grad_clip_norm) == (0.01, 0.9, 0.95, 1e-8, 0, 1)


def test_adam_params_have_the_protocols_defaults() -> None:
    adam = parse_adam({})
    assert (adam.learning_rate, adam.beta1, adam.beta2, adam.eps, adam.weight_decay, adam.grad_clip_norm) == (1e-4, 0.9, 0.95, 1e-12, 0, 0)


def test_joins_the_chunks_of_a_prompt() -> None:
    chunks = [{"type": "encoded_text", "tokens": [1, 2]}, {"type": "encoded_text", "tokens": [3]}]
    assert wire.parse_model_input({"chunks": chunks}, "prompt", LIMITS) == [1, 2, 3]


def test_stop_ids_go_beside_stop_strings() -> None:
    body = recorded("asample_stop_string_list")
    body["sampling_params"]["stop_token_ids"] = [3, 4]
    request = parse_sample(body, LIMITS)
    assert (request.stop_strings, request.stop_token_ids) == (["e"], [3, 4])


@pytest.mark.parametrize(
    ("stop", "expected"), [("ab", ([], ["ab"])), (["a", "b"], ([], ["a", "b"])), ([4, 5], ([4, 5], [])), ([], ([], [])), (None, ([], []))]
)
def test_stop_takes_a_string_strings_or_ids(stop: Any, expected: tuple) -> None:
    assert wire.parse_stop(stop, LIMITS) == expected


def test_without_max_tokens_the_context_is_the_limit() -> None:
    body = recorded("asample_stop_string_list")
    del body["sampling_params"]["max_tokens"]
    assert parse_sample(body, LIMITS).max_tokens == 508


def test_two_requests_without_a_seed_draw_different_ones() -> None:
    body = recorded("asample_stop_string_list")
    del body["sampling_params"]["seed"]
    assert parse_sample(body, LIMITS).seed != parse_sample(body, LIMITS).seed


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (["prompt"], None, 'prompt is null: expected an object {"chunks": [...]}.'),
        (["prompt", "chunks"], 3, "prompt.chunks is 3: expected a list."),
        (["prompt", "chunks"], [], "prompt holds no tokens: expected at least one."),
        (["prompt", "chunks", 0, "tokens"], [1, 49152], "prompt.chunks[0].tokens[1] is 49152: expected a token id from 0 to 49151."),
        (["prompt", "chunks", 0, "tokens"], [1, -1], "prompt.chunks[0].tokens[1] is -1: expected a token id from 0 to 49151."),
        (["prompt", "chunks", 0, "tokens"], [1, 1.5], "prompt.chunks[0].tokens[1] is 1.5: expected a token id (a whole number)."),
        (["prompt", "chunks", 0, "tokens"], [True], "prompt.chunks[0].tokens[0] is true: expected a token id (a whole number)."),
        (["prompt", "chunks", 0, "tokens"], "ab", 'prompt.chunks[0].tokens is "ab": expected a list of token ids.'),
        (
            ["prompt", "chunks", 0, "type"],
            "image",
            'prompt.chunks[0].type is "image": expected "encoded_text", the only kind this engine takes.',
        ),
        (["sampling_params"], None, "sampling_params is null: expected an object."),
        (["sampling_params", "max_tokens"], 0, "sampling_params.max_tokens is 0: expected a whole number from 1 to 2147483648."),
        (
            ["sampling_params", "max_tokens"],
            509,
            "prompt has 4 tokens and sampling_params.max_tokens is 509: together they are over the 512 that tiny takes.",
        ),
        (["sampling_params", "temperature"], -1, "sampling_params.temperature is -1: expected a number from 0 to 1e+06."),
        (["sampling_params", "temperature"], "1", 'sampling_params.temperature is "1": expected a number from 0 to 1e+06.'),
        (["sampling_params", "top_p"], 0, "sampling_params.top_p is 0.0: expected a number above 0, at most 1."),
        (["sampling_params", "top_p"], 1.5, "sampling_params.top_p is 1.5: expected a number from 0 to 1."),
        (["sampling_params", "top_k"], 0, "sampling_params.top_k is 0: expected -1 (off) or at least 1."),
        (["sampling_params", "seed"], -1, f"sampling_params.seed is -1: expected a whole number from 0 to {2**63 - 1}."),
        (
            ["sampling_params", "stop"],
            ["a", 1],
            "sampling_params.stop mixes kinds: expected strings only or token ids only (stop_token_ids takes ids beside strings).",
        ),
        (["sampling_params", "stop"], [""], "sampling_params.stop holds an empty string: it would stop at once."),
        (
            ["sampling_params", "stop"],
            {},
            "sampling_params.stop is an object: expected a string, a list of strings, or a list of token ids.",
        ),
        (
            ["sampling_params", "stop_token_ids"],
            [99999],
            "sampling_params.stop_token_ids[0] is 99999: expected a token id from 0 to 49151.",
        ),
        (["num_samples"], 0, "num_samples is 0: expected a whole number from 1 to 1024."),
        (["topk_prompt_logprobs"], 2, "topk_prompt_logprobs is 2: expected 0, as this engine does not offer it."),
        (["prompt_logprobs"], 1, "prompt_logprobs is 1: expected true or false."),
        (["lockstep"], 1, "lockstep is 1: expected an object {key, size, index}."),
        (["lockstep"], {"key": "a", "size": 2, "index": 2}, "lockstep.index is 2: expected a whole number from 0 to 1."),
        (["lockstep"], {"size": 2, "index": 2}, "lockstep.key is null: expected a string."),
    ],
)
def test_a_wrong_sampling_request_is_refused_by_field(path: list, value: Any, expected: str) -> None:
    assert sentence(parse_sample, changed(recorded("asample_stop_string_list"), path, value), LIMITS) == expected


DATUM = ["forward_backward_input", "data", 0]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (["forward_backward_input"], 1, "forward_backward_input is 1: expected an object."),
        (
            ["forward_backward_input", "loss_fn"],
            "gspo",
            'forward_backward_input.loss_fn is "gspo": expected one of cross_entropy, importance_sampling, ppo, cispo, dro.',
        ),
        (
            ["forward_backward_input", "loss_fn"],
            ["ppo"],
            "forward_backward_input.loss_fn is a list of 1: expected one of cross_entropy, importance_sampling, ppo, cispo, dro.",
        ),
        (["forward_backward_input", "data"], [], "forward_backward_input.data is empty: expected at least one datum."),
        (["forward_backward_input", "data"], None, "forward_backward_input.data is null: expected a list."),
        (
            ["forward_backward_input", "loss_fn_config"],
            {"clip_ratio": 1},
            "forward_backward_input.loss_fn_config.clip_ratio is not a key of ppo: "
            "it takes clip_low_threshold, clip_high_threshold, dual_clip.",
        ),
        (
            ["forward_backward_input", "loss_fn_config"],
            {"clip_low_threshold": 1.5},
            "forward_backward_input.loss_fn_config.clip_low_threshold is 1.5, above clip_high_threshold 1.2: both are bounds of the ratio.",
        ),
        (
            ["forward_backward_input", "loss_fn_config"],
            {"dual_clip": 1},
            "forward_backward_input.loss_fn_config.dual_clip is 1.0: expected a number above 1.",
        ),
        ([*DATUM], 3, "data[0] is 3: expected an object."),
        ([*DATUM, "loss_fn_inputs"], None, "data[0].loss_fn_inputs is null: expected an object."),
        (
            [*DATUM, "loss_fn_inputs", "mask"],
            {"data": []},
            f"{INPUTS}.mask is not known to this engine: it takes target_tokens, weights, logprobs and advantages.",
        ),
        (
            [*DATUM, "loss_fn_inputs", "weights"],
            {"data": [1]},
            f"{INPUTS}.weights.data is a list of 1: expected a list of 9, one a target.",
        ),
        ([*DATUM, "loss_fn_inputs", "weights"], {"data": [None] * 9}, f"{INPUTS}.weights.data[0] is null: expected a number."),
        (
            [*DATUM, "loss_fn_inputs", "weights"],
            [1],
            f'{INPUTS}.weights is a list of 1: expected an object {{"data": [...], "dtype": "int64" or "float32"}}.',
        ),
        (
            [*DATUM, "loss_fn_inputs", "weights", "shape"],
            [3, 3],
            f'{INPUTS}.weights.shape is "[3, 3]": expected [9], the length of its data.',
        ),
        (
            [*DATUM, "loss_fn_inputs", "weights", "sparse_crow_indices"],
            [0],
            f"{INPUTS}.weights is sparse: this engine takes dense tensors.",
        ),
        ([*DATUM, "model_input"], {"chunks": [{"tokens": [1] * 513}]}, "data[0] has 513 tokens: tiny takes at most 512."),
    ],
)
def test_a_wrong_training_request_is_refused_by_field(path: list, value: Any, expected: str) -> None:
    body = recorded("fwdbwd_ppo_config")
    assert sentence(parse_train, changed(body, path, value), "forward_backward_input", LIMITS) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "err_fwdbwd_len_mismatch",
            f"{INPUTS}.target_tokens has 11 tokens and model_input has 12: they must be equally long (shift before sending).",
        ),
        ("err_fwdbwd_is_without_logprobs", f"{INPUTS}.logprobs is missing: expected one number a target, which importance_sampling needs."),
    ],
)
def test_what_another_server_takes_in_silence_is_refused(name: str, expected: str) -> None:
    assert sentence(parse_train, recorded(name), "forward_backward_input", LIMITS) == expected


def test_missing_targets_are_named() -> None:
    body = recorded("fwdbwd_ppo_config")
    del body["forward_backward_input"]["data"][0]["loss_fn_inputs"]["target_tokens"]
    assert (
        sentence(parse_train, body, "forward_backward_input", LIMITS)
        == f"{INPUTS}.target_tokens is missing: expected the token to predict at each position."
    )


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"learning_rate": -1}, "adam_params.learning_rate is -1: expected a number of at least 0."),
        ({"beta1": 1}, "adam_params.beta1 is 1.0: expected a number from 0 to below 1."),
        ({"lr": 1}, "adam_params.lr is not known to this engine: it takes learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm."),
        ([], "adam_params is a list of 0: expected an object."),
    ],
)
def test_wrong_adam_params_are_refused_by_field(params: Any, expected: str) -> None:
    assert sentence(parse_adam, {"adam_params": params}) == expected


@pytest.mark.parametrize("raw", [b'{"model_id": ', b'{"a": NaN}', b"\xff"])
def test_a_body_that_is_not_json_is_refused(raw: bytes) -> None:
    assert sentence(parse_body, raw).startswith("The body is not JSON: ")


def test_a_body_that_is_no_object_is_refused() -> None:
    assert sentence(parse_body, b"[1]") == "The body is a list of 1: expected a JSON object."
