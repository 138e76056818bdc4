//===- Tokens.cpp - /tokenize, /detokenize, /apply-template ---------------===//

#include "runtime/Http/Conversations.h"

using namespace tenon;
using namespace tenon::http;

/// The tokenizer of `M`, or an error in `F`.
static const tokenizer::Tokenizer *tokenizerOf(const ServedModel &M,
                                               Fields &F) {
  Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
  if (T)
    return *T;
  F.refuse({400, T.error().message()});
  return nullptr;
}

void http::tokenize(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.anyModel(F);
  std::optional<std::string> Prompt = F.string("prompt");
  std::optional<chat::Conversation> Talk;
  if (C.Body.contains("messages"))
    Talk = conversationOf(F, C.Bounds, M);
  bool Special = true;
  if (Talk) // Templates write their own.
    F.accept("add_special_tokens", false);
  else
    Special = F.boolean("add_special_tokens").value_or(true);
  if (Prompt.has_value() == Talk.has_value())
    F.refuse({400, "expected one of 'prompt' and 'messages'", "prompt"});
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  // Not cut: who asks wants to know how long the text is.
  Result<std::vector<int32_t>> Ids =
      Talk ? M->code().chatPrompt(*Talk)
           : T->encode(*Prompt, Special, SIZE_MAX);
  if (!Ids)
    return C.reply(ApiError{400, Ids.error().message()});
  C.reply(Json{{"count", Ids->size()},
               {"max_model_len", M->code().manifest().MaxSequence},
               {"tokens", *Ids}});
}

void http::detokenize(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.anyModel(F);
  std::vector<int32_t> Ids = F.tokens("tokens");
  if (!C.Body.contains("tokens"))
    F.expected("tokens", "an array of token ids");
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  C.reply(Json{{"prompt", T->decode(Ids, /*SkipSpecialTokens=*/false)}});
}

void http::applyTemplate(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.anyModel(F);
  chat::Conversation Talk = conversationOf(F, C.Bounds, M);
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Result<std::vector<int32_t>> Ids = M->code().chatPrompt(Talk);
  if (!Ids)
    return C.reply(ApiError{400, Ids.error().message(), "messages"});
  C.reply(Json{{"prompt", T->decode(*Ids, /*SkipSpecialTokens=*/false)}});
}
