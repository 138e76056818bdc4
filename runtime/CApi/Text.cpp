//===- Text.cpp - Text and tokens from C ----------------------------------===//

#include "runtime/CApi/Handles.h"
#include "runtime/Chat/Conversation.h"
#include "runtime/Support/Json.h"

using namespace tenon;
using namespace tenon::capi;

struct tenon_decoder {
  std::shared_ptr<const engine::Model> Loaded;
  tokenizer::StreamingDecoder Stream;
  std::string Text; ///< Of the last call.
};

tenon_status tenon_model_encode(const tenon_model *model, const char *text,
                                size_t bytes, int special, int32_t *tokens,
                                size_t capacity, size_t *count) {
  // Whole: a tokenizer's own limit must not cut a text unnoticed.
  return tenon_model_encode_truncated(model, text, bytes, special, SIZE_MAX,
                                      tokens, capacity, count);
}

tenon_status tenon_model_encode_truncated(const tenon_model *model,
                                          const char *text, size_t bytes,
                                          int special, size_t max_tokens,
                                          int32_t *tokens, size_t capacity,
                                          size_t *count) {
  if (!model || (!text && bytes != 0) || (!tokens && capacity != 0) || !count)
    return fail("tenon_model_encode: model, text, tokens or count is null");
  return guarded([&]() -> tenon_status {
    Result<const tokenizer::Tokenizer *> Text = model->Loaded->tokenizer();
    if (!Text)
      return fail(Text.error());
    Result<std::vector<int32_t>> Ids =
        (*Text)->encode({text, bytes}, special != 0, max_tokens);
    if (!Ids)
      return fail(Ids.error());
    *count = Ids->size();
    if (Ids->size() <= capacity)
      std::copy(Ids->begin(), Ids->end(), tokens);
    return TENON_OK;
  });
}

tenon_status tenon_model_decode(const tenon_model *model, const int32_t *tokens,
                                size_t count, int special, char *text,
                                size_t capacity, size_t *bytes) {
  if (!model || (!tokens && count != 0) || (!text && capacity != 0) || !bytes)
    return fail("tenon_model_decode: model, tokens, text or bytes is null");
  return guarded([&]() -> tenon_status {
    Result<const tokenizer::Tokenizer *> Text = model->Loaded->tokenizer();
    if (!Text)
      return fail(Text.error());
    std::string Whole = (*Text)->decode({tokens, count}, special == 0);
    *bytes = Whole.size();
    if (Whole.size() <= capacity)
      std::copy(Whole.begin(), Whole.end(), text);
    return TENON_OK;
  });
}

int tenon_model_has_chat(const tenon_model *model) {
  return model && model->Loaded->manifest().Chat.has_value();
}

tenon_status tenon_model_chat_prompt(const tenon_model *model,
                                     const char *conversation, size_t bytes,
                                     int32_t *tokens, size_t capacity,
                                     size_t *count) {
  if (!model || !conversation || (!tokens && capacity != 0) || !count)
    return fail("tenon_model_chat_prompt: model, conversation, tokens or count "
                "is null");
  return guarded([&]() -> tenon_status {
    auto Blame = [](const Error &E) {
      return fail(E.withContext("tenon_model_chat_prompt"));
    };
    Result<Json> Read = parseJson({conversation, bytes}, "conversation");
    if (!Read)
      return Blame(Error(Read.error().message()));
    Result<chat::Conversation> Talk = chat::conversationFromJson(*Read);
    if (!Talk)
      return Blame(Talk.error());
    Result<std::vector<int32_t>> Ids = model->Loaded->chatPrompt(*Talk);
    if (!Ids)
      return fail(Ids.error());
    *count = Ids->size();
    if (Ids->size() <= capacity)
      std::copy(Ids->begin(), Ids->end(), tokens);
    return TENON_OK;
  });
}

tenon_status tenon_decoder_create(const tenon_model *model, int special,
                                  tenon_decoder **decoder) {
  if (!model || !decoder)
    return fail("tenon_decoder_create: model or decoder is null");
  return guarded([&]() -> tenon_status {
    Result<const tokenizer::Tokenizer *> Text = model->Loaded->tokenizer();
    if (!Text)
      return fail(Text.error());
    *decoder = new tenon_decoder{
        model->Loaded, tokenizer::StreamingDecoder(**Text, special == 0), {}};
    return TENON_OK;
  });
}

void tenon_decoder_destroy(tenon_decoder *decoder) { delete decoder; }

tenon_status tenon_decoder_push(tenon_decoder *decoder, int32_t token,
                                const char **text, size_t *bytes) {
  if (!decoder || !text || !bytes)
    return fail("tenon_decoder_push: decoder, text or bytes is null");
  return guarded([&]() -> tenon_status {
    decoder->Text = decoder->Stream.push(token);
    *text = decoder->Text.data();
    *bytes = decoder->Text.size();
    return TENON_OK;
  });
}

tenon_status tenon_decoder_finish(tenon_decoder *decoder, const char **text,
                                  size_t *bytes) {
  if (!decoder || !text || !bytes)
    return fail("tenon_decoder_finish: decoder, text or bytes is null");
  return guarded([&]() -> tenon_status {
    decoder->Text = decoder->Stream.finish();
    *text = decoder->Text.data();
    *bytes = decoder->Text.size();
    return TENON_OK;
  });
}
