//===- Fields.h - The members of a request ----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_FIELDS_H
#define TENON_RUNTIME_HTTP_FIELDS_H

#include "runtime/Support/Json.h"

#include <optional>
#include <set>

namespace tenon::http {

/// What a client hears instead of an answer, in the form of OpenAI's API.
struct ApiError {
  int Status = 400;
  std::string Message;
  std::string Param = {}; ///< The field that is wrong; empty: none.
  /// With 429 and 503: seconds after which it is worth another try.
  std::optional<double> RetryAfter = {};
  std::string Allow = {}; ///< With 405: the methods that there are.

  /// The object with "error".
  Json json() const;
  /// The same as Anthropic's API has it.
  Json anthropicJson() const;
};

/// Reads the members of an object, each once. The first that is wrong decides
/// on the error; one that nobody has read is an error of finish(), so that no
/// field is ever ignored. A member that is null counts as absent.
class Fields {
public:
  /// `Path` is what errors put before the names of members, such as
  /// "stream_options.".
  explicit Fields(const Json &Object, std::string Path = {});

  /// The member, or null where it is absent.
  const Json *get(const char *Key);
  std::optional<std::string> string(const char *Key);
  std::optional<bool> boolean(const char *Key);
  std::optional<double> number(const char *Key);
  std::optional<int64_t> integer(const char *Key, int64_t Min, int64_t Max);
  /// A whole number of 64 bits with or without a sign.
  std::optional<uint64_t> seed(const char *Key);
  /// An array of at most `Most` strings, or one string.
  std::vector<std::string> strings(const char *Key, size_t Most,
                                   size_t MostBytes);
  /// Token ids, perhaps none.
  std::vector<int32_t> tokens(const char *Key);
  /// The member, which must be there.
  const Json *need(const char *Key, const std::string &Expected);
  /// Reads a member that means nothing here unless it has another value than
  /// `Harmless`, which is refused.
  void accept(const char *Key, const Json &Harmless);

  /// Refuses the member `Key`, whose value is not as `Expected` says.
  void expected(const std::string &Key, const std::string &Expected);
  void refuse(ApiError Why);

  /// The error, if there is one.
  std::optional<ApiError> finish();

private:
  const Json &Object;
  std::string Path;
  std::set<std::string, std::less<>> Read;
  std::optional<ApiError> Failure;
};

/// Whether `J` is an array of token ids, at least one.
bool isTokens(const Json &J);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_FIELDS_H
