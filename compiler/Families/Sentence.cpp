//===- Sentence.cpp - Sentence-transformers directories -------------------===//

#include "compiler/Families/Sentence.h"

#include <filesystem>

using namespace tenon;
using namespace tenon::transformer;

namespace {

bool exists(const std::string &Path) {
  std::error_code Ignored;
  return std::filesystem::exists(Path, Ignored);
}

/// The pooling modes by their names; older files have a boolean for each.
struct PoolingMode {
  std::string_view Name;
  std::string_view OldKey;
  std::optional<PoolKind> Kind;
};
constexpr PoolingMode Modes[] = {
    {"cls", "pooling_mode_cls_token", PoolKind::Cls},
    {"mean", "pooling_mode_mean_tokens", PoolKind::Mean},
    {"lasttoken", "pooling_mode_lasttoken", PoolKind::Last},
    {"max", "pooling_mode_max_tokens", std::nullopt},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", std::nullopt},
    {"weightedmean", "pooling_mode_weightedmean_tokens", std::nullopt}};

constexpr std::string_view KnownModes =
    "one of mean, cls, lasttoken as the only pooling";

Result<PoolKind> readPooling(const std::string &Path, int64_t Width) {
  auto Settings = Config::openFile(Path);
  if (!Settings)
    return Settings.error();
  for (std::string_view Key :
       {"word_embedding_dimension", "embedding_dimension"}) {
    auto Value = Settings->integerOr(Key, Width, 1, MaxWidth);
    if (!Value)
      return Value.error();
    if (*Value != Width)
      return Settings->expected(Key, "the model's hidden_size " +
                                         std::to_string(Width));
  }
  // Only matters to prompts, which are refused.
  auto IncludesPrompt = Settings->booleanOr("include_prompt", true);
  if (!IncludesPrompt)
    return IncludesPrompt.error();
  auto Name = Settings->optionalString("pooling_mode");
  if (!Name)
    return Name.error();
  const PoolingMode *Found = nullptr;
  for (const PoolingMode &Mode : Modes) {
    auto IsOn = Settings->booleanOr(Mode.OldKey, false);
    if (!IsOn)
      return IsOn.error();
    bool Matches = *Name ? **Name == Mode.Name : *IsOn;
    if (!Matches)
      continue;
    if (Found || !Mode.Kind)
      return Settings->expected(*Name ? "pooling_mode" : Mode.OldKey,
                                KnownModes);
    Found = &Mode;
  }
  if (*Name && !Found)
    return Settings->expected("pooling_mode", KnownModes);
  if (Status S = Settings->refuseUnreadKeys("pooling"); !S)
    return S.error();
  // Files without any mode mean the mean.
  return Found ? *Found->Kind : PoolKind::Mean;
}

/// sentence_bert_config.json: how texts are cut.
Result<std::optional<int64_t>> readMaxTokens(const std::string &Directory) {
  std::string Path = Directory + "/sentence_bert_config.json";
  if (!exists(Path))
    return std::optional<int64_t>();
  auto Settings = Config::openFile(Path);
  if (!Settings)
    return Settings.error();
  auto Lower = Settings->booleanOr("do_lower_case", false);
  if (!Lower)
    return Lower.error();
  if (*Lower)
    return Settings->expected("do_lower_case",
                              "false: letters are the tokenizer's business");
  return Settings->optionalInteger("max_seq_length", 1, MaxContext);
}

/// config_sentence_transformers.json: a prompt would precede every text.
Status refuseDefaultPrompt(const std::string &Directory) {
  std::string Path = Directory + "/config_sentence_transformers.json";
  if (!exists(Path))
    return {};
  auto Settings = Config::openFile(Path);
  if (!Settings)
    return Settings.error();
  if (Settings->has("default_prompt_name"))
    return Settings->expected("default_prompt_name",
                              "null: prompts are not handled");
  return {};
}

} // namespace

bool tenon::isSentenceDirectory(const std::string &Directory) {
  return exists(Directory + "/modules.json");
}

Result<std::optional<SentenceModel>>
tenon::readSentenceModel(const std::string &Directory, int64_t Width) {
  if (!isSentenceDirectory(Directory))
    return std::optional<SentenceModel>();
  std::string Path = Directory + "/modules.json";
  auto Modules = readJsonFile(Path);
  if (!Modules)
    return Modules.error();
  JsonField Top(*Modules, Path);
  auto Count = Top.arraySize();
  if (!Count)
    return Count.error();
  SentenceModel Result;
  // Transformer, Pooling and then possibly Normalize, in this order.
  static constexpr std::string_view Order[] = {"Transformer", "Pooling",
                                               "Normalize"};
  if (*Count < 2 || *Count > 3)
    return Error(Path + ": " + std::to_string(*Count) +
                 " modules: expected Transformer, Pooling and at most "
                 "Normalize");
  for (size_t I = 0; I < *Count; ++I) {
    auto Module = Top.element(I);
    if (!Module)
      return Module.error();
    auto TypeField = Module->member("type");
    auto PathField = Module->member("path");
    if (!TypeField || !PathField)
      return TypeField ? PathField.error() : TypeField.error();
    auto Type = TypeField->asString();
    auto SubPath = PathField->asString();
    if (!Type || !SubPath)
      return Type ? SubPath.error() : Type.error();
    // Modules are Python classes: the last word names what they do.
    if (Type->substr(Type->rfind('.') + 1) != Order[I])
      return TypeField->expected(std::string(Order[I]) + " at this place");
    if (I == 0 && !SubPath->empty())
      return PathField->expected("the directory itself (an empty path)");
    if (I == 1) {
      if (SubPath->empty() || SubPath->find('/') != std::string::npos ||
          *SubPath == "..")
        return PathField->expected("the name of a folder");
      auto Kind =
          readPooling(Directory + "/" + *SubPath + "/config.json", Width);
      if (!Kind)
        return Kind.error();
      Result.Pooling.Kind = *Kind;
    }
    if (I == 2)
      Result.Pooling.Normalize = true;
  }
  if (Status S = refuseDefaultPrompt(Directory); !S)
    return S.error();
  auto MaxTokens = readMaxTokens(Directory);
  if (!MaxTokens)
    return MaxTokens.error();
  Result.MaxTextTokens = *MaxTokens;
  return std::optional<SentenceModel>(Result);
}
