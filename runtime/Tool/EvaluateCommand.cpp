//===- EvaluateCommand.cpp - tenon evaluate -------------------------------===//

#include "runtime/Engine/Session.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/Evaluation.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::tokenizer;
using namespace tenon::tool;

namespace {

constexpr int64_t DefaultContext = 512;

/// Rows of logits are taken in slices of about so many bytes, or of one row.
constexpr int64_t SliceBytes = 64 << 20;

/// The tokens of a text.
struct EvaluatedText {
  /// What errors call it.
  std::string Name;
  /// As they are evaluated, from the special tokens on that begin a text.
  std::vector<int32_t> Ids;
  /// How many those are: they begin every window.
  size_t Beginning = 0;
};

/// One of the models, and how well it has predicted the text so far.
class Subject {
public:
  static Result<Subject> create(std::shared_ptr<const Model> M, int64_t Context,
                                int64_t Threads);

  /// Begins a window with `Tokens`, none of which is scored.
  Status begin(std::span<const int32_t> Tokens);
  /// Goes on with `Tokens`; row(I) is then of the logits after the one at I.
  Status proceed(std::span<const int32_t> Tokens);
  std::span<const float> row(size_t I) const;
  Status end() { return S.endSequence(Sequence); }

  const Model &model() const { return S.model(); }
  /// Rows of logits to take at once.
  int64_t sliceRows() const {
    return std::clamp<int64_t>(
        SliceBytes / (Code->Info.Width * static_cast<int64_t>(sizeof(float))),
        1, model().manifest().MaxTokensPerStep);
  }

  double NegativeLogLikelihood = 0;

private:
  Subject(Session S, const Entry *Code) : S(std::move(S)), Code(Code) {}
  Status step(std::span<const int32_t> Tokens, OutputRows Rows);

  Session S;
  const Entry *Code;
  SequenceId Sequence{};
  std::span<const float> Rows;
};

/// What the reference says of the other model, token by token.
struct Comparison {
  std::vector<double> Divergences;
  int64_t Agreements = 0;
};

} // namespace

Result<Subject> Subject::create(std::shared_ptr<const Model> M, int64_t Context,
                                int64_t Threads) {
  Result<const Entry *> Code = M->entry("step");
  if (!Code)
    return Code.error();
  const std::vector<CacheInfo> &Caches = M->manifest().Caches;
  // In whole pages; every kind of cache has pages of the same size.
  int64_t Page = Caches.empty() ? 1 : Caches.front().PageTokens;
  Result<Session> S = Session::create(
      std::move(M), {Threads, (Context + Page - 1) / Page * Page});
  if (!S)
    return S.error();
  return Subject(std::move(*S), *Code);
}

Status Subject::step(std::span<const int32_t> Tokens, OutputRows Wanted) {
  StepItem Item{Sequence, Tokens, {}, Wanted};
  Result<std::vector<ItemResult>> Answer = S.step({&Item, 1});
  if (!Answer)
    return Answer.error();
  Rows = Answer->front().Values;
  const Status &Outcome = Answer->front().Outcome;
  return Outcome ? Outcome : Outcome.error().withContext(model().path());
}

Status Subject::begin(std::span<const int32_t> Tokens) {
  Sequence = S.createSequence();
  return Tokens.empty() ? Status() : step(Tokens, OutputRows::None);
}

Status Subject::proceed(std::span<const int32_t> Tokens) {
  return step(Tokens, OutputRows::All);
}

std::span<const float> Subject::row(size_t I) const {
  auto Width = static_cast<size_t>(Code->Info.Width);
  return scoresOf(Rows.subspan(I * Width, Width), model().manifest(),
                  Code->Info);
}

/// The artifact at `Path`, if it predicts the tokens of a text one by one.
static Result<std::shared_ptr<const Model>>
loadDecoder(const std::string &Path) {
  Result<std::shared_ptr<const Model>> M = Model::load(Path);
  if (!M)
    return M.error();
  auto Refuse = [&](const char *Kind) {
    return Error(Path + ": this model is " + Kind +
                 ": expected a decoder, which predicts each token of a text "
                 "from those before it");
  };
  switch (kindOf(**M)) {
  case ModelKind::Decoder:
    break;
  case ModelKind::EncoderDecoder:
    return Refuse("an encoder-decoder");
  case ModelKind::Encoder:
  case ModelKind::Classifier:
    return Refuse("an encoder");
  case ModelKind::Image:
    return Refuse("a vision model");
  }
  if ((*M)->manifest().MaxSequence < MinContext)
    return Error(Path + ": the longest sequence is " +
                 std::to_string((*M)->manifest().MaxSequence) +
                 " tokens: expected at least " + std::to_string(MinContext));
  return M;
}

static int64_t vocabularyOf(const Model &M) {
  Result<const Entry *> Code = M.entry("step");
  return Code ? M.manifest().vocabularyOf((*Code)->Info) : 0;
}

/// `Content` in tokens of `M`.
static Result<TextTokens> encode(const Model &M, const std::string &Content,
                                 const std::string &Name) {
  Result<const Tokenizer *> T = M.tokenizer();
  if (!T)
    return T.error();
  Result<TextTokens> Tokens = tokensOf(**T, Content);
  return Tokens ? std::move(Tokens) : Tokens.error().withContext(Name);
}

/// The text of `Options` in tokens of `M`, which `Reference`, if there is one,
/// must agree on.
static Result<EvaluatedText> readTokens(const Model &M, const Model *Reference,
                                        const EvaluateOptions &Options) {
  if (!Options.TokenIds.empty()) {
    Result<std::vector<int32_t>> Ids =
        parseTokens(Options.TokenIds, "--token-ids");
    if (!Ids)
      return Ids.error();
    return EvaluatedText{"--token-ids", std::move(*Ids), 0};
  }
  Result<std::string> Content = readText(Options.Text);
  if (!Content)
    return Content.error();
  EvaluatedText T;
  T.Name = Options.Text == "-" ? "standard input" : Options.Text;
  if (Content->empty())
    return Error(T.Name + ": empty: expected text");
  Result<TextTokens> Tokens = encode(M, *Content, T.Name);
  if (!Tokens)
    return Tokens.error();
  if (Reference && Reference->manifest().Tokenizer) {
    Result<TextTokens> Others = encode(*Reference, *Content, T.Name);
    if (!Others)
      return Others.error();
    std::span<const int32_t> Own = Tokens->own(), Other = Others->own();
    auto [Ours, Theirs] =
        std::mismatch(Own.begin(), Own.end(), Other.begin(), Other.end());
    auto IdAt = [](auto Place, std::span<const int32_t> Ids) {
      return Place == Ids.end() ? "missing" : std::to_string(*Place);
    };
    if (Ours != Own.end() || Theirs != Other.end())
      return Error(Reference->path() + ": tokenizer: token " +
                   std::to_string(Ours - Own.begin()) + " of the text is " +
                   IdAt(Theirs, Other) + ": expected " + IdAt(Ours, Own) +
                   ", as " + M.path() + " has it");
  }
  T.Ids = std::move(Tokens->Ids);
  T.Beginning = Tokens->Beginning;
  return T;
}

/// The tokens of a window, or why it cannot be that.
static Result<int64_t> contextOf(const EvaluateOptions &Options, const Model &M,
                                 const Model *Reference) {
  const Model *Shorter = &M;
  if (Reference && Reference->manifest().MaxSequence < M.manifest().MaxSequence)
    Shorter = Reference;
  int64_t Longest = Shorter->manifest().MaxSequence;
  int64_t Context = Options.Context.value_or(std::min(DefaultContext, Longest));
  if (Context < MinContext || Context > Longest)
    return Error("--context is " + std::to_string(Context) + ": expected " +
                 std::to_string(MinContext) + " to " + std::to_string(Longest) +
                 ", the longest sequence of " + Shorter->path());
  return Context;
}

/// An error for tokens that the model does not know.
static Status checkTokens(const EvaluatedText &T, const Model &M) {
  int64_t Vocabulary = vocabularyOf(M);
  for (size_t I = 0; I < T.Ids.size(); ++I)
    if (T.Ids[I] < 0 || T.Ids[I] >= Vocabulary)
      return Error(T.Name + ": token id " + std::to_string(T.Ids[I]) +
                   " (token " + std::to_string(I) + "): expected 0 to " +
                   std::to_string(Vocabulary - 1) + ", the vocabulary of " +
                   M.path());
  return {};
}

/// How `T` is cut, or why it cannot be.
static Result<Windows> cut(const EvaluatedText &T, int64_t Context) {
  auto Length = static_cast<int64_t>(T.Ids.size());
  int64_t Given = std::max<int64_t>(static_cast<int64_t>(T.Beginning), 1);
  if (Length <= Given)
    return Error(T.Name + ": " + std::to_string(Length) +
                 (Length == 1 ? " token" : " tokens") + ": expected at least " +
                 std::to_string(Given + 1) + ", " + std::to_string(Given) +
                 " to begin with and one to predict");
  Windows Cut = windowsOf(Length, Context, Given);
  if (Cut.scored() <= 0)
    return Error("--context is " + std::to_string(Context) +
                 ": expected at least " + std::to_string(Given + 1) +
                 ", the tokens that begin a text and one to predict");
  return Cut;
}

/// Scores `Next`, the tokens that came after each row of logits. `Subjects` are
/// the model and, if there is one, the reference.
static Status scoreRows(std::span<Subject> Subjects,
                        std::span<const int32_t> Next,
                        Comparison &Differences) {
  for (size_t I = 0; I < Next.size(); ++I) {
    std::vector<LogProbabilities> Rows;
    for (Subject &S : Subjects) {
      Result<LogProbabilities> Row = LogProbabilities::of(S.row(I));
      if (!Row)
        return Row.error().withContext(S.model().path());
      S.NegativeLogLikelihood -= (*Row)[static_cast<size_t>(Next[I])];
      Rows.push_back(*Row);
    }
    if (Rows.size() == 1)
      continue;
    Differences.Divergences.push_back(divergence(Rows[1], Rows[0]));
    Differences.Agreements += Rows[0].likeliest() == Rows[1].likeliest();
  }
  return {};
}

/// Runs one window through all `Subjects`; tokens from `FirstScored` on are
/// scored.
static Status scoreWindow(std::span<Subject> Subjects,
                          std::span<const int32_t> Window, size_t FirstScored,
                          Comparison &Differences) {
  int64_t Slice = std::numeric_limits<int64_t>::max();
  for (Subject &S : Subjects) {
    Slice = std::min(Slice, S.sliceRows());
    if (Status Done = S.begin(Window.first(FirstScored - 1)); !Done)
      return Done;
  }
  // The logits of a token are of the one behind it: the last need not run.
  for (size_t From = FirstScored - 1; From + 1 < Window.size();) {
    size_t Count =
        std::min(static_cast<size_t>(Slice), Window.size() - 1 - From);
    for (Subject &S : Subjects)
      if (Status Done = S.proceed(Window.subspan(From, Count)); !Done)
        return Done;
    if (Status Done =
            scoreRows(Subjects, Window.subspan(From + 1, Count), Differences);
        !Done)
      return Done;
    From += Count;
  }
  for (Subject &S : Subjects)
    if (Status Done = S.end(); !Done)
      return Done;
  return {};
}

static std::string number(double Value) {
  char Digits[32];
  std::snprintf(Digits, sizeof(Digits), "%.6g", Value);
  return Digits;
}

static Status printAnswer(const std::vector<Subject> &Subjects,
                          const Windows &Cut, const Comparison &Differences,
                          const EvaluateOptions &Options) {
  auto Scored = static_cast<double>(Cut.scored());
  auto PerplexityOf = [&](const Subject &S) {
    return std::exp(S.NegativeLogLikelihood / Scored);
  };
  const Subject &S = Subjects.front();
  Json J = Json::object();
  J["perplexity"] = PerplexityOf(S);
  J["mean_negative_log_likelihood"] = S.NegativeLogLikelihood / Scored;
  J["scored_tokens"] = Cut.scored();
  J["windows"] = Cut.Count;
  J["window_tokens"] = Cut.Tokens;
  J["unused_tokens"] = Cut.Unused;
  std::string Lines = "perplexity              " + number(PerplexityOf(S)) +
                      "\ntokens scored           " +
                      std::to_string(Cut.scored()) + " in " +
                      std::to_string(Cut.Count) +
                      (Cut.Count == 1 ? " window of " : " windows of ") +
                      std::to_string(Cut.Tokens) + "\n";
  if (Subjects.size() > 1) {
    const std::vector<double> &All = Differences.Divergences;
    double Sum = 0;
    for (double Divergence : All)
      Sum += Divergence;
    double P99 = percentile(All, 0.99);
    double Agreement = static_cast<double>(Differences.Agreements) / Scored;
    Json &Against = J["against"] = Json::object();
    Against["file"] = Options.AgainstName.empty()
                          ? Subjects.back().model().path()
                          : Options.AgainstName;
    Against["perplexity"] = PerplexityOf(Subjects.back());
    Against["mean_kl_divergence"] = Sum / Scored;
    Against["p99_kl_divergence"] = P99;
    Against["top1_agreement"] = Agreement;
    Lines +=
        "reference's perplexity  " + number(PerplexityOf(Subjects.back())) +
        "\nKL divergence, mean     " + number(Sum / Scored) +
        " nats\nKL divergence, 99 %     " + number(P99) +
        " nats\ntop-1 agreement         " + number(100 * Agreement) + " %\n";
  }
  return print(Options.Json ? lineOf(J) : Lines);
}

Status tool::evaluateModel(const EvaluateOptions &Options) {
  Result<std::shared_ptr<const Model>> Loaded = loadDecoder(Options.File);
  if (!Loaded)
    return Loaded.error();
  std::vector<std::shared_ptr<const Model>> Models = {*Loaded};
  const Model &M = **Loaded;
  const Model *Reference = nullptr;
  if (!Options.Against.empty()) {
    if (Status IsThere = checkArtifactPath(Options.Against); !IsThere)
      return IsThere.error().withContext("--against");
    Result<std::shared_ptr<const Model>> Other = loadDecoder(Options.Against);
    if (!Other)
      return Other.error().withContext("--against");
    Models.push_back(*Other);
    Reference = Other->get();
    if (vocabularyOf(*Reference) != vocabularyOf(M))
      return Error(
          "--against: " + Reference->path() + ": field 'vocabulary' is " +
          std::to_string(vocabularyOf(*Reference)) + ": expected " +
          std::to_string(vocabularyOf(M)) + ", as " + M.path() + " has it");
  }
  Result<int64_t> Context = contextOf(Options, M, Reference);
  if (!Context)
    return Context.error();
  Result<EvaluatedText> T = readTokens(M, Reference, Options);
  if (!T)
    return T.error();
  if (Status Good = checkTokens(*T, M); !Good)
    return Good;
  Result<Windows> Cut = cut(*T, *Context);
  if (!Cut)
    return Cut.error();

  std::vector<Subject> Subjects;
  for (std::shared_ptr<const Model> &Each : Models) {
    Result<Subject> S =
        Subject::create(std::move(Each), *Context, Options.Threads);
    if (!S)
      return S.error();
    Subjects.push_back(std::move(*S));
  }
  Comparison Differences;
  for (int64_t I = 0; I < Cut->Count; ++I) {
    std::span<int32_t> Window = std::span(T->Ids).subspan(
        static_cast<size_t>(I * Cut->Tokens), static_cast<size_t>(Cut->Tokens));
    // The first window begins with them already.
    std::copy_n(T->Ids.begin(), std::min(T->Beginning, Window.size()),
                Window.begin());
    if (Status Done =
            scoreWindow(Subjects, Window, static_cast<size_t>(Cut->FirstScored),
                        Differences);
        !Done)
      return Done.error().withContext("window " + std::to_string(I + 1));
  }
  return printAnswer(Subjects, *Cut, Differences, Options);
}
