//===- Evaluation.cpp - How well logits predict a text --------------------===//

#include "runtime/Tool/Evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::tool;

double tool::divergence(const LogProbabilities &Reference,
                        const LogProbabilities &Other) {
  double Sum = 0;
  for (size_t I = 0; I < Reference.size(); ++I)
    if (double Probability = std::exp(Reference[I]); Probability != 0)
      Sum += Probability * (Reference[I] - Other[I]);
  // Rounding may leave a little less than the 0 of two equal rows.
  return std::max(Sum, 0.0);
}

double tool::percentile(std::vector<double> Values, double Share) {
  double Place = Share * static_cast<double>(Values.size() - 1);
  auto Below = static_cast<size_t>(Place);
  auto Middle = Values.begin() + static_cast<std::ptrdiff_t>(Below);
  std::nth_element(Values.begin(), Middle, Values.end());
  if (Below + 1 == Values.size())
    return *Middle;
  double Above = *std::min_element(Middle + 1, Values.end());
  // Two infinite neighbours have no difference.
  double Part = Place - static_cast<double>(Below);
  return Part == 0 ? *Middle : (1 - Part) * *Middle + Part * Above;
}

Result<TextTokens> tool::tokensOf(const tokenizer::Tokenizer &T,
                                  std::string_view Text) {
  constexpr size_t All = std::numeric_limits<size_t>::max();
  Result<std::vector<int32_t>> Own = T.encode(Text, false, All);
  if (!Own)
    return Own.error();
  Result<std::vector<int32_t>> Whole = T.encode(Text, true, All);
  if (!Whole)
    return Whole.error();
  TextTokens Tokens;
  auto Begin =
      std::search(Whole->begin(), Whole->end(), Own->begin(), Own->end());
  if (Begin != Whole->end())
    Tokens.Beginning = static_cast<size_t>(Begin - Whole->begin());
  Tokens.Ids.assign(Whole->begin(),
                    Whole->begin() +
                        static_cast<std::ptrdiff_t>(Tokens.Beginning));
  Tokens.Ids.insert(Tokens.Ids.end(), Own->begin(), Own->end());
  return Tokens;
}

Windows tool::windowsOf(int64_t Length, int64_t Context, int64_t Given) {
  if (Length < Context)
    return {1, Length, Given, 0};
  return {Length / Context, Context, std::max(Context / 2 + 1, Given),
          Length % Context};
}
