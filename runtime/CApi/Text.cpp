//===- Text.cpp - Text and tokens from C ----------------------------------===//

#include "runtime/CApi/Handles.h"
#include "runtime/Chat/Conversation.h"
#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Support/Json.h"

using namespace tenon;
using namespace tenon::capi;

struct tenon_decoder {
  std::shared_ptr<const engine::Model> Loaded;
  const tokenizer::Tokenizer *Tokens; ///< Of Loaded.
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
    if (Status Good = (*Text)->checkIds({tokens, count}); !Good)
      return fail(Good.error().withContext("tenon_model_decode"));
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

tenon_status tenon_model_parse_answer(
    const tenon_model *model, const int32_t *prompt, size_t prompt_count,
    const int32_t *tokens, size_t count, const char *up_to_stop,
    size_t stop_bytes, const char *tools, size_t tools_bytes, char *json,
    size_t capacity, size_t *bytes) {
  if (!model || (!prompt && prompt_count != 0) || (!tokens && count != 0) ||
      (!tools && tools_bytes != 0) || (!json && capacity != 0) || !bytes)
    return fail("tenon_model_parse_answer: model, prompt, tokens, tools, json "
                "or bytes is null");
  return guarded([&]() -> tenon_status {
    Json Tools;
    if (tools_bytes != 0) {
      Result<Json> Read = parseJson({tools, tools_bytes}, "tools");
      if (!Read)
        return fail(Error(Read.error().message())
                        .withContext("tenon_model_parse_answer"));
      Tools = std::move(*Read);
      if (!Tools.is_array())
        return fail("tenon_model_parse_answer: tools is " + jsonKind(Tools) +
                    ": expected an array");
    }
    std::optional<std::string_view> UpToStop;
    if (up_to_stop)
      UpToStop.emplace(up_to_stop, stop_bytes);
    Result<tools::ParsedAnswer> Parsed = generation::parseToolAnswer(
        *model->Loaded, {prompt, prompt_count}, {tokens, count}, UpToStop,
        std::move(Tools));
    if (!Parsed)
      return fail(Parsed.error());
    std::string Text =
        generation::answerJson(*Parsed, {prompt, prompt_count})
            .dump(-1, ' ', false, Json::error_handler_t::replace);
    *bytes = Text.size();
    if (Text.size() <= capacity)
      std::copy(Text.begin(), Text.end(), json);
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
    *decoder =
        new tenon_decoder{model->Loaded,
                          *Text,
                          tokenizer::StreamingDecoder(**Text, special == 0),
                          {}};
    return TENON_OK;
  });
}

void tenon_decoder_destroy(tenon_decoder *decoder) { delete decoder; }

tenon_status tenon_decoder_push(tenon_decoder *decoder, int32_t token,
                                const char **text, size_t *bytes) {
  if (!decoder || !text || !bytes)
    return fail("tenon_decoder_push: decoder, text or bytes is null");
  return guarded([&]() -> tenon_status {
    if (Status Good = decoder->Tokens->checkIds({&token, 1}); !Good)
      return fail(Good.error().withContext("tenon_decoder_push"));
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
