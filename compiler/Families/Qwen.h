//===- Qwen.h - What the Qwen families share --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_QWEN_H
#define TENON_COMPILER_FAMILIES_QWEN_H

#include "compiler/Families/Decoder.h"

namespace tenon {

/// Windows of layers as use_sliding_window, max_window_layers and layer_types
/// say.
void setQwenWindows(ConfigReader &Config, DecoderModel &Model);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_QWEN_H
