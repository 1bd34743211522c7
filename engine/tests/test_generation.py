"""Sampling: greedy against the library's generate, log-probs against a forward pass, seeds, stops, sharing, lockstep."""

import random

import numpy as np
import pytest
import torch
from tiny_models import VOCABULARY, write_model
from transformers import AutoModelForCausalLM

from toolwise_engine.generation import Finished, Generator, Lockstep, SampleRequest
from toolwise_engine.policy import Datum, Policy

KINDS = ["llama", "qwen2", "qwen3", "neox"]


def prompt(length: int, seed: int = 0) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(VOCABULARY) for _ in range(length)]


def run(generator: Generator, *requests: SampleRequest, every: int = 0) -> dict[str, Finished]:
    """Runs the requests to their end; with `every`, one more is submitted each so many steps."""
    waiting, done, steps = list(requests), {}, 0
    while waiting or generator.has_work():
        while waiting and (not every or steps % every == 0):
            generator.submit(waiting.pop(0))
            if every:
                break
        for finished in generator.step():
            done[finished.id] = finished
        steps += 1
    return done


@pytest.fixture(scope="module")
def policy(tmp_path_factory) -> Policy:
    return Policy.create(write_model(tmp_path_factory.mktemp("m") / "llama"), "float32")


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_equals_the_library(tmp_path, kind):
    folder = write_model(tmp_path / "m", kind)
    snapshot = Policy.create(folder, "float32").snapshot()
    system = prompt(40)
    prompts = [system + prompt(n, seed=n) for n in (3, 9, 17, 30)] + [prompt(5, seed=5), prompt(1, seed=6)]
    done = run(Generator(), *(SampleRequest(str(i), snapshot, p, 1, 24, temperature=0) for i, p in enumerate(prompts)), every=3)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for i, p in enumerate(prompts):
        ids = torch.tensor([p])
        expected = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False, eos_token_id=None, pad_token_id=0
        )[0, len(p) :]
        assert done[str(i)].sequences[0].tokens == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_logprobs_equal_a_forward_pass(tmp_path, kind):
    policy = Policy.create(write_model(tmp_path / "m", kind), "float32")
    system = prompt(50)
    requests = [
        SampleRequest(str(i), policy.snapshot(), system + prompt(8 + i, i), 4, 30, 0.7, top_p=0.9, seed=i, entropy=True) for i in range(3)
    ]
    requests[0].prompt_logprobs = True
    done = run(Generator(), *requests)
    for request in requests:
        for sequence in done[request.id].sequences:
            whole = request.prompt + sequence.tokens
            (expected,) = policy.forward([Datum(whole[:-1], whole[1:])])
            np.testing.assert_allclose(sequence.logprobs, expected[len(request.prompt) - 1 :], atol=3e-5)
            assert len(sequence.entropies) == len(sequence.tokens)
            assert min(sequence.entropies) > 0 and max(sequence.entropies) <= np.log(VOCABULARY) + 1e-4
    scored = done["0"].prompt_logprobs
    np.testing.assert_allclose(scored[1:], expected_prompt(policy, requests[0].prompt), atol=3e-5)
    assert scored[0] is None


def expected_prompt(policy: Policy, tokens: list[int]) -> np.ndarray:
    return policy.forward([Datum(tokens[:-1], tokens[1:])])[0]


def test_a_sample_does_not_depend_on_its_company(policy):
    snapshot, system = policy.snapshot(), prompt(45)

    def one(i: int) -> SampleRequest:
        return SampleRequest(str(i), snapshot, system + prompt(6, 100 + i), 3, 20, 1.0, seed=1000 + i)

    alone = {str(i): run(Generator(), one(i))[str(i)] for i in range(6)}
    together = run(Generator(), *(one(i) for i in range(6)))
    staggered = run(Generator(max_rows=5), *(one(i) for i in range(6)), every=4)
    for company in (together, staggered):
        for key, finished in alone.items():
            assert [s.tokens for s in company[key].sequences] == [s.tokens for s in finished.sequences]
    samples = [tuple(s.tokens) for f in alone.values() for s in f.sequences]
    assert len(set(samples)) == len(samples)


def test_a_shared_prompt_is_computed_once(policy):
    snapshot, system = policy.snapshot(), prompt(60)
    generator = Generator()
    run(generator, *(SampleRequest(str(i), snapshot, system + prompt(10, i), 8, 5, seed=i) for i in range(4)))
    assert generator.tokens_seen == 60 + 4 * 10 + 4 * 8 * 4


def test_a_next_turn_computes_only_what_is_new(policy):
    snapshot, first = policy.snapshot(), prompt(50)
    generator = Generator()
    opening = run(generator, SampleRequest("a", snapshot, first, 4, 12, seed=1))["a"]
    before = generator.tokens_seen
    turns = [SampleRequest(f"b{i}", snapshot, first + s.tokens + prompt(7, i), 1, 6, seed=i) for i, s in enumerate(opening.sequences)]
    done = run(generator, *turns)
    assert generator.tokens_seen - before == 4 * (1 + 7 + 5)
    fresh = run(Generator(), *turns)
    for turn in turns:
        assert done[turn.id].sequences[0].tokens == fresh[turn.id].sequences[0].tokens


def test_memory_bounds_the_rows_and_nothing_else(policy):
    snapshot = policy.snapshot()
    requests = [SampleRequest(str(i), snapshot, prompt(20, i), 4, 15, seed=i) for i in range(5)]
    roomy = run(Generator(), *requests)
    cramped = run(Generator(cache_bytes=200_000), *requests)
    for key in roomy:
        assert [s.tokens for s in roomy[key].sequences] == [s.tokens for s in cramped[key].sequences]


def test_long_prompts_are_computed_in_pieces(policy, monkeypatch):
    snapshot = policy.snapshot()
    requests = [SampleRequest(str(i), snapshot, prompt(n, n), 1, 8, temperature=0) for i, n in enumerate((90, 33, 64, 7))]
    whole = run(Generator(), *requests)
    monkeypatch.setattr("toolwise_engine.batch.PREFILL_TOKENS", 16)
    pieces = run(Generator(), *requests)
    assert all(whole[k].sequences[0].tokens == pieces[k].sequences[0].tokens for k in whole)


def test_stops(policy):
    snapshot = policy.snapshot()
    free = run(Generator(), SampleRequest("f", snapshot, prompt(12), 1, 40, seed=3))["f"].sequences[0]
    assert free.stop_reason == "length" and len(free.tokens) == 40
    stop = free.tokens[9]
    by_id = run(Generator(), SampleRequest("i", snapshot, prompt(12), 1, 40, seed=3, stop_token_ids=[stop]))["i"].sequences[0]
    assert by_id.stop_reason == "stop" and by_id.tokens == free.tokens[: free.tokens.index(stop) + 1]
    text = snapshot.tokenizer.decode(free.tokens[10:13], skip_special_tokens=False)
    by_text = run(Generator(), SampleRequest("t", snapshot, prompt(12), 1, 40, seed=3, stop_strings=[text]))["t"].sequences[0]
    assert by_text.stop_reason == "stop" and by_text.tokens == free.tokens[:13]


def test_lockstep_repeats_bit_for_bit(policy):
    snapshot = policy.snapshot()

    def requests(run_name: str) -> list[SampleRequest]:
        system = prompt(40)
        return [
            SampleRequest(f"{run_name}{i}", snapshot, system + prompt(5 + i, i), 2, 15, seed=i, lockstep=Lockstep(run_name, 4, i))
            for i in range(4)
        ]

    first = run(Generator(), *requests("a"))
    generator = Generator()
    for request in requests("b")[::-1][:3]:
        generator.submit(request)
        assert generator.step() == []
    assert not generator.has_work()
    second = run(generator, requests("b")[0], SampleRequest("other", snapshot, prompt(30), 8, 20))
    for i in range(4):
        assert first[f"a{i}"].sequences == second[f"b{i}"].sequences


def test_cancel_and_faults_touch_one_request(policy):
    snapshot, generator = policy.snapshot(), Generator()
    for name in "ab":
        generator.submit(SampleRequest(name, snapshot, prompt(10, ord(name)), 2, 30, seed=5))
    for _ in range(4):
        generator.step()
    generator.cancel("a")
    done = run(generator, SampleRequest("bad", snapshot, [VOCABULARY], 1, 3), SampleRequest("empty", snapshot, []))
    assert set(done) == {"b", "bad", "empty"} and done["bad"].error.category == "user"
    alone = run(Generator(), SampleRequest("b", snapshot, prompt(10, ord("b")), 2, 30, seed=5))
    assert [s.tokens for s in done["b"].sequences] == [s.tokens for s in alone["b"].sequences]


def test_a_failing_pass_fails_its_requests_only(policy, monkeypatch):
    snapshot, generator = policy.snapshot(), Generator()
    with monkeypatch.context() as patch:
        patch.setattr(snapshot.network, "hidden", lambda *a: (_ for _ in ()).throw(MemoryError()))
        done = run(generator, SampleRequest("x", snapshot, prompt(5), 2, 5))
    assert done["x"].error.category == "server" and not generator.has_work()
    assert run(generator, SampleRequest("y", snapshot, prompt(5), 2, 5))["y"].error is None
