//===- Arguments.cpp - Values of command-line options ---------------------===//

#include "runtime/Tool/Arguments.h"

#include "runtime/Support/Json.h"
#include "runtime/Support/MappedFile.h"
#include "runtime/Tool/Npy.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace tenon;
using namespace tenon::tool;

static constexpr int64_t LargestId = std::numeric_limits<int32_t>::max();

static Result<std::vector<int32_t>> tokensOfFile(const std::string &Path) {
  Result<NpyArray> Array = readNpy(Path);
  if (!Array)
    return Array.error();
  size_t Dimensions = Array->Shape.size();
  if (!Array->Floats.empty() ||
      !(Dimensions == 1 || (Dimensions == 2 && Array->Shape[0] == 1)))
    return Error(Path + ": expected token ids: integers in one dimension");
  std::vector<int32_t> Ids;
  Ids.reserve(Array->Integers.size());
  for (int64_t Id : Array->Integers) {
    if (Id < 0 || Id > LargestId)
      return Error(Path + ": value " + std::to_string(Id) + " at index " +
                   std::to_string(Ids.size()) + ": expected 0 to " +
                   std::to_string(LargestId));
    Ids.push_back(static_cast<int32_t>(Id));
  }
  return Ids;
}

Result<std::vector<int32_t>> tool::parseTokens(const std::string &Value,
                                               const std::string &Option) {
  if (Value.starts_with('@'))
    return tokensOfFile(Value.substr(1));
  std::vector<int32_t> Ids;
  const char *Next = Value.data(), *End = Value.data() + Value.size();
  while (true) {
    int32_t Id = 0;
    auto [Rest, Failure] = std::from_chars(Next, End, Id);
    if (Failure != std::errc() || Id < 0 || (Rest != End && *Rest != ','))
      return Error(Option + " is " + printable(Value) +
                   ": expected numbers from 0 to " + std::to_string(LargestId) +
                   " joined by commas, or @FILE.npy");
    Ids.push_back(Id);
    if (Rest == End)
      return Ids;
    Next = Rest + 1;
  }
}

std::optional<sampling::TokenBias> tool::parseBias(std::string_view Value) {
  sampling::TokenBias Bias;
  const char *End = Value.data() + Value.size();
  auto [Middle, Failure] = std::from_chars(Value.data(), End, Bias.Token);
  if (Failure != std::errc() || Middle == End || *Middle != '=')
    return std::nullopt;
  auto [Rest, Wrong] = std::from_chars(Middle + 1, End, Bias.Bias);
  if (Wrong != std::errc() || Rest != End || !(std::abs(Bias.Bias) <= 100))
    return std::nullopt;
  return Bias;
}

Result<std::string> tool::readText(const std::string &Path) {
  constexpr uint64_t MaxTextBytes = 256u << 20;
  if (Path != "-")
    return readFile(Path, MaxTextBytes);
  std::string Text;
  char Part[1 << 16];
  while (size_t Read = std::fread(Part, 1, sizeof(Part), stdin)) {
    Text.append(Part, Read);
    if (Text.size() > MaxTextBytes)
      return Error("standard input: more than " + std::to_string(MaxTextBytes) +
                   " bytes");
  }
  if (std::ferror(stdin))
    return Error(std::string("standard input: cannot read: ") +
                 std::strerror(errno));
  return Text;
}

std::string tool::joinTokens(const std::vector<int32_t> &Ids) {
  std::string Text;
  for (int32_t Id : Ids)
    Text.append(Text.empty() ? "" : ",").append(std::to_string(Id));
  return Text;
}

std::string tool::shortest(float Value) {
  char Digits[32];
  auto [End, Failure] = std::to_chars(Digits, Digits + sizeof(Digits), Value);
  (void)Failure; // 32 characters hold every float.
  return {Digits, End};
}
