//===- SettingNames.h - What settings are called in errors ------*- C++ -*-===//

#ifndef TENON_RUNTIME_SAMPLING_SETTINGNAMES_H
#define TENON_RUNTIME_SAMPLING_SETTINGNAMES_H

#include "runtime/Support/Result.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::sampling {

/// Names settings as programs do, "top_p", or as a command line: "--top-p".
struct SettingNames {
  bool AreOptions = false;

  std::string operator()(std::string_view Name) const {
    std::string Shown = AreOptions ? "--" : "";
    for (char C : Name)
      Shown += AreOptions && C == '_' ? '-' : C;
    return Shown;
  }

  /// "NAME is VALUE: expected EXPECTED".
  template <typename T>
  Error refuse(std::string_view Name, T Value,
               std::string_view Expected) const {
    return Error((*this)(Name) + " is " + textOf(Value) + ": expected " +
                 std::string(Expected));
  }

  static std::string textOf(int64_t Value) { return std::to_string(Value); }
  /// In the fewest digits that read back as the same number.
  static std::string textOf(double Value) {
    char Digits[32];
    auto [End, Failure] = std::to_chars(Digits, Digits + sizeof(Digits), Value);
    (void)Failure; // 32 characters hold every double.
    return {Digits, End};
  }
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_SETTINGNAMES_H
