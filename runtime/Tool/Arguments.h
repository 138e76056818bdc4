//===- Arguments.h - Values of command-line options -------------*- C++ -*-===//
//
// Values that several commands read the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_ARGUMENTS_H
#define TENON_RUNTIME_TOOL_ARGUMENTS_H

#include "runtime/Sampling/LogitsRules.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tool {

/// "1,2,3", or "@F.npy": an integer array of one dimension (or of two with a
/// single row). `Option` names the option in errors. Ids must fit in 32 bits;
/// whether the model knows them is checked later.
Result<std::vector<int32_t>> parseTokens(const std::string &Value,
                                         const std::string &Option);

/// "ID=BIAS", of -100 to 100; none of anything else.
std::optional<sampling::TokenBias> parseBias(std::string_view Value);

/// The text of a file, or of standard input for "-".
Result<std::string> readText(const std::string &Path);

/// `Ids` joined by commas.
std::string joinTokens(const std::vector<int32_t> &Ids);

/// `Value` in the fewest digits that read back as the same float.
std::string shortest(float Value);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_ARGUMENTS_H
