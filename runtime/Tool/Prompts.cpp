//===- Prompts.cpp - What tenon run reads and says ------------------------===//

#include "runtime/Support/Console.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Evaluation.h"
#include "runtime/Tool/RunSupport.h"
#include "runtime/ToolCalls/Tools.h"

#include <algorithm>
#include <limits>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::tokenizer;
using namespace tenon::tool;

ModelKind tool::kindOf(const Model &M) {
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

Result<std::vector<int32_t>> tool::tokensOfPrompt(const Model &M,
                                                  const std::string &Text) {
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
  return Ids;
}

Result<Json> tool::readTools(const std::string &File) {
  if (File.empty())
    return Json();
  Result<Json> Read = readJsonFile(File);
  if (!Read)
    return Read.error();
  if (!Read->is_array())
    return Error(File + ": is " + jsonKind(*Read) +
                 ": expected an array of tools as OpenAI's API defines them");
  if (Status Good = tools::checkTools(*Read); !Good)
    return Good.error().withContext(File);
  return Read;
}

/// A message with `Images` images before its text.
static Json messageContent(const std::string &Text, size_t Images) {
  if (Images == 0)
    return Text;
  Json Parts = Json::array();
  for (size_t I = 0; I < Images; ++I)
    Parts.push_back({{"type", "image"}});
  Parts.push_back({{"type", "text"}, {"text", Text}});
  return Parts;
}

/// Puts an image token for each of `Images` before `Prompt`, from token
/// `Beginning` on, unless it has any itself.
static void addImageTokens(const Model &M, std::vector<int32_t> &Prompt,
                           size_t Images, size_t Beginning) {
  if (Images == 0 || !generation::readsImages(M))
    return;
  int32_t Token = *M.manifest().Image->Token;
  if (std::find(Prompt.begin(), Prompt.end(), Token) == Prompt.end())
    Prompt.insert(Prompt.begin() + static_cast<std::ptrdiff_t>(Beginning),
                  Images, Token);
}

/// Tokens that begin every text, of which `Text` is one.
static Result<size_t> beginningOf(const Model &M, const std::string &Text) {
  Result<const Tokenizer *> Tokens = M.tokenizer();
  if (!Tokens)
    return Tokens.error();
  Result<TextTokens> Parts = tokensOf(**Tokens, Text);
  if (!Parts)
    return Parts.error();
  return Parts->Beginning;
}

Result<std::vector<std::vector<int32_t>>>
tool::readPrompts(const Model &M, const RunOptions &Options,
                  const Json &Tools) {
  sampling::SettingNames Name = Options.Names;
  std::vector<std::string> Texts = Options.Prompts;
  if (!Options.PromptFile.empty()) {
    Result<std::string> Text = readText(Options.PromptFile);
    if (!Text)
      return Text.error();
    Texts.push_back(*Text);
  }
  std::vector<std::vector<int32_t>> Prompts;
  for (const std::string &Text : Texts) {
    if (Options.Chat) {
      chat::Conversation Talk;
      Talk.Tools = Tools;
      if (!Options.System.empty())
        Talk.add("system", Options.System);
      Talk.Messages.push_back(
          {{"role", "user"},
           {"content", messageContent(Text, Options.Images.size())}});
      Result<std::vector<int32_t>> Ids = M.chatPrompt(Talk);
      if (!Ids)
        return Ids.error();
      Prompts.push_back(std::move(*Ids));
      continue;
    }
    Result<std::vector<int32_t>> Ids = tokensOfPrompt(M, Text);
    if (!Ids)
      return Ids.error();
    if (!Options.Images.empty()) {
      Result<size_t> Beginning = beginningOf(M, Text);
      if (!Beginning)
        return Beginning.error();
      addImageTokens(M, *Ids, Options.Images.size(), *Beginning);
    }
    Prompts.push_back(std::move(*Ids));
  }
  if (Options.Chat && !Options.TokenIds.empty())
    return Error(Name("token_ids") + " are no message: expected text with " +
                 Name("chat"));
  for (const std::string &Value : Options.TokenIds) {
    Result<std::vector<int32_t>> Ids = parseTokens(Value, Name("token_ids"));
    if (!Ids)
      return Ids.error();
    if (Ids->empty())
      return Error(Name("token_ids") + " is " + printable(Value) +
                   ": no tokens: expected at least one");
    addImageTokens(M, *Ids, Options.Images.size(), 0);
    Prompts.push_back(std::move(*Ids));
  }
  return Prompts;
}

Result<std::vector<int32_t>>
tool::readTokenTypes(const RunOptions &Options,
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

int64_t tool::artifactPromptTokens(const Model &M) {
  return M.manifest().Prefixes ? M.manifest().Prefixes->Tokens : 0;
}

void tool::noteArtifactPrompts(const Model &M,
                               const serving::PrefixesRead &Read) {
  if (Read.IsOfAnother)
    printNote(M.path() + ": the prompts in it were run by another version of "
                         "Tenon or on another CPU: they run again");
  else if (Read.LeftOut != 0)
    printNote(M.path() + ": no room for " + std::to_string(Read.LeftOut) +
              " of " + std::to_string(Read.LeftOut + Read.Prompts) +
              " prompts in it");
}

Json tool::timingsJson(const Timings &T) {
  Json J = Json::object();
  J["load_s"] = T.Load;
  J["first_token_s"] = T.FirstToken;
  J["prefill_s"] = T.Prefill;
  J["decode_s"] = T.Decode;
  if (T.Prefill > 0)
    J["prefill_tokens_per_s"] = static_cast<double>(T.PromptTokens) / T.Prefill;
  if (T.Decode > 0)
    J["decode_tokens_per_s"] = static_cast<double>(T.DecodedTokens) / T.Decode;
  return J;
}

std::string tool::lineOf(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}
