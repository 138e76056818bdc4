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
  std::optional<std::string> Prompt;
  std::optional<chat::Conversation> Talk;
  ImageReader Images = C.images(M);
  bool Special = false;
  if (!C.Body.value("messages", Json()).is_null()) {
    Talk = conversationOf(F, C.Bounds, M, Images);
    F.accept("add_special_tokens", false); // Templates write their own.
  } else {
    Prompt = F.string("prompt");
    Special = F.boolean("add_special_tokens").value_or(true);
    if (!Prompt)
      F.expected("prompt", "a text, or 'messages' in its place");
  }
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  size_t Seen = Talk ? Images.takeFor(*Talk).size() : 0;
  // Not cut: who asks wants to know how long the text is.
  Result<std::vector<int32_t>> Ids =
      Talk ? wholePrompt(*M, *Talk, Seen)
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
  if (C.Body.value("tokens", Json()).is_null())
    F.expected("tokens", "an array of token ids");
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (Status Good = T ? T->checkIds(Ids) : Status(); !Good)
    F.refuse({400, "'tokens': " + Good.error().message(), "tokens"});
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  C.reply(Json{{"prompt", T->decode(Ids, /*SkipSpecialTokens=*/false)}});
}

void http::applyTemplate(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.anyModel(F);
  ImageReader Images = C.images(M);
  chat::Conversation Talk = conversationOf(F, C.Bounds, M, Images);
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Images.takeFor(Talk);
  Result<std::vector<int32_t>> Ids = M->code().chatPrompt(Talk);
  if (!Ids)
    return C.reply(ApiError{400, Ids.error().message(), "messages"});
  C.reply(Json{{"prompt", T->decode(*Ids, /*SkipSpecialTokens=*/false)}});
}
