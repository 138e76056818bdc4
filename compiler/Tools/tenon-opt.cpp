//===- tenon-opt.cpp - mlir-opt for Tenon's dialects and passes -----------===//

#include "passes/Pipelines/Pipelines.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int Argc, char **Argv) {
  mlir::DialectRegistry Registry;
  tenon::registerDialects(Registry);
  tenon::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(Argc, Argv, "Tenon optimizer driver\n", Registry));
}
