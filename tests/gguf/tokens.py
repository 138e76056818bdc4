"""Small vocabularies as llama.cpp's converter writes them, and what their own
tokenizers make of texts.

The corpus is that of ../tokenizers. Byte-level vocabularies are tried with
every split that files name, each put together here from the parts that the
published tokenizer.json files of the models have.
"""

import io
import json
import pathlib

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, trainers)

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = json.loads((HERE.parent / "tokenizers" / "corpus.json").read_text())
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
SPM_SIZE, BYTES_SIZE, BYTES_PADDED = 400, 380, 400
TEXTS = 20

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SLASH_TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
CASED = ("A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽ"
         "Ა-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼ"
         "ℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗ"
         "Ａ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃")


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def byte_level(use_regex=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=False,
                                    use_regex=use_regex)


def by_case(after):
    return (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{after}"
            rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{after}")


def words(digits):
    return split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + digits
                 + TAIL)


DIGITS = pre_tokenizers.Digits(individual_digits=True)
# Of each name: steps, whether text is put in NFC, whether tokens are taken
# whole, whether a text begins with the token for that.
SPLITS = {
    "gpt-2": ([byte_level(True)], False, False, False),
    "mpt": ([byte_level(True)], True, False, False),
    "llama-bpe": ([words("{1,3}"), byte_level()], False, True, True),
    "dbrx": ([words("{1,3}"), byte_level()], False, False, False),
    "qwen2": ([words(""), byte_level()], True, False, False),
    "stablelm2": ([words(""), byte_level()], False, False, False),
    "starcoder": ([DIGITS, byte_level(True)], False, False, False),
    "command-r": ([DIGITS, byte_level(True)], True, False, False),
    "tekken": ([split(by_case("") + r"|\p{N}" + SLASH_TAIL), byte_level()],
               False, True, True),
    "gpt-4o": ([split(by_case(CONTRACTIONS + "?") + r"|\p{N}{1,3}"
                      + SLASH_TAIL), byte_level()], False, False, False),
    "bloom": ([split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level()],
              False, False, False),
    "falcon": ([pre_tokenizers.Punctuation("contiguous"), byte_level(True),
                pre_tokenizers.Digits(individual_digits=False),
                split("[0-9][0-9][0-9]")], False, False, False),
    "deepseek-llm": ([split("[\r\n]"), split(rf"\s?[{CASED}]+"),
                      split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"),
                      split("[一-龥ࠀ-一가-퟿]+"), DIGITS, byte_level()],
                     False, False, False),
    "deepseek-coder": ([split("[\r\n]"), split(r"\s?\p{L}+"),
                        split(r"\s?\p{P}+"), split("[一-龥ࠀ-一가-퟿]+"),
                        DIGITS, byte_level()], False, False, False),
    "deepseek-v3": ([split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"),
                     split("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
                           "[A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                           "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)"
                           "|\\s+"), byte_level()], False, False, False),
}


def train_spm():
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(
            [line for line in CORPUS if line.isascii()][:1500]), model_writer=made,
        model_type="bpe", vocab_size=SPM_SIZE, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity",
        remove_extra_whitespaces=False, num_threads=1,
        minloglevel=2, user_defined_symbols=["<tool>"])
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())


def train_bytes():
    """Tokens, their types and merges."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = byte_level(True)
    made.train_from_iterator(CORPUS[:1500], trainers.BpeTrainer(
        vocab_size=BYTES_SIZE - 4, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(made.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    types = [NORMAL] * len(tokens)
    tokens += ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool>"]
    types += [CONTROL] * 3 + [USER_DEFINED]
    for i in range(len(tokens), BYTES_PADDED):
        tokens.append(f"[PAD{i}]")
        types.append(UNUSED)
    merges = [m if isinstance(m, str) else " ".join(m)
              for m in model["merges"]]
    return tokens, types, merges


SPM = train_spm()
BYTES = train_bytes()


def metadata(name):
    if name == "spm":
        n = SPM.get_piece_size()
        types = [UNKNOWN if SPM.is_unknown(i) else CONTROL if SPM.is_control(i)
                 else BYTE if SPM.is_byte(i) else
                 USER_DEFINED if SPM.id_to_piece(i) == "<tool>" else NORMAL
                 for i in range(n)]
        return {"ggml.model": "llama", "ggml.pre": "default",
                "ggml.tokens": [SPM.id_to_piece(i) for i in range(n)],
                "ggml.scores": [float(SPM.get_score(i)) for i in range(n)],
                "ggml.token_type": types, "ggml.bos_token_id": 1,
                "ggml.eos_token_id": 2, "ggml.unknown_token_id": 0,
                "ggml.add_bos_token": True, "ggml.add_eos_token": False,
                "chat_template": "{{ messages }}"}
    tokens, types, merges = BYTES
    return {"ggml.model": "gpt2", "ggml.pre": name, "ggml.tokens": tokens,
            "ggml.token_type": types, "ggml.merges": merges,
            "ggml.bos_token_id": tokens.index("<|endoftext|>"),
            "ggml.eos_token_id": tokens.index("<|im_end|>"),
            "ggml.padding_token_id": tokens.index("<|endoftext|>"),
            "ggml.eot_token_id": tokens.index("<|endoftext|>")}


def texts():
    fixed = ["", " ", "  two  spaces ", "a<tool>b <|im_start|>c\n\nd",
             "don't WE'LL I'm 12345 3.14", "x = {'a': [1, 2]} // ok\n\t\ty",
             "[PAD385]", "Å Å ﬁ ½", "日本語のテキスト、漢字。",
             "emoji 🦙🦙 café naïve"]
    step = len(CORPUS) // TEXTS
    return fixed + CORPUS[::step]


def tokenizer(name):
    tokens, types, merges = BYTES
    steps, nfc, whole, _ = SPLITS[name]
    made = Tokenizer(models.BPE(
        vocab={t: i for i, (t, k) in enumerate(zip(tokens, types))
               if k != UNUSED},
        merges=[tuple(m.split(" ")) for m in merges], ignore_merges=whole))
    if nfc:
        made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(t, normalized=False, special=True)
                             for t, k in zip(tokens, types) if k == CONTROL])
    made.add_tokens([AddedToken(t, normalized=False, special=False)
                     for t, k in zip(tokens, types) if k == USER_DEFINED])
    return made


def write_references(path):
    tokens, types, merges = BYTES
    lines = texts()
    begin = tokens.index("<|endoftext|>")
    references = {
        "texts": lines,
        "bytes": {"tokens": tokens, "types": types, "merges": merges,
                  "begin": begin},
        "splits": {}, "spm": []}
    for name, (_, _, _, adds) in SPLITS.items():
        made = tokenizer(name)
        references["splits"][name] = [
            [begin] * adds + made.encode(text).ids for text in lines]
    for text in lines:
        # SentencePiece takes "<s>" and the like for text. Where it knows a
        # token of the user's in a text, llama.cpp and tokenizers begin anew.
        ids = [1]
        for i, part in enumerate(text.split("<tool>")):
            ids += [SPM.piece_to_id("<tool>")] * (i > 0) + SPM.encode(part)
        references["spm"].append([ids, SPM.decode(ids[1:])])
    path.write_text("{\n" + ",\n".join(
        json.dumps({key: value}, ensure_ascii=False,
                   separators=(",", ":"))[1:-1]
        for key, value in references.items()) + "\n}\n")
