//===- ImportMlir.cpp - Files in the transformer dialect ------------------===//

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Families/Import.h"
#include "runtime/Support/Json.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// A graph holds no weights: larger files are something else.
static constexpr uint64_t MaxMlirBytes = 64 << 20;

static Result<OwningOpRef<ModuleOp>> parse(MLIRContext &Context,
                                           const std::string &Path) {
  auto Text = readFile(Path, MaxMlirBytes);
  if (!Text)
    return Text.error();
  std::optional<Error> First;
  ScopedDiagnosticHandler Handler(&Context, [&](Diagnostic &D) {
    if (D.getSeverity() != DiagnosticSeverity::Error || First)
      return success();
    std::string Message = D.str();
    auto Where = D.getLocation()->findInstanceOf<FileLineColLoc>();
    std::string Place = Path;
    if (Where)
      Place += ":" + std::to_string(Where.getLine()) + ":" +
               std::to_string(Where.getColumn());
    std::replace(Message.begin(), Message.end(), '\n', ' ');
    First = Error(Place + ": " + escaped(Message));
    return success();
  });
  ParserConfig Settings(&Context);
  auto Module = parseSourceString<ModuleOp>(*Text, Settings, Path);
  if (!Module)
    return First.value_or(Error(Path + ": expected a module in MLIR's syntax"));
  return Module;
}

Result<ImportedModel> tenon::importMlir(MLIRContext &Context,
                                        const std::string &Path,
                                        const std::string &WeightsDirectory) {
  loadModelDialects(Context);
  auto Module = parse(Context, Path);
  if (!Module)
    return Module.error();
  // Its places may be in other files, or none.
  if (Status S = verifyModel(**Module); !S)
    return StringRef(S.error().message()).starts_with(Path + ":")
               ? S.error()
               : S.error().withContext(Path);

  ImportedModel Model;
  if (!WeightsDirectory.empty()) {
    auto Weights = Checkpoint::open(WeightsDirectory);
    if (!Weights)
      return Weights.error();
    Model.Weights = std::move(*Weights);
  }
  Model.StoredType = storedTypeOf(**Module);
  for (func::FuncOp Entry : entriesOf(**Module)) {
    Status S =
        walkModel(Entry, [&](Operation *Op, const CallFrame &Frame) -> Status {
          auto Parameter = dyn_cast<ParameterOp>(Op);
          if (!Parameter)
            return {};
          auto Type = cast<RankedTensorType>(Parameter.getType());
          if (!Model.Weights)
            return {};
          ArrayRef<int64_t> Shape = Type.getShape();
          auto View =
              TensorView::resolve(*Model.Weights, Frame.nameOf(Parameter),
                                  {Shape.data(), Shape.size()});
          return View ? Status() : View.error();
        });
    if (!S)
      return S.error().withContext(Path);
  }
  Model.Module = std::move(*Module);
  return Model;
}
