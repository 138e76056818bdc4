"""The phrases and the lines of mixed text that the tokenizers are tried on."""

import random
import unicodedata

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


def make_further_lines():
    """Lines that no tokenizer is trained on, of what SentencePiece treats apart."""
    parts = ["\u2581", "\u2581\u2581 \u2581a", "\u2581word word\u2581", " \u2581 ", "<extra_id_0>",
             "<extra_id_1> <extra_id_0>", "<pad>", "<unk>", "[INST] a [/INST]", "<bos>",
             "<start_of_turn>user\nhi<end_of_turn>\n", "<0x0A>", "<0x41><0xC3><0xA9>",
             "l'été\u200b", "\uff21\u2460\ufb01", "a\u0301\u0302", "\ufb01\u0301", "\xbd\u0301",
             "\x01a", "\x01\x02 b", "\u200d\u0301", "\u1100\u1161\u11a8\u0301", "각\u0301",
             "\u0915\u094d\u0915\u0301", "\u06001", "\r\n\u0301", "😀\u200d😀", "\xa9\u200d\xa9",
             "12345678", "1a2b", "٣٤٥", "a,b;c", "«»", "—…", "\u3042\u30a2漢字", "一\u9fa5ー龦",
             "HELLOworld's", "ABCdefGHI", "it'S", "x/y/\n/", "\t\t\t", "      x", "<|return|>",
             "\ud7ff\u0800", "$%^", "!abc", "\\d"]
    rng = random.Random(20261122)
    lines = parts + [a + b for a in parts for b in (" x", "\n")]
    while len(lines) < 400:
        lines.append("".join(rng.choice(parts) + rng.choice(["", "", " ", "  "])
                             for _ in range(rng.randrange(1, 7))))
    return lines
