//===- Prompts.cpp - What tenon run reads ---------------------------------===//

#include "runtime/Support/MappedFile.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Generation.h"

#include <limits>

using namespace tenon;

static constexpr uint64_t MaxPromptBytes = 256u << 20;

ModelKind tenon::kindOf(const Model &M) {
  if (M.hasEntry("step"))
    return M.manifest().MaxSource != 0 ? ModelKind::EncoderDecoder
                                       : ModelKind::Decoder;
  if (M.hasEntry("encode_image"))
    return ModelKind::Image;
  Result<const Entry *> Code = M.entry("encode");
  return Code && (*Code)->Info.Output == OutputKind::Classes
             ? ModelKind::Classifier
             : ModelKind::Encoder;
}

Result<std::vector<std::vector<int32_t>>>
tenon::readPrompts(const Model &M, const RunOptions &Options) {
  std::vector<std::string> Texts = Options.Prompts;
  if (!Options.PromptFile.empty()) {
    Result<std::string> Text = readFile(Options.PromptFile, MaxPromptBytes);
    if (!Text)
      return Text.error();
    Texts.push_back(*Text);
  }
  std::vector<std::vector<int32_t>> Prompts;
  for (const std::string &Text : Texts) {
    Result<const Tokenizer *> Tokens = M.tokenizer();
    if (!Tokens)
      return Tokens.error();
    // Whole: a tokenizer's own limit must not cut a prompt unnoticed.
    Result<std::vector<int32_t>> Ids =
        (*Tokens)->encode(Text, true, std::numeric_limits<size_t>::max());
    if (!Ids)
      return Ids.error().withContext("prompt");
    if (Ids->empty())
      return Error("prompt " + printable(Text) +
                   " has no tokens: expected at least one");
    Prompts.push_back(std::move(*Ids));
  }
  for (const std::string &Value : Options.TokenIds) {
    Result<std::vector<int32_t>> Ids = parseTokens(Value, "--token-ids");
    if (!Ids)
      return Ids.error();
    if (Ids->empty())
      return Error("--token-ids is " + printable(Value) +
                   ": no tokens: expected at least one");
    Prompts.push_back(std::move(*Ids));
  }
  return Prompts;
}

Result<std::vector<int32_t>>
tenon::readTokenTypes(const RunOptions &Options,
                      const std::vector<int32_t> &Prompt) {
  if (Options.TokenTypes.empty())
    return std::vector<int32_t>();
  Result<std::vector<int32_t>> Types =
      parseTokens(Options.TokenTypes, "--token-types");
  if (Types && Types->size() != Prompt.size())
    return Error("--token-types: " + std::to_string(Types->size()) +
                 " values for " + std::to_string(Prompt.size()) +
                 " tokens: expected one per token");
  return Types;
}
