//===- RunJson.cpp - What tenon run answers in JSON -----------------------===//

#include "runtime/Tool/RunSupport.h"

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;
using namespace tenon::tool;

/// A token as it is read alone; null without a tokenizer.
static Json textOf(const Model &M, int32_t Token) {
  if (!M.manifest().Tokenizer)
    return Json();
  auto T = M.tokenizer();
  return T ? Json((*T)->decode({&Token, 1}, false)) : Json();
}

static Json scoreJson(const Model &M, const TokenScore &Score) {
  // An infinite number becomes null.
  return {{"token_id", Score.Token},
          {"text", textOf(M, Score.Token)},
          {"logprob", Score.LogProbability}};
}

static Json scoresJson(const Model &M, const std::vector<ScoredToken> &Scores) {
  Json All = Json::array();
  for (const ScoredToken &Token : Scores) {
    Json J = scoreJson(M, Token.Chosen);
    J["top"] = Json::array();
    for (const TokenScore &Score : Token.Likeliest)
      J["top"].push_back(scoreJson(M, Score));
    All.push_back(std::move(J));
  }
  return All;
}

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
    J["logprobs"] = scoresJson(M, G.Scores);
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
    // Nothing says how likely the first one is.
    Json First = scoreJson(M, {R.Prompt.front(), 0});
    First["logprob"] = Json();
    First["top"] = Json::array();
    J["prompt_logprobs"] = scoresJson(M, A.PromptScores);
    J["prompt_logprobs"].insert(J["prompt_logprobs"].begin(), First);
  }
  return J;
}
