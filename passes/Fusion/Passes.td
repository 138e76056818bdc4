//===- Passes.td - From model operations to fused ones -----*- tablegen -*-===//

#ifndef TENON_PASSES_FUSION_PASSES_TD
#define TENON_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormMatmuls : Pass<"form-matmuls", "::mlir::ModuleOp"> {
  let summary = "Write linear layers and feed-forwards as matmuls";
  let description = [{
    `linear` and `lm_head` become a `matmul`, `feed_forward` two matmuls with
    the activation on the first, `gated_feed_forward` a `gated_matmul` and a
    matmul. An `lm_head` first selects the output rows.

    ```mlir
    %f = transformer.gated_feed_forward silu %x gate %g up %u down %d
    // becomes
    %h = transformer.gated_matmul silu %x gate %g up %u
    %f = transformer.matmul %h weights(%d)
    ```
  }];
}

def LowerAttention : Pass<"lower-attention", "::mlir::ModuleOp"> {
  let summary = "Compute attention page by page";
  let description = [{
    `attention` becomes `online_attention`, which goes through keys and values
    page by page and never stores a matrix of scores. Keys and values of this
    step come from a `split_stage`, which lays them out like cache pages.
  }];
}

def FuseActivation : Pass<"fuse-activation", "::mlir::ModuleOp"> {
  let summary = "Apply activations while a matmul is written";
  let description = [{
    An `activation` of a matmul that nothing else uses, and that applies nothing
    yet, becomes the matmul's own.
  }];
}

def FuseAttention : Pass<"fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Fuse norms and rotations of heads with the append or staging";
  let description = [{
    Per-head norms and rotations of queries and keys and the append to the
    cache become one `split_append`; where keys and values are staged, norms and
    rotations become part of the `split_stage`.

    Queries and keys must be treated alike, and each value in between must have
    no other use; a remark says which condition failed. What is not fused stays
    an operation of its own.
  }];
}

def MergeQkv : Pass<"merge-qkv", "::mlir::ModuleOp"> {
  let summary = "Compute queries, keys and values by one matmul";
  let description = [{
    Three matmuls of the same input that only feed one split become a matmul
    with three weights, which packing concatenates.
  }];
}

def FuseResidual : Pass<"fuse-residual", "::mlir::ModuleOp"> {
  let summary = "Add residuals while a matmul is written";
  let description = [{
    A `residual` one of whose operands is a matmul that nothing else uses
    becomes the matmul's `residual` operand.
  }];
}

def FuseAddNorm : Pass<"fuse-add-norm", "::mlir::ModuleOp"> {
  let summary = "Compute a residual and the norm of it in one pass";
  let description = [{
    A `residual` that no matmul took in and that a norm uses becomes an
    `add_norm`; other users of the sum take its first result.
  }];
}

def BubbleUpSelect : Pass<"bubble-up-select", "::mlir::ModuleOp"> {
  let summary = "Compute output rows only";
  let description = [{
    Swaps `select_output_rows` with the row-wise operation before it, such as a
    norm, when nothing else uses that one's result.
  }];
}

def MultiversionFunctions : Pass<"multiversion-functions", "::mlir::ModuleOp"> {
  let summary = "Compile layer functions for decode- and for prefill-sized batches";
  let description = [{
    Each function that an entry calls is cloned into a `few` variant, for
    decode-sized batches of at most `few-tokens` tokens (or output rows, for a
    function that selects them), and a `many` variant, for prefill-sized ones;
    calls become `transformer.dispatch`. From here on the two are compiled
    apart. The attribute `transformer.variant` says which is which.
  }];
  let options = [
    Option<"FewTokens", "few-tokens", "int64_t", "8",
           "Most tokens or output rows of a decode-sized batch">,
    Option<"MaxTokens", "max-tokens", "int64_t", "512",
           "Most tokens of a step">
  ];
}

#endif // TENON_PASSES_FUSION_PASSES_TD
