//===- tenon-opt.cpp - mlir-opt for Tenon's dialects and passes -----------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int Argc, char **Argv) {
  mlir::DialectRegistry Registry;
  Registry.insert<mlir::func::FuncDialect,
                  tenon::transformer::TransformerDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(Argc, Argv, "Tenon optimizer driver\n", Registry));
}
