//===- Profile.h - What every kernel of a step took -------------*- C++ -*-===//
//
// Generated code marks where each kernel and each library matmul begins
// (tenon_rt mark). A profile adds up, kernel by kernel and layer by layer, the
// time from one mark to the next event: another mark, the end of the library
// matmul or of the parallel region. Waiting at a barrier belongs to the kernel
// before it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_PROFILE_H
#define TENON_RUNTIME_ENGINE_PROFILE_H

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Manifest.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::engine {

/// All calls of one kernel for one layer together.
struct KernelTimes {
  /// Its place in the code's kernels.
  size_t Kernel = 0;
  /// The layer, by its place in the manifest's scopes; none for an entry's own
  /// kernels.
  std::optional<size_t> Scope;
  int64_t Calls = 0;
  int64_t Rows = 0;
  int64_t Nanoseconds = 0;
  /// As KernelCost counts them.
  double Bytes = 0;
  double Flops = 0;
};

/// Records the steps of one session. Everything but create() and kernels() runs
/// on the session's control thread, and none of it allocates.
class Profile {
public:
  /// For steps of `Code`, which is one of `M`'s. An error when the code marks
  /// no kernels, or more kernels times layers than are kept apart.
  static Result<Profile> create(const artifact::Manifest &M,
                                const artifact::CodeInfo &Code);

  void beginStep(const tenon_rt_step &Step);
  void endStep();
  /// Kernel `Kernel` begins on `Rows` rows for `Scope`, which may be null.
  void beginKernel(int64_t Kernel, const tenon_rt_scope *Scope, int64_t Rows);
  /// The kernel that runs, if any, has ended.
  void endKernel();

  int64_t steps() const { return Steps; }
  /// Tokens of all steps.
  int64_t tokens() const { return Tokens; }
  /// Of all steps, from entering generated code to its return.
  int64_t nanoseconds() const { return StepNanoseconds; }
  /// What has run, by kernel and layer.
  std::vector<KernelTimes> kernels() const;

private:
  /// What is asked for as a kernel begins.
  struct Kernel {
    KernelCost Cost;
    /// Of this step: pairs of a token and a key that it sees, and different
    /// keys.
    double Pairs = 0;
    double Keys = 0;
  };
  std::vector<Kernel> Kernels;
  /// By kernel, then by scope; the last scope is none.
  std::vector<KernelTimes> Cells;
  size_t Scopes = 0;
  const tenon_rt_scope *FirstScope = nullptr;
  KernelTimes *Running = nullptr;
  int64_t KernelBegin = 0;
  int64_t StepBegin = 0;
  int64_t Steps = 0;
  int64_t Tokens = 0;
  int64_t StepNanoseconds = 0;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_PROFILE_H
