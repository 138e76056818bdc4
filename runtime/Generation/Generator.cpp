//===- Generator.cpp - Token after token ----------------------------------===//

#include "runtime/Generation/Job.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

std::string_view generation::nameOf(FinishReason Reason) {
  constexpr std::string_view Names[] = {"",      "eos",     "length",
                                        "error", "context", "stop"};
  return Names[static_cast<size_t>(Reason)];
}

Variant generation::variantFor(const Model &M, int64_t Rows) {
  return Rows <= M.manifest().FewTokens ? Variant::Few : Variant::Many;
}

Generator::Generator(Session &S, Variant V, std::function<double()> Clock)
    : S(&S), V(V), Clock(std::move(Clock)) {}
Generator::Generator(Generator &&) noexcept = default;
Generator &Generator::operator=(Generator &&) noexcept = default;

Generator::~Generator() {
  while (!Jobs.empty())
    take(Jobs.begin()->first);
}

Result<int64_t> Generator::add(Request R) {
  return add(std::move(R), std::nullopt, /*KeepsPrompt=*/false);
}

Result<int64_t> Generator::add(Request R, std::optional<PromptStart> Start,
                               bool KeepsPrompt) {
  if (R.Prompt.empty())
    return Error("prompt of 0 tokens: expected at least one");
  if (Status Fits = checkPromptLength(S->model(), R); !Fits)
    return Fits.error();
  Result<Sampler> Picker = Sampler::create(R.How.Sampling);
  if (!Picker)
    return Picker.error();
  const tokenizer::Tokenizer *Text = nullptr;
  if (S->model().manifest().Tokenizer) {
    Result<const tokenizer::Tokenizer *> Read = S->model().tokenizer();
    if (!Read)
      return Read.error();
    Text = *Read;
  }
  auto J = std::make_unique<Job>(Next, std::move(R), *Picker, Text);
  const Request &Wish = J->Wish;
  if (Wish.How.Beams != 1) {
    BeamOptions Options{Wish.How.Beams,
                        Wish.How.LengthPenalty,
                        Wish.How.EarlyStopping,
                        Wish.Rules,
                        nullptr,
                        Wish.Scored};
    if (!Wish.StopStrings.empty())
      // The request stays where it is, in its job.
      Options.EndsText = [&Wish, Text](std::span<const int32_t> New) {
        Line L(Wish, Text);
        for (int32_t Token : New)
          if (L.isRunning())
            L.addToken(Wish, Token);
        return !L.isRunning();
      };
    Result<BeamSearch> Search = BeamSearch::create(Options, Wish.Prompt);
    if (!Search)
      return Search.error();
    J->Search = std::move(*Search);
  }
  J->KeepsPrompt = KeepsPrompt;
  J->ImageStarts = imageStarts(S->model(), Wish.Prompt);
  if (J->ImageStarts.size() != Wish.Images.size())
    return Error(
        "prompt with rows of " + std::to_string(J->ImageStarts.size()) +
        " images: expected those of " + std::to_string(Wish.Images.size()));
  if (Start) {
    J->Sequences = {Start->Sequence};
    J->PromptRun = Start->Tokens;
    // What lies in the start as a whole has its keys and values there.
    for (size_t Begin : J->ImageStarts)
      J->ImagesRead +=
          Begin + static_cast<size_t>(S->model().manifest().Image->Rows) <=
          Start->Tokens;
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

size_t Generator::running(int64_t Request) const {
  const std::vector<Line> &Lines = Jobs.at(Request)->Lines;
  return static_cast<size_t>(std::count_if(
      Lines.begin(), Lines.end(), [](const Line &L) { return L.isRunning(); }));
}

bool Generator::reading() const {
  return std::any_of(Jobs.begin(), Jobs.end(), [](const auto &Entry) {
    return Entry.second->isRunning() && Entry.second->isReading();
  });
}

size_t Generator::promptLeft(int64_t Request) const {
  const Job &J = *Jobs.at(Request);
  return J.Wish.Prompt.size() - J.PromptRun;
}

std::optional<SequenceId> Generator::keptPrompt(int64_t Request) {
  return std::exchange(Jobs.at(Request)->KeptPrompt, std::nullopt);
}

const Generation &Generator::progress(int64_t Request, int64_t Choice) const {
  return Jobs.at(Request)->Lines.at(static_cast<size_t>(Choice)).Done;
}

const std::vector<ScoredToken> &Generator::promptScores(int64_t Request) const {
  return Jobs.at(Request)->PromptScores;
}

Answer Generator::take(int64_t Request) {
  auto Taken = Jobs.extract(Request);
  Job &J = *Taken.mapped();
  for (SequenceId Id : J.Sequences)
    (void)S->endSequence(Id); // It exists.
  if (J.KeptPrompt)
    (void)S->endSequence(*J.KeptPrompt); // It exists.
  Answer All;
  for (Line &L : J.Lines)
    All.Choices.push_back(std::move(L.Done));
  All.PromptScores = std::move(J.PromptScores);
  return All;
}

void Generator::fail(Job &J, Line &L, const Error &Reason) {
  L.Done.Failure = Reason;
  L.finish(J.Wish, FinishReason::Error);
}

/// An error that the model's output has made, with the file and the step.
Error Generator::atStep(const Job &J, const Error &Reason) const {
  return Reason.withContext(S->model().path() + ": step " +
                            std::to_string(J.Steps));
}

/// Gives every beam or choice that goes on a sequence: its parent's, or a fork
/// of it where several continue the same one. Others end.
Status Generator::follow(Job &J,
                         std::span<const BeamSearch::Continuation> GoOn) {
  std::vector<bool> IsTaken(J.Sequences.size());
  std::vector<SequenceId> Following;
  J.Next.clear();
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
    J.Next.push_back({C.Token});
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
  SourceSeconds = 0;
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
  double Begin = Clock();
  Result<std::vector<ItemResult>> Answers = S->encodeSources(Items);
  if (!Answers)
    return Answers.error();
  SourceSeconds = Clock() - Begin;
  for (size_t I = 0; I < Owners.size(); ++I) {
    const Status &Outcome = (*Answers)[I].Outcome;
    Owners[I]->HasSource = true;
    if (Outcome)
      continue;
    for (Line &L : Owners[I]->Lines)
      fail(*Owners[I], L, Outcome.error());
    if (Status Ended = follow(*Owners[I], {}); !Ended)
      return Ended;
  }
  return {};
}

/// The logits of a row that stand for tokens.
std::span<const float> Generator::tokensOf(std::span<const float> Row) const {
  Result<const Entry *> Code = S->model().entry("step");
  return Code ? scoresOf(Row, S->model().manifest(), (*Code)->Info) : Row;
}

/// Takes the answer to a slice of the prompt. False when there is nothing to
/// choose yet, or any more.
bool Generator::readPrompt(Job &J, const ItemResult &Answer) {
  const Request &Wish = J.Wish;
  auto FailAll = [&](const Error &Reason) {
    for (Line &L : J.Lines)
      fail(J, L, Reason);
    return false;
  };
  if (!Answer.Outcome)
    return FailAll(Answer.Outcome.error());
  size_t Width = Answer.Values.size() / static_cast<size_t>(Answer.Rows);
  auto First = J.PromptRun;
  size_t Used = imageRowsOf(J, J.nextOf(0)).size();
  J.ImageRows.erase(J.ImageRows.begin(),
                    J.ImageRows.begin() + static_cast<ptrdiff_t>(Used));
  J.PromptRun += J.Slice;
  for (size_t I = 0; J.scoresPrompt() && I < J.Slice; ++I) {
    size_t Following = First + I + 1;
    if (Following == Wish.Prompt.size())
      break;
    Result<LogProbabilities> Row =
        LogProbabilities::of(tokensOf(Answer.Values.subspan(I * Width, Width)));
    if (!Row)
      return FailAll(atStep(J, Row.error()));
    J.PromptScores.push_back(Row->score(Wish.Prompt[Following], *Wish.Scored));
  }
  if (J.isReading())
    return false;
  J.ImageRows = {};
  J.Wish.Images.clear();
  if (J.KeepsPrompt)
    if (Result<SequenceId> Kept = S->forkSequence(J.Sequences.front()))
      J.KeptPrompt = *Kept;
  if (Wish.MaxNewTokens > 0)
    return true;
  for (Line &L : J.Lines)
    L.finishByLength(Wish);
  return false;
}

/// Draws the next token of a line after a row of logits; none where that has
/// ended the line.
std::optional<int32_t> Generator::sample(Job &J, Line &L,
                                         std::span<const float> Row) {
  const Request &Wish = J.Wish;
  if (L.Must && L.Must->isComplete()) {
    L.finish(Wish, FinishReason::EndOfSequence);
    return std::nullopt;
  }
  Result<int32_t> Token =
      L.Picked ? *std::exchange(L.Picked, std::nullopt) : L.pick(Wish, Row);
  if (L.Must && L.Must->gaveUp()) {
    fail(J, L,
         Error("grammar has too many ways to go on with the text so far: "
               "expected a schema or grammar of fewer alternatives that begin "
               "alike"));
    return std::nullopt;
  }
  if (Token)
    return *Token;
  std::span<const float> Logits = Wish.Rules.any() ? L.Ruled : Row;
  MaskedScores Left(Logits, L.Must ? L.Must->mask(Logits.size())
                                   : std::span<const uint64_t>());
  if (!Left.isEmpty() || !likeliest(Row)) {
    fail(J, L, atStep(J, Token.error()));
  } else if (L.Must && L.Must->canEnd()) {
    // Where only the end may follow, the grammar wins over all that forbids it.
    L.finish(Wish, FinishReason::EndOfSequence);
  } else {
    fail(J, L,
         Error("every token is excluded: expected rules of generation that "
               "leave one"));
  }
  return std::nullopt;
}

/// The next token of a line, if it goes on: the one that is forced, else by the
/// row of logits, which may be empty only where one is forced and no scores are
/// wanted.
std::optional<int32_t> Generator::choose(Job &J, Line &L,
                                         std::span<const float> Row) {
  const Request &Wish = J.Wish;
  std::optional<int32_t> Token =
      L.Forced.empty() ? sample(J, L, Row) : L.Forced.front();
  if (!Token)
    return std::nullopt;
  if (Wish.Scored) {
    Result<LogProbabilities> Raw = LogProbabilities::of(Row);
    if (!Raw) {
      fail(J, L, atStep(J, Raw.error()));
      return std::nullopt;
    }
    L.addScore(Raw->score(*Token, *Wish.Scored));
  }
  L.addToken(Wish, *Token);
  return L.isRunning() ? Token : std::nullopt;
}

/// The next token of the line of sequence `I`, which has answered to one token
/// and to those behind it: they are right as long as they are what is chosen.
/// Drops the others.
Result<std::optional<int32_t>>
Generator::checkGuesses(Job &J, size_t I, const ItemResult &Answer) {
  Line &L = J.Lines[J.Owners[I]];
  if (!Answer.Outcome) {
    fail(J, L, Answer.Outcome.error());
    return std::optional<int32_t>();
  }
  const std::vector<int32_t> &Given = J.Next[I];
  size_t Width = Answer.Values.size() / static_cast<size_t>(Answer.Rows);
  // Behind forced tokens only the last row has been asked for.
  size_t Unasked = Given.size() - static_cast<size_t>(Answer.Rows);
  size_t Row = 0;
  bool AreGuesses = Given.size() > 1 && L.Forced.empty();
  std::optional<int32_t> Token;
  do {
    // Tokens that come at once are pieces of their own, as without guesses, so
    // that streams have the same events.
    if (Row > 0)
      L.Earlier.push_back(L.takeAdded());
    Token = choose(J, L,
                   Row < Unasked ? std::span<const float>()
                                 : tokensOf(Answer.Values.subspan(
                                       (Row - Unasked) * Width, Width)));
  } while (Token && ++Row < Given.size() && *Token == Given[Row]);
  if (!Token || Given.size() == 1)
    return Token;
  if (AreGuesses)
    L.Lookup.observe(Given.size() - 1, Row - 1);
  if (Row == Given.size())
    return Token;
  Result<int64_t> Length = S->length(J.Sequences[I]);
  if (!Length)
    return Length.error();
  if (Status Done = S->truncateSequence(
          J.Sequences[I], *Length - static_cast<int64_t>(Given.size() - Row));
      !Done)
    return Done.error();
  return Token;
}

/// At most `Most` tokens behind the line's last: those that are forced, or may
/// follow because they followed what is in the text before.
std::vector<int32_t> Generator::guess(const Request &Wish, Line &L,
                                      size_t Most) {
  auto Left =
      Wish.MaxNewTokens - static_cast<int64_t>(L.Done.NewTokens.size()) - 1;
  Most = std::min(static_cast<size_t>(std::max<int64_t>(Left, 0)), Most);
  if (!L.Forced.empty()) {
    // Rows that nobody asks for must not change how others round.
    size_t Count = V == Variant::ByCount ? 0 : std::min(Most, L.Forced.size());
    return {L.Forced.begin(), L.Forced.begin() + static_cast<ptrdiff_t>(Count)};
  }
  if (Wish.How.Lookup == 0)
    return {};
  std::vector<int32_t> Text = Wish.Prompt;
  Text.insert(Text.end(), L.Done.NewTokens.begin(), L.Done.NewTokens.end());
  std::vector<int32_t> Guess = L.Lookup.guess(
      Text, std::min(static_cast<size_t>(Wish.How.Lookup), Most));
  if (L.Must)
    Guess.resize(L.Must->allowed(Guess));
  cutAtImageToken(Guess);
  return Guess;
}

/// A guess of an image token is wrong in any case, and has no row to run with.
void Generator::cutAtImageToken(std::vector<int32_t> &Guess) const {
  if (readsImages(S->model()))
    Guess.erase(std::find(Guess.begin(), Guess.end(),
                          *S->model().manifest().Image->Token),
                Guess.end());
}

/// Adds guesses to what the next step appends, `Most` in all sequences.
void Generator::addGuesses(size_t Most) {
  for (auto &[Number, J] : Jobs) {
    if (!J->isRunning() || J->isReading() || J->Search)
      continue;
    for (size_t I = 0; I < J->Sequences.size(); ++I) {
      std::vector<int32_t> Guess = guess(J->Wish, J->Lines[J->Owners[I]], Most);
      Most -= Guess.size();
      // Those of a step that was cancelled are still there.
      J->Next[I].resize(1);
      J->Next[I].insert(J->Next[I].end(), Guess.begin(), Guess.end());
    }
  }
}

/// Takes the answers to the beams of `J`, and moves them on.
Status Generator::chooseBeams(Job &J, std::span<const ItemResult> Answers) {
  auto FailAll = [&](const Error &Reason) {
    for (Line &L : J.Lines)
      fail(J, L, Reason);
    return follow(J, {});
  };
  std::vector<std::span<const float>> Logits;
  for (const ItemResult &Answer : Answers) {
    if (!Answer.Outcome)
      return FailAll(Answer.Outcome.error());
    Logits.push_back(Answer.Values);
  }
  Result<std::vector<BeamSearch::Continuation>> GoOn =
      J.Search->advance(Logits);
  if (!GoOn)
    return FailAll(atStep(J, GoOn.error()));
  if (!J.Search->finished())
    return follow(J, *GoOn);
  for (size_t I = 0; I < J.Lines.size(); ++I) {
    Line &L = J.Lines[I];
    if (I >= J.Search->found()) {
      // Where rules leave hardly a token.
      fail(J, L,
           Error("beam search has found " + std::to_string(J.Search->found()) +
                 " texts: expected n of " + std::to_string(J.Lines.size())));
      continue;
    }
    L.Done.Score = J.Search->bestScore(I);
    const std::vector<ScoredToken> &Scores = J.Search->bestTokenScores(I);
    const std::vector<int32_t> &New = J.Search->best(I);
    // A beam that has ended may go on where there are no others.
    for (size_t K = 0; K < New.size() && L.isRunning(); ++K) {
      if (K < Scores.size())
        L.addScore(Scores[K]);
      L.addToken(J.Wish, New[K]);
    }
  }
  return follow(J, {});
}

Status Generator::advance(Job &J, std::span<ItemResult> Answers) {
  bool WasReading = J.isReading();
  if (WasReading && !readPrompt(J, Answers.front()))
    return J.isRunning() ? Status() : follow(J, {});
  // Of the last token alone, and without a head's padding.
  auto LastRow = [&](const ItemResult &Answer) {
    return tokensOf(Answer.Values.last(Answer.Values.size() /
                                       static_cast<size_t>(Answer.Rows)));
  };
  if (J.Search) {
    for (ItemResult &Answer : Answers)
      if (Answer.Outcome)
        Answer.Values = LastRow(Answer);
    return chooseBeams(J, Answers);
  }
  std::vector<BeamSearch::Continuation> GoOn;
  std::vector<size_t> Owners;
  if (WasReading)
    // After the prompt all lines go on with its sequence.
    for (size_t I = 0; I < J.Lines.size(); ++I)
      if (std::optional<int32_t> Token =
              choose(J, J.Lines[I], LastRow(Answers.front()))) {
        GoOn.push_back({0, *Token});
        Owners.push_back(I);
      }
  for (size_t I = 0; I < J.Owners.size(); ++I) {
    Result<std::optional<int32_t>> Token = checkGuesses(J, I, Answers[I]);
    if (!Token)
      return Token.error();
    if (!*Token)
      continue;
    GoOn.push_back({I, **Token});
    Owners.push_back(J.Owners[I]);
  }
  J.Owners = std::move(Owners);
  return follow(J, GoOn);
}

/// Tokens of a prompt that one step may run. Rows of logits of the whole
/// prompt are taken in slices of about so many bytes, or of one row.
static size_t sliceOf(size_t Left, bool HasRows, int64_t Width) {
  constexpr int64_t SliceBytes = 64 << 20;
  if (!HasRows)
    return Left;
  auto Rows = static_cast<size_t>(
      SliceBytes / (Width * static_cast<int64_t>(sizeof(float))));
  return std::min(Left, std::max(Rows, size_t(1)));
}

/// Decides what the next step runs of each prompt.
void Generator::slicePrompts(size_t PromptTokens, int64_t RowWidth) {
  size_t Left = std::max(PromptTokens, size_t(1));
  size_t Images = PromptTokens == SIZE_MAX ? SIZE_MAX : 1;
  for (auto &[Number, J] : Jobs) {
    J->Slice = J->ImagesDue = 0;
    if (!J->isRunning() || !J->isReading() || Left == 0)
      continue;
    J->Slice = std::min(Left, sliceOf(J->Wish.Prompt.size() - J->PromptRun,
                                      J->scoresPrompt(), RowWidth));
    // A prefix that is longer than the prompt is the session's to refuse.
    if (J->PromptRun == 0)
      J->Slice =
          std::max(J->Slice, std::min(J->Wish.Prompt.size(),
                                      static_cast<size_t>(J->Wish.Prefix)));
    cutAtImages(*J, Images);
    Left -= std::min(Left, J->Slice);
  }
}

/// Decides which images the next slice of `J` needs to be encoded, at most
/// `Images`, which it counts down; the slice ends before the next one.
void Generator::cutAtImages(Job &J, size_t &Images) {
  bool IsWhole = J.PromptRun == 0 && J.Wish.Prefix != 0;
  for (size_t I = J.ImagesRead;
       I < J.ImageStarts.size() && J.ImageStarts[I] < J.PromptRun + J.Slice;
       ++I) {
    if (Images == 0 && !IsWhole) {
      // It may begin in what was taken from a cache.
      J.Slice = std::max(J.ImageStarts[I], J.PromptRun) - J.PromptRun;
      return;
    }
    ++J.ImagesDue;
    Images -= std::min(Images, size_t(1));
  }
}

/// Encodes the images that are due. What goes wrong with one fails its request,
/// but where the call was cancelled.
Status Generator::encodeImages() {
  Encoded.clear();
  for (auto &[Number, J] : Jobs) {
    if (J->ImagesDue == 0)
      continue;
    double Begin = Clock();
    Status Done;
    size_t Images = 0;
    while (Done && Images < J->ImagesDue) {
      Done = encodeImage(*J);
      ++Images;
    }
    Encoded.push_back({Number, Images, Clock() - Begin});
    if (Done)
      continue;
    if (Done.error().kind() == ErrorKind::Cancelled)
      return Done;
    for (Line &L : J->Lines)
      fail(*J, L, Done.error());
    if (Status Ended = follow(*J, {}); !Ended)
      return Ended;
  }
  return {};
}

/// Adds the rows of the next image of `J` to those that wait to run.
Status Generator::encodeImage(Job &J) {
  const ImageItem Item = {J.Wish.Images[J.ImagesRead]->Patches,
                          OutputRows::All};
  Result<std::vector<ItemResult>> Answers = S->encodeImages({&Item, 1});
  if (!Answers)
    return Answers.error();
  const ItemResult &Got = Answers->front();
  if (!Got.Outcome)
    return Got.Outcome.error();
  size_t Begin = J.ImageStarts[J.ImagesRead];
  size_t HaveRun = std::max(J.PromptRun, Begin) - Begin;
  auto Rows = static_cast<size_t>(S->model().manifest().Image->Rows) - HaveRun;
  std::span<const float> Last =
      Got.Values.last(Rows * Got.Values.size() / static_cast<size_t>(Got.Rows));
  J.ImageRows.insert(J.ImageRows.end(), Last.begin(), Last.end());
  ++J.ImagesRead;
  return {};
}

/// The rows of the image tokens among `Tokens`, with which `J` goes on.
std::span<const float>
Generator::imageRowsOf(const Job &J, std::span<const int32_t> Tokens) const {
  if (J.ImageRows.empty())
    return {};
  auto Count = static_cast<size_t>(std::count(
      Tokens.begin(), Tokens.end(), *S->model().manifest().Image->Token));
  Result<const Entry *> Code = S->model().entry("step");
  return std::span(J.ImageRows)
      .first(Count * static_cast<size_t>((*Code)->Info.Features));
}

/// Guesses that cost little: those that variants for few tokens take beside the
/// tokens that run anyway, or about as many rows as hide behind reading
/// weights.
size_t Generator::roomForGuesses() const {
  constexpr size_t HiddenRows = 16;
  size_t Running = 0;
  for (const auto &[Number, J] : Jobs)
    if (J->isRunning() && !J->isReading())
      Running += J->Sequences.size();
  auto Rows = V == Variant::Many
                  ? HiddenRows
                  : static_cast<size_t>(S->model().manifest().FewTokens);
  return Rows - std::min(Rows, Running);
}

/// Draws the next tokens of lines of which one is to be sampled, on all
/// threads: what a large vocabulary takes with each is much beside a step of a
/// small model.
void Generator::pickAhead(std::span<Job *const> Running,
                          std::span<const ItemResult> Answers) {
  struct Due {
    const Request *Wish;
    Line *L;
    std::span<const float> Row;
  };
  std::vector<Due> All;
  for (Job *J : Running) {
    std::span<const ItemResult> Own = Answers.first(J->Sequences.size());
    Answers = Answers.subspan(J->Sequences.size());
    // What is left of a step that failed as a whole was of another row.
    for (Line &L : J->Lines)
      L.Picked.reset();
    if (J->isReading() || J->Search)
      continue;
    for (size_t I = 0; I < Own.size(); ++I) {
      Line &L = J->Lines[J->Owners[I]];
      if (!Own[I].Outcome || !L.Forced.empty() ||
          (L.Must && L.Must->isComplete()))
        continue;
      size_t Width = Own[I].Values.size() / static_cast<size_t>(Own[I].Rows);
      All.push_back({&J->Wish, &L, tokensOf(Own[I].Values.first(Width))});
    }
  }
  if (All.size() < 2 || S->threads() == 1)
    return;
  S->forEach(All.size(), [&](size_t I) {
    All[I].L->Picked = All[I].L->pick(*All[I].Wish, All[I].Row);
  });
}

/// Runs all that is due in `Phases` in one call of the session.
Status Generator::run(std::span<const Phase> Phases, Variant V) {
  std::vector<StepItem> Items;
  std::vector<Job *> Running;
  for (auto &[Number, J] : Jobs) {
    Phase Due = J->isReading() ? Phase::Prompts : Phase::Tokens;
    if (!J->isRunning() || (J->isReading() && J->Slice == 0) ||
        std::find(Phases.begin(), Phases.end(), Due) == Phases.end())
      continue;
    Running.push_back(J.get());
    int64_t Prefix = J->PromptRun == 0 ? J->Wish.Prefix : 0;
    for (size_t I = 0; I < J->Sequences.size(); ++I)
      Items.push_back({J->Sequences[I],
                       J->nextOf(I),
                       {},
                       J->rowsOf(I),
                       Prefix,
                       imageRowsOf(*J, J->nextOf(I))});
  }
  if (Items.empty())
    return {};
  Result<std::vector<ItemResult>> Answers = S->step(Items, V);
  if (!Answers)
    return Answers.error();
  pickAhead(Running, *Answers);
  std::span<ItemResult> Left(*Answers);
  for (Job *J : Running) {
    ++J->Steps;
    size_t Count = J->Sequences.size();
    if (Status Done = advance(*J, Left.first(Count)); !Done)
      return Done;
    Left = Left.subspan(Count);
  }
  return {};
}

Result<std::vector<Piece>> Generator::step(size_t PromptTokens) {
  Result<const Entry *> Code = S->model().entry("step");
  if (!Code)
    return Code.error();
  if (Status Started = start(); !Started)
    return Started.error();
  slicePrompts(PromptTokens, (*Code)->Info.Width);
  addGuesses(roomForGuesses());
  if (Status Done = encodeImages(); !Done)
    return Done.error();
  constexpr Phase Both[] = {Phase::Prompts, Phase::Tokens};
  constexpr Phase Prompts[] = {Phase::Prompts}, Tokens[] = {Phase::Tokens};
  Status Done;
  if (V == Variant::Few) {
    // Tokens first: whose prompt ends in this step waits for the next.
    Done = run(Tokens, V);
    if (Done)
      Done = run(Prompts, Variant::Many);
  } else {
    Done = run(Both, V);
  }
  if (!Done)
    return Done.error();
  std::vector<Piece> Pieces;
  for (auto &[Number, J] : Jobs)
    for (Line &L : J->Lines) {
      for (Piece &Each : std::exchange(L.Earlier, {}))
        Pieces.push_back(std::move(Each));
      if (const Piece &New = L.Added; !New.Tokens.empty() ||
                                      !New.Text.empty() ||
                                      New.Finish != FinishReason::None)
        Pieces.push_back(L.takeAdded());
    }
  return Pieces;
}
