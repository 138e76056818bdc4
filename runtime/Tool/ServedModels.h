//===- ServedModels.h - Models for serve and replay -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_SERVEDMODELS_H
#define TENON_RUNTIME_TOOL_SERVEDMODELS_H

#include "runtime/Http/Api.h"
#include "runtime/Http/Record.h"
#include "runtime/Tool/Commands.h"

namespace tenon::tool {

/// Opens the models of `Options`, on one team of threads, each with its engine.
Result<std::vector<std::unique_ptr<http::ServedModel>>>
openServedModels(const ServeOptions &Options);

/// Gives each model that generates the prompts that saveKeptPrompts() has
/// written into `Folder`, which is made where it is missing; and writes them.
/// With an empty name nothing.
Status
loadKeptPrompts(const std::vector<std::unique_ptr<http::ServedModel>> &Models,
                const std::string &Folder);
Status
saveKeptPrompts(const std::vector<std::unique_ptr<http::ServedModel>> &Models,
                const std::string &Folder);

/// What a record says of a model.
http::RecordedModel recordedModelOf(const http::ServedModel &M);

/// The keys of a file, one a line.
Result<std::vector<std::string>> readKeys(const std::string &Path);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_SERVEDMODELS_H
