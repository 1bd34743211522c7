"""
Trains nano from nothing on written traces: tokenizer, then the model, by next-token prediction on the policy's own tokens. Everything
follows from the seed and a fixed number of updates. Makes no traces (`main.ts` does) and evaluates nothing.

    python pretrain.py TRACES SETTINGS OUT

TRACES: JSON lines, each a list of [text, trained]. SETTINGS: a JSON file, see `settings.ts`. OUT: the model's folder.
Progress goes to stdout as JSON lines.
"""
import json
import random
import sys
import time
from pathlib import Path

import torch
from make_tokenizer import make_tokenizer
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

SEPARATORS = [' * ', ' + ', ' - ', ' and ', ' in ', ' divided by ']
OPERATORS = ['*', '+', '-', '%', ',', '//']
# An interrupted run leaves this much behind.
SAVE_EVERY = 400
ODD_TEXTS = ['', ' ', '\n\n  x', '007 and 1,234.50', 'é ü 漢字 🙂', '<|end|><tool_call>12</tool_call>', "it's 3 o'clock\t\r\n", '<tool_cal l>\\boxed{}']


def tell(**fields):
    print(json.dumps(fields), flush=True)


def encode(tokenizer, traces):
    """[(ids, trained)] of the traces."""
    encodings = iter(tokenizer.encode_batch_fast([text for trace in traces for text, _ in trace], add_special_tokens=False))
    rows = []
    for trace in traces:
        ids, trained = [], []
        for _, flag in trace:
            piece = next(encodings).ids
            ids += piece
            trained += [flag] * len(piece)
        rows.append((ids, trained))
    return rows


def write_examples(tokenizer, traces, path):
    """Texts with their ids, for other implementations of tokenizer.json to be compared with."""
    texts = ODD_TEXTS + [''.join(text for text, _ in trace) for trace in traces[:32]]
    examples = [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts]
    path.write_text('\n'.join(json.dumps(example) for example in examples) + '\n', encoding='utf-8')


def batches(rows, size, rng):
    """Endless batches of rows of similar length."""
    if len(rows) < size:
        raise ValueError(f'{len(rows)} traces are fewer than a batch of {size}')
    span = min(size * 16, len(rows) // size * size)
    while True:
        order = list(range(len(rows)))
        rng.shuffle(order)
        for start in range(0, len(order) - span + 1, span):
            window = sorted(order[start : start + span], key=lambda i: len(rows[i][0]))
            groups = [window[i : i + size] for i in range(0, span, size)]
            rng.shuffle(groups)
            for group in groups:
                yield [rows[i] for i in group]


def copy_trace(rng):
    """Numbers to be written again: copying is the skill that comes last otherwise."""
    numbers = [str(rng.randint(0, 10 ** rng.randint(1, 5) - 1)) for _ in range(rng.randint(1, 4))]
    question = ''.join(number + rng.choice(SEPARATORS) for number in numbers)
    again = numbers[rng.randrange(len(numbers)) :] if rng.random() < 0.3 else numbers
    answer = ''.join(number + rng.choice(OPERATORS) for number in again)
    return [[f'<|user|>{question}<|assistant|>', 0], [f'{answer}<|end|>', 1]]


def loss_of(model, rows):
    length = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    trained = torch.zeros(len(rows), length, dtype=torch.bool)
    for row, (tokens, flags) in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        trained[row, : len(flags)] = torch.tensor(flags, dtype=torch.bool)
    at = trained[:, 1:].flatten().nonzero()[:, 0]
    with torch.autocast('cpu', torch.bfloat16):
        hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
    logits = model.lm_head(hidden.flatten(0, 1)[at].float())
    return cross_entropy(logits, ids[:, 1:].flatten()[at])


def rate(update, settings):
    """Warm-up, plateau, linear decay to a thirtieth."""
    progress = update / settings['updates']
    decay = 1 if progress < 0.6 else max(0.03, (1 - progress) / 0.4)
    return settings['learningRate'] * min(1, (update + 1) / settings['warmup']) * decay


def train(model, rows, tokenizer, settings, out):
    rng = random.Random(settings['seed'])
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    groups = [{'params': decayed, 'weight_decay': settings['weightDecay']}, {'params': plain, 'weight_decay': 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95), fused=True)
    stream = batches(rows, settings['batchSize'], rng)
    began, tokens, losses = time.monotonic(), 0, []
    for update in range(settings['updates']):
        copying = update < settings['updates'] / 4 and rng.random() < settings['copyShare']
        batch = encode(tokenizer, [copy_trace(rng) for _ in range(settings['batchSize'] * 2)]) if copying else next(stream)
        for group in optimizer.param_groups:
            group['lr'] = rate(update, settings)
        loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        tokens += sum(len(ids) for ids, _ in batch)
        if not copying:
            losses.append(loss.item())
        if (update + 1) % SAVE_EVERY == 0:
            model.save_pretrained(out)
        if (update + 1) % 100 == 0:
            recent = losses[-50:]
            tell(
                kind='progress',
                update=update + 1,
                loss=round(sum(recent) / max(1, len(recent)), 4),
                tokens=tokens,
                seconds=round(time.monotonic() - began, 1),
            )
    return tokens, sum(losses[-100:]) / len(losses[-100:])


def main(traces_file, settings_file, out):
    out = Path(out)
    settings = json.loads(Path(settings_file).read_text(encoding='utf-8'))
    torch.set_num_threads(settings['threads'])
    torch.manual_seed(settings['seed'])
    with open(traces_file, encoding='utf-8') as file:
        traces = [json.loads(line) for line in file]
    pieces = (text for trace in traces[:20000] for text, _ in trace)
    tokenizer = make_tokenizer(pieces, settings['tokens'], settings['vocabulary'], out / 'tokenizer.json')
    write_examples(tokenizer, traces, out / 'tokenizer_examples.jsonl')
    rows = encode(tokenizer, traces)
    lengths = [len(ids) for ids, _ in rows]
    tell(kind='data', traces=len(rows), vocabulary=tokenizer.get_vocab_size(), meanTokens=sum(lengths) / len(rows), maxTokens=max(lengths))

    end, pad = tokenizer.token_to_id('<|end|>'), tokenizer.token_to_id('<pad>')
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=pad,
        tie_word_embeddings=True,
        rope_parameters={'rope_type': 'default', 'rope_theta': 1000.0},
        dtype='float32',
        attn_implementation='eager',
        **settings['shape'],
    )
    model = LlamaForCausalLM(config)
    tokens, loss = train(model, rows, tokenizer, settings, out)
    model.save_pretrained(out)
    (out / 'model.safetensors').chmod(0o644)
    tell(kind='done', parameters=sum(p.numel() for p in model.parameters()), tokens=tokens, loss=round(loss, 4))


if __name__ == '__main__':
    main(*sys.argv[1:])
