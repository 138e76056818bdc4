//===- KernelTestSupport.h - One operation as native code -------*- C++ -*-===//
//
// A few lines of placed IR become a program, which runs beside the evaluator:
// every result that they compute is compared, given the same operands.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_COMPILER_KERNELTESTSUPPORT_H
#define TENON_TESTS_UNIT_COMPILER_KERNELTESTSUPPORT_H

#include "../CheckpointFixture.h"
#include "compiler/Bisect/Bisect.h"
#include "compiler/Evaluator/Evaluator.h"
#include "compiler/Native/NativeCode.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <map>
#include <set>

namespace tenon {

/// What is replaced in IR: {N} by the value of "N".
using KernelSettings = std::map<std::string, std::string>;

/// Parameters of a type of grouped integers, and the dot product that it is
/// for.
struct Grouped {
  std::string Parameters;
  DotProduct Dot;
};
inline const Grouped AllGrouped[] = {{"8", DotProduct::Int8},
                                     {"16", DotProduct::Int8},
                                     {"16, int16", DotProduct::Int16}};

/// Some operations on activations.
struct KernelCase {
  std::string Name;
  /// Widths of %x0, %x1, ..., f32 and a row per token.
  std::vector<std::string> Inputs;
  /// The body of @f(%s, %b, %c, %x0, ...), which is compiled for few and for
  /// many tokens. %t is the count of tokens. It binds %r.
  std::string Body;
  /// Width of %r, f32.
  std::string Output;
  KernelSettings Settings = {};
  /// "tokens", "output_rows" or "sequences": the rows of %r; in steps of tokens
  /// all rows are output rows.
  std::string Rows = "tokens";
  /// The type of %c.
  std::string Cache = "!transformer.cache<1x4xf32>";
  /// The body of @encode(%s, %b, %c, %x0, ...) that runs before, if not empty.
  std::string Encode = {};
  /// Whether sequences begin with tokens that see each other.
  bool HasPrefixes = false;
  /// Whether producers write what is only cast in the cast's type.
  bool FoldsCasts = false;
  /// Dot products without which a level is left out.
  std::optional<DotProduct> Needs = {};
  /// Steps: tokens of the sequences of one batch. They are new sequences, but
  /// go on in steps that have as many as the one before and begin with a
  /// zero.
  std::vector<std::vector<int64_t>> Steps = {
      {1}, {4}, {8}, {16}, {17}, {64}, {67}, {3, 1, 2}, {30, 1, 5}};
};

class KernelTest : public TemporaryFiles {
protected:
  KernelTest() {
    mlir::DialectRegistry Registry;
    registerDialects(Registry);
    registerNativeTranslations(Registry);
    Context.appendDialectRegistry(Registry);
    Context.loadAllAvailableDialects();
    Context.disableMultithreading();
  }

  /// The CPU levels that this machine runs or can emulate and that have what
  /// `Case` needs, one of each that code generation tells apart.
  static std::vector<CpuLevel> levels(const KernelCase &Case);

  /// Compiles and compares `Case` on every level; on one that is emulated the
  /// first case of a test, and with TENON_EMULATE_ALL_KERNELS set all of them.
  void check(const KernelCase &Case);

  /// The module of `Case`, ready for code generation; null if a failure was
  /// added.
  mlir::OwningOpRef<mlir::ModuleOp> place(const KernelCase &Case,
                                          CpuLevel Level);
  /// Its program, which is valid until the next one is compiled.
  Result<NativeProgram> compile(mlir::ModuleOp Placed, CpuLevel Level,
                                Observed Shown, int64_t Threads);
  /// The width of all inputs side by side.
  static int64_t inputWidthOf(mlir::ModuleOp Module);

  mlir::MLIRContext Context;
  /// What parameters, from -1 to 1, are multiplied with.
  float ParameterScale = 1;

private:
  /// Levels that this test has emulated.
  std::set<CpuLevel> Emulated;
  /// Of the program that was compiled last.
  std::unique_ptr<Checkpoint> Parameters;
  std::unique_ptr<PackedWeights> Weights;

  void check(const KernelCase &Case, CpuLevel Level);
  mlir::OwningOpRef<mlir::ModuleOp> parse(const KernelCase &Case);
  /// A checkpoint with the parameters of `Module`, numbers without a pattern.
  Result<Checkpoint> parametersOf(mlir::ModuleOp Module);
};

} // namespace tenon

#endif // TENON_TESTS_UNIT_COMPILER_KERNELTESTSUPPORT_H
