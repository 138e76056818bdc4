//===- EvaluatorDnnTestSupport.h - Running placed IR in tests ---*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_COMPILER_EVALUATORDNNTESTSUPPORT_H
#define TENON_TESTS_UNIT_COMPILER_EVALUATORDNNTESTSUPPORT_H

#include "EvaluatorTestSupport.h"
#include "compiler/Evaluator/Evaluator.h"
#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

#include <map>

namespace tenon {

/// Parses placed IR and evaluates it; `Stored` has its parameters.
class EvaluatorDnn : public EvaluatorOps {
protected:
  EvaluatorDnn() {
    Context.loadDialect<dnn::DnnDialect, mlir::tensor::TensorDialect>();
  }

  Evaluator evaluatorOf(llvm::StringRef Text) {
    Module = mlir::parseSourceString<mlir::ModuleOp>(
        ("!batch = !transformer.batch\n!scope = !transformer.scope\n" + Text)
            .str(),
        &Context, "placed.mlir");
    if (!Module)
      ADD_FAILURE() << "cannot parse " << Text.str();
    return Evaluator(*Module,
                     [this](llvm::StringRef Name, llvm::ArrayRef<int64_t>,
                            StorageFormat) -> Result<std::vector<float>> {
                       auto Found = Stored.find(Name.str());
                       if (Found == Stored.end())
                         return Error("no tensor '" + Name.str() + "'");
                       return Found->second.Data;
                     });
  }

  mlir::func::FuncOp function(llvm::StringRef Name = "f") {
    return Module->lookupSymbol<mlir::func::FuncOp>(Name);
  }

  /// The results of @f.
  std::vector<Tensor2D> run(llvm::StringRef Text, const EvaluatorBatch &Batch,
                            std::vector<Tensor2D> Tensors) {
    Evaluator E = evaluatorOf(Text);
    auto Got = E.call(function(), Batch, {std::move(Tensors), {{"s", 0}}});
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : std::vector<Tensor2D>();
  }

  /// The result of `Op` on arguments `Arguments`, with `%o` its destination of
  /// type `Type` that has as many rows as the batch has `Count`.
  Tensor2D runOp(llvm::StringRef Arguments, llvm::StringRef Op,
                 llvm::StringRef Type, const EvaluatorBatch &Batch,
                 std::vector<Tensor2D> Tensors,
                 llvm::StringRef Count = "tokens") {
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    Stream << "func.func @f(%s: !scope, %b: !batch" << Arguments << ") -> "
           << Type << " {\n%n = dnn.count " << Count << " %b\n"
           << "%o = tensor.empty(%n) : " << Type << "\n%r = " << Op << "\n"
           << "return %r : " << Type << "\n}";
    auto Results = run(Text, Batch, std::move(Tensors));
    return Results.empty() ? Tensor2D() : Results.front();
  }

  mlir::OwningOpRef<mlir::ModuleOp> Module;
  std::map<std::string, Tensor2D> Stored;
};

} // namespace tenon

#endif // TENON_TESTS_UNIT_COMPILER_EVALUATORDNNTESTSUPPORT_H
