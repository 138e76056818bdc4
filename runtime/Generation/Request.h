//===- Request.h - What to generate -----------------------------*- C++ -*-===//
//
// One text to generate, or several from the same prompt: settings completed by
// those of the model.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_REQUEST_H
#define TENON_RUNTIME_GENERATION_REQUEST_H

#include "runtime/Engine/Session.h"
#include "runtime/Generation/PromptImage.h"
#include "runtime/Generation/Settings.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::generation {

/// One prompt to generate from, all settings decided.
struct Request {
  /// The text to go on with; of an encoder-decoder the start of the answer.
  std::vector<int32_t> Prompt;
  /// Of the prompt, in their order; each has as many image tokens in it as the
  /// model has rows of an image.
  std::vector<PromptImage::Ptr> Images;
  /// What an encoder-decoder reads; else empty.
  std::vector<int32_t> Source;
  /// Most new tokens; what is longer ends with the reason Length, or Context
  /// when it is cut by that. The prompt runs, but nothing is chosen, where it
  /// is not positive.
  int64_t MaxNewTokens = 0;
  /// Fewer than were asked for: the model's longest sequence, or the cache,
  /// allows no more.
  bool IsCutByContext = false;
  Strategy How;
  /// Rules.EndOfSequence holds the StopTokens too.
  sampling::LogitsRules Rules;
  std::vector<int32_t> StopTokens;
  std::vector<std::string> StopStrings;
  bool IncludeStop = false;
  /// How many likeliest tokens have log-probabilities beside the chosen one;
  /// none: not even that.
  std::optional<size_t> Scored;
  bool Echo = false;
  int64_t Prefix = 0;
  /// What the text must be, with the model's tokens; null: anything.
  grammar::Grammar::Ptr Grammar;
  std::shared_ptr<const grammar::TokenTable> Tokens;
};

/// The request to go on with the tokens `Prompt`, or of an encoder-decoder to
/// answer them. `Prompt` has one image token for each of `Images`. Errors:
/// settings out of range or against each other, what the model lacks: a prefix
/// mask, the start of an answer, a tokenizer; more or fewer image tokens than
/// images, and images of another size than the model's.
Result<Request> makeRequest(const engine::Model &M, const Settings &S,
                            std::vector<int32_t> Prompt,
                            std::vector<PromptImage::Ptr> Images = {});

/// An error for a prompt that `M` cannot read: more tokens than it takes, in
/// which case none is looked at, or ids that it does not have.
Status checkPrompt(const engine::Model &M, std::span<const int32_t> Prompt);

/// An error when the prompt, with what images take of it, is longer than any
/// sequence of the model.
Status checkPromptLength(const engine::Model &M, const Request &R);

/// Whether `Token` is one of `Tokens`.
bool isIn(const std::vector<int32_t> &Tokens, int32_t Token);

/// Texts that a request generates at once.
int64_t rowsOf(const Request &R);

/// Whether what the prompt leaves on pages depends on its tokens and images
/// alone, and all that is wanted of it is its last row.
bool canSharePrompt(const Request &R);

/// The cache that a session needs to generate all of `Requests` at once, in
/// whole pages. `Threads` is left alone.
engine::SessionOptions roomFor(const engine::Model &M,
                               std::span<const Request> Requests);

/// Ends the texts of `Requests`, which run at once, where they would have
/// more than `Tokens` tokens together: all after as many new ones. An error
/// where that is less than their prompts.
Status cutToCache(std::span<Request> Requests, int64_t Tokens);

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_REQUEST_H
