//===- GgufSettings.cpp - Metadata of one architecture --------------------===//

#include "compiler/Checkpoint/GgufSettings.h"

using namespace tenon;

/// More than any size of a model, so that no product of two overflows.
static constexpr int64_t MaxSize = INT32_MAX;

bool GgufSettings::take(std::string_view Key) {
  Read.insert(full(Key));
  return has(Key);
}

int64_t GgufSettings::size(std::string_view Key, int64_t Min) {
  if (auto Value = optionalSize(Key, Min))
    return *Value;
  refuse(Key, wholeNumber(Min, MaxSize));
  return Min;
}

std::optional<int64_t> GgufSettings::optionalSize(std::string_view Key,
                                                  int64_t Min) {
  if (!take(Key))
    return std::nullopt;
  if (File.find(full(Key))->IsArray) {
    auto Values = File.integers(full(Key));
    if (!Values) {
      refuse(Values.error());
      return Min;
    }
    for (int64_t Value : *Values)
      if (Value != Values->front() || Value < Min || Value > MaxSize)
        Values->clear();
    if (!Values->empty())
      return Values->front();
    refuse(Key, "equal numbers from " + std::to_string(Min) + " to " +
                    std::to_string(MaxSize));
    return Min;
  }
  auto Value = File.integer(full(Key), Min, MaxSize);
  if (Value)
    return *Value;
  refuse(Value.error());
  return Min;
}

double GgufSettings::number(std::string_view Key) {
  if (auto Value = optionalNumber(Key))
    return *Value;
  refuse(Key, "a finite number");
  return 0;
}

std::optional<double> GgufSettings::optionalNumber(std::string_view Key) {
  if (!take(Key))
    return std::nullopt;
  auto Value = File.number(full(Key));
  if (Value)
    return *Value;
  refuse(Value.error());
  return 0;
}

std::optional<bool> GgufSettings::optionalFlag(std::string_view Key) {
  if (!take(Key))
    return std::nullopt;
  auto Value = File.boolean(full(Key));
  if (Value)
    return *Value;
  refuse(Value.error());
  return false;
}

std::optional<std::string> GgufSettings::optionalText(std::string_view Key) {
  if (!take(Key))
    return std::nullopt;
  auto Value = File.string(full(Key));
  if (Value)
    return *Value;
  refuse(Value.error());
  return std::string();
}

std::optional<std::vector<double>>
GgufSettings::optionalNumbers(std::string_view Key) {
  if (!take(Key))
    return std::nullopt;
  auto Values = File.numbers(full(Key));
  if (Values)
    return *Values;
  refuse(Values.error());
  return std::vector<double>();
}

void GgufSettings::expectSize(std::string_view Key, int64_t Value,
                              std::string_view Why) {
  auto Stored = optionalSize(Key, 0);
  if (Stored && *Stored != Value)
    refuse(Key, std::to_string(Value) + ", " + std::string(Why));
}

const GgufTensor *GgufSettings::tensor(const std::string &Name) {
  const GgufTensor *Found = File.findTensor(Name);
  if (!Found)
    refuse(Error(File.path() + ": missing tensor " + printable(Name) +
                 ": expected it in the architecture " + Architecture));
  return Found;
}

Status GgufSettings::status() const {
  if (Failure)
    return *Failure;
  for (const std::string &Key : File.keys())
    if (Key.starts_with(Architecture + ".") && !Read.contains(Key))
      return File.expected(Key, "no such key, for the architecture " +
                                    Architecture + " does not handle it");
  return {};
}
