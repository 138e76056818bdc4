//===- ModelOps.td - Scopes, parameters and dispatch -------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_MODELOPS_TD
#define TENON_DIALECTS_TRANSFORMER_MODELOPS_TD

include "TransformerBase.td"

def Transformer_ScopeOp : Transformer_HandleOp<"scope"> {
  let summary = "Name a set of parameters";
  let description = [{
    The parameters whose names begin with `name`, and, with `layer`, the layer
    of the caches that they work on.

    ```mlir
    %l3 = transformer.scope "model.layers.3" layer 3
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$layer);
  let results = (outs Transformer_ScopeType:$result);
  let assemblyFormat = "$name (`layer` $layer^)? attr-dict";
  let hasVerifier = 1;
}

def Transformer_ParameterOp : Transformer_HandleOp<"parameter"> {
  let summary = "A stored tensor of the model";
  let description = [{
    The tensor called `<scope name>.<key>` in the checkpoint, in the type it is
    kept in. `component` says what part of the model it counts towards
    (embedding, attention, ffn, norm, head). The key may be an expression that
    says which part of which tensors it is: `c_attn.weight^T[0:72]`,
    `experts.*.up_proj.weight`.

    ```mlir
    %w = transformer.parameter %l3 "self_attn.q_proj.weight" of attention
        : tensor<72x72xbf16>
    ```
  }];
  let arguments = (ins Transformer_ScopeType:$scope, StrAttr:$key,
                       StrAttr:$component);
  let results = (outs AnyTypeOf<[Transformer_Matrix, Transformer_Vector,
                            Transformer_Stack]>:$result);
  let assemblyFormat = [{
    $scope $key `of` custom<Word>($component) attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Transformer_DispatchOp : Op<Transformer_Dialect, "dispatch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call the variant of a function that suits the row count";
  let description = [{
    Calls `few` when the batch has at most as many tokens (or output rows) as
    the runtime allows for the step, never more than the module's
    `transformer.few_tokens`; `many` otherwise. Both have the same signature.

    ```mlir
    %y, %c1 = transformer.dispatch @layer.few or @layer.many by tokens
        (%l0, %batch, %c0, %x) : (...) -> (...)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$few, FlatSymbolRefAttr:$many,
                       Transformer_CountAttr:$count,
                       Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $few `or` $many `by` custom<Enum>($count) `(` $inputs `)` attr-dict
    `:` functional-type($inputs, $outputs)
  }];
}

#endif // TENON_DIALECTS_TRANSFORMER_MODELOPS_TD
