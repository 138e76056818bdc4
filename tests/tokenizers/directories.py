#!/usr/bin/env python3
"""Writes directories/: tokenizers without tokenizer.json, and what they give.

Each is a folder as models are published in, with "expected.txt": a line of
hashes, as of NAME.txt, for each line of the corpus that lines_of() takes. The
reference are the fast tokenizers of Transformers. Usage: directories.py; needs
the packages in requirements.txt, no network and no PyTorch.
"""

import collections
import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import sentencepiece
import transformers
from tokenizers import normalizers, pre_tokenizers

from building import ALPHABET, GPT4_LIKE, byte_level, only_common, split, strings, train
from corpus import make_corpus
from generate import fnv
from sentencepieces import small_rules

HERE = pathlib.Path(__file__).resolve().parent
PINNED = "5.23.0"
TRAINED_LINES = 3000


def lines_of(corpus):
    """Every fifth line that tokenizers are trained on, and all others."""
    return corpus[:5050:5] + corpus[5050:]


def token(content, **options):
    """A token as special_tokens_map.json has it."""
    return dict(dict(content=content, lstrip=False, normalized=False, rstrip=False,
                     single_word=False), **options)


def typed(content, **options):
    """A token as older tokenizer_config.json files have it."""
    return dict({"__type": "AddedToken"}, **token(content, **options))


def listed(*tokens):
    """added_tokens_decoder."""
    return {str(number): dict(dict(special=True), **t) for number, t in tokens}


def pieces(corpus, characters, size, **options):
    """The bytes of a SentencePiece model."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(line.replace("\n", " ").replace("\0", "")
                               for line in only_common(corpus, characters)),
        model_writer=model, vocab_size=size, num_threads=1, minloglevel=2,
        character_coverage=1.0, **options)
    return model.getvalue()


def piece_models(corpus, rules):
    pairs = dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
                 remove_extra_whitespaces=False, split_digits=True,
                 allow_whitespace_only_pieces=True)
    llama = pieces(corpus, 150, 800, **pairs)
    own = pieces(corpus, 150, 700, **pairs, control_symbols=["[INST]", "[/INST]"],
                 user_defined_symbols=["WORD", "<mask>", "\u2581\u2581"])
    gemma = pieces(corpus, 150, 800, **pairs, pad_id=0, eos_id=1, bos_id=2, unk_id=3,
                   pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>",
                   add_dummy_prefix=False,
                   user_defined_symbols=["<mask>", "<start_of_turn>", "\n", "\n\n",
                                         "\u2581\u2581"])
    t5 = pieces(corpus, 300, 1000, normalization_rule_tsv=str(rules), pad_id=0, eos_id=1,
                unk_id=2, bos_id=-1)
    roberta = pieces(corpus, 300, 1000, normalization_rule_tsv=str(rules))
    bos = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": False}
    return {
        "llama": ("LlamaTokenizer", {
            "tokenizer.model": llama,
            "tokenizer_config.json": bos | {
                "legacy": False, "bos_token": typed("<s>", normalized=True),
                "eos_token": typed("</s>", normalized=True), "pad_token": None,
                "unk_token": typed("<unk>", normalized=True),
                "clean_up_tokenization_spaces": False, "model_max_length": 2048},
            "special_tokens_map.json": {"bos_token": token("<s>", normalized=True),
                                        "eos_token": token("</s>"),
                                        "unk_token": token("<unk>", normalized=True)}}),
        "llama_legacy": ("LlamaTokenizer", {
            "tokenizer.model": llama,
            "added_tokens.json": {"<pad>": 800, "[left]": 801},
            "special_tokens_map.json": {"additional_special_tokens": ["[right]"],
                                        "pad_token": "<pad>"},
            "tokenizer_config.json": bos | {"legacy": True, "add_eos_token": True,
                                            "tokenizer_class": "LlamaTokenizerFast"}}),
        "llama_bare": ("LlamaTokenizer", {
            "tokenizer.model": own,
            "config.json": {"model_type": "llama"}}),
        "llama_no_space": ("LlamaTokenizer", {
            "tokenizer.model": own,
            "config.json": {"model_type": "mistral"},
            "tokenizer_config.json": bos | {
                "add_prefix_space": False, "legacy": False, "tokenizer_class": None,
                "added_tokens_decoder": listed(
                    (0, token("<unk>")), (1, token("<s>")), (2, token("</s>")),
                    (700, token("[left]", lstrip=True)),
                    (701, token("[right]", rstrip=True, special=False)),
                    (702, token("word", single_word=True, special=False)),
                    (703, token("ÉTÉ", normalized=True, special=False))),
                "additional_special_tokens": ["[both]", "[left]", "<|eot_id|>"],
                "image_token": "<|return|>"}}),
        "gemma": ("GemmaTokenizer", {
            "tokenizer.model": gemma,
            "tokenizer_config.json": {
                "tokenizer_class": "GemmaTokenizer", "add_bos_token": True,
                "add_eos_token": False, "bos_token": "<bos>", "eos_token": "<eos>",
                "pad_token": "<pad>", "unk_token": "<unk>"}}),
        "t5": ("T5Tokenizer", {
            "spiece.model": t5, "config.json": {"model_type": "t5"}}),
        "t5_listed": ("T5Tokenizer", {
            "spiece.model": t5,
            "tokenizer_config.json": {
                "tokenizer_class": "T5Tokenizer", "extra_ids": 3, "eos_token": "</s>",
                "additional_special_tokens": [f"<extra_id_{i}>" for i in range(3)]},
            "special_tokens_map.json": {
                "additional_special_tokens": [f"<extra_id_{i}>" for i in range(3)],
                "pad_token": "<pad>", "unk_token": token("<unk>", lstrip=True)}}),
        "xlm_roberta": ("XLMRobertaTokenizer", {
            "sentencepiece.bpe.model": roberta,
            "config.json": {"model_type": "xlm-roberta"}}),
        "xlm_roberta_mask": ("XLMRobertaTokenizer", {
            "sentencepiece.bpe.model": roberta,
            "tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizer",
                                      "add_prefix_space": False},
            "special_tokens_map.json": {"mask_token": token("<mask>", lstrip=True),
                                        "sep_token": "</s>", "cls_token": "<s>"}})}


def byte_models(corpus):
    def files(parts, size, words):
        vocab, merges = train(parts, corpus, size, ALPHABET, special_tokens=words)
        return {"vocab.json": vocab,
                "merges.txt": "#version: 0.2\n" + "".join(m + "\n" for m in strings(merges))}

    gpt = files({"pre_tokenizer": byte_level(False, True, True)}, 900, [])
    gpt["vocab.json"]["<|endoftext|>"] = len(gpt["vocab.json"])
    size = len(gpt["vocab.json"])
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    roberta = files({"pre_tokenizer": byte_level(False, True, True)}, 700, words)
    qwen = files({"normalizer": {"type": "NFC"}, "pre_tokenizer": split(GPT4_LIKE % "")}, 800, [])
    first = len(qwen["vocab.json"])
    mask = token("<mask>", lstrip=True)
    return {
        "gpt2": ("GPT2Tokenizer", gpt | {
            "config.json": {"model_type": "gpt2"},
            # The other roles have the same text, and only that.
            "special_tokens_map.json": {"eos_token": token("<|endoftext|>", rstrip=True)}}),
        "opt": ("GPT2Tokenizer", gpt | {
            "tokenizer_config.json": {
                "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "errors": "replace",
                "add_prefix_space": True, "bos_token": typed("</s>", normalized=True),
                "pad_token": typed("<pad>", normalized=True)},
            "special_tokens_map.json": {"eos_token": token("</s>", normalized=True),
                                        "unk_token": token("</s>", normalized=True)}}),
        "phi": ("CodeGenTokenizer", gpt | {
            "added_tokens.json": {"\t\t": size + 1, "   ": size, "<|endoftext|>": size - 1},
            "tokenizer_config.json": {"tokenizer_class": "CodeGenTokenizer",
                                      "add_prefix_space": False}}),
        "gpt_neox": ("GPTNeoXTokenizer", gpt | {
            "config.json": {"model_type": "gpt_neox", "tokenizer_class": "GPTNeoXTokenizerFast"},
            "tokenizer_config.json": {"add_eos_token": True}}),
        "roberta": ("RobertaTokenizer", roberta | {
            "config.json": {"model_type": "roberta"},
            "tokenizer_config.json": {"mask_token": dict(mask, __type="AddedToken"),
                                      "trim_offsets": True}}),
        "bart": ("BartTokenizer", roberta | {
            "tokenizer_config.json": {"tokenizer_class": "BartTokenizer",
                                      "add_prefix_space": True, "add_bos_token": False}}),
        "qwen2": ("Qwen2Tokenizer", qwen | {
            "tokenizer_config.json": {
                "tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False,
                "add_bos_token": False, "bos_token": None, "eos_token": "<|im_end|>",
                "pad_token": "<|endoftext|>", "unk_token": None, "split_special_tokens": False,
                "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
                "added_tokens_decoder": listed(
                    (first, token("<|endoftext|>")),
                    (first + 1, token("<|im_start|>")),
                    (first + 2, token("<|im_end|>", rstrip=True)),
                    (first + 3, token("<tool_call>", special=False)))}})}


def word_models(corpus):
    def lines(lower, strip):
        """Common words, their ends, and all characters: no trainer gives the same each time."""
        normalizer = normalizers.BertNormalizer(lowercase=lower, strip_accents=strip)
        words, ends = collections.Counter(), collections.Counter()
        for line in only_common(corpus, 150):
            for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(
                    normalizer.normalize_str(line)):
                words[word] += 1
                ends.update("##" + word[at:] for at in range(1, len(word)))
        found = {c for word in words for c in word}
        found |= {"##" + c for c in found}
        for counts in words, ends:
            found |= set(sorted(counts, key=lambda w: (-counts[w], w))[:300])
        return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(found)]

    uncased, cased = lines(True, None), lines(False, False)
    # White space behind a token is none of it, and the last of equal ones counts.
    again = list(cased)
    again[10:10] = ["the", "", ""]
    again[again.index("the", 11)] += " \u3000"
    write = "\n".join
    return {
        "bert": ("BertTokenizer", {
            "vocab.txt": write(uncased) + "\n", "config.json": {"model_type": "bert"}}),
        "bert_cased": ("BertTokenizer", {
            "vocab.txt": write(again) + "\r\n",
            "added_tokens.json": {"the": again.index("the \u3000")},
            "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": False,
                                      "tokenize_chinese_chars": False}}),
        "distilbert": ("DistilBertTokenizer", {
            "vocab.txt": write(cased),
            "added_tokens.json": {"word": len(cased), "<tool_call>": len(cased) + 1},
            "tokenizer_config.json": {"tokenizer_class": "DistilBertTokenizer",
                                      "do_lower_case": False, "strip_accents": True,
                                      "cls_token": "[left]"}}),
        "electra": ("ElectraTokenizer", {
            "vocab.txt": write(uncased) + "\n",
            "tokenizer_config.json": {"tokenizer_class": "ElectraTokenizerFast",
                                      "strip_accents": False}})}


def write(folder, files):
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(
                content, ensure_ascii=False, separators=(",", ":")) + "\n"
            (folder / name).write_bytes(text.encode())


def expected(tokenizer, lines):
    rows = []
    for line in lines:
        ids = tokenizer(line)["input_ids"]
        text = tokenizer.backend_tokenizer.decode(ids)
        rows.append("%06x%06x" % (fnv(b"".join(i.to_bytes(4, "little") for i in ids)),
                                   fnv(text.encode())))
    return "\n".join(rows) + "\n"


def main():
    if transformers.__version__ != PINNED:
        sys.exit(f"transformers {transformers.__version__}: expected {PINNED}")
    trained_on = make_corpus()[:TRAINED_LINES]
    lines = lines_of(json.loads((HERE / "corpus.json").read_text()))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        # Models have the path of their rules in them.
        rules = pathlib.Path("rules.tsv")
        small_rules(rules)
        made = piece_models(trained_on, rules)
    made |= byte_models(trained_on) | word_models(trained_on)
    shutil.rmtree(HERE / "directories", ignore_errors=True)
    for name, (class_name, files) in made.items():
        folder = HERE / "directories" / name
        folder.mkdir(parents=True)
        write(folder, files)
        tokenizer = getattr(transformers, class_name).from_pretrained(folder)
        (folder / "expected.txt").write_text(expected(tokenizer, lines))


if __name__ == "__main__":
    main()
