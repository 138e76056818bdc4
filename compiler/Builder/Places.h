//===- Places.h - What places in a graph are called -------------*- C++ -*-===//

#ifndef TENON_COMPILER_BUILDER_PLACES_H
#define TENON_COMPILER_BUILDER_PLACES_H

#include "mlir/IR/Location.h"

#include <string>

namespace tenon {

/// A name as it is, a place in a file as FILE:LINE:COLUMN, of several the first
/// that is known; empty for none.
std::string placeOf(mlir::Location Where);

} // namespace tenon

#endif // TENON_COMPILER_BUILDER_PLACES_H
