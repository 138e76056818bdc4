"""Tokenizers that come from SentencePiece, and the other kinds of models."""

import base64
import io
import struct

from building import (BYTES, PLAIN, added, config, finish, metaspace, only_common, sequence,
                      split_by, strings, template, train)

import sentencepiece

MARK = "\u2581"
TO_SPACE = {"type": "Replace", "pattern": {"String": MARK}, "content": " "}
PAIRS = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}


def fields(message):
    """The numbered fields of a message in the encoding of Protocol Buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        if size is None:
            size = varint()
        yield key >> 3, message[at:at + size] if size else varint()
        at += size


def train_pieces(corpus, size, **options):
    """The pieces with their scores, and the character map."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(l.replace("\n", " ").replace("\0", "") for l in corpus),
        model_writer=model, vocab_size=size, num_threads=1, minloglevel=2,
        character_coverage=0.98, **options)
    pieces, charsmap = [], b""
    for number, value in fields(model.getvalue()):
        if number == 1:
            piece = dict(fields(value))
            score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
            pieces.append([piece[1].decode(), score])
        elif number == 3:
            charsmap = dict(fields(value)).get(2, b"")
    return pieces[3:], base64.b64encode(charsmap).decode()


def small_rules(path):
    """A few normalization rules: one character or several, to several or none."""
    rules = {"\ufb01": "fi", "\u2460": "1", "\u3000": " ", "\xa0": " ", "\u200b": "", "\x01": "",
             "e\u0301": "\xe9", "a\u0301": "\xe1", "\xbd": "1\u20442", "\u1100\u1161": "\uac00",
             "A": "a", "\u2026": "...", "\r\n": " ", "\t": " ", "\n": " "}
    path.write_text("".join(
        " ".join("%X" % ord(c) for c in old) + "\t" + " ".join("%X" % ord(c) for c in new) + "\n"
        for old, new in rules.items()))


def make_pairs(corpus):
    """Byte-pair models with byte fallback, in the three forms of their spaces."""
    made = {}
    first = ["<unk>", "<s>", "</s>"]
    spaces = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": MARK},
        {"type": "Replace", "pattern": {"String": " "}, "content": MARK}]}
    vocab, merges = train({"normalizer": spaces, "pre_tokenizer": split_by(MARK + "+[^" + MARK + "]*")},
                          only_common(corpus[:3000], 150), 900, [],
                          special_tokens=first + BYTES)
    back = [TO_SPACE, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    tokens = [added(word) for word in first]
    made["llama2"] = finish(
        config(normalizer=spaces, post_processor=template(vocab, ["<s>"]),
               decoder={"type": "Sequence", "decoders": back}),
        dict(PLAIN, **PAIRS | {"vocab": vocab, "merges": strings(merges)}), tokens)
    made["mistral"] = finish(
        config(pre_tokenizer=metaspace(prepend_scheme="first", split=False),
               post_processor=template(vocab, ["<s>"]),
               decoder={"type": "Sequence", "decoders": back}),
        dict(PLAIN, **PAIRS | {"vocab": vocab, "merges": merges, "ignore_merges": False}),
        tokens + [added("[INST]"), added("[/INST]")])

    first = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"]
    plain = ["\n", "\n\n", MARK * 2, MARK * 3, "<table>"]
    vocab, merges = train({"normalizer": spaces["normalizers"][1],
                           "pre_tokenizer": split_by(MARK, "MergedWithNext", "String")},
                          only_common(corpus[:3000], 100), 800, [],
                          special_tokens=first + plain + BYTES)
    made["gemma"] = finish(
        config(normalizer=spaces["normalizers"][1],
               pre_tokenizer=split_by(" ", "MergedWithPrevious", "String"),
               post_processor=template(vocab, ["<bos>"]),
               decoder={"type": "Sequence", "decoders": back[:3]}),
        dict(PLAIN, **PAIRS | {"vocab": vocab, "merges": merges, "ignore_merges": False}),
        [added(word) for word in first] + [added(word, special=False) for word in plain])
    return made


def make_unigrams(corpus, folder):
    pieces, charsmap = train_pieces(corpus[:3000], 1400, normalization_rule_name="nmt_nfkc")
    last = [f"<extra_id_{i}>" for i in range(4, -1, -1)]
    vocab = [[word, 0.0] for word in ("<pad>", "</s>", "<unk>")] + pieces + [[w, 0.0] for w in last]
    ids = {word: i for i, (word, _) in enumerate(vocab)}
    words = {"type": "WhitespaceSplit"}
    t5 = config(
        normalizer={"type": "Precompiled", "precompiled_charsmap": charsmap},
        pre_tokenizer=sequence(words, metaspace(add_prefix_space=True)),
        post_processor=template(ids, after=["</s>"]), decoder=metaspace(add_prefix_space=True),
        added_tokens=[dict(id=ids[w], **added(w)) for w in ["<pad>", "</s>", "<unk>"] + last[::-1]],
        model={"type": "Unigram", "unk_id": 2, "vocab": vocab})
    t5["added_tokens"].sort(key=lambda t: t["id"])

    rules = folder / "rules.tsv"
    small_rules(rules)
    pieces, charsmap = train_pieces(corpus[:3000], 1300, normalization_rule_tsv=str(rules))
    vocab = ([[word, 0.0] for word in ("<s>", "<pad>", "</s>", "<unk>")] + pieces +
             [["<mask>", 0.0]])
    ids = {word: i for i, (word, _) in enumerate(vocab)}
    roberta = config(
        normalizer={"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": charsmap},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
        pre_tokenizer=sequence(words, metaspace(prepend_scheme="always", split=True)),
        post_processor=template(ids, ["<s>"], ["</s>"]),
        decoder=metaspace(prepend_scheme="always", split=True),
        added_tokens=[dict(id=ids[w], **added(w, lstrip=w == "<mask>"))
                      for w in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")],
        model={"type": "Unigram", "unk_id": 3, "byte_fallback": False, "vocab": vocab})

    # Rare options together: bytes for what is unknown, a space before the first
    # piece only, added tokens in normalized text.
    vocab = ([["<unk>", 0.0]] + [[b, -1.5] for b in BYTES] +
             [[w, s] for w, s in pieces[:500] + pieces[-40:]] + [["<unk><unk>", -30.0], ["", -1.0]])
    odd = config(
        normalizer={"type": "Sequence", "normalizers": [
            {"type": "Nmt"}, {"type": "Precompiled", "precompiled_charsmap": charsmap},
            {"type": "Strip", "strip_left": False, "strip_right": True}]},
        pre_tokenizer=sequence({"type": "Punctuation", "behavior": "MergedWithPrevious"},
                               metaspace(prepend_scheme="first", split=False)),
        decoder={"type": "Sequence", "decoders": [
            {"type": "ByteFallback"}, metaspace(prepend_scheme="first", split=False)]},
        added_tokens=[
            dict(id=0, **added("<unk>")),
            dict(id=len(vocab), **added("The", special=False, normalized=True)),
            dict(id=len(vocab) + 1, **added("[left]", lstrip=True))],
        model={"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": vocab})
    return {"t5": t5, "xlm_roberta": roberta, "odd_unigram": odd}


def make_words(corpus):
    """Whole words, with the pre-tokenizers that no family above has."""
    counts = {}
    for line in corpus[:3000]:
        for word in line.split():
            counts[word] = counts.get(word, 0) + 1
    words = ["[UNK]"] + sorted(counts, key=lambda w: (-counts[w], w))[:1500]
    return {"odd_words": config(
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]},
        pre_tokenizer=sequence(
            {"type": "CharDelimiterSplit", "delimiter": "e"},
            {"type": "Punctuation", "behavior": "MergedWithNext"},
            {"type": "Digits", "individual_digits": False}, {"type": "Whitespace"}),
        model={"type": "WordLevel", "unk_token": "[UNK]",
               "vocab": {word.lower(): i for i, word in enumerate(dict.fromkeys(
                   w.lower() for w in words))} | {"[UNK]": 5000}})}


def make_tokenizers(corpus, folder):
    return make_pairs(corpus) | make_unigrams(corpus, folder) | make_words(corpus)
