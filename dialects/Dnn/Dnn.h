//===- Dnn.h - The dnn dialect ----------------------------------*- C++ -*-===//
//
// Operations placed on a CPU; see the .td files.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_DNN_DNN_H
#define TENON_DIALECTS_DNN_DNN_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include "dialects/Dnn/DnnEnums.h.inc"

#include "dialects/Dnn/DnnDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Dnn/DnnTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dnn/DnnAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Dnn/DnnOps.h.inc"

namespace tenon::dnn {

/// The cache's pages as a memory resource: appends write it, attention reads
/// it, so that neither moves past the other.
struct CachePages : public mlir::SideEffects::Resource::Base<CachePages> {
  llvm::StringRef getName() final { return "CachePages"; }
};

/// Keys and values of a page as buffers: [kv_heads, 4, head_dim, 16] and
/// [kv_heads, 64, head_dim rounded up to 16].
std::pair<mlir::MemRefType, mlir::MemRefType>
pageTypes(int64_t KvHeads, int64_t HeadDim, mlir::Type Element);

/// Latent vectors of a page as a buffer: [64, width rounded up to 16].
mlir::MemRefType latentPageType(int64_t Width, mlir::Type Element);

} // namespace tenon::dnn

#endif // TENON_DIALECTS_DNN_DNN_H
