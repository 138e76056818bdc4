//===- StepCost.h - What a step takes ---------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SERVING_STEPCOST_H
#define TENON_RUNTIME_SERVING_STEPCOST_H

#include <cstddef>

namespace tenon::serving {

/// Learns from the steps that run what the next one would take at most, and so
/// how many tokens of prompts fit into a given time beside the tokens of texts.
/// Both parts are moving averages with their mean deviations: they follow a
/// context that grows and a machine that others use too.
class StepCost {
public:
  /// Fewest tokens of prompts in a step, whatever they take: the bound on how
  /// long a prompt can wait. `First` is what runs before anything is known.
  static constexpr size_t MinSlice = 16, FirstSlice = 32;
  /// So many mean deviations above the mean a step is expected to stay, and
  /// below the largest of the last ones.
  static constexpr double Margin = 4;
  /// The share of the time that is planned with; the rest is for steps that
  /// take still longer.
  static constexpr double Planned = 0.95;

  /// A step ran `PromptTokens` tokens of prompts and the next token of
  /// `Sequences` texts, in `Ms` milliseconds.
  void observe(size_t PromptTokens, size_t Sequences, double Ms);

  /// Tokens of prompts for a step of `MaxMs` milliseconds beside `Sequences`
  /// texts: at least MinSlice, at most `Most`, and at most twice as many as
  /// one of the last steps has run.
  size_t sliceFor(double MaxMs, size_t Sequences, size_t Most) const;

  /// Milliseconds that a step is expected to take at most; 0 for what has not
  /// been seen yet.
  double expected(size_t PromptTokens, size_t Sequences) const;

private:
  struct Estimate {
    double Mean = 0, Deviation = 0;
    /// The largest of the last hundred steps or so.
    double Peak = 0;
    void add(double Value, double Weight);
    double most() const;
  };
  double textsAtMost(size_t Sequences) const;

  Estimate PromptToken;
  /// Of a step with texts alone, and for how many that was.
  Estimate TextStep;
  size_t TextSequences = 1;
  /// About the most tokens of prompts that one of the last steps has run.
  double LargestSlice = 0;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_STEPCOST_H
