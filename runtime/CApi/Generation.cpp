//===- Generation.cpp - Generating text from C ----------------------------===//

#include "runtime/CApi/Handles.h"

#include <utility>

using namespace tenon;
using namespace tenon::capi;

namespace {

/// Scores as C has them: one array each.
struct ScoreArrays {
  std::vector<float> Chosen;
  std::vector<int32_t> TopTokens;
  std::vector<float> TopScores;
  size_t TopCount = 0;

  void append(const std::vector<sampling::ScoredToken> &Scores) {
    for (const sampling::ScoredToken &Token : Scores) {
      Chosen.push_back(Token.Chosen.LogProbability);
      TopCount = Token.Likeliest.size();
      for (const sampling::TokenScore &Score : Token.Likeliest) {
        TopTokens.push_back(Score.Token);
        TopScores.push_back(Score.LogProbability);
      }
    }
  }
};

} // namespace

struct tenon_generation {
  generation::Generator Running;
  int64_t Request = 0;
  std::deque<generation::Piece> Waiting;
  generation::Piece Last;
  ScoreArrays Scores;
  ScoreArrays PromptScores;
};

static constexpr size_t FirstPiece = offsetof(tenon_piece, choice);
static_assert(FirstPiece == 48);

tenon_status tenon_generation_create(tenon_session *session,
                                     const tenon_settings *settings,
                                     const int32_t *prompt, size_t count,
                                     tenon_generation **generation) {
  if (!session || !prompt || count == 0 || !generation)
    return fail("tenon_generation_create: session, prompt or generation is "
                "null, or count is 0");
  return guarded([&]() -> tenon_status {
    const artifact::Manifest &Info = session->Running.model().manifest();
    int64_t Longest = Info.MaxSource != 0 ? Info.MaxSource : Info.MaxSequence;
    if (count > static_cast<size_t>(Longest))
      return fail("tenon_generation_create: prompt of " +
                  std::to_string(count) + " tokens: expected at most " +
                  std::to_string(Longest) + ", the model's length");
    Result<generation::Settings> S =
        readSettings("tenon_generation_create", settings);
    if (!S)
      return fail(S.error());
    Result<generation::Request> Wish = generation::makeRequest(
        session->Running.model(), *S, {prompt, prompt + count});
    if (!Wish)
      return fail(Wish.error());
    generation::Generator Running(session->Running);
    Result<int64_t> Added = Running.add(std::move(*Wish));
    if (!Added)
      return fail(Added.error());
    *generation =
        new tenon_generation{std::move(Running), *Added, {}, {}, {}, {}};
    return TENON_OK;
  });
}

void tenon_generation_destroy(tenon_generation *generation) {
  delete generation;
}

static tenon_finish finishOf(generation::FinishReason Reason) {
  switch (Reason) {
  case generation::FinishReason::None:
    return TENON_FINISH_NONE;
  case generation::FinishReason::EndOfSequence:
    return TENON_FINISH_EOS;
  case generation::FinishReason::Length:
    return TENON_FINISH_LENGTH;
  case generation::FinishReason::Context:
    return TENON_FINISH_CONTEXT;
  case generation::FinishReason::Stop:
    return TENON_FINISH_STOP;
  case generation::FinishReason::Error:
    break;
  }
  return TENON_FINISH_ERROR;
}

/// What a caller sees of the generation's last piece.
static tenon_piece pieceOf(const tenon_generation &G,
                           const generation::Generation &Done) {
  tenon_piece Piece{};
  Piece.tokens = G.Last.Tokens.data();
  Piece.token_count = G.Last.Tokens.size();
  Piece.text = G.Last.Text.data();
  Piece.text_bytes = G.Last.Text.size();
  Piece.finish = finishOf(Done.Finish);
  Piece.choice = G.Last.Choice;
  Piece.unfinished = static_cast<int64_t>(G.Running.running(G.Request));
  for (const generation::Piece &P : G.Waiting)
    Piece.unfinished += P.Finish != generation::FinishReason::None;
  if (!G.Scores.Chosen.empty()) {
    Piece.logprobs = G.Scores.Chosen.data();
    Piece.top_tokens = G.Scores.TopTokens.data();
    Piece.top_logprobs = G.Scores.TopScores.data();
    Piece.top_count = G.Scores.TopCount;
  }
  if (Done.StopString) {
    Piece.stop_string = Done.StopString->data();
    Piece.stop_bytes = Done.StopString->size();
  }
  Piece.stop_token = Done.StopToken.value_or(-1);
  return Piece;
}

tenon_status tenon_generation_next(tenon_generation *generation,
                                   tenon_piece *piece) {
  if (!generation || !piece)
    return fail("tenon_generation_next: generation or piece is null");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_piece> Read = readStruct<tenon_piece>(
            "tenon_generation_next: piece", piece, FirstPiece);
        !Read)
      return fail(Read.error());
    tenon_generation &G = *generation;
    G.Last = {};
    G.Scores = {};
    if (G.Waiting.empty() && G.Running.running() != 0) {
      Result<std::vector<generation::Piece>> Pieces = G.Running.step();
      if (!Pieces)
        return fail(Pieces.error());
      for (generation::Piece &P : *Pieces)
        G.Waiting.push_back(std::move(P));
    }
    bool HasPiece = !G.Waiting.empty();
    if (HasPiece) {
      G.Last = std::move(G.Waiting.front());
      G.Waiting.pop_front();
      G.Scores.append(G.Last.Scores);
    }
    const generation::Generation &Done =
        G.Running.progress(G.Request, G.Last.Choice);
    tenon_piece Added = pieceOf(G, Done);
    // Of a text that has ended there may be an earlier piece.
    if (HasPiece)
      Added.finish = finishOf(G.Last.Finish);
    writeStruct(piece, Added);
    return Added.finish == TENON_FINISH_ERROR && Done.Failure
               ? fail(*Done.Failure)
               : TENON_OK;
  });
}

tenon_status tenon_generation_prompt_scores(tenon_generation *generation,
                                            tenon_prompt_scores *scores) {
  if (!generation || !scores)
    return fail("tenon_generation_prompt_scores: generation or scores is null");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_prompt_scores> Read = readStruct<tenon_prompt_scores>(
            "tenon_generation_prompt_scores: scores", scores);
        !Read)
      return fail(Read.error());
    ScoreArrays &Arrays = generation->PromptScores;
    Arrays = {};
    Arrays.append(generation->Running.promptScores(generation->Request));
    tenon_prompt_scores Filled{};
    Filled.count = Arrays.Chosen.size();
    Filled.logprobs = Arrays.Chosen.data();
    Filled.top_tokens = Arrays.TopTokens.data();
    Filled.top_logprobs = Arrays.TopScores.data();
    Filled.top_count = Arrays.TopCount;
    writeStruct(scores, Filled);
    return TENON_OK;
  });
}
