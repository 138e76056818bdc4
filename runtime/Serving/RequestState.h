//===- RequestState.h - Where a request is ----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SERVING_REQUESTSTATE_H
#define TENON_RUNTIME_SERVING_REQUESTSTATE_H

#include <string_view>

namespace tenon::serving {

enum class RequestState {
  Queued,     ///< Accepted; has no pages of the cache yet.
  Prefilling, ///< Its prompt runs, or waits for its turn in a step.
  Decoding,   ///< Its tokens are generated.
  Finished,   ///< All choices have ended, each for a reason of its own.
  Cancelled,  ///< Given up by who asked for it.
  Failed      ///< Given up by the engine, with an error.
};

/// "queued", "prefilling", "decoding", "finished", "cancelled" or "failed".
std::string_view nameOf(RequestState S);

/// Whether a request may go from `From` to `To`: the one table of all moves.
/// Nothing leaves the last three states.
bool mayMove(RequestState From, RequestState To);

/// Whether nothing more comes of a request.
inline bool isFinal(RequestState S) { return S >= RequestState::Finished; }

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_REQUESTSTATE_H
