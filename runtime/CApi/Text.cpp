//===- Text.cpp - Tokens, choices and generation from C -------------------===//

#include "runtime/CApi/Handles.h"

#include <cmath>

using namespace tenon;
using namespace tenon::capi;

struct tenon_decoder {
  std::shared_ptr<const engine::Model> Loaded;
  tokenizer::StreamingDecoder Stream;
  std::string Text; ///< Of the last call.
};

struct tenon_sampler {
  sampling::Sampler Picker;
};

struct tenon_generation {
  generation::Generator Running;
  int64_t Request = 0;
  generation::Piece Last;
};

tenon_status tenon_model_encode(const tenon_model *model, const char *text,
                                size_t bytes, int special, int32_t *tokens,
                                size_t capacity, size_t *count) {
  if (!model || (!text && bytes != 0) || (!tokens && capacity != 0) || !count)
    return fail("tenon_model_encode: model, text, tokens or count is null");
  return guarded([&]() -> tenon_status {
    Result<const tokenizer::Tokenizer *> Text = model->Loaded->tokenizer();
    if (!Text)
      return fail(Text.error());
    // Whole: a tokenizer's own limit must not cut a text unnoticed.
    Result<std::vector<int32_t>> Ids =
        (*Text)->encode({text, bytes}, special != 0, SIZE_MAX);
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

void tenon_settings_init(tenon_settings *settings) {
  if (settings)
    *settings = {sizeof(tenon_settings), -1, -1, -1, -1, -1, NAN, -1, 0, 0, 0};
}

/// The settings of a caller; null are the model's own.
static Result<generation::Settings> readSettings(const char *Function,
                                                 const tenon_settings *Passed) {
  generation::Settings S;
  if (!Passed)
    return S;
  Result<tenon_settings> Read =
      readStruct<tenon_settings>(std::string(Function) + ": settings", Passed);
  if (!Read)
    return Read.error();
  if (Read->max_new_tokens < -1)
    return Error(std::string(Function) + ": max_new_tokens is " +
                 std::to_string(Read->max_new_tokens) +
                 ": expected at least 0, or -1 for the model's");
  auto Set = [](auto &Target, auto Value) {
    if (Value != -1)
      Target = Value;
  };
  Set(S.MaxNewTokens, Read->max_new_tokens);
  Set(S.Temperature, Read->temperature);
  Set(S.TopK, Read->top_k);
  Set(S.TopP, Read->top_p);
  Set(S.Beams, Read->num_beams);
  if (!std::isnan(Read->length_penalty))
    S.LengthPenalty = Read->length_penalty;
  if (Read->early_stopping != -1)
    S.EarlyStopping = Read->early_stopping != 0;
  S.IgnoreEndOfSequence = Read->ignore_eos != 0;
  S.Seed = Read->seed;
  S.Prefix = Read->prefix_tokens;
  return S;
}

tenon_status tenon_sampler_create(const tenon_model *model,
                                  const tenon_settings *settings,
                                  tenon_sampler **sampler) {
  if (!model || !sampler)
    return fail("tenon_sampler_create: model or sampler is null");
  return guarded([&]() -> tenon_status {
    Result<generation::Settings> S =
        readSettings("tenon_sampler_create", settings);
    if (!S)
      return fail(S.error());
    // One token is chosen at a time, whatever the model's beams.
    S->Beams = 1;
    S->LengthPenalty.reset();
    S->EarlyStopping.reset();
    Result<generation::Choice> How = generation::choiceOf(*model->Loaded, *S);
    if (!How)
      return fail(How.error());
    Result<sampling::Sampler> Picker = sampling::Sampler::create(How->Sampling);
    if (!Picker)
      return fail(Picker.error());
    *sampler = new tenon_sampler{std::move(*Picker)};
    return TENON_OK;
  });
}

void tenon_sampler_destroy(tenon_sampler *sampler) { delete sampler; }

tenon_status tenon_sampler_pick(tenon_sampler *sampler, const float *scores,
                                size_t count, int32_t *token) {
  if (!sampler || !scores || count == 0 || !token)
    return fail("tenon_sampler_pick: sampler, scores or token is null, or "
                "count is 0");
  return guarded([&]() -> tenon_status {
    Result<int32_t> Picked = sampler->Picker.pick({scores, count});
    if (!Picked)
      return fail(Picked.error());
    *token = *Picked;
    return TENON_OK;
  });
}

tenon_status tenon_generation_create(tenon_session *session,
                                     const tenon_settings *settings,
                                     const int32_t *prompt, size_t count,
                                     tenon_generation **generation) {
  if (!session || !prompt || count == 0 || !generation)
    return fail("tenon_generation_create: session, prompt or generation is "
                "null, or count is 0");
  return guarded([&]() -> tenon_status {
    const artifact::Manifest &Info = session->Running.model().manifest();
    int64_t Longest = Info.MaxSource != 0 ? Info.MaxSource : Info.MaxSequence;
    if (count > static_cast<size_t>(Longest))
      return fail("tenon_generation_create: prompt of " +
                  std::to_string(count) + " tokens: expected at most " +
                  std::to_string(Longest) + ", the model's length");
    Result<generation::Settings> S =
        readSettings("tenon_generation_create", settings);
    if (!S)
      return fail(S.error());
    Result<generation::Request> Wish = generation::makeRequest(
        session->Running.model(), *S, {prompt, prompt + count});
    if (!Wish)
      return fail(Wish.error());
    generation::Generator Running(session->Running);
    Result<int64_t> Added = Running.add(std::move(*Wish));
    if (!Added)
      return fail(Added.error());
    *generation = new tenon_generation{std::move(Running), *Added, {}};
    return TENON_OK;
  });
}

void tenon_generation_destroy(tenon_generation *generation) {
  delete generation;
}

static tenon_finish finishOf(generation::FinishReason Reason) {
  switch (Reason) {
  case generation::FinishReason::None:
    return TENON_FINISH_NONE;
  case generation::FinishReason::EndOfSequence:
    return TENON_FINISH_EOS;
  case generation::FinishReason::Length:
    return TENON_FINISH_LENGTH;
  case generation::FinishReason::Context:
    return TENON_FINISH_CONTEXT;
  case generation::FinishReason::Error:
    break;
  }
  return TENON_FINISH_ERROR;
}

tenon_status tenon_generation_next(tenon_generation *generation,
                                   tenon_piece *piece) {
  if (!generation || !piece)
    return fail("tenon_generation_next: generation or piece is null");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_piece> Read =
            readStruct<tenon_piece>("tenon_generation_next: piece", piece);
        !Read)
      return fail(Read.error());
    generation::Generator &Running = generation->Running;
    generation->Last = {};
    if (Running.running() != 0) {
      Result<std::vector<generation::Piece>> Pieces = Running.step();
      if (!Pieces)
        return fail(Pieces.error());
      if (!Pieces->empty())
        generation->Last = std::move(Pieces->front());
    }
    const generation::Generation &Done = Running.progress(generation->Request);
    tenon_piece Added{};
    Added.tokens = generation->Last.Tokens.data();
    Added.token_count = generation->Last.Tokens.size();
    Added.text = generation->Last.Text.data();
    Added.text_bytes = generation->Last.Text.size();
    Added.finish = finishOf(Done.Finish);
    writeStruct(piece, Added);
    return Done.Failure ? fail(*Done.Failure) : TENON_OK;
  });
}
