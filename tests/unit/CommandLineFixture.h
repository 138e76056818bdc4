//===- CommandLineFixture.h - Running the tool in tests ---------*- C++ -*-===//
//
// Runs the tool on small artifacts and hands back what a user sees.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_COMMANDLINEFIXTURE_H
#define TENON_TESTS_UNIT_COMMANDLINEFIXTURE_H

#include "EngineFixture.h"

#include "runtime/Support/Json.h"

#include <algorithm>
#include <fstream>
#include <sys/wait.h>

namespace tenon::test {

using namespace artifact;

struct Outcome {
  int ExitStatus = -1;
  std::string Output;
  std::string Errors;
};

inline std::string contentOf(const std::string &Path) {
  std::ifstream File(Path, std::ios::binary);
  return {std::istreambuf_iterator<char>(File), {}};
}

class CommandLineTest : public testing::Test {
protected:
  void write(const std::function<void(Manifest &, CodeInfo &)> &Change = {},
             std::string_view TokenizerText = "") {
    Status Written = writeModel(File, Change, TokenizerText);
    ASSERT_TRUE(Written) << Written.error().message();
  }

  /// Runs the tool without a shell.
  Outcome tenon(std::vector<std::string> Arguments,
                std::string Executable = TENON_BIN "/tenon") {
    std::string Out = Directory / "stdout", Errors = Directory / "stderr";
    pid_t Child = ::fork();
    if (Child == 0) {
      if (!std::freopen(Out.c_str(), "w", stdout) ||
          !std::freopen(Errors.c_str(), "w", stderr))
        ::_exit(120);
      std::vector<char *> Values{Executable.data()};
      for (std::string &Argument : Arguments)
        Values.push_back(Argument.data());
      Values.push_back(nullptr);
      ::execv(Executable.c_str(), Values.data());
      ::_exit(121);
    }
    int Ended = 0;
    ::waitpid(Child, &Ended, 0);
    return {WIFEXITED(Ended) ? WEXITSTATUS(Ended) : -1, contentOf(Out),
            contentOf(Errors)};
  }

  Json json(const std::vector<std::string> &Arguments) {
    Outcome O = tenon(Arguments);
    EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
    Result<Json> J = parseJson(O.Output, "output");
    EXPECT_TRUE(J) << O.Output;
    return J ? *J : Json::object();
  }

  /// Expects exit status 1 (or `Status`) and a single line with `Text`.
  void expectError(const std::vector<std::string> &Arguments,
                   const std::string &Text, int Status = 1) {
    Outcome O = tenon(Arguments);
    EXPECT_EQ(O.ExitStatus, Status) << O.Errors;
    EXPECT_TRUE(O.Errors.starts_with("tenon: error: ")) << O.Errors;
    EXPECT_NE(O.Errors.find(Text), std::string::npos) << O.Errors;
    EXPECT_EQ(std::count(O.Errors.begin(), O.Errors.end(), '\n'), 1)
        << O.Errors;
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

/// Ids 0 [PAD], 1 [UNK], 2 [CLS], 3 [SEP], then the words a to h.
inline constexpr std::string_view WordPieces = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [
    {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true},
    {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true}],
  "normalizer": {"type": "BertNormalizer", "clean_text": true,
    "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
             {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
             {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
      "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
      "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]",
    "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5,
      "c": 6, "d": 7, "e": 8, "f": 9, "g": 10, "h": 11}}
})";

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_COMMANDLINEFIXTURE_H
