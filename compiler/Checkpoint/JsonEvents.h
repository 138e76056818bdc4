//===- JsonEvents.h - JSON read without building a tree ---------*- C++ -*-===//
//
// Safetensors headers and shard indices hold up to a million keys: their
// readers take events and keep only what they need.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_JSONEVENTS_H
#define TENON_COMPILER_CHECKPOINT_JSONEVENTS_H

#include "runtime/Support/Json.h"
#include "runtime/Support/Result.h"

#include <string>
#include <string_view>

namespace tenon {

/// Receives what a JSON text consists of, in order. Any error stops the
/// reading. Duplicate keys are the receiver's to find.
class JsonEvents {
public:
  virtual ~JsonEvents() = default;

  /// A '{' or '['.
  virtual Status open(char Bracket) = 0;
  /// The bracket that closes the last open one.
  virtual Status close() = 0;
  /// A key of the innermost object.
  virtual Status key(std::string &Key) = 0;
  /// A string, number, boolean or null.
  virtual Status scalar(const Json &Value) = 0;
};

/// Feeds the JSON in `Text` to `Events`; `File` names it in errors. Refuses
/// what is not JSON, not UTF-8, or nested deeper than MaxJsonDepth.
Status readJsonEvents(std::string_view Text, std::string_view File,
                      JsonEvents &Events);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_JSONEVENTS_H
