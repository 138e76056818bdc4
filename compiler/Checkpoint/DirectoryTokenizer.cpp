//===- DirectoryTokenizer.cpp - Without a tokenizer.json ------------------===//

#include "compiler/Checkpoint/DirectoryTokenizer.h"

#include "compiler/Checkpoint/TokenizerFormats.h"

#include <algorithm>
#include <array>
#include <filesystem>

using namespace tenon;

namespace {

/// What a class of tokenizers needs.
struct ClassRow {
  std::string_view Name;
  /// Models that have it unless a file says otherwise, with blanks between.
  std::string_view ModelTypes;
  /// Files that a directory must have, with blanks between; the first that
  /// applies.
  std::array<std::string_view, 2> Files;
  TokenizerReader Read;
  /// Tokens by their roles, with blanks between.
  std::string_view Defaults;
  /// Why there is no reader.
  std::string_view Unread = "";
};

constexpr std::string_view WordFiles = "vocab.json merges.txt";
constexpr std::string_view OneToken =
    "bos_token <|endoftext|> eos_token <|endoftext|> unk_token <|endoftext|>";
constexpr std::string_view RobertaTokens =
    "bos_token <s> eos_token </s> sep_token </s> cls_token <s> "
    "unk_token <unk> pad_token <pad> mask_token <mask>";
constexpr std::string_view BertTokens =
    "unk_token [UNK] sep_token [SEP] pad_token [PAD] cls_token [CLS] "
    "mask_token [MASK]";

constexpr ClassRow Classes[] = {
    {"LlamaTokenizer",
     "llama mistral mixtral",
     {"tokenizer.model"},
     readLlamaTokenizer,
     "bos_token <s> eos_token </s> unk_token <unk>"},
    {"GemmaTokenizer",
     "gemma gemma2 gemma3 gemma3_text",
     {"tokenizer.model"},
     readGemmaTokenizer,
     "bos_token <bos> eos_token <eos> unk_token <unk> pad_token <pad> "
     "mask_token <mask>"},
    {"T5Tokenizer",
     "t5",
     {"tokenizer.model", "spiece.model"},
     readT5Tokenizer,
     "eos_token </s> unk_token <unk> pad_token <pad>"},
    {"XLMRobertaTokenizer",
     "xlm-roberta",
     {"tokenizer.model", "sentencepiece.bpe.model"},
     readXlmRobertaTokenizer,
     RobertaTokens},
    {"GPT2Tokenizer",
     "gpt2 gptj opt phi starcoder2",
     {WordFiles},
     readGpt2Tokenizer,
     OneToken},
    {"CodeGenTokenizer", "", {WordFiles}, readGpt2Tokenizer, OneToken},
    {"GPTNeoXTokenizer",
     "gpt_neox mpt",
     {WordFiles},
     readGptNeoxTokenizer,
     "bos_token <|endoftext|> eos_token <|endoftext|> unk_token <|endoftext|> "
     "pad_token <|padding|>"},
    {"RobertaTokenizer",
     "roberta bart",
     {WordFiles},
     readRobertaTokenizer,
     RobertaTokens},
    {"BartTokenizer", "", {WordFiles}, readRobertaTokenizer, RobertaTokens},
    {"Qwen2Tokenizer",
     "qwen2 qwen2_moe qwen3 qwen3_moe",
     {WordFiles},
     readQwen2Tokenizer,
     "eos_token <|endoftext|> unk_token <|endoftext|> "
     "pad_token <|endoftext|>"},
    {"BertTokenizer",
     "bert distilbert electra",
     {"vocab.txt"},
     readBertTokenizer,
     BertTokens},
    {"DistilBertTokenizer", "", {"vocab.txt"}, readBertTokenizer, BertTokens},
    {"ElectraTokenizer", "", {"vocab.txt"}, readBertTokenizer, BertTokens},
    {"MarianTokenizer",
     "marian",
     {"source.spm target.spm vocab.json"},
     nullptr,
     "",
     "it numbers the pieces of one vocabulary by another, which no "
     "tokenizer.json says"},
};

std::vector<std::string> split(std::string_view Words) {
  std::vector<std::string> Parts;
  while (!Words.empty()) {
    size_t End = std::min(Words.find(' '), Words.size());
    Parts.emplace_back(Words.substr(0, End));
    Words.remove_prefix(std::min(End + 1, Words.size()));
  }
  return Parts;
}

bool isOneOf(std::string_view Word, std::string_view Words) {
  const std::vector<std::string> Parts = split(Words);
  return std::find(Parts.begin(), Parts.end(), Word) != Parts.end();
}

/// "a and b" of "a b".
std::string listed(std::string_view Words) {
  std::string Text;
  for (const std::string &Word : split(Words))
    Text += (Text.empty() ? "" : " and ") + Word;
  return Text;
}

bool isThere(const std::string &Path) {
  std::error_code Ignored;
  // A dangling link is reported by the opening.
  return std::filesystem::exists(
      std::filesystem::symlink_status(Path, Ignored));
}

/// The files that some tokenizer is kept in.
std::vector<std::string> filesIn(const std::string &Directory) {
  std::vector<std::string> Found;
  for (const char *Name :
       {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
        "spm.model", "source.spm", "target.spm", "vocab.json", "merges.txt",
        "vocab.txt", "vocab.bpe", "encoder.json", "tekken.json",
        "tokenizer.tiktoken"})
    if (isThere(Directory + "/" + Name))
      Found.emplace_back(Name);
  return Found;
}

/// The paths of the first set of files that is there as a whole; none, with
/// what was expected in `Why`, if there is no such set.
std::vector<std::string>
findFiles(const ClassRow &Row, const std::string &Directory, std::string &Why) {
  Why = "its class is " + std::string(Row.Name) + ": expected";
  for (std::string_view Files : Row.Files) {
    if (Files.empty())
      continue;
    Why += (Why.ends_with("expected") ? " " : ", or ") + listed(Files);
    std::vector<std::string> Paths;
    for (const std::string &File : split(Files))
      Paths.push_back(Directory + "/" + File);
    if (std::all_of(Paths.begin(), Paths.end(), isThere))
      return Paths;
  }
  return {};
}

/// "tokenizer_class", without the suffix that fast tokenizers had; empty when
/// no file names one.
Result<std::string> classNameOf(const TokenizerSettings &Settings) {
  auto Name = Settings.className();
  if (!Name)
    return Name.error();
  if (!*Name) {
    const std::string File = Settings.directory() + "/config.json";
    auto Config = readJsonFile(File);
    if (!Config)
      return Config.error();
    JsonField Field(*Config, File);
    if (!Field.has("tokenizer_class"))
      return std::string();
    auto Own = Field.member("tokenizer_class")->asString();
    if (!Own)
      return Own.error();
    *Name = std::move(*Own);
  }
  constexpr std::string_view Suffix = "Fast";
  if ((*Name)->ends_with(Suffix))
    (*Name)->resize((*Name)->size() - Suffix.size());
  return **Name;
}

const ClassRow *findClass(std::string_view Name, std::string_view ModelType) {
  for (const ClassRow &Row : Classes)
    if (Name.empty() ? isOneOf(ModelType, Row.ModelTypes) : Row.Name == Name)
      return &Row;
  return nullptr;
}

/// The text of a tokenizer.json; empty, with the reason in `Why`, for a
/// tokenizer that is not read.
Result<std::string> readAsClass(TokenizerSettings &Settings,
                                std::string_view ModelType, std::string &Why) {
  auto Name = classNameOf(Settings);
  if (!Name)
    return Name.error();
  const ClassRow *Row = findClass(*Name, ModelType);
  if (!Row) {
    Why = Name->empty()
              ? "no tokenizer_class is named: expected one of"
              : "tokenizer_class is " + printable(*Name) + ": expected one of";
    for (const ClassRow &R : Classes)
      if (R.Read)
        Why += (Why.ends_with("of") ? " " : ", ") + std::string(R.Name);
    return std::string();
  }
  if (!Row->Read) {
    Why = "its class is " + std::string(Row->Name) + ": " +
          std::string(Row->Unread);
    return std::string();
  }
  const std::vector<std::string> Paths =
      findFiles(*Row, Settings.directory(), Why);
  if (Paths.empty())
    return std::string();
  auto Split = Settings.flagOr("split_special_tokens", false);
  if (!Split)
    return Split.error();
  if (*Split) {
    Why = "split_special_tokens is true: expected false";
    return std::string();
  }
  const std::vector<std::string> Defaults = split(Row->Defaults);
  for (size_t I = 0; I + 1 < Defaults.size(); I += 2)
    Settings.setDefault(Defaults[I], Defaults[I + 1]);
  auto Parts = Row->Read(Paths, Settings);
  if (!Parts)
    return Parts.error();
  Why = Parts->Unfit;
  return Why.empty() ? Parts->text() : std::string();
}

} // namespace

Result<Json> tenon::beginAndEnd(const TokenizerParts &Parts,
                                const TokenizerSettings &Settings) {
  std::vector<std::string> Around[2];
  for (auto [I, Flag, Role] : {std::tuple(0, "add_bos_token", "bos_token"),
                               {1, "add_eos_token", "eos_token"}}) {
    auto Wanted = Settings.flagOr(Flag, false);
    if (!Wanted)
      return Wanted.error();
    if (auto Token = Settings.optionalToken(Role); *Wanted && Token)
      Around[I].push_back(std::move(*Token));
  }
  return Parts.around(Around[0], Around[1]);
}

Result<std::string>
tenon::readDirectoryTokenizer(const std::string &Directory,
                              std::string_view ModelType,
                              std::vector<std::string> &Notes) {
  const std::vector<std::string> Found = filesIn(Directory);
  if (Found.empty())
    return std::string();
  auto Settings = TokenizerSettings::read(Directory);
  if (!Settings)
    return Settings.error().ofContent();
  std::string Why;
  auto Text = readAsClass(*Settings, ModelType, Why);
  if (!Text)
    return Text.error().ofContent();
  if (!Text->empty())
    return Text;
  std::string Names;
  for (const std::string &Name : Found)
    Names += (Names.empty() ? "" : ", ") + Name;
  // Transformers itself has no tokenizer.json for a class without a reader.
  const ClassRow *Row = findClass(*classNameOf(*Settings), ModelType);
  const bool IsWritten = !Row || Row->Read;
  Notes.push_back(Directory +
                  ": has no tokenizer.json, and its other tokenizer files are "
                  "not read (" +
                  Names + "): " + Why +
                  ": the artifact will take token ids but no text" +
                  (IsWritten ? " (Transformers' AutoTokenizer.from_pretrained("
                               "...).save_pretrained(...) writes one)"
                             : ""));
  return std::string();
}
