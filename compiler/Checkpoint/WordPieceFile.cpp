//===- WordPieceFile.cpp - vocab.txt --------------------------------------===//

#include "compiler/Checkpoint/TokenizerFormats.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Unicode.h"
#include "runtime/Tokenizer/Vocabulary.h"

#include <algorithm>

using namespace tenon;

/// A token on each line, which is its id; white space behind it is none of it.
/// Of equal tokens the last one counts.
static Result<std::vector<std::pair<std::string, int64_t>>>
readLines(std::string_view Text, const std::string &File) {
  std::vector<std::pair<std::string, int64_t>> Tokens;
  std::unordered_map<std::string_view, size_t> IndexOf;
  for (int64_t Id = 0; !Text.empty(); ++Id) {
    if (Id >= tokenizer::MaxTokenId)
      return Error(File + ": has more lines: expected at most " +
                   std::to_string(tokenizer::MaxTokenId));
    size_t End = std::min(Text.find('\n'), Text.size());
    std::string_view Line = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (tokenizer::findInvalidUtf8(Line))
      return Error(File + ": line " + std::to_string(Id + 1) + " is " +
                   printable(Line) + ": expected UTF-8");
    for (size_t Begin = Line.size();
         !Line.empty() &&
         tokenizer::isWhiteSpace(tokenizer::previousCode(Line, Begin));)
      Line = Line.substr(0, Begin);
    auto [At, IsNew] = IndexOf.emplace(Line, Tokens.size());
    if (IsNew)
      Tokens.emplace_back(Line, Id);
    else
      Tokens[At->second].second = Id;
  }
  return Tokens;
}

Result<TokenizerParts>
tenon::readBertTokenizer(const std::vector<std::string> &Paths,
                         const TokenizerSettings &Settings) {
  auto Lower = Settings.flagOr("do_lower_case", true);
  auto Ideographs = Settings.flagOr("tokenize_chinese_chars", true);
  auto Strip = Settings.optionalFlag("strip_accents");
  if (!Lower)
    return Lower.error();
  if (!Ideographs)
    return Ideographs.error();
  if (!Strip)
    return Strip.error();
  std::vector<std::string> Own;
  for (const char *Role : {"unk_token", "cls_token", "sep_token"}) {
    auto Text = Settings.token(Role);
    if (!Text)
      return Text.error();
    Own.push_back(std::move(*Text));
  }
  constexpr uint64_t MaxBytes = 100u << 20;
  auto Text = readFile(Paths[0], MaxBytes);
  if (!Text)
    return Text.error();
  auto Tokens = readLines(*Text, Paths[0]);
  if (!Tokens)
    return Tokens.error();
  TokenizerParts Parts;
  Parts.setVocabulary(std::move(*Tokens));
  Parts.setWordPieces({{"unk_token", Own[0]},
                       {"continuing_subword_prefix", "##"},
                       {"max_input_chars_per_word", 100}});
  Parts.addTokens(Settings.addedTokens(std::nullopt));
  Parts.Normalizer = {{"type", "BertNormalizer"},
                      {"clean_text", true},
                      {"handle_chinese_chars", *Ideographs},
                      {"strip_accents", *Strip ? Json(**Strip) : Json()},
                      {"lowercase", *Lower}};
  Parts.PreTokenizer = {{"type", "BertPreTokenizer"}};
  Parts.PostProcessor = Parts.around({Own[1]}, {Own[2]});
  Parts.Decoder = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  return Parts;
}
