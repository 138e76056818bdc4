"""Byte-level tokenizers configured as the families publish them."""

from building import (ALPHABET, PLAIN, added, byte_level, config, finish, sequence, split,
                      split_by, strings, train)

# Words by case, as in the tokenizers o200k of OpenAI and Tekken of Mistral.
CASED = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
         r"|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

# Each: normalizer, pre-tokenizer, options of the model, special tokens before
# the vocabulary, added tokens after it, size of the vocabulary.
KINDS = {
    "gpt_neox": (
        {"type": "NFC"}, byte_level(False, True, True), {}, ["<|endoftext|>", "<|padding|>"],
        [added(" " * n, special=False, normalized=True) for n in range(24, 1, -1)], 700),
    "bloom": (
        None,
        sequence(split_by(" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"),
                 byte_level(False, True, False)),
        {"unk_token": None}, ["<unk>", "<s>", "</s>", "<pad>"], [], 700),
    "falcon": (
        None,
        sequence({"type": "Punctuation", "behavior": "Contiguous"},
                 byte_level(False, True, True), {"type": "Digits", "individual_digits": False},
                 split_by("[0-9][0-9][0-9]")),
        {}, [">>TITLE<<", ">>ABSTRACT<<", "<|endoftext|>"], [], 700),
    "starcoder2": (
        None,
        sequence({"type": "Digits", "individual_digits": True}, byte_level(False, True, True)),
        {}, ["<|endoftext|>", "<fim_prefix>", "<repo_name>"], [], 600),
    "deepseek_v2": (
        {"type": "Sequence", "normalizers": []},
        sequence(split_by("[\r\n]"), split_by(r"\s?\p{L}+"), split_by(r"\s?\p{P}+"),
                 split_by("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"),
                 {"type": "Digits", "individual_digits": True},
                 byte_level(False, True, False)),
        {}, [], [added("<\uff5cbegin\u2581of\u2581sentence\uff5c>", normalized=True),
                 added("<|EOT|>", normalized=True)], 700),
    "deepseek_v3": (
        {"type": "Sequence", "normalizers": []},
        sequence(split_by(r"\p{N}{1,3}"),
                 split_by("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
                 split_by(r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
                          r"""|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
                          r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""),
                 byte_level(False, True, False)),
        {"ignore_merges": False}, ["<\uff5cbegin\u2581of\u2581sentence\uff5c>"], [], 700),
    "gpt_oss": (
        None, split(CASED % (CONTRACTIONS, CONTRACTIONS, "{1,3}")), {"ignore_merges": False}, [],
        [added("<|startoftext|>"), added("<|endoftext|>"), added("<|return|>")], 700),
    "tekken": (
        None, split(CASED % ("", "", "")), {"ignore_merges": True},
        ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"], [], 700),
    # With possessive quantifiers.
    "phi4": (
        None,
        split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
              r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"),
        {}, [], [added("<|endoftext|>", lstrip=True, rstrip=True), added("<|im_end|>", rstrip=True)],
        600),
}


def make_tokenizers(corpus):
    made = {}
    for name, (normalizer, pre, options, first, last, size) in KINDS.items():
        parts = {"normalizer": normalizer, "pre_tokenizer": pre}
        vocab, merges = train(parts, corpus[:3000], size, ALPHABET, special_tokens=first)
        made[name] = finish(
            config(**parts, decoder=byte_level(True, True, True),
                   post_processor=byte_level(True, False, True)),
            dict(PLAIN, type="BPE", **options, vocab=vocab, merges=strings(merges))
            if "unk_token" not in options else
            dict(PLAIN, type="BPE", vocab=vocab, merges=merges),
            [added(word) for word in first] + last)
    return made
