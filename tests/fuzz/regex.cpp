//===- regex.cpp - Regular expressions of tokenizers ----------------------===//
//
// Input: the pattern, NUL, the text.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer/Regex.h"
#include "runtime/Tokenizer/Unicode.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::tokenizer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto [Pattern, Text] = fuzz::splitAtNul(fuzz::textOf(Data, Size));
  // JSON holds nothing else, and texts are checked before they get here.
  if (findInvalidUtf8(Pattern) || findInvalidUtf8(Text))
    return 0;
  fuzz::isGood(translateRegex(Pattern));
  Json Value = std::string(Pattern);
  Result<Regex> Compiled =
      Regex::fromJson(JsonField(Value, "input", "pattern"));
  if (!fuzz::isGood(Compiled))
    return 0;
  size_t Last = 0;
  Status Matched =
      Compiled->forEachMatch(Text, [&](size_t Begin, size_t End) -> Status {
        fuzz::require(Last <= Begin && Begin <= End && End <= Text.size(),
                      "matches go from the left and do not overlap");
        auto IsBoundary = [&](size_t At) {
          return At == Text.size() ||
                 (static_cast<unsigned char>(Text[At]) & 0xc0) != 0x80;
        };
        fuzz::require(IsBoundary(Begin) && IsBoundary(End),
                      "matches are of whole characters");
        Last = End;
        return {};
      });
  fuzz::isGood(Matched);
  return 0;
}
