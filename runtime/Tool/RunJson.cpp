//===- RunJson.cpp - What tenon run answers in JSON -----------------------===//

#include "runtime/Tool/RunSupport.h"

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;
using namespace tenon::tool;

/// What `Score` says, and of the token what it adds to a text.
static Json scoreJson(const Model &M, const TokenScore &Score,
                      const std::optional<tokenizer::TokenText> &Text) {
  // An infinite number becomes null.
  return {{"token_id", Score.Token},
          {"text", Text ? Json(Text->Shown) : Json()},
          {"logprob", Score.LogProbability}};
}

namespace {

/// Writes the tokens of one text, in order.
class ScoreWriter {
public:
  /// `Before` is what the text has before them.
  explicit ScoreWriter(const Model &M, std::span<const int32_t> Before = {})
      : M(M) {
    if (M.manifest().Tokenizer)
      if (auto Read = M.tokenizer())
        T = *Read;
    for (int32_t Token : Before)
      pass(Token);
  }

  /// A token of which nothing says how likely it is.
  Json first(int32_t Token) {
    Json J = scoreJson(M, {Token, 0}, textOf(Token));
    J["logprob"] = Json();
    J["top"] = Json::array();
    pass(Token);
    return J;
  }

  Json rest(const std::vector<ScoredToken> &Scores) {
    Json All = Json::array();
    for (const ScoredToken &Token : Scores) {
      Json J = scoreJson(M, Token.Chosen, textOf(Token.Chosen.Token));
      J["top"] = Json::array();
      for (const TokenScore &Score : Token.Likeliest)
        J["top"].push_back(scoreJson(M, Score, textOf(Score.Token)));
      All.push_back(std::move(J));
      pass(Token.Chosen.Token);
    }
    return All;
  }

private:
  /// None without a tokenizer.
  std::optional<tokenizer::TokenText> textOf(int32_t Token) const {
    if (!T)
      return std::nullopt;
    return T->textOf(Token, IsEmpty);
  }
  void pass(int32_t Token) {
    if (std::optional<tokenizer::TokenText> Text = textOf(Token);
        Text && Text->Added)
      IsEmpty = false;
  }

  const Model &M;
  const tokenizer::Tokenizer *T = nullptr;
  bool IsEmpty = true; ///< No token but special ones before.
};

} // namespace

/// Tells the calls in an answer from its text.
static void addToolCalls(Json &J, const Model &M, const Request &R,
                         const Generation &G, const Json &Tools) {
  std::optional<std::string_view> UpToStop;
  // An echo is no part of the answer.
  if (G.StopString && !R.Echo)
    UpToStop = G.Text;
  Result<tools::ParsedAnswer> Parsed =
      parseToolAnswer(M, R.Prompt, G.NewTokens, UpToStop, Tools);
  if (!Parsed) // of a model without a format the text is all there is
    return;
  J.update(answerJson(*Parsed, R.Prompt));
  bool IsWhole =
      G.Finish == FinishReason::EndOfSequence || G.Finish == FinishReason::Stop;
  if (!Parsed->Calls.empty() && IsWhole)
    J["finish_reason"] = "tool_calls";
}

/// What one choice consists of.
static void addChoice(Json &J, const Model &M, const Request &R,
                      const Generation &G, bool HasText, const Json &Tools) {
  bool Generates = G.Finish != FinishReason::None;
  J["token_ids"] = G.NewTokens;
  J["text"] = HasText ? Json(G.Text) : Json();
  J["finish_reason"] = Generates ? nameOf(G.Finish) : "output";
  if (Generates && HasText && !Tools.is_null() && !G.Failure)
    addToolCalls(J, M, R, G, Tools);
  if (G.StopToken)
    J["stop_reason"] = *G.StopToken;
  if (G.StopString)
    J["stop_reason"] = *G.StopString;
  if (R.Scored && Generates)
    J["logprobs"] = ScoreWriter(M, R.Echo ? std::span<const int32_t>(R.Prompt)
                                          : std::span<const int32_t>())
                        .rest(G.Scores);
  if (G.Score)
    J["score"] = *G.Score;
  if (G.Failure)
    J["error"] = G.Failure->message();
}

Json tool::answerJson(const Model &M, const Request &R, const Answer &A,
                      bool HasText, const Json &Tools) {
  Json J = Json::object();
  if (A.Choices.size() == 1) {
    addChoice(J, M, R, A.Choices.front(), HasText, Tools);
  } else {
    J["choices"] = Json::array();
    for (size_t I = 0; I < A.Choices.size(); ++I) {
      J["choices"].push_back({{"choice", R.How.FirstChoice + I}});
      addChoice(J["choices"].back(), M, R, A.Choices[I], HasText, Tools);
    }
  }
  J["prompt_tokens"] = R.Source.empty() ? R.Prompt.size() : R.Source.size();
  J["seed"] = R.How.Sampling.Seed;
  if (!R.Echo)
    return J;
  J["prompt_token_ids"] = R.Prompt;
  if (R.Scored) {
    ScoreWriter Writer(M);
    Json First = Writer.first(R.Prompt.front());
    J["prompt_logprobs"] = Writer.rest(A.PromptScores);
    J["prompt_logprobs"].insert(J["prompt_logprobs"].begin(), First);
  }
  return J;
}
