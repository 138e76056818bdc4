//===- Clock.h - Time that only goes forward --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_CLOCK_H
#define TENON_RUNTIME_SUPPORT_CLOCK_H

#include <algorithm>
#include <chrono>

namespace tenon {

/// Seconds since some moment, on a clock that only goes forward.
inline double secondsNow() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Seconds as timers take them, at most 10^6 of them: much longer waits would
/// overflow the clock.
inline std::chrono::steady_clock::duration durationOf(double Seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(Seconds, 1e6)));
}

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_CLOCK_H
