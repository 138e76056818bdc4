//===- Job.cpp - A request and how far it is ------------------------------===//

#include "runtime/Generation/Job.h"

#include <algorithm>
#include <utility>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

Generator::Line::Line(const Request &Wish, const tokenizer::Tokenizer *T,
                      const Sampler *Picker)
    : Stops(Wish.StopStrings) {
  if (Picker)
    this->Picker.emplace(*Picker);
  if (Wish.Grammar) {
    Must.emplace(Wish, *T);
    Forced = Must->forced();
  }
  if (!T)
    return;
  Decoder.emplace(*T);
  if (!Wish.Echo)
    return;
  // By the same decoder, for a token's text may depend on those before it.
  for (int32_t Token : Wish.Prompt)
    Added.Text += Decoder->push(Token);
  Done.Text = Added.Text;
}

void Generator::Line::addText(const Request &Wish, const std::string &Text) {
  // No stop string begins before the fewest new tokens.
  bool Searches =
      static_cast<int64_t>(Done.NewTokens.size()) > Wish.Rules.MinNewTokens;
  std::string Certain = Searches ? Stops.push(Text) : Text;
  if (std::optional<size_t> Found = Stops.found()) {
    Done.StopString = Wish.StopStrings[*Found];
    if (Wish.IncludeStop)
      Certain += *Done.StopString;
    setFinish(FinishReason::Stop);
  }
  Done.Text += Certain;
  Added.Text += Certain;
}

void Generator::Line::addToken(const Request &Wish, int32_t Token) {
  Done.NewTokens.push_back(Token);
  Added.Tokens.push_back(Token);
  bool Ends = isIn(Wish.Rules.EndOfSequence, Token);
  bool Stops = isIn(Wish.StopTokens, Token);
  if (Decoder && (!Ends || (Stops && Wish.IncludeStop)))
    addText(Wish, Decoder->push(Token));
  if (Must)
    Must->accept(Token);
  if (!Forced.empty())
    Forced.erase(Forced.begin());
  if (!isRunning())
    return;
  if (Stops)
    Done.StopToken = Token;
  if (Ends)
    finish(Wish, Stops ? FinishReason::Stop : FinishReason::EndOfSequence);
  else if (Must && Must->isComplete())
    finish(Wish, FinishReason::EndOfSequence);
  else if (static_cast<int64_t>(Done.NewTokens.size()) >= Wish.MaxNewTokens)
    finishByLength(Wish);
  else if (Must && Forced.empty())
    Forced = Must->forced();
}

void Generator::Line::addScore(ScoredToken Score) {
  Done.Scores.push_back(Score);
  Added.Scores.push_back(std::move(Score));
}

Result<int32_t> Generator::Line::pick(const Request &Wish,
                                      std::span<const float> Row) {
  if (Wish.Rules.any()) {
    std::vector<int32_t> Sequence = Wish.Prompt;
    Sequence.insert(Sequence.end(), Done.NewTokens.begin(),
                    Done.NewTokens.end());
    Ruled.assign(Row.begin(), Row.end());
    Wish.Rules.apply(Sequence, Wish.Prompt.size(), Ruled);
    Row = Ruled;
  }
  auto Position =
      static_cast<int64_t>(Wish.Prompt.size() + Done.NewTokens.size());
  return Picker->pick(
      Row, Position, Wish.How.FirstChoice + static_cast<uint32_t>(Added.Choice),
      Must ? &*Must : nullptr);
}

void Generator::Line::finish(const Request &Wish, FinishReason Reason) {
  std::string Left = Decoder ? Decoder->finish() : "";
  // What has failed has not ended as it was asked to.
  if (Reason != FinishReason::Error)
    addText(Wish, std::exchange(Left, {}));
  if (!isRunning()) { // A stop string has ended it.
    Done.StopToken.reset();
    return;
  }
  std::string Rest = Stops.finish() + Left;
  Done.Text += Rest;
  Added.Text += Rest;
  setFinish(Reason);
}

void Generator::Line::finishByLength(const Request &Wish) {
  finish(Wish,
         Wish.IsCutByContext ? FinishReason::Context : FinishReason::Length);
}

Piece Generator::Line::takeAdded() {
  Piece Taken = std::exchange(Added, {});
  Added.Request = Taken.Request;
  Added.Choice = Taken.Choice;
  if (Taken.Finish != FinishReason::None) {
    Taken.StopToken = Done.StopToken;
    Taken.StopString = Done.StopString;
    Taken.Failure = Done.Failure;
  }
  return Taken;
}

Generator::Job::Job(int64_t Number, Request R, const Sampler &Picker,
                    const tokenizer::Tokenizer *T)
    : Number(Number), Wish(std::move(R)) {
  for (int64_t I = 0; I < Wish.How.Choices; ++I) {
    Lines.emplace_back(Wish, T, &Picker);
    Lines.back().Added.Request = Number;
    Lines.back().Added.Choice = I;
  }
}

bool Generator::Job::isRunning() const {
  return std::any_of(Lines.begin(), Lines.end(),
                     [](const Line &L) { return L.isRunning(); });
}

std::span<const int32_t> Generator::Job::nextOf(size_t Sequence) const {
  return isReading() ? std::span(Wish.Prompt).subspan(PromptRun, Slice)
                     : std::span<const int32_t>(Next[Sequence]);
}

OutputRows Generator::Job::rowsOf(size_t Sequence) const {
  bool NeedsLast = isReading() ? !scoresPrompt()
                               : !Wish.Scored && !Search &&
                                     !Lines[Owners[Sequence]].Forced.empty();
  return NeedsLast ? OutputRows::Last : OutputRows::All;
}
