//===- Pieces.cpp - What generation gives, as C has it --------------------===//

#include "runtime/CApi/Handles.h"

#include <utility>

using namespace tenon;
using namespace tenon::capi;
using generation::FinishReason;

void ScoreArrays::append(const std::vector<sampling::ScoredToken> &Scores) {
  for (const sampling::ScoredToken &Token : Scores) {
    Chosen.push_back(Token.Chosen.LogProbability);
    TopCount = Token.Likeliest.size();
    for (const sampling::TokenScore &Score : Token.Likeliest) {
      TopTokens.push_back(Score.Token);
      TopScores.push_back(Score.LogProbability);
    }
  }
}

tenon_prompt_logprobs ScoreArrays::asPromptLogprobs() const {
  tenon_prompt_logprobs Filled{};
  Filled.struct_size = sizeof(Filled);
  Filled.count = Chosen.size();
  Filled.logprobs = Chosen.data();
  Filled.top_tokens = TopTokens.data();
  Filled.top_logprobs = TopScores.data();
  Filled.top_count = TopCount;
  return Filled;
}

tenon_finish capi::finishOf(FinishReason Reason) {
  switch (Reason) {
  case FinishReason::None:
    return TENON_FINISH_NONE;
  case FinishReason::EndOfSequence:
    return TENON_FINISH_EOS;
  case FinishReason::Length:
    return TENON_FINISH_LENGTH;
  case FinishReason::Context:
    return TENON_FINISH_CONTEXT;
  case FinishReason::Stop:
    return TENON_FINISH_STOP;
  case FinishReason::Error:
    break;
  }
  return TENON_FINISH_ERROR;
}

PieceArrays::PieceArrays(generation::Piece Added) : Piece(std::move(Added)) {
  Scores.append(Piece.Scores);
}

tenon_piece PieceArrays::asPiece(int64_t Unfinished) const {
  tenon_piece Seen{};
  Seen.struct_size = sizeof(Seen);
  Seen.tokens = Piece.Tokens.data();
  Seen.token_count = Piece.Tokens.size();
  Seen.text = Piece.Text.data();
  Seen.text_bytes = Piece.Text.size();
  Seen.finish = finishOf(Piece.Finish);
  Seen.choice = Piece.Choice;
  Seen.unfinished = Unfinished;
  if (!Scores.Chosen.empty()) {
    Seen.logprobs = Scores.Chosen.data();
    Seen.top_tokens = Scores.TopTokens.data();
    Seen.top_logprobs = Scores.TopScores.data();
    Seen.top_count = Scores.TopCount;
  }
  if (Piece.StopString) {
    Seen.stop_string = Piece.StopString->data();
    Seen.stop_bytes = Piece.StopString->size();
  }
  Seen.stop_token_id = Piece.StopToken.value_or(-1);
  return Seen;
}
