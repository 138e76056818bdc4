//===- BytePairFiles.cpp - vocab.json and merges.txt ----------------------===//

#include "compiler/Checkpoint/JsonEvents.h"
#include "compiler/Checkpoint/TokenizerFormats.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Unicode.h"
#include "runtime/Tokenizer/Vocabulary.h"

using namespace tenon;

static constexpr uint64_t MaxBytes = 100u << 20;

namespace {

/// One object of tokens and their ids.
class VocabularyEvents : public JsonEvents {
public:
  explicit VocabularyEvents(const std::string &File) : File(File) {}

  Status open(char Bracket) override {
    if (IsOpen || Bracket != '{')
      return expected();
    IsOpen = true;
    return {};
  }
  Status close() override { return {}; }
  Status key(std::string &Key) override {
    Tokens.emplace_back(std::move(Key), 0);
    return {};
  }
  Status scalar(const Json &Value) override {
    if (!IsOpen)
      return expected();
    auto Id = JsonField(Value, File, Tokens.back().first)
                  .asInteger(0, tokenizer::MaxTokenId - 1);
    if (!Id)
      return Id.error();
    Tokens.back().second = *Id;
    return {};
  }

  std::vector<std::pair<std::string, int64_t>> Tokens;

private:
  Error expected() const {
    return Error(File + ": expected an object of tokens and their ids");
  }

  const std::string &File;
  bool IsOpen = false;
};

} // namespace

/// Each line of merges.txt but for those of its version: two tokens.
static Result<std::vector<std::pair<std::string_view, std::string_view>>>
readMerges(std::string_view Text, const std::string &File) {
  std::vector<std::pair<std::string_view, std::string_view>> Merges;
  for (size_t Number = 1; !Text.empty(); ++Number) {
    size_t End = std::min(Text.find('\n'), Text.size());
    std::string_view Line = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (Line.ends_with('\r'))
      Line.remove_suffix(1);
    if (Line.starts_with("#version"))
      continue;
    size_t Space = Line.find(' ');
    if (Space == Line.npos || Line.find(' ', Space + 1) != Line.npos ||
        tokenizer::findInvalidUtf8(Line))
      return Error(File + ": line " + std::to_string(Number) + " is " +
                   printable(Line) +
                   ": expected two tokens, in UTF-8, with a space between");
    Merges.emplace_back(Line.substr(0, Space), Line.substr(Space + 1));
  }
  return Merges;
}

/// The model and the tokens; steps are still to be set, but for the decoder.
static Result<TokenizerParts> readFiles(const std::vector<std::string> &Paths,
                                        const TokenizerSettings &Settings,
                                        bool ArePlain = false) {
  auto Vocabulary = readFile(Paths[0], MaxBytes);
  if (!Vocabulary)
    return Vocabulary.error();
  VocabularyEvents Events(Paths[0]);
  if (Status Read = readJsonEvents(*Vocabulary, Paths[0], Events); !Read)
    return Read.error();
  auto MergesText = readFile(Paths[1], MaxBytes);
  if (!MergesText)
    return MergesText.error();
  auto Merges = readMerges(*MergesText, Paths[1]);
  if (!Merges)
    return Merges.error();
  TokenizerParts Parts;
  Parts.setVocabulary(std::move(Events.Tokens));
  Parts.setBytePairs(*Merges, {{"dropout", nullptr},
                               {"unk_token", nullptr},
                               {"continuing_subword_prefix", ""},
                               {"end_of_word_suffix", ""},
                               {"fuse_unk", false},
                               {"byte_fallback", false},
                               {"ignore_merges", false}});
  Parts.addTokens(Settings.addedTokens(std::nullopt, ArePlain));
  Parts.Decoder = {{"type", "ByteLevel"},
                   {"add_prefix_space", true},
                   {"trim_offsets", true},
                   {"use_regex", true}};
  return Parts;
}

static Json byteLevel(bool AddSpace, bool SplitWords) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", AddSpace},
          {"trim_offsets", true},
          {"use_regex", SplitWords}};
}

/// The steps of GPT-2 but for tokens around a text.
static Result<TokenizerParts> readWords(const std::vector<std::string> &Paths,
                                        const TokenizerSettings &Settings) {
  auto AddSpace = Settings.flagOr("add_prefix_space", false);
  if (!AddSpace)
    return AddSpace.error();
  auto Parts = readFiles(Paths, Settings);
  if (Parts)
    Parts->PreTokenizer = byteLevel(*AddSpace, /*SplitWords=*/true);
  return Parts;
}

Result<TokenizerParts>
tenon::readGpt2Tokenizer(const std::vector<std::string> &Paths,
                         const TokenizerSettings &Settings) {
  auto Parts = readWords(Paths, Settings);
  if (!Parts)
    return Parts;
  auto Around = beginAndEnd(*Parts, Settings);
  if (!Around)
    return Around.error();
  Parts->PostProcessor = std::move(*Around);
  return Parts;
}

Result<TokenizerParts>
tenon::readGptNeoxTokenizer(const std::vector<std::string> &Paths,
                            const TokenizerSettings &Settings) {
  auto Parts = readGpt2Tokenizer(Paths, Settings);
  if (Parts)
    Parts->Normalizer = {{"type", "NFC"}};
  return Parts;
}

Result<TokenizerParts>
tenon::readRobertaTokenizer(const std::vector<std::string> &Paths,
                            const TokenizerSettings &Settings) {
  auto Begin = Settings.token("cls_token");
  auto End = Settings.token("sep_token");
  if (!Begin)
    return Begin.error();
  if (!End)
    return End.error();
  auto Parts = readWords(Paths, Settings);
  if (Parts)
    Parts->PostProcessor = Parts->around({*Begin}, {*End});
  return Parts;
}

Result<TokenizerParts>
tenon::readQwen2Tokenizer(const std::vector<std::string> &Paths,
                          const TokenizerSettings &Settings) {
  auto AddSpace = Settings.flagOr("add_prefix_space", false);
  if (!AddSpace)
    return AddSpace.error();
  auto Parts = readFiles(Paths, Settings, /*ArePlain=*/true);
  if (!Parts)
    return Parts;
  auto Around = beginAndEnd(*Parts, Settings);
  if (!Around)
    return Around.error();
  Parts->PostProcessor = std::move(*Around);
  Parts->Normalizer = {{"type", "NFC"}};
  const char *Words =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
      R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  Parts->PreTokenizer = {{"type", "Sequence"},
                         {"pretokenizers",
                          {{{"type", "Split"},
                            {"pattern", {{"Regex", Words}}},
                            {"behavior", "Isolated"},
                            {"invert", false}},
                           byteLevel(*AddSpace, /*SplitWords=*/false)}}};
  return Parts;
}
