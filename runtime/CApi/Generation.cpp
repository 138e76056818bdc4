//===- Generation.cpp - Generating text from C ----------------------------===//

#include "runtime/CApi/Handles.h"

#include <utility>

using namespace tenon;
using namespace tenon::capi;

struct tenon_generation {
  generation::Generator Running;
  int64_t Request = 0;
  std::deque<generation::Piece> Waiting;
  PieceArrays Last;
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
    if (Status Fits =
            generation::checkPrompt(session->Running.model(), {prompt, count});
        !Fits)
      return fail(Fits.error().withContext("tenon_generation_create"));
    grammar::GrammarCache Known(session->Grammars);
    Result<generation::Settings> S =
        readSettings("tenon_generation_create", settings, &Known);
    if (!S)
      return fail(S.error());
    Result<std::vector<generation::PromptImage::Ptr>> Images = readImages(
        "tenon_generation_create", session->Running.model(), settings);
    if (!Images)
      return fail(Images.error());
    Result<generation::Request> Wish =
        generation::makeRequest(session->Running.model(), *S,
                                {prompt, prompt + count}, std::move(*Images));
    if (!Wish)
      return fail(Wish.error());
    // As in `tenon run`: what a text is depends on its request alone.
    engine::Variant V = generation::variantFor(session->Running.model(),
                                               generation::rowsOf(*Wish));
    generation::Generator Running(session->Running, V);
    Result<int64_t> Added = Running.add(std::move(*Wish));
    if (!Added)
      return fail(Added.error());
    *generation = new tenon_generation{std::move(Running), *Added, {}, {}, {}};
    return TENON_OK;
  });
}

void tenon_generation_destroy(tenon_generation *generation) {
  delete generation;
}

/// Texts that have more pieces to come.
static int64_t unfinished(const tenon_generation &G) {
  auto Count = static_cast<int64_t>(G.Running.running(G.Request));
  for (const generation::Piece &P : G.Waiting)
    Count += P.Finish != generation::FinishReason::None;
  return Count;
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
    if (G.Waiting.empty() && G.Running.running() != 0) {
      Result<std::vector<generation::Piece>> Pieces = G.Running.step();
      if (!Pieces)
        return fail(Pieces.error());
      for (generation::Piece &P : *Pieces)
        G.Waiting.push_back(std::move(P));
    }
    if (!G.Waiting.empty()) {
      G.Last = PieceArrays(std::move(G.Waiting.front()));
      G.Waiting.pop_front();
    } else {
      // All has ended: an empty piece that says how.
      const generation::Generation &Done = G.Running.progress(G.Request);
      generation::Piece End;
      End.Finish = Done.Finish;
      End.StopToken = Done.StopToken;
      End.StopString = Done.StopString;
      End.Failure = Done.Failure;
      G.Last = PieceArrays(std::move(End));
    }
    writeStruct(piece, G.Last.asPiece(unfinished(G)));
    return G.Last.Piece.Failure ? fail(*G.Last.Piece.Failure) : TENON_OK;
  });
}

tenon_status tenon_generation_prompt_logprobs(tenon_generation *generation,
                                              tenon_prompt_logprobs *logprobs) {
  if (!generation || !logprobs)
    return fail(
        "tenon_generation_prompt_logprobs: generation or logprobs is null");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_prompt_logprobs> Read = readStruct<tenon_prompt_logprobs>(
            "tenon_generation_prompt_logprobs: logprobs", logprobs);
        !Read)
      return fail(Read.error());
    ScoreArrays &Arrays = generation->PromptScores;
    Arrays = {};
    Arrays.append(generation->Running.promptScores(generation->Request));
    writeStruct(logprobs, Arrays.asPromptLogprobs());
    return TENON_OK;
  });
}
