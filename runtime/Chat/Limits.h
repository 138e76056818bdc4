//===- Limits.h - What one template may cost --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_LIMITS_H
#define TENON_RUNTIME_CHAT_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace tenon::chat {

/// Bytes of a template. The longest published ones have some 20,000.
inline constexpr size_t MaxTemplateBytes = 1u << 20;

/// How deep blocks, parentheses and operators of a template may be nested.
inline constexpr unsigned MaxSyntaxDepth = 120;

/// What rendering may take in all: a step is an expression computed, a
/// statement run, an element or 64 bytes of text made, looked at or copied, so
/// that it bounds memory too.
inline constexpr uint64_t MaxSteps = 20'000'000;

/// How deep expressions, statements and calls of macros may be nested while
/// rendering; a recursive macro takes some 10 of it each time.
inline constexpr unsigned MaxRunDepth = 1000;

/// How deep lists and mappings may be nested.
inline constexpr unsigned MaxValueDepth = 100;

/// Bytes of what is rendered, and of each string on the way.
inline constexpr size_t MaxTextBytes = 64u << 20;

/// Elements of range(), as in Jinja's sandbox.
inline constexpr size_t MaxRangeSize = 100'000;

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_LIMITS_H
