"""What the makers of tokenizers share: parts of tokenizer.json and training."""

import collections
import json
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from tokenizers import Tokenizer, pre_tokenizers, trainers

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTES = ["<0x%02X>" % b for b in range(256)]
# Options of byte-pair models.
PLAIN = dict(dropout=None, unk_token=None, continuing_subword_prefix=None,
             end_of_word_suffix=None, fuse_unk=False, byte_fallback=False)


def added(content, special=True, **options):
    return dict(dict(content=content, single_word=False, lstrip=False, rstrip=False,
                     normalized=False, special=special), **options)


def byte_level(prefix, trim, regex):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim,
            "use_regex": regex}


def split(pattern):
    return sequence(split_by(pattern), byte_level(False, True, False))


GPT4_LIKE = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
             r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def config(**parts):
    return dict({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                 "normalizer": None, "pre_tokenizer": None, "post_processor": None,
                 "decoder": None}, **parts)


def train(parts, corpus, size, alphabet, **options):
    """The vocabulary and merges of a tokenizer with this configuration."""
    empty = {"type": "BPE", "vocab": {}, "merges": []}
    t = Tokenizer.from_str(json.dumps(config(**parts, model=empty)))
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=size, show_progress=False, min_frequency=2, initial_alphabet=alphabet, **options))
    model = json.loads(t.to_str())["model"]
    return model["vocab"], model["merges"]


def only_common(corpus, count):
    """The lines without any but the most common characters.

    The trainer's own limit takes any of those that are equally common.
    """
    times = collections.Counter(c for line in corpus for c in line)
    kept = set(sorted(times, key=lambda c: (-times[c], c))[:count])
    return ["".join(c for c in line if c in kept) for line in corpus]


def finish(parts, model, tokens):
    """Adds tokens after the vocabulary, as their files number them."""
    vocab = model["vocab"]
    next_id = len(vocab)
    for token in tokens:
        if token["content"] in vocab:
            token_id = vocab[token["content"]]
        else:
            token_id = next_id
            next_id += 1
        parts["added_tokens"].append(dict(id=token_id, **token))
    parts["model"] = model
    return parts


def strings(merges):
    return [" ".join(pair) for pair in merges]


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def split_by(pattern, behavior="Isolated", kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior,
            "invert": False}


def metaspace(**options):
    return dict({"type": "Metaspace", "replacement": "\u2581"}, **options)


def template(ids, before=(), after=()):
    """TemplateProcessing with these tokens around a text."""
    single = ([{"SpecialToken": {"id": t, "type_id": 0}} for t in before] +
              [{"Sequence": {"id": "A", "type_id": 0}}] +
              [{"SpecialToken": {"id": t, "type_id": 0}} for t in after])
    return {"type": "TemplateProcessing", "single": single,
            "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]}
                               for t in (*before, *after)}}
