//===- Evaluation.h - How well logits predict a text ------------*- C++ -*-===//
//
// The arithmetic of tenon evaluate, all of it in double: divergences,
// percentiles, and which tokens of a text are scored.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_EVALUATION_H
#define TENON_RUNTIME_TOOL_EVALUATION_H

#include "runtime/Sampling/LogProbabilities.h"
#include "runtime/Support/Result.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::tool {

using sampling::LogProbabilities;

/// KL(Reference || Other) in nats, at least 0; both are of as many tokens.
/// Infinite where Other excludes what Reference does not.
double divergence(const LogProbabilities &Reference,
                  const LogProbabilities &Other);

/// The value that a share of `Values`, 0 to 1, is at most, interpolated
/// between neighbours as numpy.percentile does. There must be values.
double percentile(std::vector<double> Values, double Share);

/// The tokens of a text that is to be cut into windows.
struct TextTokens {
  /// From the special tokens on that begin a text; those that end one are left
  /// out: it goes on.
  std::vector<int32_t> Ids;
  /// How many begin it, and every window.
  size_t Beginning = 0;

  std::span<const int32_t> own() const {
    return std::span(Ids).subspan(Beginning);
  }
};

/// The tokens of `Text`, whole: the tokenizer's own limit must not cut it
/// unnoticed.
Result<TextTokens> tokensOf(const tokenizer::Tokenizer &T,
                            std::string_view Text);

/// How a text is cut into windows that share no token, and what is scored.
struct Windows {
  int64_t Count = 0;
  int64_t Tokens = 0; ///< Of each window.
  /// The first token of a window that is scored, as all behind it are.
  int64_t FirstScored = 0;
  /// Tokens at the end of the text that fill no window.
  int64_t Unused = 0;

  /// Not positive for texts and windows that are too short.
  int64_t scored() const { return Count * (Tokens - FirstScored); }
};

/// Fewer tokens have no second half to score.
inline constexpr int64_t MinContext = 3;

/// Windows of `Context` tokens, at least MinContext, in a text of `Length`. Of
/// a window of n tokens those from n/2 + 1 on are scored, as by llama.cpp's
/// perplexity tool; of a text that is shorter than a window all but the first.
/// The first `Given` tokens of a window never are.
Windows windowsOf(int64_t Length, int64_t Context, int64_t Given = 1);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_EVALUATION_H
