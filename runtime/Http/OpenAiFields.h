//===- OpenAiFields.h - Fields that OpenAI's endpoints share ----*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_OPENAIFIELDS_H
#define TENON_RUNTIME_HTTP_OPENAIFIELDS_H

#include "runtime/Http/Fields.h"
#include "runtime/Http/GenerationTask.h"
#include "runtime/Http/Limits.h"

namespace tenon::http {

/// How tokens are chosen, as /v1/chat/completions and /v1/completions have it,
/// with vLLM's additions; but for the number of tokens and what the two differ
/// in.
generation::Settings settingsOf(Fields &F, const Limits &Bounds);

/// What says who asks, and how a request is filed, routed and billed: it has no
/// part in an answer but where that repeats it. "user", "metadata",
/// "prompt_cache_key", "safety_identifier", "service_tier" and "store".
struct RequestLabels {
  Json Metadata = Json::object();
  std::optional<std::string> CacheKey, Safety;
};
RequestLabels readLabels(Fields &F);

/// "stream", "stream_options" and "cache_salt", for `To`; what
/// "stream_options" says, and "return_token_ids", for the format.
struct StreamOptions {
  bool IncludesUsage = false, ReturnsTokens = false;
};
StreamOptions readStreamOptions(Fields &F, GenerationTask &To);

/// "usage" of an answer.
Json usageJson(const TokenUsage &U);

/// "tool_choice" and "parallel_tool_calls"; the name of a function that is
/// forced stands beside "type" where it `IsFlat`, as /v1/responses has it.
/// `Tools` becomes null where the model is offered none.
ToolChoice readToolChoice(Fields &F, bool IsFlat, Json &Tools);

/// What answers of /v1/chat/completions and /v1/completions have in common.
class CompletionFormat : public AnswerFormat {
public:
  StreamOptions Options;

  std::string finish(const GenerationTask &T) final;
  std::string fail(const GenerationTask &T, const ApiError &Why) final;

protected:
  /// `Chunk` is what the objects of a stream are.
  explicit CompletionFormat(const char *Chunk) : Chunk(Chunk) {}

  /// An object without its choices.
  Json frame(const GenerationTask &T, const char *Object) const;
  /// An event of a choice, of which `Choice` has the number and the news. Null:
  /// no tokens, and not its end.
  std::string chunk(const GenerationTask &T, Json Choice, Json Scores = nullptr,
                    const std::vector<int32_t> *Tokens = nullptr,
                    const char *Finish = nullptr);

private:
  const char *Chunk;
  /// The frame of chunks as it is sent, without its last brace.
  std::string ChunkFrame;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_OPENAIFIELDS_H
