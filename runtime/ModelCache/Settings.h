//===- Settings.h - How a cached model is compiled --------------*- C++ -*-===//

#ifndef TENON_RUNTIME_MODELCACHE_SETTINGS_H
#define TENON_RUNTIME_MODELCACHE_SETTINGS_H

#include "runtime/Abi/CompileChoices.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace tenon::modelcache {

/// Options of `tenon compile` that make other artifacts of the same model, with
/// its defaults.
struct Settings {
  std::string Quantize = "none";
  std::string Calibrate = "none";
  std::string Dtype = "auto";
  std::string KvCache = "auto";
  std::string Activations = "auto";

  bool operator==(const Settings &) const = default;
};

/// One of them: its option without "--", and the values that it takes, of
/// which the first is the default.
struct Setting {
  std::string_view Name;
  std::string Settings::*Value;
  std::span<const std::string_view> Values;
  std::string_view Help;
};

/// Here a model is calibrated by what it generates, or not at all.
inline constexpr std::string_view CalibrateChoices[] = {"none", "auto"};

inline constexpr std::array<Setting, 5> AllSettings = {{
    {"quantize", &Settings::Quantize, QuantizeChoices,
     "What matrices are quantised to"},
    {"calibrate", &Settings::Calibrate, CalibrateChoices,
     "With --quantize int8 or int4: calibrate by text that the model "
     "generates"},
    {"dtype", &Settings::Dtype, DtypeChoices,
     "What matrices of plain numbers are kept in"},
    {"kv-cache", &Settings::KvCache, CacheChoices,
     "What caches of keys and values store"},
    {"activations", &Settings::Activations, ActivationChoices,
     "Whether activations are quantised for products with quantised weights"},
}};

/// Whether `S` can have the value.
constexpr bool takes(const Setting &S, std::string_view Value) {
  for (std::string_view Known : S.Values)
    if (Known == Value)
      return true;
  return false;
}

/// What differs from the defaults, "--quantize int4 --kv-cache int8".
inline std::string toText(const Settings &S) {
  std::string Text;
  for (const Setting &Each : AllSettings)
    if (S.*Each.Value != Each.Values.front())
      Text.append(Text.empty() ? "--" : " --")
          .append(Each.Name)
          .append(" ")
          .append(S.*Each.Value);
  return Text;
}

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_SETTINGS_H
