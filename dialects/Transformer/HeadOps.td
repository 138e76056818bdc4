//===- HeadOps.td - What comes after the layers ------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_HEADOPS_TD
#define TENON_DIALECTS_TRANSFORMER_HEADOPS_TD

include "TransformerBase.td"

def Transformer_SelectRowsOp : Transformer_ComputeOp<"select_rows", [
    InferTypeOpAdaptor]> {
  let summary = "Keep the rows whose output is wanted";
  let description = [{
    [T, H] to [R, H]: the rows of the tokens that the batch wants output for,
    in order.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_BatchType:$batch);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $batch attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_LmHeadOp : Transformer_ComputeOp<"lm_head", [
    InferTypeOpAdaptor]> {
  let summary = "Logits of the rows asked for";
  let description = [{
    `x[wanted] * weight^T + bias`, [R, V]. A tied head names the embedding's
    parameter.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_BatchType:$batch,
                       Transformer_Matrix:$weight,
                       Optional<Transformer_Vector>:$bias);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $batch `,` $weight (`bias` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_PoolOp : Transformer_ComputeOp<"pool", [InferTypeOpAdaptor]> {
  let summary = "One row per sequence";
  let description = [{
    [T, H] to [S, H]: the mean of a sequence's rows, its first (`cls`) or its
    last; with `normalize` scaled to length 1 (at least 1e-12 is divided by, as
    in torch.nn.functional.normalize).
  }];
  let arguments = (ins Transformer_PoolKindAttr:$kind, Transformer_Rows:$input,
                       Transformer_BatchType:$batch, UnitAttr:$normalize);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $kind $input `,` $batch (`normalize` $normalize^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_TRANSFORMER_HEADOPS_TD
