//===- arguments.cpp - Lists on the command line --------------------------===//

#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/CommandLine.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::tool;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Text(fuzz::textOf(Data, Size));
  // "@FILE" is for the target `npy`.
  if (Text.starts_with('@'))
    return 0;
  if (Result<std::vector<int32_t>> Ids = parseTokens(Text, "--token-ids");
      fuzz::isGood(Ids)) {
    Result<std::vector<int32_t>> Again =
        parseTokens(joinTokens(*Ids), "--token-ids");
    fuzz::require(Again && *Again == *Ids, "ids read as they are written");
  }
  if (Result<std::vector<std::string>> Values = splitList("--list", {Text})) {
    std::string Joined;
    for (const std::string &Value : *Values)
      Joined += (Joined.empty() ? "" : ",") + Value;
    fuzz::require(Joined == Text, "a list is joined as it was split");
  }
  return 0;
}
