//===- HttpClient.h - One question to a server ------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_HTTPCLIENT_H
#define TENON_RUNTIME_HTTP_HTTPCLIENT_H

#include "runtime/Support/Result.h"

#include <string>

namespace tenon::http {

struct FetchedAnswer {
  int Status = 0;
  std::string Body;
};

/// GETs `Path` of a server of tenon at `Url`: http://HOST[:PORT] or unix:PATH,
/// as tenon serve prints it. `Key` goes with it unless it is empty. Waits for
/// at most half a minute.
Result<FetchedAnswer> fetchFrom(const std::string &Url, const std::string &Path,
                                const std::string &Key);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_HTTPCLIENT_H
