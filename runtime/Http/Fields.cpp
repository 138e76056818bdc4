//===- Fields.cpp - The members of a request ------------------------------===//

#include "runtime/Http/Fields.h"

#include <algorithm>
#include <limits>

using namespace tenon;
using namespace tenon::http;

/// A value in a message, which stays short.
static std::string shown(const Json &Value) {
  return Value.is_structured() ? jsonKind(Value)
                               : escaped(Value.dump().substr(0, 80));
}

Json ApiError::json() const {
  const char *Type = Status == 401   ? "authentication_error"
                     : Status == 404 ? "not_found_error"
                     : Status == 429 ? "rate_limit_error"
                     : Status >= 500 ? "server_error"
                                     : "invalid_request_error";
  Json Inner = {{"message", Message}, {"type", Type}};
  Inner["param"] = Param.empty() ? Json() : Json(Param);
  Inner["code"] = Status;
  return {{"error", Inner}};
}

Json ApiError::anthropicJson() const {
  const char *Type = Status == 401   ? "authentication_error"
                     : Status == 404 ? "not_found_error"
                     : Status == 413 ? "request_too_large"
                     : Status == 429 ? "rate_limit_error"
                     : Status == 503 ? "overloaded_error"
                     : Status >= 500 ? "api_error"
                                     : "invalid_request_error";
  return {{"type", "error"}, {"error", {{"type", Type}, {"message", Message}}}};
}

bool http::isTokens(const Json &J) {
  return J.is_array() && !J.empty() &&
         std::all_of(J.begin(), J.end(), [](const Json &V) {
           return V.is_number_integer() && V >= 0 &&
                  V <= std::numeric_limits<int32_t>::max();
         });
}

Fields::Fields(const Json &Object, std::string Path)
    : Object(Object), Path(std::move(Path)) {
  if (Object.is_object())
    return;
  std::string Name = this->Path.substr(0, this->Path.rfind('.'));
  refuse({400,
          (Name.empty() ? "the body" : "'" + Name + "'") + " is " +
              jsonKind(Object) + ": expected an object",
          Name});
}

const Json *Fields::get(const char *Key) {
  Read.insert(Key);
  if (!Object.is_object())
    return nullptr;
  auto Found = Object.find(Key);
  return Found == Object.end() || Found->is_null() ? nullptr : &*Found;
}

const Json *Fields::need(const char *Key, const std::string &Expected) {
  const Json *J = get(Key);
  if (!J)
    expected(Key, Expected);
  return J;
}

std::optional<std::string> Fields::string(const char *Key) {
  const Json *J = get(Key);
  if (J && J->is_string())
    return J->get<std::string>();
  if (J)
    expected(Key, "a string");
  return std::nullopt;
}

std::optional<bool> Fields::boolean(const char *Key) {
  const Json *J = get(Key);
  if (J && J->is_boolean())
    return J->get<bool>();
  if (J)
    expected(Key, "true or false");
  return std::nullopt;
}

std::optional<double> Fields::number(const char *Key) {
  const Json *J = get(Key);
  if (J && J->is_number())
    return J->get<double>();
  if (J)
    expected(Key, "a number");
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(const char *Key, int64_t Min,
                                       int64_t Max) {
  const Json *J = get(Key);
  // Of one beyond int64_t a comparison would see the bits alone.
  bool IsLarge = J && J->is_number_unsigned() &&
                 J->get<uint64_t>() > std::numeric_limits<int64_t>::max();
  if (J && J->is_number_integer() && !IsLarge && *J >= Min && *J <= Max)
    return J->get<int64_t>();
  if (J)
    expected(Key, wholeNumber(Min, Max));
  return std::nullopt;
}

std::optional<uint64_t> Fields::seed(const char *Key) {
  const Json *J = get(Key);
  if (J && J->is_number_integer())
    return J->get<uint64_t>();
  if (J)
    expected(Key, "a whole number from -9223372036854775808 to "
                  "18446744073709551615");
  return std::nullopt;
}

std::vector<std::string> Fields::strings(const char *Key, size_t Most,
                                         size_t MostBytes) {
  const Json *J = get(Key);
  if (!J)
    return {};
  Json All = J->is_array() ? *J : Json::array({*J});
  std::vector<std::string> Texts;
  for (const Json &Each : All)
    if (Each.is_string() &&
        Each.get_ref<const std::string &>().size() <= MostBytes)
      Texts.push_back(Each);
  if (Texts.size() != All.size() || All.size() > Most)
    expected(Key, "a string, or an array of at most " + std::to_string(Most) +
                      " strings, each of at most " + std::to_string(MostBytes) +
                      " bytes");
  return Texts;
}

std::vector<int32_t> Fields::tokens(const char *Key) {
  const Json *J = get(Key);
  if (J && (isTokens(*J) || (J->is_array() && J->empty())))
    return J->get<std::vector<int32_t>>();
  if (J)
    expected(Key, "an array of token ids");
  return {};
}

void Fields::accept(const char *Key, const Json &Harmless) {
  const Json *J = get(Key);
  if (J && *J != Harmless)
    refuse({400,
            "'" + Path + Key + "' is " + shown(*J) +
                ": not supported; expected " + Harmless.dump(),
            Path + Key});
}

void Fields::expected(const std::string &Key, const std::string &Expected) {
  refuse({400,
          "'" + Path + Key + "' is " +
              (Object.contains(Key) ? shown(Object[Key]) : "missing") +
              ": expected " + Expected,
          Path + Key});
}

void Fields::refuse(ApiError Why) {
  if (!Failure)
    Failure = std::move(Why);
}

std::optional<ApiError> Fields::finish() {
  if (!Object.is_object() || Failure)
    return Failure;
  std::string Known;
  for (const std::string &Key : Read)
    Known += (Known.empty() ? "'" : ", '") + Key + "'";
  for (const auto &[Key, Value] : Object.items())
    if (!Read.contains(Key) && !Value.is_null()) // Null asks for nothing.
      refuse({400,
              "'" + Path + escaped(Key) + "' is not supported: expected one " +
                  "of " + Known,
              Path + escaped(Key)});
  return Failure;
}
