//===- Passes.td - Kernels -------------------------------*- tablegen -*-===//

#ifndef TENON_PASSES_CODEGEN_PASSES_TD
#define TENON_PASSES_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def GenerateKernels : Pass<"generate-kernels", "::mlir::ModuleOp"> {
  let summary = "Write a kernel for every operation that is not the library's";
  let description = [{
    Consecutive generated operations become one `dnn.parallel` region, in which
    every thread does its share of each operation and waits at a barrier before
    one that reads or writes what operations since the last barrier wrote, or
    writes what they read: a `.few` function is a single region, a `.many` function
    has regions between its library matmuls. A `dnn.kernel` before each kernel
    and library call has the operation as the memory plan had it, its number
    and what it costs.

    Kernels are written for the model's constants (widths, heads, epsilon,
    activations) and for the CPU level: vectors of 16 f32 lanes everywhere;
    products of bf16 pairs, of integers and of tiles where the level has them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::x86vector::X86VectorDialect",
 "::mlir::amx::AMXDialect"];
}

def PlaceScratch : Pass<"place-scratch", "::mlir::ModuleOp"> {
  let summary = "Move what is too large for a thread's stack to memory";
  let description = [{
    Of the scratch of a `dnn.parallel` region, 64 KiB stay on the stack, where
    nothing says how large that is. The largest buffers become `dnn.scratch`, and
    `dnn.scratch_bytes` of the module is what a thread needs of it.
  }];
  let dependentDialects = ["::tenon::dnn::DnnDialect"];
}

def OutlineParallel : Pass<"outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Make parallel regions functions that the runtime can call";
  let description = [{
    The body of each `dnn.parallel` becomes a private function of the thread's
    number, the number of threads and the values it uses; `dnn.launch` runs it.
  }];
}

#endif // TENON_PASSES_CODEGEN_PASSES_TD
