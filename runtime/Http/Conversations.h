//===- Conversations.h - Conversations that clients send --------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_CONVERSATIONS_H
#define TENON_RUNTIME_HTTP_CONVERSATIONS_H

#include "runtime/Http/Api.h"
#include "runtime/Http/Images.h"

namespace tenon::http {

/// The conversation that the members "messages", "tools",
/// "chat_template_kwargs" and "add_generation_prompt" make, as templates want
/// it. Content of several texts becomes one, images go to `Images`. `M` is null
/// after an error.
chat::Conversation conversationOf(Fields &F, const Limits &Bounds,
                                  const ServedModel *M, ImageReader &Images);

/// Makes "system" of the role "developer" where the template does not know it.
void fitRoles(chat::Conversation &Talk, const ServedModel &M);

/// How much is to be reasoned, which the member `Key` says, for templates that
/// ask for it; for others "none" alone.
void readEffort(Fields &F, const char *Key, const ServedModel &M,
                chat::Conversation &Talk);

/// The tokens of the prompt, those of images counted. Errors as of makeRequest.
Result<std::vector<int32_t>> wholePrompt(const ServedModel &M,
                                         const chat::Conversation &Talk,
                                         size_t Images);

/// Takes "strict" out of tools whose API does not mean it for templates.
void hideStrict(Json &Tools);

/// Refuses tools, in the form of chat completions, that are no functions, and
/// more of them than there may be. Whether all are functions.
bool checkTools(const Json &Tools, const Limits &Bounds, Fields &F);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_CONVERSATIONS_H
