//===- Batch.cpp - The tokens of one step ---------------------------------===//

#include "compiler/Evaluator/Batch.h"

#include "runtime/Abi/StagedPages.h"

#include "llvm/ADT/DenseSet.h"

using namespace tenon;
using namespace tenon::transformer;

void EvaluatorBatch::add(int64_t Sequence, std::span<const int64_t> Ids,
                         int64_t Position, int64_t Outputs) {
  for (int64_t Id : Ids) {
    TokenIds.push_back(Id);
    Positions.push_back(Position++);
    Sequences.push_back(Sequence);
  }
  for (int64_t Row = tokens() - Outputs; Row < tokens(); ++Row)
    OutputRows.push_back(Row);
}

std::vector<int64_t> EvaluatorBatch::starts() const {
  std::vector<int64_t> Starts;
  for (int64_t Row = 0; Row < tokens(); ++Row)
    if (Row == 0 || Sequences[Row] != Sequences[Row - 1])
      Starts.push_back(Row);
  Starts.push_back(tokens());
  return Starts;
}

std::vector<int64_t> EvaluatorBatch::stagedSlots() const {
  std::vector<int64_t> Starts = starts(), Slots;
  StagedPages Staged;
  for (size_t S = 0; S + 1 < Starts.size(); ++S) {
    int64_t Length = Starts[S + 1] - Starts[S], First = Staged.add(Length);
    for (int64_t I = 0; I < Length; ++I)
      Slots.push_back(First + I);
  }
  return Slots;
}

std::vector<int64_t> EvaluatorBatch::prefixes() const {
  std::vector<int64_t> OfTokens;
  size_t Sequence = 0;
  for (int64_t Row = 0; Row < tokens(); ++Row) {
    if (Row > 0 && Sequences[Row] != Sequences[Row - 1])
      ++Sequence;
    OfTokens.push_back(Prefixes.empty() ? 0 : Prefixes[Sequence]);
  }
  return OfTokens;
}

int64_t EvaluatorBatch::count(CountKind Kind) const {
  switch (Kind) {
  case CountKind::Tokens:
    return tokens();
  case CountKind::OutputRows:
    return static_cast<int64_t>(OutputRows.size());
  case CountKind::Sequences:
    return static_cast<int64_t>(starts().size()) - 1;
  case CountKind::StagedPages:
    return tokens() == 0 ? 0 : stagedSlots().back() / PageTokens + 1;
  }
  return 0;
}

Status EvaluatorBatch::check(std::optional<int64_t> MaxPositions) const {
  int64_t Tokens = tokens();
  auto CheckSize = [&](const char *Name, size_t Size) -> Status {
    if (static_cast<int64_t>(Size) == Tokens)
      return {};
    return Error(std::string("batch: field '") + Name + "' has " +
                 std::to_string(Size) + " elements: expected " +
                 std::to_string(Tokens) + ", one per token");
  };
  if (Tokens == 0)
    return Error("batch: field 'TokenIds' has 0 elements: expected at least 1");
  if (Status S = CheckSize("Positions", Positions.size()); !S)
    return S;
  if (Status S = CheckSize("Sequences", Sequences.size()); !S)
    return S;
  if (!TokenTypes.empty())
    if (Status S = CheckSize("TokenTypes", TokenTypes.size()); !S)
      return S;

  llvm::DenseSet<int64_t> Ended;
  for (int64_t T = 0; T < Tokens; ++T) {
    auto Fail = [&](const char *Field, int64_t Value, const std::string &Want) {
      return Error(std::string("batch: field '") + Field + "' of token " +
                   std::to_string(T) + " is " + std::to_string(Value) +
                   ": expected " + Want);
    };
    int64_t Position = Positions[T];
    if (Position < 0)
      return Fail("Positions", Position, "at least 0");
    if (MaxPositions && Position >= *MaxPositions)
      return Fail("Positions", Position,
                  "below " + std::to_string(*MaxPositions));
    if (T == 0)
      continue;
    int64_t Sequence = Sequences[T], Last = Sequences[T - 1];
    if (Sequence == Last && Position != Positions[T - 1] + 1)
      return Fail("Positions", Position,
                  std::to_string(Positions[T - 1] + 1) +
                      ", the next of its sequence");
    if (Sequence != Last && (Ended.insert(Last), Ended.contains(Sequence)))
      return Fail("Sequences", Sequence,
                  "the tokens of a sequence side by side");
  }
  size_t Count = starts().size() - 1;
  if (!Prefixes.empty() && Prefixes.size() != Count)
    return Error("batch: field 'Prefixes' has " +
                 std::to_string(Prefixes.size()) + " elements: expected " +
                 std::to_string(Count) + ", one per sequence");
  for (int64_t Prefix : Prefixes)
    if (Prefix < 0)
      return Error("batch: field 'Prefixes' has " + std::to_string(Prefix) +
                   ": expected at least 0");
  int64_t Previous = -1;
  for (int64_t Row : OutputRows) {
    if (Row <= Previous || Row >= Tokens)
      return Error("batch: field 'OutputRows' has " + std::to_string(Row) +
                   ": expected ascending rows below " + std::to_string(Tokens));
    Previous = Row;
  }
  return {};
}
