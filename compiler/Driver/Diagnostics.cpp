//===- Diagnostics.cpp - What MLIR says, as errors and remarks ------------===//

#include "compiler/Driver/Diagnostics.h"

#include "compiler/Builder/Places.h"
#include "runtime/Support/Json.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

Diagnostics::Diagnostics(mlir::MLIRContext &Context)
    : Handler(&Context, [this](mlir::Diagnostic &D) {
        std::string Where = placeOf(D.getLocation());
        std::string Text = D.str();
        if (D.getSeverity() == mlir::DiagnosticSeverity::Remark) {
          llvm::errs() << "remark: "
                       << escaped(Where + (Where.empty() ? "" : ": ") + Text)
                       << "\n";
        } else if (D.getSeverity() == mlir::DiagnosticSeverity::Error &&
                   Message.empty()) {
          llvm::StringRef Line = llvm::StringRef(Text).split('\n').first;
          Place = escaped(Where);
          // An operation's own error begins with "'NAME' op ".
          auto [Name, Rest] = Line.split("' op ");
          if (Name.consume_front("'") && !Rest.empty()) {
            Operation = escaped(Name);
            Line = Rest;
          }
          Message = escaped(Line);
        }
        return mlir::success();
      }) {}

namespace {
class RememberFailure : public mlir::PassInstrumentation {
public:
  explicit RememberFailure(std::string &Failed) : Failed(Failed) {}
  void runAfterPassFailed(mlir::Pass *Pass, mlir::Operation *) override {
    if (Failed.empty())
      Failed = Pass->getArgument();
  }

private:
  std::string &Failed;
};
} // namespace

void Diagnostics::watch(mlir::PassManager &Passes) {
  Passes.addInstrumentation(std::make_unique<RememberFailure>(FailedPass));
}

Error Diagnostics::error(const std::string &What) const {
  if (Message.empty())
    return Error(What + " failed");
  std::string Text = Place.empty() ? "" : Place + ": ";
  if (!Operation.empty())
    Text += "'" + Operation + "' op ";
  return Error(Text + Message);
}

Error Diagnostics::defect(const std::string &Where) const {
  std::string What = Where;
  if (!FailedPass.empty())
    What += ", pass '" + FailedPass + "'";
  if (!Operation.empty())
    What += ", operation '" + Operation + "'";
  if (!Place.empty())
    What += " in " + Place;
  return defectOfCompiler(What + ": " + (Message.empty() ? "failed" : Message));
}

Error tenon::defectOfCompiler(const std::string &What) {
  return Error(ErrorKind::Internal,
               "a defect of the compiler, not of the model: " + What +
                   "; please report this line with the command, the model's "
                   "config.json and what `tenon --version` prints");
}
