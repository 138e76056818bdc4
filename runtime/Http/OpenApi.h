//===- OpenApi.h - The description of the API -------------------*- C++ -*-===//
//
// What /openapi.json answers. Paths and schemas are the files of OpenApi/; what
// holds for all of them is added here, so that it is said once.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_OPENAPI_H
#define TENON_RUNTIME_HTTP_OPENAPI_H

#include "runtime/Support/Json.h"

#include <span>
#include <string_view>

namespace tenon::http {

/// The files of OpenApi/.
std::span<const std::string_view> openApiParts();

/// The description in OpenAPI 3.1. With `NeedsKey` as a server has it that
/// wants keys.
Json describeApi(bool NeedsKey);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_OPENAPI_H
