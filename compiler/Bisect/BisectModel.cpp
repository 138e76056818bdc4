//===- BisectModel.cpp - Bisection of a model description -----------------===//

#include "compiler/Bisect/BisectModel.h"

#include "compiler/Bisect/Bisect.h"
#include "compiler/Families/Import.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "compiler/Native/NativeCode.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Npy.h"

#include <unistd.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::bisect;

/// The rows of a .npy file; the first dimension may be a single batch.
static Result<Tensor2D> readReference(const std::string &Path) {
  Result<tool::NpyArray> Array = tool::readNpy(Path);
  if (!Array)
    return Array.error();
  std::vector<int64_t> Shape = Array->Shape;
  if (Shape.size() == 3 && Shape.front() == 1)
    Shape.erase(Shape.begin());
  if (Shape.size() != 2 || Array->Floats.empty())
    return Error(Path + ": expected an array [tokens, width] of f32");
  Tensor2D Reference(Shape[0], Shape[1]);
  Reference.Data = std::move(Array->Floats);
  return Reference;
}

Result<BisectAnswer>
tenon::bisect::bisectModel(const BisectModelOptions &Options) {
  if (std::string Missing = missingFeatures(Options.Level); !Missing.empty())
    return Error(ErrorKind::UnsupportedCpu,
                 "--target-cpu is " + std::string(infoOf(Options.Level).Name) +
                     ": this CPU (or ONEDNN_MAX_CPU_ISA) lacks " + Missing +
                     ": expected a level that runs here, as bisect runs what "
                     "it compiles");
  DialectRegistry Registry;
  registerDialects(Registry);
  registerNativeTranslations(Registry);
  MLIRContext Context(Registry, MLIRContext::Threading::DISABLED);
  Context.loadAllAvailableDialects();

  BisectOptions Bisection;
  if (!Options.Against.empty()) {
    Result<Tensor2D> Reference = readReference(Options.Against);
    if (!Reference)
      return Reference.error();
    Bisection.Against = std::move(*Reference);
  }
  Result<ImportedModel> Model =
      importNamed(Context, Options.Model, Options.Weights,
                  {.IgnoredKeys = Options.IgnoredConfigKeys});
  if (!Model)
    return Model.error();
  if (!Model->Weights)
    return Error(Options.Model + ": has no weights: expected --weights "
                                 "DIRECTORY");
  if (Options.TokenIds) {
    Result<std::vector<int32_t>> Ids =
        tool::parseTokens(*Options.TokenIds, "--token-ids");
    if (!Ids)
      return Ids.error();
    if (Ids->empty())
      return Error("--token-ids is empty: expected at least one id");
    Bisection.TokenIds.assign(Ids->begin(), Ids->end());
  }
  Bisection.Settings.Level = Options.Level;
  Bisection.Settings.FewTokens = Options.FewTokens.value_or(defaultFewTokens(
      *Model->Module, isQuantised(*Model->Module), Options.Level));
  Bisection.Settings.Disabled = Options.DisabledPasses;
  bool IsShown = ::isatty(2);
  if (IsShown)
    Bisection.Progress = [](const std::string &Line) {
      llvm::errs() << "\r\033[K" << Line;
    };
  Result<BisectReport> Report =
      bisect::bisect(*Model->Module, *Model->Weights, Bisection);
  if (IsShown)
    llvm::errs() << "\r\033[K";
  if (!Report)
    return Report.error();
  return BisectAnswer{Report->First.has_value(), toText(*Report)};
}
