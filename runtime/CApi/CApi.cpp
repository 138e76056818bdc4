//===- CApi.cpp - Running compiled models from C --------------------------===//

#include "runtime/tenon.h"

#include "runtime/Engine/Session.h"

using namespace tenon;

struct tenon_model {
  std::shared_ptr<const Model> Loaded;
};

struct tenon_session {
  Session Running;
  /// What the last outputs' error strings point into.
  std::vector<ItemResult> Answers;
};

static thread_local std::string LastError;

static tenon_status fail(std::string Message) {
  LastError = std::move(Message);
  return TENON_ERROR;
}

static const char *roleOf(tenon_entry Entry) {
  switch (Entry) {
  case TENON_ENTRY_STEP:
    return "step";
  case TENON_ENTRY_ENCODE:
    return "encode";
  case TENON_ENTRY_EMBED:
    return "embed";
  }
  return "";
}

static std::optional<Wanted> wantedOf(tenon_wanted Value) {
  switch (Value) {
  case TENON_WANTED_NONE:
    return Wanted::None;
  case TENON_WANTED_LAST:
    return Wanted::Last;
  case TENON_WANTED_ALL:
    return Wanted::All;
  }
  return std::nullopt;
}

const char *tenon_version(void) { return TENON_VERSION; }

const char *tenon_last_error(void) { return LastError.c_str(); }

tenon_status tenon_model_load(const char *path, tenon_model **model) {
  if (!path || !model)
    return fail("tenon_model_load: path or model is null");
  Result<std::shared_ptr<const Model>> Loaded = Model::load(path);
  if (!Loaded)
    return fail(Loaded.error().message());
  *model = new tenon_model{std::move(*Loaded)};
  return TENON_OK;
}

void tenon_model_destroy(tenon_model *model) { delete model; }

int64_t tenon_model_vocabulary(const tenon_model *model) {
  return model ? model->Loaded->manifest().Vocabulary : 0;
}

int64_t tenon_model_max_sequence(const tenon_model *model) {
  return model ? model->Loaded->manifest().MaxSequence : 0;
}

int tenon_model_has_entry(const tenon_model *model, tenon_entry entry) {
  return model && model->Loaded->hasEntry(roleOf(entry)) ? 1 : 0;
}

tenon_status tenon_session_create(tenon_model *model, int64_t threads,
                                  int64_t cache_tokens,
                                  tenon_session **session) {
  if (!model || !session)
    return fail("tenon_session_create: model or session is null");
  Result<Session> Created =
      Session::create(model->Loaded, {threads, cache_tokens});
  if (!Created)
    return fail(Created.error().message());
  *session = new tenon_session{std::move(*Created), {}};
  return TENON_OK;
}

void tenon_session_destroy(tenon_session *session) { delete session; }

tenon_status tenon_sequence_create(tenon_session *session,
                                   tenon_sequence *sequence) {
  if (!session || !sequence)
    return fail("tenon_sequence_create: session or sequence is null");
  *sequence = static_cast<int64_t>(session->Running.createSequence());
  return TENON_OK;
}

tenon_status tenon_sequence_end(tenon_session *session,
                                tenon_sequence sequence) {
  if (!session)
    return fail("tenon_sequence_end: session is null");
  Status Done = session->Running.endSequence(SequenceId(sequence));
  return Done ? TENON_OK : fail(Done.error().message());
}

tenon_status tenon_sequence_length(tenon_session *session,
                                   tenon_sequence sequence, int64_t *length) {
  if (!session || !length)
    return fail("tenon_sequence_length: session or length is null");
  Result<int64_t> Length = session->Running.length(SequenceId(sequence));
  if (!Length)
    return fail(Length.error().message());
  *length = *Length;
  return TENON_OK;
}

tenon_status tenon_session_run(tenon_session *session, tenon_entry entry,
                               const tenon_item *items, size_t count,
                               tenon_output *outputs) {
  if (!session || (count != 0 && (!items || !outputs)))
    return fail("tenon_session_run: session, items or outputs is null");
  std::vector<StepItem> Steps;
  std::vector<EncodeItem> Texts;
  for (size_t I = 0; I < count; ++I) {
    const tenon_item &Item = items[I];
    std::optional<Wanted> Outputs = wantedOf(Item.wanted);
    if (!Outputs || (Item.token_count != 0 && !Item.tokens))
      return fail("tenon_session_run: item " + std::to_string(I) +
                  ": wanted is unknown or tokens is null");
    std::span<const int32_t> Tokens(Item.tokens, Item.token_count), Types;
    if (Item.token_types)
      Types = {Item.token_types, Item.token_count};
    if (entry == TENON_ENTRY_STEP)
      Steps.push_back({SequenceId(Item.sequence), Tokens, Types, *Outputs});
    else
      Texts.push_back({Tokens, Types, *Outputs});
  }
  Session &S = session->Running;
  Result<std::vector<ItemResult>> Answers =
      entry == TENON_ENTRY_STEP     ? S.step(Steps)
      : entry == TENON_ENTRY_ENCODE ? S.encode(Texts)
      : entry == TENON_ENTRY_EMBED
          ? S.embed(Texts)
          : Error("tenon_session_run: entry is " +
                  std::to_string(static_cast<int>(entry)) +
                  ": expected one of tenon_entry");
  if (!Answers)
    return fail(Answers.error().message());
  session->Answers = std::move(*Answers);
  for (size_t I = 0; I < count; ++I) {
    const ItemResult &Answer = session->Answers[I];
    bool Good = static_cast<bool>(Answer.Outcome);
    auto Rows = static_cast<size_t>(Good ? Answer.Rows : 0);
    outputs[I] = {Good ? TENON_OK : TENON_ERROR,
                  Good ? nullptr : Answer.Outcome.error().message().c_str(),
                  Good ? Answer.Values.data() : nullptr, Rows,
                  Rows != 0 ? Answer.Values.size() / Rows : 0};
  }
  return TENON_OK;
}
