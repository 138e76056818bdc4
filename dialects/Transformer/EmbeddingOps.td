//===- EmbeddingOps.td - Embeddings and positions ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD
#define TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD

include "TransformerBase.td"

def Transformer_EmbeddingOp : Transformer_FusedOp<"embedding", [
    InferTypeOpAdaptor, Transformer_Rows, Transformer_Weights]> {
  let resultNames = "embedding";
  let summary = "Look up a row of a table for every token";
  let description = [{
    Row t of the result is the row of `table` that token t's id, position or
    type names, plus `offset`.

    ```mlir
    %x = transformer.embedding token %batch, %table
        : (!transformer.batch, tensor<97x72xf32>) -> tensor<?x72xf32>
    ```
  }];
  let arguments = (ins Transformer_IndexAttr:$index, Transformer_BatchType:$batch,
                       Transformer_Matrix:$table,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($index) $batch `,` $table (`offset` $offset^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_SinusoidOp : Transformer_FusedOp<"sinusoid", [
    Transformer_Rows]> {
  let resultNames = "positions";
  let summary = "Sines and cosines of every token's position";
  let description = [{
    With W columns, pair i of sine and cosine is that of the angle
    `position * 10000^(-2i/W)`. `interleaved` has sines in even and cosines in
    odd columns (Vaswani et al. 2017), `half` all sines before all cosines
    (Marian).
  }];
  let arguments = (ins Transformer_RopeStyleAttr:$style,
                       Transformer_BatchType:$batch);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = "custom<Enum>($style) $batch attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_InputFeaturesOp : Transformer_FusedOp<"input_features", [
    Transformer_Rows]> {
  let resultNames = "features";
  let summary = "Rows that the caller gives instead of token ids";
  let description = [{
    [T, W]: a flattened patch of an image per token; zeros where a class token
    goes.
  }];
  let arguments = (ins Transformer_BatchType:$batch);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = "$batch attr-dict `:` type($result)";
}

def Transformer_ClassTokenOp : Transformer_FusedOp<"class_token", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "tokens";
  let summary = "Put a learned row where each sequence begins";
  let description = [{
    Rows at position 0 become `token`, others stay (Dosovitskiy et al. 2021).
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_BatchType:$batch,
                       Transformer_Vector:$token);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $batch `,` $token attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_MergeFeaturesOp : Transformer_FusedOp<"merge_features", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "merged";
  let summary = "Put rows that the caller gives where a token stands for them";
  let description = [{
    Row t of the result is the row that the caller gives for token t where that
    token's id is `token`, and row t of `input` elsewhere: images in a text
    (Liu et al. 2023).

    ```mlir
    %y = transformer.merge_features %x, %batch token 32000 : tensor<?x72xf32>
    ```
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_BatchType:$batch,
                       I64Attr:$token);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = "$input `,` $batch `token` $token attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Transformer_RopeOp : Transformer_FusedOp<"rope", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "rotated";
  let summary = "Rotate heads by their token's position";
  let description = [{
    `input` is [T, heads * head_dim]; see the attribute for the rotation. What
    rotates begins at element `offset` of each head.
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_BatchType:$batch,
                       I64Attr:$heads, DefaultValuedAttr<I64Attr, "0">:$offset,
                       Transformer_RopeAttr:$rope);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $batch `heads` $heads (`from` $offset^)? $rope attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TRANSFORMER_EMBEDDINGOPS_TD
