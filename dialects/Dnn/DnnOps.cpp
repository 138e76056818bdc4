//===- DnnOps.cpp - What ODS generates of the operations ------------------===//
//
// The verifiers are beside the definitions: FooOps.td and FooOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dnn/Dnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

#include "dialects/Dnn/DnnInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Dnn/DnnOps.cpp.inc"
