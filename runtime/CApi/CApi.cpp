//===- CApi.cpp - Running compiled models from C --------------------------===//

#include "runtime/Artifact/Description.h"
#include "runtime/CApi/Handles.h"
#include "runtime/Engine/Pixels.h"
#include "runtime/Support/Json.h"

#include <new>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::capi;
using namespace tenon::engine;

static thread_local std::string LastError;

tenon_status capi::statusOf(ErrorKind Kind) {
  // In the order of tenon_status, which begins with TENON_OK.
  static_assert(static_cast<int>(ErrorKind::Internal) + 1 == TENON_INTERNAL);
  return static_cast<tenon_status>(static_cast<int>(Kind) + 1);
}

tenon_status capi::fail(const Error &E) {
  LastError = escaped(E.message());
  return statusOf(E.kind());
}

tenon_status capi::fail(std::string Message) {
  return fail(Error(std::move(Message)));
}

tenon_status capi::failUnexpected(const std::exception &Thrown) noexcept {
  try {
    if (!dynamic_cast<const std::bad_alloc *>(&Thrown))
      return fail(Error(ErrorKind::Internal,
                        std::string("unexpected: ") + Thrown.what()));
  } catch (const std::bad_alloc &) {
    // There is no memory for the message either.
  }
  return fail(Error(ErrorKind::OutOfMemory, "out of memory"));
}

static const char *roleOf(tenon_entry Entry) {
  switch (Entry) {
  case TENON_ENTRY_STEP:
    return "step";
  case TENON_ENTRY_ENCODE:
    return "encode";
  case TENON_ENTRY_EMBED:
    return "embed";
  case TENON_ENTRY_ENCODE_IMAGE:
    return "encode_image";
  }
  return "";
}

static std::optional<OutputRows> outputRowsOf(tenon_output_rows Value) {
  switch (Value) {
  case TENON_OUTPUT_ROWS_NONE:
    return OutputRows::None;
  case TENON_OUTPUT_ROWS_LAST:
    return OutputRows::Last;
  case TENON_OUTPUT_ROWS_ALL:
    return OutputRows::All;
  }
  return std::nullopt;
}

const char *tenon_version(void) { return TENON_VERSION; }

const char *tenon_last_error(void) { return LastError.c_str(); }

tenon_status tenon_model_load(const char *path, tenon_model **model) {
  return guarded([&]() -> tenon_status {
    if (!path || !model)
      return fail("tenon_model_load: path or model is null");
    Result<std::shared_ptr<const Model>> Loaded = Model::load(path);
    if (!Loaded)
      return fail(Loaded.error());
    *model = new tenon_model{std::move(*Loaded), {}, {}};
    return TENON_OK;
  });
}

void tenon_model_destroy(tenon_model *model) { delete model; }

int64_t tenon_model_vocabulary(const tenon_model *model) {
  return model ? model->Loaded->manifest().Vocabulary : 0;
}

int64_t tenon_model_entry_vocabulary(const tenon_model *model,
                                     tenon_entry entry) {
  if (!model)
    return 0;
  Result<const Entry *> Code = model->Loaded->entry(roleOf(entry));
  return Code ? model->Loaded->manifest().vocabularyOf((*Code)->Info) : 0;
}

int64_t tenon_model_max_sequence(const tenon_model *model) {
  return model ? model->Loaded->manifest().MaxSequence : 0;
}

int tenon_model_has_entry(const tenon_model *model, tenon_entry entry) {
  return model && model->Loaded->hasEntry(roleOf(entry)) ? 1 : 0;
}

int64_t tenon_model_max_source(const tenon_model *model) {
  return model ? model->Loaded->manifest().MaxSource : 0;
}

int32_t tenon_model_decoder_start(const tenon_model *model) {
  return model ? model->Loaded->manifest().Generation.DecoderStart.value_or(-1)
               : -1;
}

/// What the model says of images; null when it takes none.
static const ImageInfo *imageOf(const Model &M) {
  return M.hasEntry("encode_image") ? &*M.manifest().Image : nullptr;
}

static tenon_status takesNoImages(const char *Function, const Model &M) {
  return fail(Error(ErrorKind::NotFound, std::string(Function) + ": " +
                                             M.path() + " takes no images"));
}

tenon_status tenon_model_image_shape(const tenon_model *model, int64_t *shape) {
  return guarded([&]() -> tenon_status {
    if (!model || !shape)
      return fail("tenon_model_image_shape: model or shape is null");
    const ImageInfo *Info = imageOf(*model->Loaded);
    if (!Info)
      return takesNoImages("tenon_model_image_shape", *model->Loaded);
    shape[0] = Info->Channels;
    shape[1] = Info->Height;
    shape[2] = Info->Width;
    return TENON_OK;
  });
}

tenon_status tenon_model_read_image(const tenon_model *model, const char *path,
                                    float *pixels) {
  return guarded([&]() -> tenon_status {
    if (!model || !path || !pixels)
      return fail("tenon_model_read_image: model, path or pixels is null");
    const ImageInfo *Info = imageOf(*model->Loaded);
    if (!Info)
      return takesNoImages("tenon_model_read_image", *model->Loaded);
    Result<std::vector<float>> Read = readPixelValues(path, *Info);
    if (!Read)
      return fail(Read.error());
    std::copy(Read->begin(), Read->end(), pixels);
    return TENON_OK;
  });
}

int32_t tenon_model_image_token(const tenon_model *model) {
  if (!model || !generation::readsImages(*model->Loaded))
    return -1;
  return *model->Loaded->manifest().Image->Token;
}

const char *tenon_model_label(const tenon_model *model, int64_t index) {
  if (!model || index < 0)
    return nullptr;
  const std::vector<std::string> &Labels = model->Loaded->manifest().Labels;
  auto Place = static_cast<size_t>(index);
  return Place < Labels.size() ? Labels[Place].c_str() : nullptr;
}

tenon_status tenon_model_describe(tenon_model *model, const char **json,
                                  size_t *bytes) {
  if (!model || !json || !bytes)
    return fail("tenon_model_describe: model, json or bytes is null");
  return guarded([&]() -> tenon_status {
    std::call_once(model->Described, [&] {
      model->Description =
          describe(model->Loaded->artifact())
              .dump(-1, ' ', false, Json::error_handler_t::replace);
    });
    *json = model->Description.data();
    *bytes = model->Description.size();
    return TENON_OK;
  });
}

tenon_status tenon_resources_create(int64_t threads, uint64_t memory_bytes,
                                    tenon_resources **resources) {
  return guarded([&]() -> tenon_status {
    if (!resources)
      return fail("tenon_resources_create: resources is null");
    Result<engine::Executor> Threads = engine::Executor::create(threads);
    if (!Threads)
      return fail(Threads.error());
    auto Made = std::make_unique<tenon_resources>();
    Made->Shared.Threads =
        std::make_shared<engine::Executor>(std::move(*Threads));
    if (memory_bytes != 0)
      Made->Shared.Memory =
          std::make_shared<engine::MemoryBudget>(memory_bytes);
    *resources = Made.release();
    return TENON_OK;
  });
}

void tenon_resources_destroy(tenon_resources *resources) { delete resources; }

static tenon_status createSession(tenon_model &Of, int64_t Threads,
                                  int64_t CacheTokens,
                                  const engine::Resources &Shared,
                                  tenon_session **Session) {
  // Negative sizes are the session's to refuse.
  int64_t Source = CacheTokens == 0
                       ? 0
                       : std::max(CacheTokens, Of.Loaded->manifest().MaxSource);
  Result<engine::Session> Created = engine::Session::create(
      Of.Loaded, {Threads, CacheTokens, Source, Shared});
  if (!Created)
    return fail(Created.error());
  *Session = new tenon_session{std::move(*Created), {}, {}};
  return TENON_OK;
}

tenon_status tenon_session_create(tenon_model *model, int64_t threads,
                                  int64_t cache_tokens,
                                  tenon_session **session) {
  return guarded([&]() -> tenon_status {
    if (!model || !session)
      return fail("tenon_session_create: model or session is null");
    return createSession(*model, threads, cache_tokens, {}, session);
  });
}

tenon_status tenon_session_create_on(tenon_resources *resources,
                                     tenon_model *model, int64_t cache_tokens,
                                     tenon_session **session) {
  return guarded([&]() -> tenon_status {
    if (!resources || !model || !session)
      return fail("tenon_session_create_on: resources, model or session is "
                  "null");
    return createSession(*model, 0, cache_tokens, resources->Shared, session);
  });
}

void tenon_session_destroy(tenon_session *session) { delete session; }

tenon_status tenon_session_cancel(tenon_session *session) {
  if (!session)
    return fail("tenon_session_cancel: session is null");
  session->Running.cancel();
  return TENON_OK;
}

tenon_status tenon_sequence_create(tenon_session *session,
                                   tenon_sequence *sequence) {
  return guarded([&]() -> tenon_status {
    if (!session || !sequence)
      return fail("tenon_sequence_create: session or sequence is null");
    *sequence = static_cast<int64_t>(session->Running.createSequence());
    return TENON_OK;
  });
}

tenon_status tenon_sequence_end(tenon_session *session,
                                tenon_sequence sequence) {
  return guarded([&]() -> tenon_status {
    if (!session)
      return fail("tenon_sequence_end: session is null");
    Status Done = session->Running.endSequence(SequenceId(sequence));
    return Done ? TENON_OK : fail(Done.error());
  });
}

tenon_status tenon_sequence_fork(tenon_session *session,
                                 tenon_sequence sequence,
                                 tenon_sequence *fork) {
  return guarded([&]() -> tenon_status {
    if (!session || !fork)
      return fail("tenon_sequence_fork: session or fork is null");
    Result<SequenceId> Copy =
        session->Running.forkSequence(SequenceId(sequence));
    if (!Copy)
      return fail(Copy.error());
    *fork = static_cast<int64_t>(*Copy);
    return TENON_OK;
  });
}

tenon_status tenon_sequence_truncate(tenon_session *session,
                                     tenon_sequence sequence, int64_t length) {
  return guarded([&]() -> tenon_status {
    if (!session)
      return fail("tenon_sequence_truncate: session is null");
    Status Done =
        session->Running.truncateSequence(SequenceId(sequence), length);
    return Done ? TENON_OK : fail(Done.error());
  });
}

tenon_status tenon_sequence_length(tenon_session *session,
                                   tenon_sequence sequence, int64_t *length) {
  return guarded([&]() -> tenon_status {
    if (!session || !length)
      return fail("tenon_sequence_length: session or length is null");
    Result<int64_t> Length = session->Running.length(SequenceId(sequence));
    if (!Length)
      return fail(Length.error());
    *length = *Length;
    return TENON_OK;
  });
}

/// Hands the answers of a call over to the caller.
static tenon_status answer(tenon_session *Session,
                           Result<std::vector<ItemResult>> Answers,
                           tenon_output *Outputs) {
  if (!Answers)
    return fail(Answers.error());
  Session->Errors.clear();
  for (size_t I = 0; I < Answers->size(); ++I) {
    const ItemResult &Answer = (*Answers)[I];
    tenon_output Output{};
    if (Answer.Outcome) {
      Output.values = Answer.Values.data();
      Output.rows = static_cast<size_t>(Answer.Rows);
      Output.width = Output.rows != 0 ? Answer.Values.size() / Output.rows : 0;
    } else {
      Output.status = statusOf(Answer.Outcome.error().kind());
      Output.error =
          Session->Errors
              .emplace_back(escaped(Answer.Outcome.error().message()))
              .c_str();
    }
    writeStruct(elementAt(Outputs, I), Output);
  }
  return TENON_OK;
}

/// Whether the caller's outputs can be filled.
static Status checkOutputs(const std::string &Function,
                           const tenon_output *Outputs, size_t Count) {
  for (size_t I = 0; I < Count; ++I)
    // Only the size counts: what they hold is garbage.
    if (size_t Size = structSize(elementAt(Outputs, I));
        Size < sizeof(tenon_output) || Size != Outputs->struct_size)
      return Error(Function + ": output " + std::to_string(I) +
                   ": struct_size is " + std::to_string(Size) +
                   ": expected at least " +
                   std::to_string(sizeof(tenon_output)) + ", the same for all");
  return {};
}

/// The items as the engine has them, with sequences or without.
static Status readItems(const std::string &Function, const tenon_item *Items,
                        size_t Count, std::vector<StepItem> &Read) {
  for (size_t I = 0; I < Count; ++I) {
    Result<tenon_item> Known = readElement(Function + ": item", Items, I);
    if (!Known)
      return Known.error();
    const tenon_item &Item = *Known;
    std::optional<OutputRows> Outputs = outputRowsOf(Item.output_rows);
    if (!Outputs || (Item.token_count != 0 && !Item.tokens))
      return Error(Function + ": item " + std::to_string(I) +
                   ": output_rows is unknown or tokens is null");
    std::span<const int32_t> Tokens(Item.tokens, Item.token_count), Types;
    if (Item.token_types)
      Types = {Item.token_types, Item.token_count};
    Read.push_back(
        {SequenceId(Item.sequence), Tokens, Types, *Outputs, Item.prefix});
  }
  return {};
}

tenon_status tenon_session_run(tenon_session *session, tenon_entry entry,
                               const tenon_item *items, size_t count,
                               tenon_output *outputs) {
  return guarded([&]() -> tenon_status {
    if (!session || (count != 0 && (!items || !outputs)))
      return fail("tenon_session_run: session, items or outputs is null");
    if (Status Sized = checkOutputs("tenon_session_run", outputs, count);
        !Sized)
      return fail(Sized.error());
    std::vector<StepItem> Steps;
    if (Status Read = readItems("tenon_session_run", items, count, Steps);
        !Read)
      return fail(Read.error());
    std::vector<EncodeItem> Texts;
    for (const StepItem &Item : Steps)
      Texts.push_back({Item.Tokens, Item.TokenTypes, Item.Outputs});
    Session &S = session->Running;
    switch (entry) {
    case TENON_ENTRY_STEP:
      return answer(session, S.step(Steps), outputs);
    case TENON_ENTRY_ENCODE:
      return answer(session, S.encode(Texts), outputs);
    case TENON_ENTRY_EMBED:
      return answer(session, S.embed(Texts), outputs);
    case TENON_ENTRY_ENCODE_IMAGE:
      break;
    }
    return fail("tenon_session_run: entry is " +
                std::to_string(static_cast<int>(entry)) +
                ": expected step, encode or embed");
  });
}

tenon_status tenon_session_encode_sources(tenon_session *session,
                                          const tenon_item *items, size_t count,
                                          tenon_output *outputs) {
  return guarded([&]() -> tenon_status {
    if (!session || (count != 0 && (!items || !outputs)))
      return fail("tenon_session_encode_sources: session, items or outputs is "
                  "null");
    if (Status Sized =
            checkOutputs("tenon_session_encode_sources", outputs, count);
        !Sized)
      return fail(Sized.error());
    std::vector<StepItem> Read;
    if (Status Done =
            readItems("tenon_session_encode_sources", items, count, Read);
        !Done)
      return fail(Done.error());
    std::vector<SourceItem> Sources;
    for (const StepItem &Item : Read) {
      if (!Item.TokenTypes.empty())
        return fail("tenon_session_encode_sources: item " +
                    std::to_string(Sources.size()) +
                    ": token_types is not null: source texts have none");
      Sources.push_back({Item.Sequence, Item.Tokens, Item.Outputs});
    }
    return answer(session, session->Running.encodeSources(Sources), outputs);
  });
}

tenon_status tenon_session_run_images(tenon_session *session,
                                      const float *const *pixels, size_t count,
                                      tenon_output *outputs) {
  return guarded([&]() -> tenon_status {
    if (!session || (count != 0 && (!pixels || !outputs)))
      return fail(
          "tenon_session_run_images: session, pixels or outputs is null");
    if (Status Sized = checkOutputs("tenon_session_run_images", outputs, count);
        !Sized)
      return fail(Sized.error());
    const ImageInfo *Info = imageOf(session->Running.model());
    if (!Info)
      return takesNoImages("tenon_session_run_images",
                           session->Running.model());
    auto Values =
        static_cast<size_t>(Info->Channels * Info->Height * Info->Width);
    std::vector<std::vector<float>> Patches;
    for (size_t I = 0; I < count; ++I) {
      if (!pixels[I])
        return fail("tenon_session_run_images: image " + std::to_string(I) +
                    " is null");
      Patches.push_back(patchesOf({pixels[I], Values}, *Info));
    }
    std::vector<ImageItem> Items;
    for (const std::vector<float> &Image : Patches)
      Items.push_back({Image, OutputRows::All});
    return answer(session, session->Running.encodeImages(Items), outputs);
  });
}

tenon_status tenon_session_take_values(tenon_session *session,
                                       tenon_values **values) {
  if (!session || !values)
    return fail("tenon_session_take_values: session or values is null");
  return guarded([&]() -> tenon_status {
    std::shared_ptr<const void> Memory = session->Running.takeOutput();
    *values = Memory ? new tenon_values{std::move(Memory)} : nullptr;
    return TENON_OK;
  });
}

void tenon_values_destroy(tenon_values *values) { delete values; }
