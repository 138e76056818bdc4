//===- QuantisedTensors.h - Quantised Hugging Face tensors ------*- C++ -*-===//
//
// Checkpoints whose config.json has a quantization_config store a matrix as
// several tensors: integers packed into words, scales, zero points. Here they
// become one tensor of the name and shape that the model has without it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_QUANTISEDTENSORS_H
#define TENON_COMPILER_CHECKPOINT_QUANTISEDTENSORS_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/QuantisationForm.h"

namespace tenon {

/// Puts matrices into `Weights`, whose files are safetensors, in place of the
/// tensors that `Form` stores of them. Integers and scales stay in the file;
/// reading gives scale x (integer - zero point) in f32, and TensorSource's
/// keptFormat() one of our formats with the same values where there is one:
///
///   up to 4 bits           q4_0 if zero points are all the same and integers
///                          less that are -8 to 7, else u4_zp
///   5 to 8 bits, symmetric q8_0
///   MXFP4                  mxfp4
///
/// unless a scale is none of f16, or 32 input features from a multiple of 32
/// on have several scales (GPTQ's desc_act). `Notes` tells when scales of
/// activations are left out. An error names a tensor that is
/// missing or has another type or shape than expected.
Status restoreQuantised(const QuantisationForm &Form, Checkpoint &Weights,
                        std::vector<std::string> &Notes);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_QUANTISEDTENSORS_H
