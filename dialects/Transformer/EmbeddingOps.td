//===- EmbeddingOps.td - Embeddings and positions ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD
#define TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD

include "TransformerBase.td"

def Transformer_EmbeddingOp : Transformer_ComputeOp<"embedding", [
    InferTypeOpAdaptor]> {
  let summary = "Look up a row of a table for every token";
  let description = [{
    Row t of the result is the row of `table` that token t's id, position or
    type names.

    ```mlir
    %x = transformer.embedding token %batch, %table
        : (!transformer.batch, tensor<97x72xf32>) -> tensor<?x72xf32>
    ```
  }];
  let arguments = (ins Transformer_IndexAttr:$index, Transformer_BatchType:$batch,
                       Transformer_Matrix:$table);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $index $batch `,` $table attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_RopeOp : Transformer_ComputeOp<"rope", [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "Rotate heads by their token's position";
  let description = [{
    `input` is [T, heads * head_dim]; see the attribute for the rotation.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_BatchType:$batch,
                       I64Attr:$heads, Transformer_RopeAttr:$rope);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $batch `heads` $heads $rope attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD
