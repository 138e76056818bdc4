//===- BufferOps.td - What exists only on buffers ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_BUFFEROPS_TD
#define TENON_DIALECTS_DNN_BUFFEROPS_TD

include "DnnBase.td"

def Dnn_BufferOp : Dnn_Op<"buffer", [Pure]> {
  let summary = "A buffer of the memory plan";
  let description = [{
    `rows` rows at byte `offset` of the arena.
  }];
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows, I64Attr:$offset);
  let results = (outs MemRefRankOf<[F32, BF16, I32], [2]>:$result);
  let assemblyFormat = [{
    $batch `[` $rows `]` `at` $offset attr-dict `:` type($result)
  }];
}

def Dnn_OutputOp : Dnn_Op<"output", [Pure]> {
  let summary = "The buffer that the step's result goes to";
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows);
  let results = (outs MemRefRankOf<[F32], [2]>:$result);
  let assemblyFormat = "$batch `[` $rows `]` attr-dict `:` type($result)";
}

def Dnn_FeaturesOp : Dnn_Op<"features", [Pure]> {
  let summary = "The rows of input that the caller gave";
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows);
  let results = (outs MemRefRankOf<[F32], [2]>:$result);
  let assemblyFormat = "$batch `[` $rows `]` attr-dict `:` type($result)";
}

def Dnn_FieldOp : Dnn_Op<"field", [Pure]> {
  let summary = "An array of the batch";
  let arguments = (ins Dnn_FieldAttr:$kind, Transformer_BatchType:$batch);
  let results = (outs Dnn_Indices:$result);
  let assemblyFormat = "$kind $batch attr-dict `:` type($result)";
}

def Dnn_PageTableOp : Dnn_Op<"page_table", [Pure]> {
  let summary = "The page numbers of one sequence";
  let description = [{
    Those of caches that grow with it, or of its source text (`memory`).
  }];
  let arguments = (ins Transformer_BatchType:$batch, Index:$sequence,
                       UnitAttr:$memory);
  let results = (outs Dnn_Indices:$result);
  let assemblyFormat = [{
    (`memory` $memory^)? $batch `[` $sequence `]` attr-dict `:` type($result)
  }];
}

def Dnn_PageOp : Dnn_Op<"page", [Pure]> {
  let summary = "Keys and values of one page of a layer's cache";
  let description = [{
    Keys are [kv_heads, 4, head_dim, 16], values [kv_heads, 64, head_dim rounded
    up to 16].
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Index:$page);
  let results = (outs AnyStaticShapeMemRef:$keys, AnyStaticShapeMemRef:$values);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $page attr-dict `:` type($cache) `->` type($keys)
    `,` type($values)
  }];
}

def Dnn_LatentPageOp : Dnn_Op<"latent_page", [Pure]> {
  let summary = "Latent vectors of one page of a layer's cache";
  let description = [{
    [64, values per token rounded up to 16].
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Index:$page);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $page attr-dict `:` type($cache) `->` type($result)
  }];
}

def Dnn_StagedPageOp : Dnn_Op<"staged_page", [Pure]> {
  let summary = "Keys and values of one row of a staging buffer";
  let arguments = (ins MemRefRankOf<[F32], [2]>:$staged, Index:$row);
  let results = (outs AnyStaticShapeMemRef:$keys, AnyStaticShapeMemRef:$values);
  let assemblyFormat = [{
    $staged `[` $row `]` attr-dict `:` type($staged) `->` type($keys) `,`
    type($values)
  }];
}

def Dnn_WeightViewOp : Dnn_Op<"weight_view", [Pure]> {
  let summary = "The buffer that a packed weight is";
  let arguments = (ins Dnn_PackedType:$weight);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = [{
    $weight attr-dict `:` type($weight) `->` type($result)
  }];
}

def Dnn_CallSiteOp : Dnn_Op<"call_site", [AttrSizedOperandSegments]> {
  let summary = "Call the product library";
  let description = [{
    A library product on buffers: site `site` of the manifest says everything
    that is constant about it.
  }];
  let arguments = (ins I64Attr:$site, Transformer_BatchType:$batch,
                       MemRefRankOf<[F32, BF16], [2]>:$input,
                       Dnn_PackedType:$weight, Optional<Dnn_PackedType>:$bias,
                       Optional<MemRefRankOf<[F32, BF16], [2]>>:$multiplier,
                       Optional<MemRefRankOf<[F32, BF16], [2]>>:$residual,
                       MemRefRankOf<[F32, BF16], [2]>:$output);
  let assemblyFormat = [{
    $site `of` $batch `(` $input `)` `weight` $weight (`bias` $bias^)?
    (`multiplier` $multiplier^)? (`residual` $residual^)? `output` $output
    attr-dict `:` type(operands)
  }];
}

def Dnn_ParallelOp : Dnn_Op<"parallel", [SingleBlock, NoTerminator,
                                         RecursiveMemoryEffects]> {
  let summary = "A region that every thread of the pool runs";
  let description = [{
    The block's arguments are the thread's number and how many there are.
  }];
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins)>];
  let extraClassDeclaration = [{
    ::mlir::Value getThread() { return getBody().getArgument(0); }
    ::mlir::Value getThreads() { return getBody().getArgument(1); }
  }];
}

def Dnn_BarrierOp : Dnn_Op<"barrier", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until every thread of the region is here";
  let arguments = (ins Transformer_BatchType:$batch);
  let assemblyFormat = "$batch attr-dict";
}

def Dnn_LaunchOp : Dnn_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run a function on every thread of the pool";
  let description = [{
    The function's arguments are the thread's number, how many there are, and
    the operands.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Transformer_BatchType:$batch,
                       Variadic<AnyType>:$inputs);
  let assemblyFormat = [{
    $callee `on` $batch `(` $inputs `)` attr-dict `:` type(operands)
  }];
}

#endif // TENON_DIALECTS_DNN_BUFFEROPS_TD
