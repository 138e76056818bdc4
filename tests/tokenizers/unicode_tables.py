#!/usr/bin/env python3
"""Writes runtime/Tokenizer/UnicodeTables.inc and GraphemeTables.inc beside it.

`tokenizers` mixes several Unicode versions: its regexes, its normalizers and
its BERT steps each carry their own tables. This script asks that library, code
point by code point, and writes down its answers as ranges, so that results do
not depend on the Unicode versions of the libraries on the machine.

Usage: unicode_tables.py [folder]; needs the packages in requirements.txt.
"""

import pathlib
import struct
import sys
import unicodedata

import tokenizers
from tokenizers import (AddedToken, Regex, Tokenizer, models, normalizers,
                        pre_tokenizers)

# Planes 4 to 13 and the rest of the special planes hold no assigned character.
CODES = [
    c for c in list(range(0x40000)) + list(range(0xE0000, 0xE1000)) +
    list(range(0xEFFF0, 0xF0010)) + list(range(0xFFFF0, 0x100010)) +
    list(range(0x10FFF0, 0x110000)) if not 0xD800 <= c < 0xE000
]
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk "
              "So Zs Zl Zp Cc Cf Co").split()


def ranges(codes):
    found = []
    for c in sorted(codes):
        if found and found[-1][1] + 1 == c:
            found[-1][1] = c
        else:
            found.append([c, c])
    # Private use planes and the like continue between the probed stretches.
    joined = []
    for first, last in found:
        if joined and joined[-1][1] in (0xF000F, 0x10000F) and (
                first in (0xFFFF0, 0x10FFF0)):
            joined[-1][1] = last
        else:
            joined.append([first, last])
    return joined


def table(name, comment, codes):
    lines = [f"// {comment}", f"constexpr CodeRange {name}[] = {{"]
    row = ""
    for first, last in ranges(codes):
        item = f"{{0x{first:x}, 0x{last:x}}},"
        if len(row) + len(item) > 76:
            lines.append("   " + row)
            row = ""
        row += " " + item
    return "\n".join(lines + ["   " + row, "};"])


def removed_by(normalizer):
    return {c for c in CODES if normalizer.normalize_str(chr(c)) == ""}


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False,
               strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**(off | options))


def category_additions():
    """Code points whose category differs from Unicode 14's."""
    of = {}
    for category in CATEGORIES:
        match = normalizers.Replace(Regex(r"\p{%s}" % category), "")
        for c in removed_by(match):
            of[c] = category
    changed = {c: k for c, k in of.items()
               if unicodedata.category(chr(c)) != k}
    rows = []
    for category in CATEGORIES:
        for first, last in ranges(c for c in changed if changed[c] == category):
            rows.append(f"    {{0x{first:x}, 0x{last:x}, \"{category}\"}},")
    return of, "\n".join(
        ["// Code points that Unicode 15 and 16 added, or moved to a category.",
         "constexpr CategoryRange NewerCategories[] = {"] + rows + ["};"])


def lowercase_additions():
    """Mappings of the reference that Unicode 14 lacks, as ranges of a shift."""
    lower = normalizers.Lowercase()
    rows = []
    for c in CODES:
        low = lower.normalize_str(chr(c))
        if low == chr(c).lower():
            continue
        assert len(low) == 1, hex(c)
        shift = ord(low) - c
        if rows and rows[-1][1] + 1 == c and rows[-1][2] == shift:
            rows[-1][1] = c
        else:
            rows.append([c, c, shift])
    return "\n".join(
        ["// Lower case letters newer than Unicode 14: add the shift.",
         "constexpr CaseRange NewerLowercase[] = {"] +
        [f"    {{0x{a:x}, 0x{b:x}, {s}}}," for a, b, s in rows] + ["};"])


def newer_than_normalization(assigned):
    """Code points that current Unicode normalizes and the reference does not.

    For it they are starters without decomposition or composition. `assigned`
    are those that its regular expressions know.
    """
    nfd = normalizers.NFD()
    nfkd = normalizers.NFKD()
    newer = set()
    for c in CODES:
        s = chr(c)
        if unicodedata.normalize("NFKD", s) != nfkd.normalize_str(s):
            newer.add(c)
            continue
        if unicodedata.normalize("NFD", s) != nfd.normalize_str(s):
            newer.add(c)
            continue
        unknown = unicodedata.category(s) == "Cn"
        if unknown and c in assigned and nfkd.normalize_str(s) == s and not any(
                nfd.normalize_str(text) != text for other in "\u0334\u0316\u0345\u0301"
                for text in ("a" + s + other, "a" + other + s)):
            newer.add(c)
            continue
        if unicodedata.category(s)[0] != "M":
            continue
        # Marks of unlike classes around it show its own class.
        for other in "\u0334\u0316\u0345\u0301":
            for text in ("a" + s + other, "a" + other + s):
                if unicodedata.normalize("NFD", text) != nfd.normalize_str(text):
                    newer.add(c)
    return newer


def one_rule(key, value):
    """A Precompiled normalizer whose map has one entry, without siblings."""
    units = [0] * (256 * (len(key.encode()) + 2))
    at = 0
    for level, byte in enumerate(key.encode() + b"\0"):
        base = 256 * (level + 1)
        units[at] |= (at ^ base) << 10
        if not byte:
            units[at] |= 1 << 8
        at = base ^ byte
        units[at] = byte or 1 << 31
    trie = struct.pack(f"<{len(units)}I", *units)
    return normalizers.Precompiled(
        struct.pack("<I", len(trie)) + trie + value.encode() + b"\0")


def grapheme_classes():
    """What decides where a grapheme cluster ends, from a normalizer's answers.

    Precompiled replaces a cluster of less than six bytes that begins with a
    key as a whole, and longer ones character by character: of a key with a
    mark after it, the mark stays only where something before joins them.
    """
    acute = "\u0301"

    def joined(before, key):
        rule = one_rule(key, "Z")
        return {c for c in CODES
                if rule.normalize_str(before(c) + key + acute).endswith("Z" + acute)}

    a = one_rule("a", "Z")
    mark = one_rule(acute, "Z")
    after_a = {c for c in CODES if c and a.normalize_str("a" + chr(c)) == "Z"}
    prepend = joined(chr, "a")
    pictograph = joined(lambda c: chr(c) + "\u200d", "\u263a")
    extend = joined(lambda c: "\u263a" + chr(c) + "\u200d", "\u263a") - pictograph
    linker = joined(lambda c: "\u0915" + chr(c), "\u0915") - prepend
    vowel = joined(chr, "\u11a8") - prepend
    found = {
        "Control": {c for c in CODES
                    if mark.normalize_str(chr(c) + acute + "\u0302") == chr(c) + "Z"},
        "Prepend": prepend,
        "Spacing": after_a - extend - {0x200D},
        "Extend": extend - linker - {0x200C},
        "Linker": linker,
        "Consonant": joined(lambda c: chr(c) + "\u094d", "\u0915"),
        "Pictograph": pictograph,
        # Hangul's are computed.
        "Vowel": {c for c in vowel if not 0x1100 <= c < 0x1200 and not 0xAC00 <= c < 0xD800},
    }
    assert sum(map(len, found.values())) == len(set().union(*found.values()))
    assert linker <= extend <= after_a
    rows = sorted((first, last, kind) for kind, codes in found.items()
                  for first, last in ranges(codes))
    return "\n".join(
        ["// What decides where grapheme clusters end.",
         "constexpr ClusterRange ClusterRanges[] = {"] +
        [f"    {{0x{a:x}, 0x{b:x}, ClusterClass::{k}}}," for a, b, k in rows] + ["};"])


def main():
    of, categories = category_additions()
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    words.add_tokens([AddedToken("<x>", single_word=True, normalized=False)])
    word = {c for c in CODES if 1 not in words.encode(chr(c) + "<x>").ids}
    regex_word = removed_by(normalizers.Replace(Regex(r"[\w]"), ""))
    split = pre_tokenizers.BertPreTokenizer()
    punctuation = {c for c in CODES
                   if len(split.pre_tokenize_str("a" + chr(c) + "b")) == 3}
    newer = newer_than_normalization(of)
    # What the reference does not compose, though current Unicode does.
    nfc = normalizers.NFC()
    for c in CODES:
        parts = unicodedata.normalize("NFD", chr(c))
        if len(parts) > 1 and (unicodedata.normalize("NFC", parts) !=
                               nfc.normalize_str(parts)):
            newer.add(ord(parts[-1]))
    marks = removed_by(normalizers.StripAccents())
    nonspacing = {c for c in removed_by(bert(strip_accents=True))}
    cleaned = removed_by(bert(clean_text=True))
    han = removed_by(normalizers.Replace(Regex(r"\p{Han}"), ""))

    digits = pre_tokenizers.Digits(individual_digits=True)
    numbers = {c for c in CODES
               if len(digits.pre_tokenize_str("a" + chr(c) + "a")) == 3}

    note = ("// Generated by tests/tokenizers/unicode_tables.py from the answers of "
            "the package\n// tokenizers " + tokenizers.__version__ +
            "; do not edit.\n")
    parts = [
        note,
        categories,
        lowercase_additions(),
        table("WordCharacters",
              "Word characters next to an added token.", word),
        table("RegexWords", "\\w in a class of a regular expression.", regex_word),
        table("Han", "\\p{Han} in a regular expression.", han),
        table("Marks", "What StripAccents removes.", marks),
        table("BertAccents", "What BertNormalizer removes as accents.",
              nonspacing),
        table("BertControls", "What BertNormalizer removes when cleaning.",
              cleaned),
        table("BertPunctuation", "What BertPreTokenizer isolates.",
              punctuation),
        table("NewerThanNormalization",
              "Starters that never compose nor decompose, for the reference.",
              newer),
        table("Numbers", "What Digits isolates.", numbers),
    ]
    folder = pathlib.Path(__file__).resolve().parents[2] / "runtime/Tokenizer"
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
    (folder / "UnicodeTables.inc").write_text("\n\n".join(parts) + "\n")
    (folder / "GraphemeTables.inc").write_text(
        note + "\n" + grapheme_classes() + "\n")


if __name__ == "__main__":
    main()
