//===- RequestState.cpp - Where a request is ------------------------------===//

#include "runtime/Serving/RequestState.h"

#include <cstddef>

using namespace tenon;
using namespace tenon::serving;

static constexpr size_t States = 6;

std::string_view serving::nameOf(RequestState S) {
  constexpr std::string_view Names[States] = {
      "queued", "prefilling", "decoding", "finished", "cancelled", "failed"};
  return Names[static_cast<size_t>(S)];
}

bool serving::mayMove(RequestState From, RequestState To) {
  // A request whose prompt is all there is to run finishes without decoding.
  constexpr bool Moves[States][States] = {
      /* Queued */ {false, true, false, false, true, true},
      /* Prefilling */ {false, false, true, true, true, true},
      /* Decoding */ {false, false, false, true, true, true},
      /* Finished */ {},
      /* Cancelled */ {},
      /* Failed */ {}};
  return Moves[static_cast<size_t>(From)][static_cast<size_t>(To)];
}
