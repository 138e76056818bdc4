//===- tool-calls.cpp - Tool calls in answers -----------------------------===//
//
// Input: a byte that chooses the format, a byte for the size of the pieces, and
// an answer. However it is cut, the same comes out, and calls are whole.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer/Unicode.h"
#include "runtime/ToolCalls/ToolCallParser.h"
#include "tests/fuzz/FuzzTarget.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tools;

static ParsedAnswer parse(const ToolFormat &Format, std::string_view Text,
                          size_t Size) {
  ToolCallParser P(Format, {});
  ParsedAnswer A;
  for (size_t At = 0; At < Text.size(); At += Size)
    for (const AnswerPart &Part : P.feed(Text.substr(At, Size)))
      A.add(Part);
  for (const AnswerPart &Part : P.finish())
    A.add(Part);
  return A;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 2)
    return 0;
  const ToolFormat &Format = toolFormats()[Data[0] % toolFormats().size()];
  size_t Piece = Data[1] % 16 + 1;
  std::string_view Text = fuzz::textOf(Data, Size).substr(2);
  ParsedAnswer A = parse(Format, Text, Text.size() + 1);
  ParsedAnswer B = parse(Format, Text, Piece);
  fuzz::require(A.Text == B.Text && A.Reasoning == B.Reasoning &&
                    A.Calls == B.Calls,
                "pieces give what the whole gives");
  fuzz::require(tokenizer::findInvalidUtf8(Text) ||
                    (!tokenizer::findInvalidUtf8(A.Text) &&
                     !tokenizer::findInvalidUtf8(A.Reasoning)),
                "text stays UTF-8");
  for (const ToolCall &Call : A.Calls) {
    Result<Json> Arguments = parseJson(Call.Arguments, "arguments");
    fuzz::require(Arguments && Arguments->is_object(),
                  "arguments are a JSON object");
    fuzz::require(!Call.Name.empty(), "calls have a name");
  }
  // Only marks, and line breaks around them, are left out.
  bool HasMark = !A.Calls.empty() ||
                 Text.find('\n') != std::string_view::npos ||
                 Text.find('\xFF') != std::string_view::npos;
  for (const auto *Marks :
       {&Format.Dropped, &Format.ThinkBegin, &Format.ThinkEnd})
    for (std::string_view Mark : *Marks)
      HasMark = HasMark || Text.find(Mark) != std::string_view::npos;
  fuzz::require(HasMark || A.Text == Text, "text is given as it is");
  return 0;
}
