//===- record.cpp - Records of a server, and answers to compare -----------===//

#include "runtime/Http/Record.h"
#include "runtime/Http/AnswerCompare.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::http;

/// The input is a record, and two streams with a zero byte between them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Text(fuzz::textOf(Data, Size));
  Result<Record> All = parseRecord(Text, "input.jsonl");
  if (fuzz::isGood(All))
    for (const RecordedRequest &R : All->Requests)
      fuzz::require(R.Server < All->Servers.size(),
                    "a request has a server before it");
  size_t Middle = std::min(Text.find('\0'), Text.size());
  std::string A = Text.substr(0, Middle);
  std::string B = Text.substr(std::min(Middle + 1, Text.size()));
  for (bool IsCut : {false, true})
    if (auto Difference = differenceOf(A, B, true, IsCut))
      fuzz::require(Difference->find('\n') == std::string::npos,
                    "a difference is one line");
  // Behind the last event nothing counts.
  std::string Longer = A.substr(0, A.rfind("\n\n") + 2) + "data: {";
  if (A.ends_with("\n\n"))
    fuzz::require(!differenceOf(A, Longer, true, false),
                  "a stream is the same as itself");
  return 0;
}
