//===- Encoders.cpp - /v1/embeddings, /v1/rerank, /v1/classify ------------===//

#include "runtime/Engine/TextBatches.h"
#include "runtime/Http/Api.h"
#include "runtime/Support/Base64.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::serving;

using Rows = std::vector<std::vector<float>>;

//===----------------------------------------------------------------------===//
// What all three do
//===----------------------------------------------------------------------===//

/// "truncate_prompt_tokens": the most tokens of a text, of which longer ones
/// are cut; none: they are refused.
static std::optional<size_t> readTruncation(Fields &F, const ServedModel &M) {
  int64_t Longest = engine::longestText(M.code().manifest());
  std::optional<int64_t> Most =
      F.integer("truncate_prompt_tokens", -1, Longest);
  if (Most && *Most == 0)
    F.expected("truncate_prompt_tokens",
               "-1, for all that the model can read, or a number of tokens");
  if (Most)
    return static_cast<size_t>(*Most > 0 ? *Most : Longest);
  return std::nullopt;
}

static void checkLength(const EncoderText &Text, const std::string &Place,
                        const ServedModel &M, Fields &F) {
  auto Longest = static_cast<size_t>(engine::longestText(M.code().manifest()));
  if (Text.Tokens.size() > Longest)
    F.refuse({400, Place + " has " + std::to_string(Text.Tokens.size()) +
                       " tokens: expected at most " + std::to_string(Longest) +
                       "; 'truncate_prompt_tokens': -1 cuts longer texts"});
  if (Text.Tokens.empty())
    F.refuse({400, Place + " has no tokens: expected at least one"});
}

/// The tokens of a text; with an error in `F` none.
static EncoderText textOf(const Json &Given, const std::string &Place,
                          std::optional<size_t> Truncation,
                          const ServedModel &M, Fields &F) {
  EncoderText Text;
  if (isTokens(Given)) {
    Text.Tokens = Given.get<std::vector<int32_t>>();
    if (Truncation && Text.Tokens.size() > *Truncation)
      Text.Tokens.resize(*Truncation);
    for (int32_t Id : Text.Tokens)
      if (Id >= M.code().manifest().Vocabulary)
        F.refuse({400, Place + " has token " + std::to_string(Id) +
                           ": expected 0 to " +
                           std::to_string(M.code().manifest().Vocabulary - 1)});
  } else if (Given.is_string()) {
    Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
    Result<std::vector<int32_t>> Ids =
        T ? (*T)->encode(Given.get_ref<const std::string &>(), true,
                         Truncation.value_or(SIZE_MAX))
          : Result<std::vector<int32_t>>(T.error());
    if (!Ids)
      F.refuse({400, Place + ": " + Ids.error().message()});
    else
      Text.Tokens = std::move(*Ids);
  } else {
    F.refuse({400, Place + " is " + jsonKind(Given) +
                       ": expected a text, or an array of token ids"});
  }
  checkLength(Text, Place, M, F);
  return Text;
}

/// The tokens of two texts as one, for a model that compares them.
static EncoderText pairOf(const std::string &First, const std::string &Second,
                          const std::string &Place,
                          std::optional<size_t> Truncation,
                          const ServedModel &M, Fields &F) {
  Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
  Result<tokenizer::EncodedPair> Pair =
      T ? (*T)->encodePair(First, Second, true, Truncation.value_or(SIZE_MAX))
        : Result<tokenizer::EncodedPair>(T.error());
  if (!Pair) {
    F.refuse({400, Place + ": " + Pair.error().message()});
    return {};
  }
  EncoderText Text{std::move(Pair->Ids)};
  // Tokenizers of models without types have them nevertheless.
  if (M.code().manifest().TokenTypes > 1)
    Text.Types = std::move(Pair->Types);
  checkLength(Text, Place, M, F);
  return Text;
}

static bool isPair(const Json &J) {
  return J.is_array() && J.size() == 2 && J[0].is_string() && J[1].is_string();
}

/// "input": a text, token ids, or an array of them; with `TakesPairs` in it
/// also pairs of texts.
static std::vector<EncoderText> readInput(Fields &F, const Limits &Bounds,
                                          const ServedModel &M,
                                          bool TakesPairs) {
  std::string Expected = "a text, token ids, or an array of at most " +
                         std::to_string(Bounds.EmbeddingTexts) + " of them";
  std::optional<size_t> Truncation = readTruncation(F, M);
  const Json *J = F.need("input", Expected);
  if (!J)
    return {};
  if (J->is_string() || isTokens(*J))
    return {textOf(*J, "'input'", Truncation, M, F)};
  if (!J->is_array() || J->empty() || J->size() > Bounds.EmbeddingTexts) {
    F.expected("input", Expected);
    return {};
  }
  std::vector<EncoderText> Texts;
  for (const Json &Each : *J) {
    std::string Place = "'input[" + std::to_string(Texts.size()) + "]'";
    Texts.push_back(TakesPairs && isPair(Each)
                        ? pairOf(Each[0], Each[1], Place, Truncation, M, F)
                        : textOf(Each, Place, Truncation, M, F));
  }
  return Texts;
}

/// Encodes texts, and answers with what `Answer` makes of the rows.
static void encode(const Call &C, ServedModel &M,
                   std::vector<EncoderText> Texts,
                   std::function<Json(const Rows &)> Answer) {
  size_t Tokens = 0;
  for (const EncoderText &Each : Texts)
    Tokens += Each.Tokens.size();
  double Begin = secondsNow();
  auto Sink = [C, &M, Tokens, Begin,
               Answer = std::move(Answer)](Result<Rows> Got) {
    bool IsGood = bool(Got);
    if (IsGood)
      for (const std::vector<float> &Row : *Got)
        for (float Value : Row)
          if (!std::isfinite(Value))
            Got = Error(ErrorKind::Internal,
                        "an output of the model is NaN or infinite");
    C.onServer([&M, Begin, IsGood](Exchange &) {
      ++M.Metrics.Finished[IsGood ? "stop" : "error"];
      M.Metrics.Total.add(secondsNow() - Begin);
    });
    if (!Got)
      return C.reply(
          ApiError{Got.error().kind() == ErrorKind::Cancelled ? 503 : 500,
                   Got.error().message()});
    Json J = Answer(*Got);
    J["model"] = M.Name;
    J["usage"] = {{"prompt_tokens", Tokens}, {"total_tokens", Tokens}};
    C.reply(std::move(J));
  };
  C.onServer([&M, Tokens](Exchange &E) {
    E.trace().Model = M.Name;
    E.trace().PromptTokens = Tokens;
  });
  auto Given = M.encoder().submit(std::move(Texts), std::move(Sink));
  if (const auto *No = std::get_if<Refusal>(&Given)) {
    bool IsFull = No->Why == Refusal::Reason::QueueFull;
    ApiError Why{IsFull ? 429 : 503, No->What.message()};
    if (IsFull)
      Why.RetryAfter = No->RetryAfter;
    return C.reply(Why);
  }
  C.onServer([&M, Id = std::get<RequestId>(Given)](Exchange &E) {
    E.whenGone([&M, Id] { M.encoder().cancel(Id); });
  });
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

/// Little-endian f32 in base64, as OpenAI's clients ask for it.
static std::string base64(const std::vector<float> &Values) {
  static_assert(std::endian::native == std::endian::little);
  return encodeBase64(std::as_bytes(std::span(Values)));
}

void http::embed(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.encoder(F, /*Embeds=*/true);
  std::string Format = F.string("encoding_format").value_or("float");
  if (Format != "float" && Format != "base64")
    F.expected("encoding_format", "\"float\" or \"base64\"");
  F.string("user");
  if (!M)
    return C.reply(*F.finish());
  Result<const engine::Entry *> Code = M->code().entry("embed");
  if (Code)
    F.accept("dimensions", (*Code)->Info.Width);
  std::vector<EncoderText> Texts =
      readInput(F, C.Bounds, *M, /*TakesPairs=*/false);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  encode(C, *M, std::move(Texts),
         [IsText = Format == "base64"](const Rows &Got) {
           Json Data = Json::array();
           for (const std::vector<float> &Row : Got)
             Data.push_back(
                 {{"object", "embedding"},
                  {"index", Data.size()},
                  {"embedding", IsText ? Json(base64(Row)) : Json(Row)}});
           return Json{{"object", "list"}, {"data", std::move(Data)}};
         });
}

//===----------------------------------------------------------------------===//
// Ranking
//===----------------------------------------------------------------------===//

/// How likely it is by the score of the only class.
static double sigmoid(double Score) { return 1 / (1 + std::exp(-Score)); }

static double cosine(const std::vector<float> &A, const std::vector<float> &B) {
  double Product = 0, SquareA = 0, SquareB = 0;
  for (size_t I = 0; I < A.size(); ++I) {
    Product += double(A[I]) * B[I];
    SquareA += double(A[I]) * A[I];
    SquareB += double(B[I]) * B[I];
  }
  double Norms = std::sqrt(SquareA * SquareB);
  return Norms > 0 ? Product / Norms : 0;
}

void http::rerank(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.ranker(F);
  std::optional<std::string> Query = F.string("query");
  if (!Query)
    F.expected("query", "a text");
  std::string Expected = "an array of 1 to " +
                         std::to_string(C.Bounds.EmbeddingTexts - 1) +
                         " texts, or objects with a \"text\"";
  const Json *Documents = F.need("documents", Expected);
  if (Documents && (!Documents->is_array() || Documents->empty() ||
                    Documents->size() >= C.Bounds.EmbeddingTexts))
    F.expected("documents", Expected);
  auto Top = F.integer("top_n", 1, std::numeric_limits<int64_t>::max());
  bool ReturnsDocuments = F.boolean("return_documents").value_or(true);
  F.string("user");
  if (!M)
    return C.reply(*F.finish());
  std::optional<size_t> Truncation = readTruncation(F, *M);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  bool Embeds = M->encoder().embeds();
  std::vector<EncoderText> Texts;
  if (Embeds)
    Texts.push_back(textOf(*Query, "'query'", Truncation, *M, F));
  std::vector<std::string> Shown;
  for (const Json &Each : *Documents) {
    const Json &Text =
        Each.is_object() && Each.contains("text") ? Each.at("text") : Each;
    std::string Place = "'documents[" + std::to_string(Shown.size()) + "]'";
    if (!Text.is_string())
      return C.reply(
          ApiError{400, Place + " is " + jsonKind(Each) + ": expected a text"});
    Texts.push_back(Embeds ? textOf(Text, Place, Truncation, *M, F)
                           : pairOf(*Query, Text, Place, Truncation, *M, F));
    Shown.push_back(Text);
  }
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  auto Answer = [=, Id = C.Asked->trace().answerId()](const Rows &Got) {
    std::vector<double> Scores;
    for (size_t I = Embeds ? 1 : 0; I < Got.size(); ++I)
      Scores.push_back(Embeds ? cosine(Got[0], Got[I]) : sigmoid(Got[I][0]));
    std::vector<size_t> Order(Scores.size());
    std::iota(Order.begin(), Order.end(), size_t(0));
    std::stable_sort(Order.begin(), Order.end(),
                     [&](size_t A, size_t B) { return Scores[A] > Scores[B]; });
    if (Top && std::cmp_less(*Top, Order.size()))
      Order.resize(static_cast<size_t>(*Top));
    Json Results = Json::array();
    for (size_t I : Order) {
      Results.push_back({{"index", I}, {"relevance_score", Scores[I]}});
      if (ReturnsDocuments)
        Results.back()["document"] = {{"text", Shown[I]}};
    }
    return Json{{"id", Id}, {"results", std::move(Results)}};
  };
  encode(C, *M, std::move(Texts), std::move(Answer));
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

void http::classify(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.encoder(F, /*Embeds=*/false);
  F.string("user");
  if (!M)
    return C.reply(*F.finish());
  std::vector<EncoderText> Texts =
      readInput(F, C.Bounds, *M, /*TakesPairs=*/true);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  const std::vector<std::string> &Labels = M->code().manifest().Labels;
  auto Answer = [&Labels, Id = C.Asked->trace().answerId(),
                 Created = C.Asked->request().Time](const Rows &Got) {
    Json Data = Json::array();
    for (const std::vector<float> &Scores : Got) {
      auto Best = std::max_element(Scores.begin(), Scores.end());
      double Sum = 0;
      for (float Score : Scores)
        Sum += std::exp(double(Score) - *Best);
      Json Probabilities = Json::array();
      for (float Score : Scores)
        Probabilities.push_back(Scores.size() == 1
                                    ? sigmoid(Score)
                                    : std::exp(double(Score) - *Best) / Sum);
      auto Index = static_cast<size_t>(Best - Scores.begin());
      Data.push_back(
          {{"index", Data.size()},
           {"label", Index < Labels.size() ? Json(Labels[Index]) : Json(Index)},
           {"probs", std::move(Probabilities)},
           {"num_classes", Scores.size()}});
    }
    return Json{{"id", Id},
                {"object", "list"},
                {"created", Created},
                {"data", std::move(Data)}};
  };
  encode(C, *M, std::move(Texts), std::move(Answer));
}
