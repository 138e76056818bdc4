//===- ChatFiles.h - The chat templates of a model --------------*- C++ -*-===//
//
// Reads what a model's files say about conversations. Nothing of it changes
// what the model computes: what cannot be used is left out with a note.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_CHATFILES_H
#define TENON_COMPILER_CHECKPOINT_CHATFILES_H

#include "compiler/Checkpoint/Gguf.h"
#include "runtime/Artifact/Manifest.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// The templates of a Hugging Face directory and the special tokens that they
/// use: chat_template.jinja and additional_chat_templates/NAME.jinja, or else
/// "chat_template" of tokenizer_config.json, a text or a list of named ones;
/// "..._token" of tokenizer_config.json and special_tokens_map.json. Each
/// template is parsed, and the default one rendered with a message of a user:
/// one that fails is left out, with a line in `Notes` that names file, line and
/// column. Nothing when no template is left.
std::optional<artifact::ChatInfo> readChat(const std::string &Directory,
                                           std::vector<std::string> &Notes);

/// The same of a GGUF file: "tokenizer.chat_template" and
/// "tokenizer.chat_template.NAME", and the tokens that its ids name.
std::optional<artifact::ChatInfo> readGgufChat(const GgufFile &File,
                                               std::vector<std::string> &Notes);

/// A line on templates that take tools where nothing in them says how the model
/// writes calls; none where ToolFormat is set.
std::optional<std::string> noteOnToolCalls(const artifact::ChatInfo &Info);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_CHATFILES_H
