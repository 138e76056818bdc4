//===- Timeline.h - What a request went through -----------------*- C++ -*-===//
//
// Kept by the scheduler for each request, in a bounded size: when it went from
// state to state, and the steps that it was in.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_TIMELINE_H
#define TENON_RUNTIME_SERVING_TIMELINE_H

#include "runtime/Serving/RequestState.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::serving {

/// Times of steps: their number, the longest, and the median of all or, when
/// there are many, of each second, fourth, eighth... of them.
class StepTimes {
public:
  void add(double Seconds);
  size_t count() const { return Count; }
  double longest() const { return Longest; }
  /// 0 where there was none.
  double median() const;

private:
  static constexpr size_t Most = 512;
  std::vector<float> Kept;
  size_t Count = 0, Stride = 1;
  double Longest = 0;
};

/// A part of a prompt, in one step.
struct PromptSlice {
  uint64_t Step = 0;  ///< Its number, from 1, of all of the engine.
  size_t Tokens = 0;  ///< Of this prompt.
  size_t Rows = 0;    ///< Texts that got a token in the step.
  size_t Others = 0;  ///< Tokens of other prompts in it.
  double Begin = 0;   ///< On the scheduler's clock.
  double Seconds = 0; ///< That the step took.
};

/// All times are on the scheduler's clock.
struct Timeline {
  static constexpr size_t MostSlices = 64;

  RequestState State = RequestState::Queued;
  double Submitted = 0;
  std::optional<double> Prefilling, Decoding, Ended;
  size_t CachedTokens = 0, CachedPages = 0; ///< Of the prompt.
  /// The first ones; what is beyond is counted.
  std::vector<PromptSlice> Slices;
  size_t MoreSlices = 0, MoreSliceTokens = 0;
  /// Of the prompt, that were encoded, and what that took, in its steps.
  size_t Images = 0;
  double ImageSeconds = 0;
  /// Steps in which it was decoded.
  StepTimes Steps;
  /// Of those, texts in them, its own too, together and at most.
  size_t Rows = 0, MostRows = 0;
  /// Of those, how many ran prompts of others too.
  size_t BesidePrompts = 0;

  void add(const PromptSlice &S);
  void addImages(size_t Count, double Seconds) {
    Images += Count;
    ImageSeconds += Seconds;
  }
  /// A step of `InStep` texts, in which it was decoded.
  void addStep(double Seconds, size_t InStep, bool RanPrompts);
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_TIMELINE_H
