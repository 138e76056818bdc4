//===- CompileChoices.h - What options of compiling take --------*- C++ -*-===//
//
// For the compiler's passes and its command line, and for the tools that have
// models compiled. Of each the first is the default.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ABI_COMPILECHOICES_H
#define TENON_RUNTIME_ABI_COMPILECHOICES_H

#include <string_view>

namespace tenon {

/// What matrices are quantised to.
inline constexpr std::string_view QuantizeChoices[] = {"none", "int8", "int4"};
/// What matrices of plain numbers are kept in.
inline constexpr std::string_view DtypeChoices[] = {"auto", "f32", "bf16"};
/// What caches store.
inline constexpr std::string_view CacheChoices[] = {"auto", "f32", "bf16",
                                                    "int8"};
/// Whether activations may be quantised for products with quantised weights.
inline constexpr std::string_view ActivationChoices[] = {"auto", "exact"};

} // namespace tenon

#endif // TENON_RUNTIME_ABI_COMPILECHOICES_H
