//===- Passes.td - From model operations to fused ones -----*- tablegen -*-===//

#ifndef TENON_PASSES_FUSION_PASSES_TD
#define TENON_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormProducts : Pass<"form-products", "::mlir::ModuleOp"> {
  let summary = "Write linear layers and feed-forwards as products";
  let description = [{
    `linear` and `lm_head` become a `product`, `feed_forward` two products with
    the activation on the first, `gated_feed_forward` a `gated_product` and a
    product. An `lm_head` first selects the rows that are wanted. An
    `activation` of a product that nothing else uses is applied to it.

    ```mlir
    %f = transformer.gated_feed_forward silu %x gate %g up %u down %d
    // becomes
    %h = transformer.gated_product silu %x gate %g up %u
    %f = transformer.product %h weights(%d)
    ```
  }];
  let statistics = [
    Statistic<"NumProducts", "products", "Number of products formed">
  ];
}

def FuseAttention : Pass<"fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Take norms, rotations and the cache append into attention";
  let description = [{
    Per-head norms and rotations of queries and keys and the append to the
    cache become one `split_append`, and `attention` becomes the
    `online_attention` that goes through the cache page by page and never
    stores a matrix of scores. Attention over this step's own keys gets a
    `split_stage`, which lays keys and values out like cache pages.

    Queries and keys must be treated alike, and each value in between must have
    no other use; a remark says which condition failed. What is not taken in
    stays an operation of its own.
  }];
  let statistics = [
    Statistic<"NumFused", "fused", "Number of attentions fused">
  ];
}

def MergeQkv : Pass<"merge-qkv", "::mlir::ModuleOp"> {
  let summary = "Compute queries, keys and values by one product";
  let description = [{
    Three products of the same input that only feed one split become a product
    with three weights, which packing concatenates.
  }];
  let statistics = [
    Statistic<"NumMerged", "merged", "Number of products merged away">
  ];
}

def FuseResidual : Pass<"fuse-residual", "::mlir::ModuleOp"> {
  let summary = "Add residuals while a product is written";
  let description = [{
    A `residual` one of whose operands is a product that nothing else uses
    becomes the product's `residual` operand.
  }];
  let statistics = [
    Statistic<"NumFused", "fused", "Number of residuals fused">
  ];
}

def FuseAddNorm : Pass<"fuse-add-norm", "::mlir::ModuleOp"> {
  let summary = "Compute a residual and the norm of it in one pass";
  let description = [{
    A `residual` that no product took in and that a norm uses becomes an
    `add_norm`; other users of the sum take its first result.
  }];
  let statistics = [
    Statistic<"NumFused", "fused", "Number of residuals fused with a norm">
  ];
}

def HoistRowSelection : Pass<"hoist-row-selection", "::mlir::ModuleOp"> {
  let summary = "Normalise only the rows that are wanted";
  let description = [{
    Swaps `select_rows` with the norm before it when nothing else uses the
    norm.
  }];
  let statistics = [
    Statistic<"NumHoisted", "hoisted", "Number of selections hoisted">
  ];
}

def CloneByRows : Pass<"clone-by-rows", "::mlir::ModuleOp"> {
  let summary = "Give every layer function a variant for few and for many rows";
  let description = [{
    Each function that an entry calls is cloned into `.few`, for batches of at
    most `few-tokens` tokens (or wanted rows, for a function that selects
    rows), and `.many`; calls become `transformer.dispatch`. From here on the
    two are compiled apart.
  }];
  let options = [
    Option<"FewTokens", "few-tokens", "int64_t", "8",
           "Most rows that the .few variant is run with">,
    Option<"MaxTokens", "max-tokens", "int64_t", "512",
           "Most tokens of a step">
  ];
  let statistics = [
    Statistic<"NumCloned", "cloned", "Number of functions cloned">
  ];
}

#endif // TENON_PASSES_FUSION_PASSES_TD
