//===- TemplateCommand.h - tenon template -----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_TEMPLATECOMMAND_H
#define TENON_RUNTIME_CHAT_TEMPLATECOMMAND_H

#include "runtime/Chat/Template.h"

namespace tenon::chat {

struct TemplateOptions {
  /// The template: a file of Jinja.
  std::string File;
  /// JSON files, objects of variables: what a request brings, and what belongs
  /// to the model.
  std::string UserFile, ModelFile;
  /// Answer a JSON array of pieces with their origins in place of the text.
  bool Pieces = false;
};

/// Runs `tenon template`; `Out` becomes what it prints. A text is printed as it
/// is, without a line end behind it.
Status runTemplate(const TemplateOptions &O, std::string &Out);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_TEMPLATECOMMAND_H
