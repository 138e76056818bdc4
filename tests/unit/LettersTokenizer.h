//===- LettersTokenizer.h - A tokenizer that grammars can use ---*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_LETTERSTOKENIZER_H
#define TENON_TESTS_UNIT_LETTERSTOKENIZER_H

#include <string_view>

namespace tenon::test {

/// Letters, and pieces of two and three; token 20 ends a text.
inline constexpr std::string_view Letters = R"json({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [{"id": 20, "content": "<end>", "single_word": false,
    "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
  "normalizer": null, "pre_tokenizer": null, "post_processor": null,
  "decoder": {"type": "Fuse"},
  "model": {"type": "BPE", "dropout": null, "unk_token": null,
    "continuing_subword_prefix": null, "end_of_word_suffix": null,
    "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": {"a": 0, "b": 1, "c": 2, "(": 3, ")": 4, "1": 5, "2": 6, "\"": 7,
      "ab": 8, "abc": 9, "((": 10, "12": 11, "{": 12, "}": 13, ":": 14,
      "<end>": 20},
    "merges": [["a", "b"], ["ab", "c"], ["(", "("], ["1", "2"]]}})json";

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_LETTERSTOKENIZER_H
