//===- Description.h - What an artifact holds, in JSON ----------*- C++ -*-===//

#ifndef TENON_RUNTIME_ARTIFACT_DESCRIPTION_H
#define TENON_RUNTIME_ARTIFACT_DESCRIPTION_H

#include "runtime/Artifact/Artifact.h"

namespace tenon::artifact {

/// What the manifest says, for people and programs: an object with the members
/// file, file_bytes, model, entries, estimates, compiled, caches (with
/// bytes_per_token and bytes_full_context over all layers), code (per level,
/// with its memory plan), weights (count, bytes, by_layout, list),
/// tokenizer_bytes, generation, chat, image, labels.
Json describe(const Artifact &A);

} // namespace tenon::artifact

#endif // TENON_RUNTIME_ARTIFACT_DESCRIPTION_H
