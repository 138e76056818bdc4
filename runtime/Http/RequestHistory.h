//===- RequestHistory.h - Requests that can be explained --------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_REQUESTHISTORY_H
#define TENON_RUNTIME_HTTP_REQUESTHISTORY_H

#include "runtime/Http/RequestTrace.h"
#include "runtime/Support/Json.h"

#include <functional>
#include <list>
#include <memory>
#include <string_view>

namespace tenon::http {

/// The requests that run, and the last ones that have ended, for the server's
/// thread.
class RequestHistory {
public:
  /// So many that have ended, or fewer with PromptsEach times as many prompts.
  explicit RequestHistory(size_t Most) : Most(Most) {}

  void add(std::shared_ptr<const RequestTrace> T);
  /// The last one of this id, or whose answer has it, that came with this key;
  /// null: there is none.
  const RequestTrace *find(std::string_view Id, size_t Key) const;

private:
  static constexpr size_t PromptsEach = 4;
  const size_t Most;
  std::list<std::shared_ptr<const RequestTrace>> All; ///< As they came.
};

/// What happened to a request, in JSON; `Running` knows what a request of the
/// engine that has not ended went through so far.
Json explanationOf(
    const RequestTrace &T,
    const std::function<std::optional<serving::Timeline>(serving::RequestId)>
        &Running);

/// A part of a URL without its escapes; what is none stays.
std::string percentDecoded(std::string_view Text);
/// The opposite.
std::string percentEncoded(std::string_view Text);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_REQUESTHISTORY_H
