//===- Page.h - The page at / -----------------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_PAGE_H
#define TENON_RUNTIME_HTTP_PAGE_H

#include <string_view>

namespace tenon::http {

/// Page.html: a conversation and what the engine does, without any outside
/// resource.
extern const std::string_view Page;

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_PAGE_H
