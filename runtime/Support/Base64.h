//===- Base64.h - Bytes as text ---------------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_BASE64_H
#define TENON_RUNTIME_SUPPORT_BASE64_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// `Bytes` in base64 (RFC 4648, section 4, padded).
std::string encodeBase64(std::span<const std::byte> Bytes);

/// The bytes that `Text` spells in the same, or the offset of the first
/// character that is wrong. Nothing else may be in it, white space neither.
Result<std::string> decodeBase64(std::string_view Text);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_BASE64_H
