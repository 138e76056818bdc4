//===- ProfileReport.h - A profile as table, JSON and picture ---*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_PROFILEREPORT_H
#define TENON_RUNTIME_TOOL_PROFILEREPORT_H

#include "runtime/Engine/Profile.h"
#include "runtime/Support/Json.h"

#include <array>
#include <string>
#include <vector>

namespace tenon::tool {

/// What the machine does at most; 0 where that is not known.
struct MachineRates {
  double BytesPerSecond = 0;
  /// By Arithmetic.
  std::array<double, Arithmetics.size()> FlopsPerSecond{};
};

/// Measures, with so many threads (0: one per core), what bounds the kernels of
/// `Code`. Takes about a second.
Result<MachineRates> measureRates(const artifact::CodeInfo &Code,
                                  int64_t Threads);

/// Steps of one kind, at least one: "prefill", "decode" or "encode".
struct ProfiledPhase {
  std::string Name;
  engine::Profile Recorder;
  /// From the first call of the session to the last one's return, with what is
  /// done between them.
  double Seconds = 0;
};

/// Everything that is known when all has run.
struct ProfileReport {
  const artifact::Manifest &Model;
  const artifact::CodeInfo &Code;
  /// By primitive of the code: the library's names of what it ran.
  std::vector<std::vector<std::string>> Implementations;
  MachineRates Rates;
  std::vector<ProfiledPhase> Phases;
};

/// The limits, and an object for each phase, with every kernel of every layer.
Json limitsJson(const MachineRates &Rates);
Json profileJson(const ProfileReport &Report);

/// A table for each phase of what a step takes, by kernel, all layers together,
/// and with `ByLayer` another by layer.
std::string profileText(const ProfileReport &Report, bool ByLayer);

/// A roofline: operations of each phase by FLOPs per byte and FLOPs per second,
/// under the machine's limits.
std::string profileSvg(const ProfileReport &Report);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_PROFILEREPORT_H
