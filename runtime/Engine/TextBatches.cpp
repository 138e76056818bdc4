//===- TextBatches.cpp - Which texts share a step -------------------------===//

#include "runtime/Engine/TextBatches.h"

#include "runtime/Abi/Types.h"

#include <algorithm>
#include <map>

using namespace tenon;
using namespace tenon::engine;

int64_t engine::longestText(const artifact::Manifest &Info) {
  return std::min({Info.MaxTextTokens.value_or(Info.MaxSequence),
                   Info.MaxSequence, Info.MaxTokensPerStep});
}

namespace {

/// Texts by length; of one length the first first.
class Remaining {
public:
  void add(int64_t Length, size_t Text) { ByLength[Length].push_back(Text); }
  /// Called once all are added.
  void begin() {
    for (auto &[Length, Texts] : ByLength)
      std::reverse(Texts.begin(), Texts.end());
  }
  bool empty() const { return ByLength.empty(); }
  int64_t shortest() const { return ByLength.begin()->first; }

  /// The longest of at most `Most` tokens, which is taken out.
  std::optional<BatchItem> take(int64_t Most) {
    auto After = ByLength.upper_bound(Most);
    if (After == ByLength.begin())
      return std::nullopt;
    auto At = std::prev(After);
    BatchItem Item{At->second.back(), At->first};
    At->second.pop_back();
    if (At->second.empty())
      ByLength.erase(At);
    return Item;
  }

private:
  std::map<int64_t, std::vector<size_t>> ByLength;
};

/// One batch being filled.
class BatchPlanner {
public:
  BatchPlanner(Remaining &Left, int64_t Most, int64_t MostFiller)
      : Left(Left), Most(Most), MostFiller(MostFiller) {}

  std::vector<BatchItem> plan() {
    while (!Left.empty() && (addInPage() || addPage()))
      ;
    return std::move(Items);
  }

private:
  int64_t pageEnd() const {
    return (Position + PageTokens - 1) / PageTokens * PageTokens;
  }

  /// Adds a text that ends in the page that is begun.
  bool addInPage() {
    int64_t Begin = Position + Position % 2;
    if (!mayFill(Begin))
      return false;
    std::optional<BatchItem> Item =
        Left.take(std::min(pageEnd(), Most) - Begin);
    // No tokens are an error of their own, anywhere.
    if (!Item)
      return false;
    fill(Begin);
    add(*Item);
    return true;
  }

  /// Adds a text that begins a page.
  bool addPage() {
    // Tokens that are run for nothing, against those that are not run alone.
    constexpr int64_t FillerShare = 8;
    int64_t Begin = pageEnd();
    if (!mayFill(Begin) || (Filled + Begin - Position) * FillerShare > Begin ||
        Begin + Left.shortest() > Most)
      return false;
    std::optional<BatchItem> Item = Left.take(Most - Begin);
    if (!Item)
      return false;
    fill(Begin);
    add(*Item);
    return true;
  }

  bool mayFill(int64_t To) const { return To == Position || MostFiller > 0; }
  void add(const BatchItem &Item) {
    Items.push_back(Item);
    Position += Item.Tokens;
  }
  void fill(int64_t To) {
    Filled += To - Position;
    while (Position < To)
      add({std::nullopt, std::min(To - Position, MostFiller)});
  }

  Remaining &Left;
  int64_t Most, MostFiller;
  std::vector<BatchItem> Items;
  int64_t Position = 0, Filled = 0;
};

} // namespace

std::vector<std::vector<BatchItem>>
engine::planBatches(std::span<const int64_t> Lengths,
                    const BatchLimits &Limits) {
  Remaining Left;
  for (size_t Text = 0; Text < Lengths.size(); ++Text)
    Left.add(Lengths[Text], Text);
  Left.begin();
  std::vector<std::vector<BatchItem>> Batches;
  while (!Left.empty())
    Batches.push_back(
        BatchPlanner(Left, Limits.MostTokens, Limits.MostFiller).plan());
  return Batches;
}
