//===- GenerationTask.cpp - One call that generates texts -----------------===//

#include "runtime/Http/GenerationTask.h"

#include "runtime/Tokenizer/Unicode.h"

#include <cmath>
#include <ctime>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::serving;
using generation::FinishReason;
using generation::Generation;

std::string http::eventOf(const Json &Data) {
  return eventOfText(wireText(Data));
}

std::string http::eventOfText(const std::string &Data) {
  return "data: " + Data + "\n\n";
}

std::string http::eventOf(std::string_view Name, const Json &Data) {
  return "event: " + std::string(Name) + "\n" + eventOf(Data);
}

const char *http::finishReasonOf(const ChoiceEnd &E) {
  if (E.HasCalled)
    return "tool_calls";
  switch (E.Why) {
  case FinishReason::EndOfSequence:
  case FinishReason::Stop:
    return "stop";
  case FinishReason::Length:
  case FinishReason::Context:
  case FinishReason::None: // Of a prompt alone.
    return "length";
  case FinishReason::Error:
    return "error";
  }
  return "error";
}

double http::finite(float LogProbability) {
  constexpr double Lowest = -9999;
  return std::isfinite(LogProbability) ? LogProbability : Lowest;
}

/// Whether what has ended a choice left it whole.
static bool isWhole(FinishReason Why) {
  return Why != FinishReason::Length && Why != FinishReason::Context;
}

static ApiError errorOf(const Error &Why) {
  int Status = Why.kind() == ErrorKind::InvalidArgument ? 400
               : Why.kind() == ErrorKind::Cancelled     ? 503
                                                        : 500;
  return {Status, Why.message()};
}

void GenerationTask::start(generation::Settings S,
                           std::vector<std::vector<int32_t>> Prompts,
                           std::vector<generation::PromptImage::Ptr> Images) {
  if (const auto &Again = C.Asked->request().Again; Again && Again->Seed)
    S.Seed = *Again->Seed;
  Seed = S.Seed;
  if (!Calls.IsForced) {
    S.Tools = Tools;
    S.IsSingleCall = Calls.IsSingle;
    S.Grammars = &C.Grammars;
  }
  for (std::vector<int32_t> &Prompt : Prompts) {
    if (Status Good = generation::checkPrompt(M.code(), Prompt); !Good)
      return C.reply(ApiError{400, Good.error().message()});
    Result<generation::Request> R =
        generation::makeRequest(M.code(), S, std::move(Prompt), Images);
    if (!R)
      return C.reply(ApiError{400, R.error().message()});
    if (Status Good = generation::checkPromptLength(M.code(), *R); !Good)
      return C.reply(ApiError{400, Good.error().message()});
    Asked.push_back(std::move(*R));
    // Prompts draw on their own, also the same one repeated.
    ++S.Seed;
  }
  C.Server.post([Own = shared_from_this()] { Own->submit(); });
}

tokenizer::TokenText GenerationTask::textOf(int32_t Token, bool IsFirst) const {
  auto T = M.code().tokenizer();
  return T ? (*T)->textOf(Token, IsFirst) : tokenizer::TokenText();
}

/// Whether tool calls and reasoning are looked for in answers. What comes
/// before a stop string is known at the end only, so streams with one are read
/// only where tools are offered.
bool GenerationTask::parses(const generation::Request &R) const {
  if (Calls.IsForced)
    return false;
  if (!Tools.is_null())
    return true;
  const auto &Chat = M.code().manifest().Chat;
  const tools::ToolFormat *Known =
      IsChat && Chat ? tools::findToolFormat(Chat->ToolFormat) : nullptr;
  return Known && !Known->ThinkEnd.empty() && R.StopStrings.empty();
}

void GenerationTask::submit() {
  Left = Asked.size();
  Ends.resize(Left);
  noteSubmitted();
  for (size_t I = 0; I < Asked.size(); ++I) {
    auto Given = M.engine().submit(
        Asked[I], Rules, [Own = shared_from_this(), I](const Update &U) {
          auto Work = [Own, I, U] { Own->update(I, U); };
          U.MoreFollow ? Own->C.Server.postLater(std::move(Work))
                       : Own->C.Server.post(std::move(Work));
        });
    if (const auto *No = std::get_if<Refusal>(&Given)) {
      cancel();
      IsOver = true;
      bool IsFull = No->Why == Refusal::Reason::QueueFull;
      ApiError Why{No->Why == Refusal::Reason::NeverFits ? 400
                   : IsFull                              ? 429
                                                         : 503,
                   No->What.message()};
      if (IsFull)
        Why.RetryAfter = No->RetryAfter;
      return replyError(*C.Asked, Why);
    }
    Asked[I].Images.clear(); // The engine has them for as long as it must.
    Ids.push_back(std::get<RequestId>(Given));
    C.Asked->trace().Prompts[I].Id = Ids.back();
  }
  C.Asked->whenGone([Weak = weak_from_this()] {
    if (auto Own = Weak.lock()) {
      Own->IsOver = true;
      Own->cancel();
    }
  });
  if (!Streams)
    return;
  C.Asked->beginEvents();
  Choices.resize(choices());
  for (size_t Index = 0; Index < Choices.size(); ++Index) {
    const generation::Request &R = requestOf(Index);
    Choices[Index].IsLate = Calls.IsForced;
    if (!parses(R))
      continue;
    Choices[Index].IsLate = !R.StopStrings.empty();
    if (Choices[Index].IsLate)
      continue;
    if (auto Parser = generation::ToolAnswer::create(M.code(), R.Prompt, Tools))
      Choices[Index].Parser.emplace(std::move(*Parser));
  }
  C.Asked->send(Format->begin(*this));
}

void GenerationTask::cancel() {
  for (RequestId Id : Ids)
    M.engine().cancel(Id);
}

void GenerationTask::noteSubmitted() {
  RequestTrace &T = C.Asked->trace();
  T.Model = M.Name;
  T.Seed = Seed;
  T.Submitted = secondsNow();
  T.GrammarSeconds = C.Grammars.seconds();
  T.Prompts.resize(Asked.size());
  for (const generation::Request &R : Asked)
    T.PromptTokens += R.Prompt.size();
}

void GenerationTask::note(size_t I, const Update &U) {
  RequestTrace &T = C.Asked->trace();
  for (const generation::Piece &P : U.Pieces)
    T.NewTokens += P.Tokens.size();
  if (isFinal(U.State)) {
    PromptTrace &P = T.Prompts[I];
    P.Usage = U.Usage;
    P.Went = U.Went;
    T.CachedTokens += U.Usage.CachedTokens;
    if (U.Answer)
      for (const Generation &G : U.Answer->Choices)
        P.Finished.emplace_back(nameOf(G.Finish));
    else
      P.Finished.emplace_back(nameOf(U.State));
  }
  if (U.State != RequestState::Finished)
    return;
  ModelMetrics &Seen = M.Metrics;
  Seen.Queued.add(U.Usage.Queued);
  Seen.FirstToken.add(U.Usage.FirstToken);
  Seen.LongestGap.add(U.Usage.LongestGap);
  Seen.Total.add(U.Usage.Total);
  for (const Generation &G : U.Answer->Choices)
    ++Seen.Finished[finishReasonOf({G.Finish, std::nullopt, false})];
}

void GenerationTask::update(size_t I, const Update &U) {
  note(I, U);
  if (IsOver)
    return;
  if (isFinal(U.State))
    Ends[I] = U;
  if (U.State == RequestState::Cancelled)
    return fail({503, "the server ends"});
  if (U.Failure)
    return fail(errorOf(*U.Failure));
  for (const generation::Piece &P : U.Pieces)
    if (P.Failure)
      return fail(errorOf(*P.Failure));
    else if (Streams)
      stream(I, P);
  if (!isFinal(U.State))
    return;
  if (Streams)
    for (size_t K = 0; K < choicesOf(I); ++K)
      if (size_t Index = I * choicesOf(0) + K; Choices[Index].IsLate)
        streamWhole(finished(Index));
  if (--Left == 0)
    finish();
}

void GenerationTask::stream(size_t I, const generation::Piece &P) {
  size_t Index = I * choicesOf(0) + static_cast<size_t>(P.Choice);
  Choice &At = Choices[Index];
  bool HasEnded = P.Finish != FinishReason::None;
  ChoiceDelta D{Index, {}, P.Scores, P.Tokens};
  if (At.Parser) {
    D.Parts = At.Parser->add(P.Tokens);
    if (HasEnded)
      for (tools::AnswerPart &Part : At.Parser->finish())
        D.Parts.push_back(std::move(Part));
  } else if (!At.IsLate && !P.Text.empty()) {
    D.Parts.push_back({tools::AnswerPart::Text, P.Text, {}});
  }
  for (const tools::AnswerPart &Part : D.Parts)
    At.HasCalled |= Part.What == tools::AnswerPart::Call;
  C.Asked->send(Format->add(*this, std::move(D)));
  if (HasEnded && At.Parser)
    ReasoningTokens += At.Parser->reasoningTokens();
  if (HasEnded && !At.IsLate)
    C.Asked->send(Format->end(
        *this, Index,
        {P.Finish, P.StopString, At.HasCalled && isWhole(P.Finish)}));
}

/// What of a choice that has ended was not streamed.
void GenerationTask::streamWhole(const FinishedChoice &F) {
  ReasoningTokens += F.Said.ReasoningTokens;
  ChoiceDelta D;
  D.Index = F.Index;
  if (!F.Said.Reasoning.empty())
    D.Parts.push_back({tools::AnswerPart::Reasoning, F.Said.Reasoning, {}});
  if (!F.Said.Text.empty())
    D.Parts.push_back({tools::AnswerPart::Text, F.Said.Text, {}});
  for (const tools::ToolCall &Each : F.Said.Calls)
    D.Parts.push_back({tools::AnswerPart::Call, {}, Each});
  C.Asked->send(Format->add(*this, std::move(D)));
  C.Asked->send(Format->end(*this, F.Index, F.End));
}

/// The calls of an answer that was forced to be some; null where it was cut.
static std::optional<tools::ParsedAnswer> callsOf(const ToolChoice &Forced,
                                                  const std::string &Text) {
  Result<Json> Parsed = parseJson(Text, "the answer");
  if (!Parsed)
    return std::nullopt;
  tools::ParsedAnswer Said;
  if (!Forced.Name.empty()) {
    Said.Calls.push_back({Forced.Name, wireText(*Parsed)});
    return Said;
  }
  Json All = Parsed->is_array() ? *Parsed : Json::array({*Parsed});
  for (const Json &Each : All)
    Said.Calls.push_back({Each.at("name"), wireText(Each.at("arguments"))});
  return Said;
}

/// A choice of a request that has ended.
FinishedChoice GenerationTask::finished(size_t Index) const {
  size_t I = Index / choicesOf(0);
  FinishedChoice F;
  F.Index = Index;
  F.Asked = &Asked[I];
  F.Of = &*Ends[I]->Answer;
  F.Generated = &F.Of->Choices[Index % choicesOf(0)];
  const Generation &G = *F.Generated;
  std::optional<std::string_view> UpToStop;
  if (G.StopString)
    UpToStop = G.Text;
  Result<tools::ParsedAnswer> Parsed = Error("");
  if (parses(*F.Asked))
    Parsed = generation::parseToolAnswer(M.code(), F.Asked->Prompt, G.NewTokens,
                                         UpToStop, Tools);
  std::optional<tools::ParsedAnswer> Called;
  if (Calls.IsForced && isWhole(G.Finish))
    Called = callsOf(Calls, G.Text);
  if (Called)
    F.Said = std::move(*Called);
  else if (Parsed)
    F.Said = std::move(*Parsed);
  else
    F.Said.Text = G.Text;
  F.End = {G.Finish, G.StopString, !F.Said.Calls.empty() && isWhole(G.Finish)};
  return F;
}

TokenUsage GenerationTask::usage() const {
  TokenUsage Sum;
  Sum.Reasoning = ReasoningTokens;
  for (const std::optional<Update> &U : Ends)
    if (U) {
      Sum.Prompt += U->Usage.PromptTokens;
      Sum.Cached += U->Usage.CachedTokens;
      Sum.New += U->Usage.NewTokens;
    }
  // What else ran has decided on it, and on nothing else.
  if (const auto &Again = C.Asked->request().Again)
    Sum.Cached = Again->CachedTokens;
  return Sum;
}

void GenerationTask::finish() {
  IsOver = true;
  const auto &Again = C.Asked->request().Again;
  Completed = Again ? Again->Completed : std::time(nullptr);
  C.Asked->trace().Completed = Completed;
  if (Streams) {
    C.Asked->send(Format->finish(*this));
    return C.Asked->end();
  }
  std::vector<FinishedChoice> All;
  for (size_t Index = 0; Index < choices(); ++Index) {
    All.push_back(finished(Index));
    ReasoningTokens += All.back().Said.ReasoningTokens;
  }
  C.Asked->reply(
      {200, "application/json", wireText(Format->whole(*this, All))});
}

void GenerationTask::fail(const ApiError &Why) {
  IsOver = true;
  cancel();
  if (!Streams)
    return replyError(*C.Asked, Why);
  C.Asked->send(Format->fail(*this, Why));
  C.Asked->end();
}
