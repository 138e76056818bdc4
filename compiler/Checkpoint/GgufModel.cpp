//===- GgufModel.cpp - A GGUF file as a model directory -------------------===//

#include "compiler/Checkpoint/GgufModel.h"

#include "compiler/Checkpoint/ChatFiles.h"
#include "compiler/Checkpoint/GgufTokenizer.h"

#include <algorithm>

using namespace tenon;

/// What generation_config.json would say, null when the file says nothing.
static Result<Json> readSampling(const GgufFile &File) {
  static constexpr std::string_view Prefix = "general.sampling.";
  static constexpr std::pair<std::string_view, const char *> Names[] = {
      {"temp", "temperature"},
      {"top_k", "top_k"},
      {"top_p", "top_p"},
      {"min_p", "min_p"},
      {"penalty_repeat", "repetition_penalty"}};
  Json Sampling;
  for (const std::string &Key : File.keys()) {
    // Which sampler comes first has no counterpart; the rest are numbers.
    if (!Key.starts_with(Prefix) || Key == "general.sampling.sequence")
      continue;
    auto Value = File.number(Key);
    if (!Value)
      return Value.error();
    std::string_view Short = std::string_view(Key).substr(Prefix.size());
    auto Known = std::find_if(std::begin(Names), std::end(Names),
                              [&](const auto &N) { return N.first == Short; });
    // A reader of the others says that they are not used.
    if (Known == std::end(Names)) {
      Sampling[Key] = *Value;
      continue;
    }
    Sampling[Known->second] = *Value;
    if (Short == "top_k") {
      auto Whole = File.integer(Key, INT32_MIN, INT32_MAX);
      if (!Whole)
        return Whole.error();
      // 0 and less take all tokens.
      Sampling["top_k"] = std::max<int64_t>(*Whole, 0);
    }
    if (Short != "penalty_repeat")
      Sampling["do_sample"] = true;
  }
  return Sampling;
}

Result<GgufModel> tenon::openGgufModel(const std::string &Path,
                                       GgufTable Known) {
  auto File = GgufFile::open(Path);
  if (!File)
    return File.error();
  auto Parts = readGgufModel(*File, Known);
  if (!Parts)
    return Parts.error();
  auto Tokenizer = readGgufTokenizer(*File, Parts->Settings);
  if (!Tokenizer)
    return Tokenizer.error();
  if (!Tokenizer->empty()) {
    const std::string Tokens = "tokenizer.ggml.tokens";
    auto Count = File->arraySize(Tokens, /*OfStrings=*/true);
    auto Rows = Parts->Settings["vocab_size"].get<uint64_t>();
    if (*Count > Rows)
      return File->expected(Tokens, "at most " + std::to_string(Rows) +
                                        ", the rows of token_embd.weight");
  }
  auto Sampling = readSampling(*File);
  if (!Sampling)
    return Sampling.error();

  auto Settings = Config::parse(Parts->Settings.dump(), Path);
  if (!Settings)
    return Settings.error();
  if (!Sampling->is_null()) {
    auto Generation = Config::parse(Sampling->dump(), Path);
    if (!Generation)
      return Generation.error();
    Settings->setGeneration(*Generation);
  }
  std::optional<artifact::ChatInfo> Chat;
  if (!Tokenizer->empty())
    Chat = readGgufChat(*File, Parts->Notes);
  auto Weights =
      Checkpoint::fromTensors(File->takeMappings(), std::move(Parts->Tensors));
  if (!Weights)
    return Weights.error();
  return GgufModel{std::move(*Settings), std::move(*Weights),
                   std::move(*Tokenizer), std::move(Chat),
                   std::move(Parts->Notes)};
}
