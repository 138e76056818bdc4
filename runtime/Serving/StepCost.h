//===- StepCost.h - What a step takes ---------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SERVING_STEPCOST_H
#define TENON_RUNTIME_SERVING_STEPCOST_H

#include <array>
#include <cstddef>
#include <span>

namespace tenon::serving {

/// What a step does, as far as its time depends on it.
struct StepWork {
  size_t Sequences = 0;    ///< Texts that get their next token.
  size_t TextKeys = 0;     ///< Tokens that these attend to, all together.
  size_t PromptTokens = 0; ///< That run.
  size_t PromptKeys = 0;   ///< What they attend to.
};

/// A part of a prompt that has not run.
struct PromptRest {
  size_t Begin = 0; ///< Its first token's position.
  size_t Tokens = 0;
};

/// What `Tokens` tokens of a prompt attend to, the first at `Begin`.
inline size_t keysOf(size_t Begin, size_t Tokens) {
  return Tokens * Begin + Tokens * (Tokens + 1) / 2;
}

/// Learns from the steps that run what the next one would take at most, and so
/// how many tokens of prompts fit into a given time beside the tokens of texts.
///
/// The time is a linear function of the work (a step, prompts in it, a text, a
/// token of a prompt, and a key of each), fitted to the steps of the last
/// minute, times the pace, which is what the last few steps took beside that. A
/// function, because keys are half of the time of a long prompt and of long
/// texts, which both come and go; a pace, because a machine that others use too
/// runs slower for some steps in a row, whatever they do.
class StepCost {
public:
  /// Fewest tokens of prompts in a step, whatever they take: the bound on how
  /// long a prompt can wait. `First` is what runs before anything is known.
  static constexpr size_t MinSlice = 16, FirstSlice = 32;
  /// A pace is expected to stay within what one of the last `PeakSteps` steps
  /// was above the mean: a step goes beyond all of N before it once in N + 1,
  /// whatever is random about it.
  static constexpr size_t PeakSteps = 1024;
  /// And so many mean deviations are left above the mean at least: a machine
  /// that becomes restless has no such steps behind it.
  static constexpr double Margin = 5;
  /// A step that was slower than this, beside the last ones, was paused: that
  /// says little of the next one.
  static constexpr double MostAbove = 1.5;
  /// The share of the time that is planned with; the rest is for steps that
  /// take still longer.
  static constexpr double Planned = 0.95;

  /// A step has done `Work` in `Ms` milliseconds.
  void observe(const StepWork &Work, double Ms);

  /// Tokens of prompts for a step of `MaxMs` milliseconds beside the texts of
  /// `Texts`, taken from `Prompts` in their order: at least MinSlice, at most
  /// `Most`, and at most twice as many as one of the last steps has run.
  size_t sliceFor(double MaxMs, const StepWork &Texts,
                  std::span<const PromptRest> Prompts, size_t Most) const;

  /// Milliseconds that a step is expected to take at most; 0 before anything
  /// is known.
  double expected(const StepWork &Work) const;

private:
  static constexpr size_t Terms = 6;
  using Vector = std::array<double, Terms>;
  static Vector termsOf(const StepWork &Work);
  double timeOf(const StepWork &Work) const;
  void fit(const StepWork &Work, double Ms);
  void remember(double Above);
  double mostPace() const;

  /// Milliseconds of one of each term; sums of the terms' products, and of
  /// their products with the time.
  Vector Each = {}, TimesTime = {};
  std::array<Vector, Terms> Products = {};
  struct {
    double Mean = 1, Deviation = 0.125;
    /// The largest above the mean then, as a share of it, of each of the last
    /// runs of steps, in turns.
    std::array<double, 9> Above = {};
  } Pace;
  size_t Observed = 0;
  /// About the most tokens of prompts that one of the last steps has run.
  double LargestSlice = 0;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_STEPCOST_H
