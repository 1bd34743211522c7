"""A real engine process, driven over HTTP: order, idempotency, snapshots, sampling, cancelling, checkpoints, resume."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from engine_process import EngineProcess, datum, make_tiny_model, prompt, sample_body, train_body

RECORDED = Path(__file__).parent / "recorded"
ADAM = {"learning_rate": 0.05}
BASE = {"base_model": "tiny"}
PARTNER = {"size": 2, "index": 0}
"""A sampling that waits for a partner who never comes."""


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def engine(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    with EngineProcess(model_folder, tmp_path_factory.mktemp("checkpoints"), "--poll-seconds", "0.5", "--kept-snapshots", "2") as process:
        yield process


def update(engine: EngineProcess, model: str) -> None:
    """One update, big enough to change what is sampled."""
    engine.run("forward_backward", train_body(model, data=[datum([5, 6, 7, 8, 9, 10])]))
    engine.run("optim_step", {"model_id": model, "adam_params": ADAM})


def publish(engine: EngineProcess, model: str) -> dict:
    return {"sampling_session_id": engine.run("save_weights_for_sampler", {"model_id": model})["sampling_session_id"]}


def logprobs(engine: EngineProcess, model: str) -> list[float]:
    body = {"model_id": model, "forward_input": {"data": [datum([5, 6, 7, 8])], "loss_fn": "cross_entropy"}}
    return engine.run("forward", body)["loss_fn_outputs"][0]["logprobs"]["data"]


def same_sample(one: dict, other: dict) -> bool:
    """Equal but for the last digits of log-probs, which depend on what else was in the batch."""
    for left, right in zip(one["sequences"], other["sequences"], strict=True):
        assert (left["tokens"], left["stop_reason"]) == (right["tokens"], right["stop_reason"])
        assert left["logprobs"] == pytest.approx(right["logprobs"], abs=1e-4)
    return one["policy_version"] == other["policy_version"]


# --- key, health, capabilities ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "wrong"}, {"X-API-Key": ""}])
def test_without_the_key_nothing_is_served(engine: EngineProcess, headers: dict) -> None:
    base = f"http://127.0.0.1:{engine.ready['port']}/api/v1"
    for answer in (httpx.get(f"{base}/healthz", headers=headers), httpx.post(f"{base}/create_session", headers=headers, json={})):
        assert answer.status_code == 401
        assert answer.json() == {"detail": "The X-API-Key header is missing or wrong.", "category": "user"}


def test_capabilities_say_what_the_engine_can(engine: EngineProcess) -> None:
    answer = engine.client.get("get_server_capabilities").json()
    [model] = answer["supported_models"]
    assert (model["model_name"], model["max_context_length"], len(model["weights_hash"])) == ("tiny", 256, 64)
    toolwise = answer["toolwise"]
    assert (toolwise["loss_reduction"], toolwise["dtype"], toolwise["threads"]) == ("sum", "float32", 1)
    assert toolwise["losses"]["ppo"] == ["clip_low_threshold", "clip_high_threshold", "dual_clip"]


def test_what_is_not_there_is_told_in_the_same_form(engine: EngineProcess) -> None:
    assert engine.refused("nope", {}) == (404, "This engine has no endpoint POST /api/v1/nope.")
    answer = engine.client.get("asample")
    assert (answer.status_code, answer.json()["detail"]) == (405, "This endpoint does not take GET /api/v1/asample.")


def test_other_encodings_are_refused(engine: EngineProcess) -> None:
    answer = engine.client.post("optim_step", content=b"x", headers={"Content-Type": "application/x-protobuf"})
    assert (answer.status_code, answer.json()["category"]) == (415, "user")
    answer = engine.client.post("optim_step", content=b'{"model_id": ', headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["detail"][:21]) == (400, "The body is not JSON:")


def test_the_official_clients_first_calls_are_answered(engine: EngineProcess) -> None:
    assert engine.client.get("healthz").json() == {"status": "ok"}
    assert engine.ok("client/config", {"sdk_version": "0.24.1"})["proto_write_fwdbwd"] is False
    session = engine.ok("create_session", json.loads((RECORDED / "create_session.json").read_text())["body"])
    assert session["type"] == "create_session"
    assert engine.ok("session_heartbeat", {"session_id": session["session_id"]}) == {"type": "session_heartbeat"}
    assert engine.ok("telemetry", {"events": []}) == {"status": "accepted"}


# --- models -------------------------------------------------------------------------------------------------------------------------------


def test_a_lora_model_trains_saves_and_is_named_as_one(engine: EngineProcess) -> None:
    model = engine.new_model(rank=4, seed=2, train_unembed=False)
    info = engine.ok("get_info", {"model_id": model})
    assert (info["is_lora"], info["lora_rank"], info["model_data"]["lora_config"]["rank"]) == (True, 4, 4)
    first = engine.run("forward_backward", train_body(model))
    engine.run("optim_step", {"model_id": model, "adam_params": {"learning_rate": 0.05}})
    second = engine.run("forward_backward", train_body(model))
    assert second["metrics"]["loss:sum"] < first["metrics"]["loss:sum"]
    path = engine.run("save_weights", {"model_id": model, "path": "adapter"})["path"]
    facts = engine.ok("weights_info", {"tinker_path": path})
    assert (facts["is_lora"], facts["lora_rank"]) == (True, 4)
    run = engine.client.get(f"training_runs/{model}").json()
    assert (run["is_lora"], run["lora_rank"]) == (True, 4)
    other = engine.new_model(rank=4, seed=2, train_unembed=False)
    engine.run("load_weights", {"model_id": other, "path": path})
    again = engine.run("forward_backward", train_body(other))
    assert again["loss_fn_outputs"] == second["loss_fn_outputs"]
    refused = engine.run("load_weights", {"model_id": engine.new_model(), "path": path})
    assert refused["category"] == "user" and "LoRA adapter of rank 4" in refused["error"]


def test_a_rank_wider_than_a_layer_is_refused(engine: EngineProcess) -> None:
    body = json.loads((RECORDED / "create_model.json").read_text())["body"]
    body["session_id"] = engine.ok("create_session")["session_id"]
    body["lora_config"]["rank"] = 4096
    made = engine.ok("create_model", body)
    assert "narrowest layer" in engine.fetch(made["request_id"])["error"]


def test_an_unknown_base_model_or_session_is_refused(engine: EngineProcess) -> None:
    session = engine.ok("create_session")["session_id"]
    assert engine.refused("create_model", {"session_id": session, "base_model": "big"}) == (
        400,
        'base_model is "big": this engine serves tiny.',
    )
    status, sentence = engine.refused("create_model", {"session_id": "session_x", "base_model": "tiny"})
    assert (status, sentence[:32]) == (404, "Session session_x is not known: ")
    assert engine.refused("session_heartbeat", {"session_id": "a/b"})[0] == 400


def test_a_repeated_create_model_makes_one_model(engine: EngineProcess) -> None:
    body = {"session_id": engine.ok("create_session")["session_id"], "model_seq_id": 0, "base_model": "tiny", "lora_config": {"rank": 0}}
    first = engine.ok("create_model", body)
    assert engine.ok("create_model", body) == first
    assert engine.refused("create_model", {**body, "lora_config": {"rank": 0, "train_unembed": False}})[0] == 409


def test_info_names_the_base_model(engine: EngineProcess) -> None:
    model = engine.new_model(train_unembed=False)
    info = engine.ok("get_info", {"model_id": model})
    assert (info["model_data"]["base_model"], info["model_data"]["lora_config"]["train_unembed"]) == ("tiny", False)
    assert engine.refused("get_info", {"model_id": "nope"}) == (404, "Model nope is not known to this engine.")


# --- training: results, order, idempotency ------------------------------------------------------------------------------------------------


def test_training_answers_in_the_wires_form(engine: EngineProcess) -> None:
    model = engine.new_model()
    result = engine.run("forward_backward", train_body(model, data=[datum([5, 6, 7, 8], weights=[1, 0, 1])]))
    [output] = result["loss_fn_outputs"]
    values = output["logprobs"]["data"]
    assert output["logprobs"]["shape"] == [3] and output["logprobs"]["dtype"] == "float32"
    assert values[1] == 0 and values[0] < -1 and values[2] < -1
    assert result["metrics"]["loss:sum"] == pytest.approx(-sum(values), rel=1e-5)
    step = engine.run("optim_step", {"model_id": model, "adam_params": ADAM})
    assert step["policy_version"] == 1 and step["metrics"]["grad_norm"] > 0 and step["metrics"]["learning_rate"] == 0.05
    assert logprobs(engine, model)[0] > values[0]


@pytest.mark.parametrize("name", ["fwdbwd_importance_sampling", "fwdbwd_ppo_config"])
def test_a_recorded_policy_loss_request_runs(engine: EngineProcess, name: str) -> None:
    body = json.loads((RECORDED / f"{name}.json").read_text())["body"]
    body["model_id"] = engine.new_model()
    for entry in body["forward_backward_input"]["data"]:
        for holder, key in [(entry["model_input"]["chunks"][0], "tokens"), (entry["loss_fn_inputs"]["target_tokens"], "data")]:
            holder[key] = [token % 256 for token in holder[key]]
    result = engine.run("forward_backward", body)
    lengths = [len(entry["loss_fn_inputs"]["target_tokens"]["data"]) for entry in body["forward_backward_input"]["data"]]
    assert [output["logprobs"]["shape"] for output in result["loss_fn_outputs"]] == [[length] for length in lengths]


def test_requests_sent_ahead_run_in_order(engine: EngineProcess) -> None:
    model = engine.new_model()
    promises = []
    for step in range(3):
        promises.append(engine.ok("forward_backward", train_body(model, 2 * step + 1)))
        promises.append(engine.ok("optim_step", {"model_id": model, "seq_id": 2 * step + 2, "adam_params": ADAM}))
    results = [engine.fetch(promise["request_id"]) for promise in promises]
    assert [result["policy_version"] for result in results[1::2]] == [1, 2, 3]
    losses = [result["metrics"]["loss:sum"] for result in results[0::2]]
    assert losses[0] > losses[1] > losses[2]


def test_a_repeated_seq_id_runs_once(engine: EngineProcess) -> None:
    model = engine.new_model()
    engine.run("forward_backward", train_body(model, 1))
    body = {"model_id": model, "seq_id": 2, "adam_params": ADAM}
    first = engine.ok("optim_step", body)
    assert engine.ok("optim_step", body) == first
    assert engine.fetch(first["request_id"]) == engine.fetch(first["request_id"])
    assert engine.ok("optim_step", body) == first
    engine.run("forward_backward", train_body(model, 3))
    assert engine.run("optim_step", {"model_id": model, "seq_id": 4})["policy_version"] == 2


def test_a_seq_id_used_for_something_else_or_too_low_is_refused_and_a_gap_runs(engine: EngineProcess) -> None:
    model = engine.new_model()
    engine.run("forward_backward", train_body(model, 5))
    status, sentence = engine.refused("forward_backward", train_body(model, 5, data=[datum([1, 2, 3])]))
    assert (status, sentence) == (409, "seq_id 5 was used for another request: a repeat must be the same endpoint and body, byte for byte.")
    assert engine.refused("optim_step", {"model_id": model, "seq_id": 5})[0] == 409
    status, sentence = engine.refused("forward_backward", train_body(model, 4))
    assert (status, sentence) == (409, "seq_id 4 is lower than 5, which was taken already: requests of a model run in order.")
    assert engine.run("optim_step", {"model_id": model, "seq_id": 500})["policy_version"] == 1


def test_a_refused_request_uses_up_no_seq_id(engine: EngineProcess) -> None:
    model = engine.new_model()
    assert engine.refused("forward_backward", train_body(model, 1, data=[datum([1, 999])]))[0] == 400
    assert "loss_fn_outputs" in engine.run("forward_backward", train_body(model, 1))


def test_an_operation_that_fails_leaves_the_model_usable(engine: EngineProcess) -> None:
    model = engine.new_model()
    failed = engine.run("optim_step", {"model_id": model, "seq_id": 1})
    assert failed["category"] == "user" and "gradient" in failed["error"]
    update(engine, model)


# --- promises -----------------------------------------------------------------------------------------------------------------------------


def test_an_unknown_promise_is_refused(engine: EngineProcess) -> None:
    assert engine.refused("retrieve_future", {"request_id": "999999"})[0] == 404
    assert engine.refused("retrieve_future", {}) == (400, "request_id is missing: expected a string.")


def test_a_poll_without_a_result_says_try_again(engine: EngineProcess) -> None:
    request = engine.ok("asample", {**sample_body(BASE), "lockstep": {"key": "poll", **PARTNER}})["request_id"]
    assert engine.ok("retrieve_future", {"request_id": request}) == {"type": "try_again", "request_id": request, "queue_state": "active"}


# --- sampling -----------------------------------------------------------------------------------------------------------------------------


def test_a_sample_is_the_tokens_and_their_log_probs(engine: EngineProcess) -> None:
    result = engine.run("asample", {**sample_body(BASE, num_samples=2), "prompt_logprobs": True, "entropy": True})
    assert len(result["sequences"]) == 2 and result["policy_version"] == 0
    for sequence in result["sequences"]:
        assert len(sequence["tokens"]) == len(sequence["logprobs"]) == len(sequence["entropies"]) == 8
        assert sequence["stop_reason"] == "length"
        assert max(sequence["logprobs"]) < 0 < min(sequence["entropies"])
    assert result["prompt_logprobs"][0] is None and len(result["prompt_logprobs"]) == 3


def test_sampled_log_probs_are_those_of_a_forward_over_the_same_tokens(engine: EngineProcess) -> None:
    [sequence] = engine.run("asample", sample_body(BASE, temperature=0.7, top_p=0.9))["sequences"]
    tokens = [10, 11, 12, *sequence["tokens"]]
    body = {"model_id": engine.new_model(), "forward_input": {"data": [datum(tokens)], "loss_fn": "cross_entropy"}}
    scored = engine.run("forward", body)["loss_fn_outputs"][0]["logprobs"]["data"]
    assert scored[2:] == pytest.approx(sequence["logprobs"], abs=1e-4)


def test_the_same_seed_gives_the_same_sample_and_asample_is_never_deduplicated(engine: EngineProcess) -> None:
    first, second = engine.ok("asample", sample_body(BASE)), engine.ok("asample", sample_body(BASE))
    assert first["request_id"] != second["request_id"]
    one, other = engine.fetch(first["request_id"]), engine.fetch(second["request_id"])
    assert same_sample(one, other)
    assert engine.run("asample", sample_body(BASE, seed=4))["sequences"][0]["tokens"] != one["sequences"][0]["tokens"]


def test_stop_ids_and_stop_strings_end_a_sequence(engine: EngineProcess) -> None:
    [free] = engine.run("asample", sample_body(BASE))["sequences"]
    third = free["tokens"][2]
    until = free["tokens"][: free["tokens"].index(third) + 1]
    for stop in ({"stop": [third]}, {"stop_token_ids": [third]}):
        [stopped] = engine.run("asample", sample_body(BASE, **stop))["sequences"]
        assert (stopped["tokens"], stopped["stop_reason"]) == (until, "stop")
    [stopped] = engine.run("asample", sample_body(BASE, tokens=[33, 34], max_tokens=200, stop=[chr(33 + i) for i in range(94)]))[
        "sequences"
    ]
    assert stopped["stop_reason"] == "stop" and len(stopped["tokens"]) < 200


def test_many_samples_at_once_equal_the_same_samples_one_by_one(engine: EngineProcess) -> None:
    bodies = [sample_body(BASE, [10, 11, 12 + index], seed=index, max_tokens=4 + index % 5) for index in range(24)]
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda body: engine.run("asample", body), bodies))
    assert all(same_sample(engine.run("asample", body), result) for body, result in zip(bodies, together, strict=True))


def test_a_lockstep_batch_runs_when_all_are_in(engine: EngineProcess) -> None:
    def both(key: str) -> list[dict]:
        requests = [engine.ok("asample", {**sample_body(BASE, seed=i), "lockstep": {"key": key, "size": 2, "index": i}}) for i in (1, 0)]
        return [engine.fetch(request["request_id"]) for request in requests]

    assert both("first") == both("second")


def test_a_snapshot_does_not_see_later_updates(engine: EngineProcess) -> None:
    model = engine.new_model()
    old = publish(engine, model)
    before = engine.run("asample", sample_body(old, temperature=0))
    update(engine, model)
    new = publish(engine, model)
    assert same_sample(engine.run("asample", sample_body(old, temperature=0)), before)
    after = engine.run("asample", sample_body(new, temperature=0))
    assert (before["policy_version"], after["policy_version"]) == (0, 1)
    assert before["sequences"][0]["logprobs"][0] != pytest.approx(after["sequences"][0]["logprobs"][0], abs=1e-3)
    assert same_sample(before, engine.run("asample", sample_body(BASE, temperature=0)))


def test_a_request_sent_before_an_update_ends_samples_the_old_weights(engine: EngineProcess) -> None:
    model = engine.new_model()
    old = publish(engine, model)
    promise = engine.ok("asample", sample_body(old, max_tokens=100))
    update(engine, model)
    assert same_sample(engine.fetch(promise["request_id"]), engine.run("asample", sample_body(old, max_tokens=100)))


def test_the_newest_snapshots_are_kept_and_older_ones_say_that_they_are_gone(engine: EngineProcess) -> None:
    model = engine.new_model()
    samplers = [publish(engine, model)]
    for _ in range(2):
        update(engine, model)
        samplers.append(publish(engine, model))
    gone = engine.run("asample", sample_body(samplers[0]))
    assert gone == {
        "error": "This sampling session holds policy version 0, which is no longer kept: the newest 2 of a model are.",
        "category": "user",
    }
    assert [engine.run("asample", sample_body(sampler))["policy_version"] for sampler in samplers[1:]] == [1, 2]


def test_publishing_unchanged_weights_takes_no_further_place(engine: EngineProcess) -> None:
    model = engine.new_model()
    samplers = [publish(engine, model) for _ in range(5)]
    assert [engine.run("asample", sample_body(sampler))["policy_version"] for sampler in samplers] == [0] * 5


def test_a_deleted_sampler_is_gone(engine: EngineProcess) -> None:
    id = publish(engine, engine.new_model())["sampling_session_id"]
    assert engine.client.get(f"samplers/{id}").json() == {"sampler_id": id, "base_model": "tiny", "model_path": None}
    assert engine.client.delete(f"samplers/{id}").status_code == 200
    assert engine.refused("asample", sample_body({"sampling_session_id": id})) == (
        404,
        f"Sampling session {id} is not known to this engine.",
    )


def test_where_to_sample_from_must_be_clear(engine: EngineProcess) -> None:
    expected = (400, "Where to sample from is not clear: expected sampling_session_id, or exactly one of base_model and model_path.")
    assert engine.refused("asample", sample_body({})) == expected
    assert engine.refused("asample", sample_body({**BASE, "model_path": "tinker://m/weights/a"})) == expected
    missing = "tinker://model_x/sampler_weights/a"
    assert engine.refused("asample", sample_body({"model_path": missing})) == (404, f"Checkpoint {missing} does not exist.")


def test_a_prompt_over_the_context_is_refused(engine: EngineProcess) -> None:
    status, sentence = engine.refused("asample", {**sample_body(BASE), "prompt": prompt([1] * 256)})
    assert (status, sentence) == (400, "prompt has 256 tokens: tiny takes at most 256 with the answer.")


# --- cancelling ---------------------------------------------------------------------------------------------------------------------------


def test_unloading_cancels_what_is_open_and_frees_the_model(engine: EngineProcess) -> None:
    model = engine.new_model()
    sampler = publish(engine, model)
    waiting = engine.ok("asample", {**sample_body(sampler), "lockstep": {"key": "unload", **PARTNER}})
    assert engine.run("unload_model", {"model_id": model}) == {"type": "unload_model", "model_id": model, "status": "unloaded"}
    outcome = engine.fetch(waiting["request_id"])
    assert outcome["category"] == "user" and re.fullmatch(
        r"asample (was cancelled|did not run): the model was unloaded\.", outcome["error"]
    )
    expected = (404, f"Model {model} takes no more requests: the model was unloaded.")
    assert engine.refused("forward_backward", train_body(model)) == expected
    assert engine.refused("asample", sample_body(sampler))[0] == 404


def test_a_client_that_goes_away_cancels_nothing(engine: EngineProcess) -> None:
    model = engine.new_model()
    with pytest.raises(httpx.ReadTimeout):
        waiting = engine.ok("asample", {**sample_body(BASE), "lockstep": {"key": "away", **PARTNER}})
        engine.client.post("retrieve_future", json={"request_id": waiting["request_id"]}, timeout=0.1)
    engine.ok("asample", {**sample_body(BASE), "lockstep": {"key": "away", "size": 2, "index": 1}})
    assert len(engine.fetch(waiting["request_id"])["sequences"]) == 1
    update(engine, model)


def test_a_silent_session_ends_with_its_models(model_folder: Path, tmp_path: Path) -> None:
    with EngineProcess(model_folder, tmp_path, "--session-timeout", "1") as engine:
        silent, alive = engine.new_model(), engine.new_model()
        sampler = publish(engine, silent)
        waiting = engine.ok("asample", {**sample_body(sampler), "lockstep": {"key": "k", **PARTNER}})["request_id"]
        while engine.client.get(f"samplers/{sampler['sampling_session_id']}").status_code == 200:
            engine.ok("get_info", {"model_id": alive})
            time.sleep(0.05)
        ended = engine.fetch(waiting)
        assert ended["category"] == "user" and "expired (1 s without a request)" in ended["error"]
        status, sentence = engine.refused("forward_backward", train_body(silent))
        assert (status, "expired" in sentence) == (404, True)
        update(engine, alive)


# --- checkpoints --------------------------------------------------------------------------------------------------------------------------


def test_a_name_is_taken_once_unless_overwritten(engine: EngineProcess) -> None:
    model = engine.new_model()
    body = {"model_id": model, "path": "ck"}
    saved = engine.run("save_weights", body)
    assert saved == {"type": "save_weights", "path": f"tinker://{model}/weights/ck", "policy_version": 0}
    expected = (409, f"Checkpoint tinker://{model}/weights/ck exists already: choose another name, or send overwrite true.")
    assert engine.refused("save_weights", body) == expected
    update(engine, model)
    assert engine.run("save_weights", {**body, "overwrite": True})["policy_version"] == 1
    assert engine.ok("weights_info", {"tinker_path": saved["path"]}) == {
        "base_model": "tiny",
        "is_lora": False,
        "lora_rank": None,
        "train_unembed": None,
        "train_mlp": None,
        "train_attn": None,
        "policy_version": 1,
    }


@pytest.mark.parametrize("name", ["a/b", "../a", ".", "", "a b"])
def test_a_name_cannot_leave_the_folder(engine: EngineProcess, name: str) -> None:
    status, sentence = engine.refused("save_weights", {"model_id": engine.new_model(), "path": name})
    assert (status, sentence) == (400, f'path is "{name}": expected letters, digits, _ and - (at most 128).')


def test_named_sampler_weights_can_be_sampled_listed_and_deleted(engine: EngineProcess) -> None:
    model = engine.new_model()
    update(engine, model)
    path = engine.run("save_weights_for_sampler", {"model_id": model, "path": "s1"})["path"]
    engine.run("save_weights", {"model_id": model, "path": "w1"})
    session = engine.ok("create_session")["session_id"]
    made = engine.ok("create_sampling_session", {"session_id": session, "sampling_session_seq_id": 0, "model_path": path})
    assert engine.ok("create_sampling_session", {"session_id": session, "sampling_session_seq_id": 0, "model_path": path}) == made
    by_session = engine.run("asample", sample_body({"sampling_session_id": made["sampling_session_id"]}))
    assert same_sample(by_session, engine.run("asample", sample_body({"model_path": path})))
    assert same_sample(by_session, engine.run("asample", sample_body(publish(engine, model))))
    listed = engine.client.get(f"training_runs/{model}/checkpoints").json()["checkpoints"]
    assert sorted((entry["checkpoint_id"], entry["checkpoint_type"]) for entry in listed) == [
        ("sampler_weights/s1", "sampler"),
        ("weights/w1", "training"),
    ]
    run = engine.client.get(f"training_runs/{model}").json()
    assert run["last_sampler_checkpoint"]["tinker_path"] == path
    assert run in engine.client.get("training_runs").json()["training_runs"]
    assert engine.client.delete(f"training_runs/{model}/checkpoints/sampler_weights/s1").status_code == 200
    assert engine.refused("asample", sample_body({"model_path": path}))[0] == 404
    assert same_sample(engine.run("asample", sample_body({"sampling_session_id": made["sampling_session_id"]})), by_session)


def test_a_checkpoint_can_be_named_before_its_saving_has_run(engine: EngineProcess) -> None:
    model = engine.new_model()
    engine.ok("save_weights", {"model_id": model, "path": "soon"})
    loaded = engine.run("load_weights", {"model_id": model, "path": f"tinker://{model}/weights/soon", "optimizer": True})
    assert loaded["type"] == "load_weights"
    missing = f"tinker://{model}/weights/never"
    assert engine.refused("load_weights", {"model_id": model, "path": missing}) == (404, f"Checkpoint {missing} does not exist.")


def test_a_new_process_resumes_exactly(model_folder: Path, tmp_path: Path) -> None:
    with EngineProcess(model_folder, tmp_path) as engine:
        model = engine.new_model()
        update(engine, model)
        update(engine, model)
        path = engine.run("save_weights", {"model_id": model, "path": "two"})["path"]
        update(engine, model)
        expected = logprobs(engine, model)
    with EngineProcess(model_folder, tmp_path) as engine:
        resumed = engine.new_model()
        assert engine.run("load_weights", {"model_id": resumed, "path": path, "optimizer": True})["policy_version"] == 2
        update(engine, resumed)
        assert logprobs(engine, resumed) == expected
        assert engine.run("save_weights_for_sampler", {"model_id": resumed})["policy_version"] == 3
        fresh = engine.new_model()
        engine.run("load_weights", {"model_id": fresh, "path": path, "optimizer": False})
        update(engine, fresh)
        assert logprobs(engine, fresh) != expected
