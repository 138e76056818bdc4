//===- SamplingDistributionTest.cpp - What settings draw ------------------===//
//
// Tokens that a generator draws, for every setting and for several together,
// against the distribution that a second implementation computes in double from
// the model's raw logits: Pearson's chi-square test. Draws are counted from
// fixed seeds, so that the statistic is always the same number.
//
//===----------------------------------------------------------------------===//

#include "GenerationFixture.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace tenon;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

const Tokens EndTokens = {7, 20, 33};

/// The probabilities of the next token after `Prompt` and `New`, as
/// docs/generation.md defines them.
std::vector<double> reference(const Settings &Wish, const Tokens &Prompt,
                              const Tokens &New) {
  Tokens Whole = Prompt;
  Whole.insert(Whole.end(), New.begin(), New.end());
  constexpr double Never = -std::numeric_limits<double>::infinity();
  std::vector<float> Raw = expectedLogits(Whole);
  std::vector<double> X(Raw.begin(), Raw.end());
  auto CountIn = [](const Tokens &In, size_t Token) {
    return static_cast<double>(
        std::count(In.begin(), In.end(), static_cast<int32_t>(Token)));
  };
  for (const sampling::TokenBias &B : Wish.LogitBias)
    X[static_cast<size_t>(B.Token)] += static_cast<double>(B.Bias);
  for (size_t T = 0; T < X.size(); ++T) {
    double Repetition = Wish.RepetitionPenalty.value_or(1);
    if (CountIn(Whole, T) > 0)
      X[T] = X[T] >= 0 ? X[T] / Repetition : X[T] * Repetition;
    if (double Count = CountIn(New, T); Count > 0)
      X[T] -= Wish.FrequencyPenalty * Count + Wish.PresencePenalty;
  }
  for (const Tokens &Word : Wish.BadWords) {
    bool Follows = Word.size() - 1 <= Whole.size();
    for (size_t I = 0; Follows && I + 1 < Word.size(); ++I)
      Follows = Whole[Whole.size() - Word.size() + 1 + I] == Word[I];
    if (Follows)
      X[static_cast<size_t>(Word.back())] = Never;
  }
  if (static_cast<int64_t>(New.size()) < Wish.MinNewTokens.value_or(0))
    for (int32_t End : EndTokens)
      X[static_cast<size_t>(End)] = Never;

  for (double &Score : X)
    Score /= *Wish.Temperature;
  std::vector<double> P(X.size());
  auto Normalise = [&] {
    double Sum = std::accumulate(P.begin(), P.end(), 0.0);
    for (double &Value : P)
      Value /= Sum;
  };
  double Largest = *std::max_element(X.begin(), X.end());
  for (size_t T = 0; T < X.size(); ++T)
    P[T] = std::exp(X[T] - Largest);
  Normalise();
  // By a key, of equal ones the lowest id first.
  auto InOrder = [&](auto KeyOf) {
    std::vector<size_t> Order(P.size());
    std::iota(Order.begin(), Order.end(), size_t(0));
    std::stable_sort(Order.begin(), Order.end(),
                     [&](size_t A, size_t B) { return KeyOf(A) < KeyOf(B); });
    return Order;
  };
  if (Wish.TopK) {
    std::vector<size_t> Order = InOrder([&](size_t T) { return -X[T]; });
    for (size_t I = static_cast<size_t>(*Wish.TopK); I < Order.size(); ++I)
      P[Order[I]] = 0;
    Normalise();
  }
  if (Wish.TopP) {
    double Sum = 0;
    for (size_t T : InOrder([&](size_t T) { return -P[T]; })) {
      bool IsFull = Sum >= *Wish.TopP;
      Sum += P[T];
      if (IsFull)
        P[T] = 0;
    }
    Normalise();
  }
  if (Wish.MinP) {
    double Least = *Wish.MinP * *std::max_element(P.begin(), P.end());
    for (double &Value : P)
      if (Value < Least)
        Value = 0;
    Normalise();
  }
  if (Wish.TypicalP) {
    double Entropy = 0;
    for (double Value : P)
      Entropy -= Value > 0 ? Value * std::log(Value) : 0;
    auto Deviation = [&](size_t T) {
      return P[T] > 0 ? std::abs(-std::log(P[T]) - Entropy) : 1e300;
    };
    double Sum = 0, Last = 0;
    for (size_t T : InOrder(Deviation)) {
      if (Sum >= *Wish.TypicalP)
        break;
      Sum += P[T];
      Last = Deviation(T);
    }
    std::vector<double> Kept = P;
    for (size_t T = 0; T < P.size(); ++T)
      if (Deviation(T) > Last + 1e-9)
        Kept[T] = 0;
    P = Kept;
    Normalise();
  }
  return P;
}

/// How far a statistic of so many degrees of freedom is from what it should
/// be, in standard deviations (Wilson and Hilferty, 1931).
double deviations(double Statistic, double Degrees) {
  double Variance = 2 / (9 * Degrees);
  return (std::cbrt(Statistic / Degrees) - (1 - Variance)) /
         std::sqrt(Variance);
}

/// What followed what: of every beginning of a text, how often each token did.
using Seen = std::map<Tokens, std::vector<double>>;

/// Of all beginnings that occur often enough, the statistics added up. Infinite
/// where a token occurs that must not.
double deviations(const Settings &Wish, const Tokens &Prompt, const Seen &All) {
  double Statistic = 0, Degrees = 0;
  for (const auto &[New, Counts] : All) {
    double Draws = std::accumulate(Counts.begin(), Counts.end(), 0.0);
    std::vector<double> P = reference(Wish, Prompt, New);
    for (size_t T = 0; T < P.size(); ++T)
      if (P[T] < 1e-30 && Counts[T] > 0)
        return std::numeric_limits<double>::infinity();
    if (Draws < 200)
      continue;
    // Cells of fewer than five expected draws are one.
    double RestSeen = 0, RestExpected = 0, Cells = 0;
    auto Add = [&](double Observed, double Mean) {
      Statistic += (Observed - Mean) * (Observed - Mean) / Mean;
      ++Cells;
    };
    for (size_t T = 0; T < P.size(); ++T)
      if (P[T] * Draws >= 5) {
        Add(Counts[T], P[T] * Draws);
      } else {
        RestSeen += Counts[T];
        RestExpected += P[T] * Draws;
      }
    if (RestExpected >= 5)
      Add(RestSeen, RestExpected);
    Degrees += Cells - 1;
  }
  // Where only one token is left, there is nothing to test.
  return Degrees > 0 ? deviations(Statistic, Degrees)
                     : -std::numeric_limits<double>::infinity();
}

struct Field {
  const char *Name;
  void (*Set)(Settings &);
};

constexpr Field Fields[] = {
    {"temperature", [](Settings &S) { S.Temperature = *S.Temperature * 0.6; }},
    {"top_k", [](Settings &S) { S.TopK = 4; }},
    {"top_p", [](Settings &S) { S.TopP = 0.85; }},
    {"min_p", [](Settings &S) { S.MinP = 0.4; }},
    {"typical_p", [](Settings &S) { S.TypicalP = 0.6; }},
    {"repetition_penalty", [](Settings &S) { S.RepetitionPenalty = 1.1; }},
    {"presence_penalty", [](Settings &S) { S.PresencePenalty = 2; }},
    {"frequency_penalty", [](Settings &S) { S.FrequencyPenalty = 1.5; }},
    {"logit_bias",
     [](Settings &S) {
       S.LogitBias.push_back({3, 4});
       S.LogitBias.push_back({9, -5});
     }},
    {"bad_words",
     [](Settings &S) {
       // One token; others behind a token that is likely here.
       S.BadWords.insert(S.BadWords.end(),
                         {{31}, {14, 3}, {3, 14}, {25, 25}, {44, 25}});
     }},
    {"min_new_tokens", [](Settings &S) { S.MinNewTokens = 2; }},
};
constexpr size_t FieldCount = std::size(Fields);

class SamplingDistributionTest : public GenerationTest {
protected:
  static constexpr int64_t Choices = 1024, Requests = 5;

  void SetUp() override {
    load([](Manifest &Info,
            CodeInfo &) { Info.Generation.EndOfSequence = EndTokens; },
         WordPieces, 2 * Choices * FixturePageTokens);
  }

  static Tokens prompt() {
    return {14, 3, 25, 8, 41, 3, 17, 30, 2, 11, 44, 25, 6, 19, 5, 14};
  }

  Seen draw(Settings Wish, int64_t NewTokens) {
    Wish.MaxNewTokens = NewTokens;
    Wish.Choices = Choices;
    Seen All;
    for (int64_t I = 0; I < Requests; ++I) {
      Wish.FirstChoice = I * Choices;
      for (const Generation &G : generate(Wish, prompt())) {
        Tokens Before;
        for (int32_t Token : G.NewTokens) {
          std::vector<double> &Counts = All[Before];
          Counts.resize(Vocabulary);
          ++Counts[static_cast<size_t>(Token)];
          Before.push_back(Token);
        }
      }
    }
    return All;
  }

  /// What all settings are set in: any token at all; few, which so occur again
  /// and behind each other.
  static std::vector<Settings> bases() {
    Settings Any;
    Any.Temperature = 4;
    Any.BadWords = {{48}, {49}}; // The test model waits or fails at these.
    Settings Few = Any;
    for (int32_t Token : {7, 14, 25, 30, 44})
      Few.LogitBias.push_back({Token, 60});
    return {Any, Few};
  }

  /// That `Which` of the fields together draw what they should; and that the
  /// test would see if one of them were ignored.
  void expectDistribution(const std::vector<size_t> &Which, uint64_t Seed) {
    std::vector<double> Ignored(FieldCount);
    for (const Settings &Base : bases()) {
      auto With = [&](std::optional<size_t> Left) {
        Settings Wish = Base;
        for (size_t F : Which)
          if (F != Left)
            Fields[F].Set(Wish);
        return Wish;
      };
      Settings Wish = With(std::nullopt);
      Wish.Seed = Seed;
      Seen All = draw(Wish, 3);
      // Beyond that once in two thousand.
      EXPECT_LT(deviations(Wish, prompt(), All), 3.3);
      for (size_t F : Which)
        Ignored[F] =
            std::max(Ignored[F], std::abs(deviations(With(F), prompt(), All)));
    }
    for (size_t F : Which)
      EXPECT_GT(Ignored[F], 5) << "without " << Fields[F].Name;
  }
  void expectDistributionOf(const std::vector<size_t> &Which, uint64_t Seed) {
    std::string Names;
    for (size_t F : Which)
      Names += std::string(" ") + Fields[F].Name;
    SCOPED_TRACE("with" + Names);
    expectDistribution(Which, Seed);
  }
};

TEST_F(SamplingDistributionTest, OfEverySetting) {
  expectDistributionOf({}, 100);
  for (size_t F = 0; F < FieldCount; ++F)
    expectDistributionOf({F}, F);
}

TEST_F(SamplingDistributionTest, OfEveryTwoSettings) {
  for (size_t A = 0; A < FieldCount; ++A)
    for (size_t B = A + 1; B < FieldCount; ++B)
      expectDistributionOf({A, B}, 200 + A * FieldCount + B);
}

TEST_F(SamplingDistributionTest, OfManySettings) {
  expectDistributionOf({0, 1, 2, 5}, 1);
  expectDistributionOf({5, 6, 7, 8, 9, 10}, 2);
  expectDistributionOf({2, 5, 6, 8, 10}, 3);
  expectDistributionOf({3, 7, 8, 9}, 4);
}

} // namespace
