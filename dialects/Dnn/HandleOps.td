//===- HandleOps.td - Counts, scopes, weights, calls -------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_HANDLEOPS_TD
#define TENON_DIALECTS_DNN_HANDLEOPS_TD

include "DnnBase.td"

def Dnn_CountOp : Dnn_HandleOp<"count"> {
  let summary = "How many tokens, output rows, sequences or staged pages there are";
  let description = [{
    A staged page is a row of staged keys and values.
  }];
  let arguments = (ins Transformer_CountAttr:$kind, Transformer_BatchType:$batch);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Enum>($kind) $batch attr-dict";
}

def Dnn_FewTokensOp : Dnn_HandleOp<"few_tokens"> {
  let summary = "The most tokens for which this step runs variants for few";
  let description = [{
    What the runtime allows, at most the module's `transformer.few_tokens`: a
    step that must give the same bits at any number of tokens runs one variant.
  }];
  let arguments = (ins Transformer_BatchType:$batch);
  let results = (outs Index:$result);
  let assemblyFormat = "$batch attr-dict";
}

def Dnn_ScopeOp : Dnn_HandleOp<"scope"> {
  let summary = "The scope of a number";
  let description = [{
    `number` is the scope's place in the manifest.
  }];
  let arguments = (ins Transformer_BatchType:$batch, StrAttr:$name,
                       I64Attr:$number, OptionalAttr<I64Attr>:$layer);
  let results = (outs Transformer_ScopeType:$result);
  let assemblyFormat = [{
    $batch $name `number` $number (`layer` $layer^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dnn_WeightOp : Dnn_HandleOp<"weight"> {
  let summary = "A packed weight of a scope";
  let description = [{
    The tensors `keys` of the scope, concatenated along their rows and packed.
    `index` is its place in the scope's table.
  }];
  let arguments = (ins Transformer_ScopeType:$scope, StrArrayAttr:$keys,
                       StrAttr:$component, OptionalAttr<I64Attr>:$index);
  let results = (outs Dnn_PackedType:$result);
  let assemblyFormat = [{
    $scope $keys `of` custom<Word>($component) (`index` $index^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_TableOp : Dnn_HandleOp<"table"> {
  let summary = "A table computed when the model is compiled";
  let description = [{
    What `content` says, f32, stored with the weights:

    - `#transformer.rope`: row p holds the cosines of the `dim / 2` angles of
      position p, then their sines;
    - `#transformer.sinusoid`: row p is the sinusoid of position p;
    - `#transformer.buckets`: row h holds the learned biases `key` of head h at
      distances from -max to max;
    - `#transformer.alibi`: one column, the slope of each head.
  }];
  let arguments = (ins Transformer_ScopeType:$scope, Transformer_TableAttr:$content,
                       OptionalAttr<StrAttr>:$key,
                       OptionalAttr<I64Attr>:$index);
  let results = (outs Dnn_Table:$result);
  let assemblyFormat = [{
    $content `in` $scope (`of` $key^)? (`index` $index^)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dnn_DispatchOp : Dnn_Op<"dispatch", [
    AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call the variant of a function that suits the batch";
  let description = [{
    As in the transformer dialect, with the results passed as destinations
    after the inputs.
  }];
  let arguments = (ins FlatSymbolRefAttr:$few, FlatSymbolRefAttr:$many,
                       Transformer_CountAttr:$count, Transformer_BatchType:$batch,
                       Variadic<AnyType>:$inputs, Variadic<Dnn_Activations>:$outs);
  let results = (outs Variadic<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $few `or` $many `by` custom<Enum>($count) `of` $batch `(` $inputs `)` `outs` `(` $outs `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

#endif // TENON_DIALECTS_DNN_HANDLEOPS_TD
