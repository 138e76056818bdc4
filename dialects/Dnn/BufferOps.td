//===- BufferOps.td - What exists only on buffers ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_BUFFEROPS_TD
#define TENON_DIALECTS_DNN_BUFFEROPS_TD

include "DnnBase.td"

def Dnn_BufferOp : Dnn_HandleOp<"buffer"> {
  let summary = "A buffer of the memory plan";
  let description = [{
    `rows` rows at byte `offset` of the arena.
  }];
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows, I64Attr:$offset,
                       OptionalAttr<Dnn_PlanAttr>:$plan);
  let results = (outs Dnn_AnyBuffer:$result);
  let assemblyFormat = [{
    $batch `[` $rows `]` `at` $offset (`plan` $plan^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_ScratchOp : Dnn_HandleOp<"scratch"> {
  let summary = "Memory of a thread while it is in a region";
  let description = [{
    At byte `offset` of the scratch memory of `thread`, which holds nothing when
    the region begins.
  }];
  let arguments = (ins Transformer_BatchType:$batch, Index:$thread,
                       I64Attr:$offset);
  let results = (outs StaticShapeMemRefOf<[F32, BF16, I8, I16, I32]>:$result);
  let assemblyFormat = [{
    $batch `[` $thread `]` `at` $offset attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_OutputOp : Dnn_HandleOp<"output"> {
  let summary = "The buffer that the step's result goes to";
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows);
  let results = (outs Dnn_F32Buffer:$result);
  let assemblyFormat = "$batch `[` $rows `]` attr-dict `:` type($result)";
}

def Dnn_FeaturesOp : Dnn_HandleOp<"features"> {
  let summary = "The rows of input that the caller gave";
  let arguments = (ins Transformer_BatchType:$batch, Index:$rows);
  let results = (outs Dnn_F32Buffer:$result);
  let assemblyFormat = "$batch `[` $rows `]` attr-dict `:` type($result)";
}

def Dnn_FieldOp : Dnn_HandleOp<"field"> {
  let summary = "An array of the batch";
  let arguments = (ins Dnn_FieldAttr:$kind, Transformer_BatchType:$batch);
  let results = (outs Dnn_IndexArray:$result);
  let assemblyFormat = "custom<Enum>($kind) $batch attr-dict `:` type($result)";
}

def Dnn_PageTableOp : Dnn_HandleOp<"page_table"> {
  let summary = "The page numbers of one sequence";
  let description = [{
    Those of caches that grow with it, or of its source text (`cross`).
  }];
  let arguments = (ins Transformer_BatchType:$batch, Index:$sequence,
                       UnitAttr:$cross);
  let results = (outs Dnn_IndexArray:$result);
  let assemblyFormat = [{
    (`cross` $cross^)? $batch `[` $sequence `]` attr-dict `:` type($result)
  }];
}

def Dnn_PageOp : Dnn_HandleOp<"page"> {
  let summary = "Keys and values of one page of a layer's cache";
  let description = [{
    Words of four bytes hold P values of the cache's format, 1 of f32, 2 of bf16
    and 4 of i8: neighbours of a head for keys, neighbouring tokens for values.
    Keys are [kv_heads, 4, head_dim / P rounded up, 16 P], values [kv_heads,
    64 / P, P times head_dim rounded up to 16]. i8 has scales, [2, kv_heads, 64]:
    those of keys, then those of values.
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Index:$page);
  let results = (outs AnyStaticShapeMemRef:$keys, AnyStaticShapeMemRef:$values,
                      Optional<AnyStaticShapeMemRef>:$scales);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $page attr-dict `:` type($cache) `->` type($keys)
    `,` type($values) (`,` type($scales)^)?
  }];
  let hasVerifier = 1;
}

def Dnn_LatentPageOp : Dnn_HandleOp<"latent_page"> {
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
  let hasVerifier = 1;
}

def Dnn_StagedPageOp : Dnn_HandleOp<"staged_page"> {
  let summary = "Keys and values of one row of a staging buffer";
  let arguments = (ins Dnn_Buffer:$staged, Index:$row);
  let results = (outs AnyStaticShapeMemRef:$keys, AnyStaticShapeMemRef:$values);
  let assemblyFormat = [{
    $staged `[` $row `]` attr-dict `:` type($staged) `->` type($keys) `,`
    type($values)
  }];
  let hasVerifier = 1;
}

def Dnn_WeightViewOp : Dnn_HandleOp<"weight_view"> {
  let summary = "The buffer that a packed weight is";
  let arguments = (ins Dnn_PackedType:$weight);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = [{
    $weight attr-dict `:` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_RowBytesOp : Dnn_HandleOp<"row_bytes"> {
  let summary = "The records of rows of grouped integers";
  let arguments = (ins MemRefRankOf<[Dnn_GroupedType], [2]>:$rows);
  let results = (outs MemRefRankOf<[I8], [2]>:$result);
  let assemblyFormat = "$rows attr-dict `:` type($rows) `->` type($result)";
  let hasVerifier = 1;
}

def Dnn_CallMatmulOp : Dnn_Op<"call_matmul", [AttrSizedOperandSegments]> {
  let summary = "Call the library";
  let description = [{
    A library matmul on buffers: primitive `primitive` of the manifest says
    everything that is constant about it.
  }];
  let arguments = (ins I64Attr:$primitive, Transformer_BatchType:$batch,
                       Dnn_Buffer:$input,
                       Dnn_MatrixPanels:$weight, Optional<Dnn_Vector>:$bias,
                       Optional<Dnn_Buffer>:$multiplier,
                       Optional<Dnn_Buffer>:$residual,
                       Dnn_Buffer:$output);
  let assemblyFormat = [{
    $primitive `of` $batch `(` $input `)` `weight` $weight (`bias` $bias^)?
    (`multiplier` $multiplier^)? (`residual` $residual^)? `output` $output
    attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def Dnn_LookupOp : Dnn_Op<"lookup", [Pure]> {
  let summary = "Numbers of 4-bit codes";
  let description = [{
    `table[code mod 16]` for each of `codes`; bits above the lowest four may be
    anything. One instruction for bytes at every CPU level, for 16 and 32 bits
    with registers of 512 bits.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8, I16, I32]>:$codes,
                       VectorOfRankAndType<[1], [I8, BF16, F16, F32]>:$table);
  let results = (outs VectorOfRankAndType<[1], [I8, BF16, F16, F32]>:$result);
  let assemblyFormat = [{
    $codes `in` $table attr-dict `:` type($codes) `,` type($table) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_DotOp : Dnn_Op<"dot", [
    Pure, AllTypesMatch<["sums", "result"]>, AllTypesMatch<["codes", "digits"]>]> {
  let summary = "Add dot products of neighbouring integers";
  let description = [{
    To each lane of `sums` the products of as many codes with digits as have its
    bits: of four or, in 16 bits, two unsigned bytes with signed ones, or of two
    integers of 16 bits, both signed. With four bytes that is one instruction
    where the CPU level has int8 dot products, with two factors it is two where
    the level has int16 ones. What a lane does not hold is undefined.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I16, I32]>:$sums,
                       VectorOfRankAndType<[1], [I8, I16]>:$codes,
                       VectorOfRankAndType<[1], [I8, I16]>:$digits);
  let results = (outs VectorOfRankAndType<[1], [I16, I32]>:$result);
  let assemblyFormat = [{
    $sums `,` $codes `by` $digits attr-dict `:` type($sums) `,` type($codes)
  }];
  let hasVerifier = 1;
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

def Dnn_ClaimOp : Dnn_Op<"claim", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The next items of a loop for a thread of the region";
  let description = [{
    Neighbouring items of [0, `total`) that no other thread gets, `grain` or
    more while there are as many: their first and how many. None: the loop has
    ended for this thread, and its next claim begins the next loop. All threads of a region go
    through the same loops in the same order.
  }];
  let arguments = (ins Index:$grain, Index:$total, Index:$thread,
                       Index:$threads, Transformer_BatchType:$batch);
  let results = (outs Index:$first, Index:$count);
  let assemblyFormat = [{
    $grain `of` $total `for` $thread `of` $threads `on` $batch attr-dict
  }];
}

def Dnn_KernelOp : Dnn_Op<"kernel", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "Say what the code that follows computes";
  let description = [{
    `text` is the operation as `function` had it, before a kernel or a call of
    the library took its place; `number` is its place in the manifest. Computes
    nothing: the runtime is told that the kernel begins, on `rows` rows for the
    layer `scope`, in thread `thread` of a region or outside of one; assembly
    has the text as a comment.

    `cost` is what it moves and computes. `primitive` is that of the library
    matmul that follows; `reason` says why a matmul is the library's, or why it
    is not.
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$function, I64Attr:$number,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_ScopeType>:$scope, Index:$rows,
                       Optional<Index>:$thread, Dnn_CostAttr:$cost,
                       OptionalAttr<I64Attr>:$primitive,
                       OptionalAttr<StrAttr>:$reason);
  let assemblyFormat = [{
    $text `in` $function `number` $number `of` $batch (`[` $scope^ `]`)? `rows`
    $rows (`thread` $thread^)? `cost` $cost (`primitive` $primitive^)?
    (`because` $reason^)? attr-dict
  }];
  let hasVerifier = 1;
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
