"""
Trains nano's tokenizer: byte-level BPE whose digits always stand alone. Merges may cross spaces and punctuation, so that a phrase of the
templates becomes one token. Writes the standard tokenizer.json.
"""
import json
import re
from collections import Counter

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


def make_tokenizer(pieces, tokens, vocabulary, path):
    """`pieces`: texts of the traces. `tokens`: `{"text", "special"}` of each token of the chat format, in order of the ids."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[token['text'] for token in tokens],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=64,
        show_progress=False,
    )
    tags = re.compile('|'.join(re.escape(token['text']) for token in tokens))
    # Every stretch between digits counts by less than how often it occurs, so that rare ones get tokens too.
    stretches = Counter(stretch for piece in pieces for part in tags.split(piece) for stretch in re.split(r'\d', part) if stretch)
    texts = (stretch for stretch, times in sorted(stretches.items()) for _ in range(round(times**0.6)))
    tokenizer.train_from_iterator(texts, trainer)
    content = json.loads(tokenizer.to_str())
    special = {token['text']: token['special'] for token in tokens}
    for token in content['added_tokens']:
        token['special'] = special[token['content']]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
    return Tokenizer.from_file(str(path))
