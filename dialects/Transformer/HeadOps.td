//===- HeadOps.td - What comes after the layers ------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_HEADOPS_TD
#define TENON_DIALECTS_TRANSFORMER_HEADOPS_TD

include "TransformerBase.td"

def Transformer_SelectOutputRowsOp : Transformer_FusedOp<"select_output_rows", [
    Transformer_Rows,
    InferTypeOpAdaptor]> {
  let resultNames = "selected";
  let summary = "Keep the output rows";
  let description = [{
    [T, H] to [R, H]: the rows of the tokens whose output the batch asks for,
    in order.
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_BatchType:$batch);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $batch attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_LmHeadOp : Transformer_ComputeOp<"lm_head", [
    Transformer_Rows, Transformer_Weights,
    InferTypeOpAdaptor]> {
  let resultNames = "logits";
  let summary = "Logits of the output rows";
  let description = [{
    `x[output rows] * weight^T + bias`, [R, V]. A tied head names the embedding's
    parameter.
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_BatchType:$batch,
                       Transformer_Matrix:$weight,
                       Optional<Transformer_Vector>:$bias);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $batch `,` $weight (`bias` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_PoolOp : Transformer_FusedOp<"pool", [
    InferTypeOpAdaptor, Transformer_Rows]> {
  let resultNames = "pooled";
  let summary = "One row per sequence";
  let description = [{
    [T, H] to [S, H]: the mean of a sequence's rows, its first (`cls`) or its
    last; with `normalize` scaled to length 1 (at least 1e-12 is divided by, as
    in torch.nn.functional.normalize).
  }];
  let arguments = (ins Transformer_PoolKindAttr:$kind, Transformer_Activations:$input,
                       Transformer_BatchType:$batch, UnitAttr:$normalize);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $input `,` $batch (`normalize` $normalize^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_TRANSFORMER_HEADOPS_TD
