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

/// "stream", "stream_options", "cache_salt" and "user", for `To`; what
/// "stream_options" says, and "return_token_ids", for the format.
struct StreamOptions {
  bool IncludesUsage = false, ReturnsTokens = false;
};
StreamOptions readStreamOptions(Fields &F, GenerationTask &To);

/// "usage" of an answer.
Json usageJson(const TokenUsage &U);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_OPENAIFIELDS_H
