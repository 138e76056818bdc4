//===- EarlyStopping.h - When a beam search ends ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SAMPLING_EARLYSTOPPING_H
#define TENON_RUNTIME_SAMPLING_EARLYSTOPPING_H

#include <string_view>

namespace tenon::sampling {

/// When a beam search ends, as Transformers' early_stopping. In any case it
/// ends when no running beam can go on.
enum class EarlyStopping {
  /// false: when the best running beam, were it to end now, would not be better
  /// than the worst of as many finished sequences as beams.
  No,
  /// true: also as soon as there are as many finished sequences as beams.
  Yes,
  /// "never": as No, but with a length penalty above 0, by which longer
  /// sequences score better, as if the beam kept its sum of log-probabilities
  /// up to the greatest length.
  Never
};

/// "false", "true" or "never".
constexpr std::string_view nameOf(EarlyStopping Mode) {
  constexpr std::string_view Names[] = {"false", "true", "never"};
  return Names[static_cast<int>(Mode)];
}

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_EARLYSTOPPING_H
