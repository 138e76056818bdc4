//===- Generator.cpp - Token after token ----------------------------------===//

#include "runtime/Generation/Generator.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

std::string_view generation::nameOf(FinishReason Reason) {
  constexpr std::string_view Names[] = {"", "eos", "length", "error",
                                        "context"};
  return Names[static_cast<size_t>(Reason)];
}

/// A request and how far it is.
struct Generator::Job {
  Job(int64_t Number, Request R, Sampler Picker)
      : Number(Number), Wish(std::move(R)), Picker(std::move(Picker)) {}

  int64_t Number;
  Request Wish;
  Generation Done;
  Sampler Picker;
  std::optional<BeamSearch> Search;
  std::optional<tokenizer::StreamingDecoder> Decoder;
  /// One, or one for each running beam.
  std::vector<SequenceId> Sequences;
  /// What each sequence appends in the next step; none before the first step,
  /// which has the prompt.
  std::vector<int32_t> Tokens;
  bool HasSource = false; ///< The source text is encoded.
  Piece Added;            ///< By the step that runs.
  int64_t Steps = 0;      ///< Begun so far.

  bool isRunning() const { return Done.Finish == FinishReason::None; }
  bool isEnd(int32_t Token) const {
    const std::vector<int32_t> &Ends = Wish.Rules.EndOfSequence;
    return std::find(Ends.begin(), Ends.end(), Token) != Ends.end();
  }
  void addToken(int32_t Token) {
    Done.NewTokens.push_back(Token);
    Added.Tokens.push_back(Token);
    if (Decoder && !isEnd(Token))
      addText(Decoder->push(Token));
  }
  void addText(const std::string &Text) {
    Done.Text += Text;
    Added.Text += Text;
  }
  std::span<const int32_t> nextOf(size_t Sequence) const {
    return Tokens.empty() ? std::span<const int32_t>(Wish.Prompt)
                          : std::span(Tokens).subspan(Sequence, 1);
  }
};

Generator::Generator(Session &S) : S(&S) {}
Generator::Generator(Generator &&) noexcept = default;
Generator &Generator::operator=(Generator &&) noexcept = default;

Generator::~Generator() {
  for (auto &[Number, J] : Jobs)
    for (SequenceId Id : J->Sequences)
      (void)S->endSequence(Id); // It exists.
}

Result<int64_t> Generator::add(Request R) {
  if (R.Prompt.empty())
    return Error("prompt of 0 tokens: expected at least one");
  Result<Sampler> Picker = Sampler::create(R.How.Sampling);
  if (!Picker)
    return Picker.error();
  auto J = std::make_unique<Job>(Next, std::move(R), std::move(*Picker));
  const Request &Wish = J->Wish;
  if (Wish.How.Beams != 1 && Wish.MaxNewTokens > 0) {
    Result<BeamSearch> Search =
        BeamSearch::create({Wish.How.Beams, Wish.How.LengthPenalty,
                            Wish.How.EarlyStopping, Wish.Rules},
                           Wish.Prompt);
    if (!Search)
      return Search.error();
    J->Search = std::move(*Search);
  }
  if (S->model().manifest().Tokenizer) {
    Result<const tokenizer::Tokenizer *> Text = S->model().tokenizer();
    if (!Text)
      return Text.error();
    J->Decoder.emplace(**Text);
  }
  Jobs.emplace(Next, std::move(J));
  return Next++;
}

size_t Generator::running() const {
  return static_cast<size_t>(
      std::count_if(Jobs.begin(), Jobs.end(), [](const auto &Entry) {
        return Entry.second->isRunning();
      }));
}

const Generation &Generator::progress(int64_t Request) const {
  return Jobs.at(Request)->Done;
}

Generation Generator::take(int64_t Request) {
  auto Taken = Jobs.extract(Request);
  Job &J = *Taken.mapped();
  for (SequenceId Id : J.Sequences)
    (void)S->endSequence(Id); // It exists.
  return std::move(J.Done);
}

Status Generator::finish(Job &J, FinishReason Reason) {
  J.Done.Finish = J.Added.Finish = Reason;
  if (J.Decoder)
    J.addText(J.Decoder->finish());
  return follow(J, {});
}

/// At the request's limit, or that of the model.
Status Generator::finishByLength(Job &J) {
  return finish(J, J.Wish.IsCutByContext ? FinishReason::Context
                                         : FinishReason::Length);
}

Status Generator::fail(Job &J, const Error &Reason) {
  J.Done.Failure = Reason;
  return finish(J, FinishReason::Error);
}

/// An error that the model's output has made, with the file and the step.
Error Generator::atStep(const Job &J, const Error &Reason) const {
  return Reason.withContext(S->model().path() + ": step " +
                            std::to_string(J.Steps));
}

/// Gives every beam that goes on a sequence: its parent's, or a fork of it
/// where several continue the same one. Others end.
Status Generator::follow(Job &J,
                         std::span<const BeamSearch::Continuation> GoOn) {
  std::vector<bool> IsTaken(J.Sequences.size());
  std::vector<SequenceId> Following;
  J.Tokens.clear();
  for (const BeamSearch::Continuation &C : GoOn) {
    SequenceId Id = J.Sequences[C.Parent];
    if (IsTaken[C.Parent]) {
      Result<SequenceId> Fork = S->forkSequence(Id);
      if (!Fork)
        return Fork.error();
      Id = *Fork;
    }
    IsTaken[C.Parent] = true;
    Following.push_back(Id);
    J.Tokens.push_back(C.Token);
  }
  for (size_t I = 0; I < IsTaken.size(); ++I)
    if (!IsTaken[I])
      if (Status Ended = S->endSequence(J.Sequences[I]); !Ended)
        return Ended;
  J.Sequences = std::move(Following);
  return {};
}

/// Sequences and source texts of requests that are new.
Status Generator::start() {
  std::vector<SourceItem> Items;
  std::vector<Job *> Owners;
  for (auto &[Number, J] : Jobs) {
    if (!J->isRunning())
      continue;
    if (J->Sequences.empty())
      J->Sequences = {S->createSequence()};
    if (J->HasSource || J->Wish.Source.empty())
      continue;
    Items.push_back({J->Sequences.front(), J->Wish.Source});
    Owners.push_back(J.get());
  }
  if (Items.empty())
    return {};
  Result<std::vector<ItemResult>> Answers = S->encodeSources(Items);
  if (!Answers)
    return Answers.error();
  for (size_t I = 0; I < Owners.size(); ++I) {
    const Status &Outcome = (*Answers)[I].Outcome;
    Owners[I]->HasSource = true;
    if (!Outcome)
      if (Status Ended = fail(*Owners[I], Outcome.error()); !Ended)
        return Ended;
  }
  return {};
}

/// The next token of a request without beams.
Status Generator::choose(Job &J, const ItemResult &Answer) {
  const Request &Wish = J.Wish;
  if (!Answer.Outcome)
    return fail(J, Answer.Outcome.error());
  if (Wish.MaxNewTokens <= 0)
    return finishByLength(J);
  std::span<const float> Logits = Answer.Values;
  std::vector<float> Scores;
  if (Wish.Rules.any()) {
    Scores.assign(Logits.begin(), Logits.end());
    std::vector<int32_t> Sequence = Wish.Prompt;
    Sequence.insert(Sequence.end(), J.Done.NewTokens.begin(),
                    J.Done.NewTokens.end());
    Wish.Rules.apply(Sequence, Scores);
    Logits = Scores;
  }
  Result<int32_t> Token = J.Picker.pick(Logits);
  if (!Token)
    return fail(J, atStep(J, Token.error()));
  J.addToken(*Token);
  if (J.isEnd(*Token))
    return finish(J, FinishReason::EndOfSequence);
  if (static_cast<int64_t>(J.Done.NewTokens.size()) >= Wish.MaxNewTokens)
    return finishByLength(J);
  J.Tokens = {*Token};
  return {};
}

/// Takes the answers to the beams of `J`, and moves them on.
Status Generator::chooseBeams(Job &J, std::span<const ItemResult> Answers) {
  std::vector<std::span<const float>> Logits;
  for (const ItemResult &Answer : Answers) {
    if (!Answer.Outcome)
      return fail(J, Answer.Outcome.error());
    Logits.push_back(Answer.Values);
  }
  Result<std::vector<BeamSearch::Continuation>> GoOn =
      J.Search->advance(Logits);
  if (!GoOn)
    return fail(J, atStep(J, GoOn.error()));
  if (!J.Search->finished())
    return follow(J, *GoOn);
  for (int32_t Token : J.Search->best())
    J.addToken(Token);
  J.Done.Score = J.Search->bestScore();
  return J.isEnd(J.Done.NewTokens.back())
             ? finish(J, FinishReason::EndOfSequence)
             : finishByLength(J);
}

Status Generator::advance(Job &J, std::span<const ItemResult> Answers) {
  return J.Search ? chooseBeams(J, Answers) : choose(J, Answers.front());
}

Result<std::vector<Piece>> Generator::step() {
  Result<const Entry *> Code = S->model().entry("step");
  if (!Code)
    return Code.error();
  for (auto &[Number, J] : Jobs) {
    J->Added = {};
    J->Added.Request = Number;
    // A beam search of no tokens has nothing to run for.
    if (J->isRunning() && J->Wish.How.Beams != 1 && !J->Search)
      if (Status Ended = finishByLength(*J); !Ended)
        return Ended.error();
  }
  if (Status Started = start(); !Started)
    return Started.error();

  std::vector<StepItem> Items;
  std::vector<Job *> Owners;
  for (auto &[Number, J] : Jobs) {
    if (!J->isRunning())
      continue;
    Owners.push_back(J.get());
    for (size_t I = 0; I < J->Sequences.size(); ++I)
      Items.push_back({J->Sequences[I],
                       J->nextOf(I),
                       {},
                       OutputRows::Last,
                       J->Tokens.empty() ? J->Wish.Prefix : 0});
  }
  if (!Items.empty()) {
    Result<std::vector<ItemResult>> Answers = S->step(Items);
    if (!Answers)
      return Answers.error();
    std::span<ItemResult> Left(*Answers);
    for (ItemResult &Answer : Left)
      if (Answer.Outcome)
        Answer.Values =
            scoresOf(Answer.Values, S->model().manifest(), (*Code)->Info);
    for (Job *J : Owners) {
      ++J->Steps;
      size_t Count = J->Sequences.size();
      if (Status Done = advance(*J, Left.first(Count)); !Done)
        return Done.error();
      Left = Left.subspan(Count);
    }
  }
  std::vector<Piece> Pieces;
  for (auto &[Number, J] : Jobs)
    if (!J->Added.Tokens.empty() || J->Added.Finish != FinishReason::None)
      Pieces.push_back(std::move(J->Added));
  return Pieces;
}
