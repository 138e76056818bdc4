//===- Batch.cpp - Building ragged batches --------------------------------===//

#include "runtime/Engine/Batch.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::engine;

static constexpr size_t Padding = 64;

void BatchBuilder::clear(int64_t Width, std::optional<int32_t> Token) {
  for (std::vector<int32_t> *Array :
       {&Ids, &Types, &Positions, &SequenceOf, &Starts, &Rows, &SourceLengths,
        &Prefixes, &StagedStarts})
    Array->clear();
  Tables.clear();
  CrossTables.clear();
  Features.clear();
  FeatureWidth = Width;
  ImageToken = Token;
  Staged = {};
}

void BatchBuilder::add(const Slice &S) {
  auto First = static_cast<int32_t>(Ids.size());
  auto Count = static_cast<int32_t>(S.Tokens.size());
  auto Sequence = static_cast<int32_t>(Tables.size());
  Starts.push_back(First);
  StagedStarts.push_back(static_cast<int32_t>(Staged.add(Count)));
  Tables.push_back(S.Pages);
  CrossTables.push_back(S.CrossPages);
  SourceLengths.push_back(static_cast<int32_t>(S.SourceLength));
  Prefixes.push_back(static_cast<int32_t>(S.Prefix));
  Ids.insert(Ids.end(), S.Tokens.begin(), S.Tokens.end());
  if (S.TokenTypes.empty())
    Types.resize(Ids.size());
  else
    Types.insert(Types.end(), S.TokenTypes.begin(), S.TokenTypes.end());
  if (FeatureWidth != 0)
    addFeatures(S);
  SequenceOf.resize(Ids.size(), Sequence);
  for (int32_t I = 0; I < Count; ++I)
    Positions.push_back(static_cast<int32_t>(S.Position) + I);
  for (auto I = Count - static_cast<int32_t>(S.OutputCount); I < Count; ++I)
    Rows.push_back(First + I);
}

/// The rows of the slice whose ids have just been added.
void BatchBuilder::addFeatures(const Slice &S) {
  auto Width = static_cast<size_t>(FeatureWidth);
  if (!ImageToken) {
    Features.resize(Ids.size() * Width - S.Features.size());
    Features.insert(Features.end(), S.Features.begin(), S.Features.end());
    return;
  }
  if (S.Features.empty())
    return;
  // Slices without rows before and after this one are made up for here and in
  // finish().
  Features.resize(Ids.size() * Width);
  const float *Next = S.Features.data();
  for (size_t T = Ids.size() - S.Tokens.size(); T < Ids.size(); ++T) {
    if (Ids[T] != *ImageToken)
      continue;
    std::copy_n(Next, Width, Features.data() + T * Width);
    Next += Width;
  }
}

const tenon_rt_batch &BatchBuilder::finish(int64_t FewTokens) {
  Built.size = sizeof(Built);
  Built.tokens = tokens();
  Built.sequences = sequences();
  Built.output_row_count = outputRows();
  Starts.push_back(static_cast<int32_t>(Ids.size()));
  Built.staged_pages = Staged.count();
  StagedStarts.push_back(static_cast<int32_t>(Built.staged_pages * PageTokens));
  auto Padded = [](auto &Array) {
    Array.resize(Array.size() + Padding);
    return Array.data();
  };
  Built.token_ids = Padded(Ids);
  Built.token_types = Padded(Types);
  Built.positions = Padded(Positions);
  Built.sequence_of = Padded(SequenceOf);
  Built.starts = Padded(Starts);
  Built.output_rows = Padded(Rows);
  Built.pages = Padded(Tables);
  Built.features = nullptr;
  if (!Features.empty()) {
    Features.resize(static_cast<size_t>(Built.tokens * FeatureWidth));
    Built.features = Padded(Features);
  }
  Built.cross_pages = Padded(CrossTables);
  Built.source_lengths = Padded(SourceLengths);
  Built.prefixes = Padded(Prefixes);
  Built.few_tokens = FewTokens;
  Built.staged_starts = Padded(StagedStarts);
  return Built;
}
