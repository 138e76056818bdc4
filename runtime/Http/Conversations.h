//===- Conversations.h - Conversations that clients send --------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_CONVERSATIONS_H
#define TENON_RUNTIME_HTTP_CONVERSATIONS_H

#include "runtime/Http/Api.h"

namespace tenon::http {

/// The conversation that the members "messages", "tools",
/// "chat_template_kwargs" and "add_generation_prompt" make, as templates want
/// it; see normalise(). `M` is null after an error.
chat::Conversation conversationOf(Fields &F, const Limits &Bounds,
                                  const ServedModel *M);

/// Makes a conversation in OpenAI's form one that templates read: content of
/// several texts becomes one, arguments of calls become objects, and the role
/// "developer" is "system" where the template does not know it. Errors in `F`
/// are for content that is no text, which `M` cannot read.
void normalise(chat::Conversation &Talk, const ServedModel &M, Fields &F);

/// Refuses more messages and tools than there may be.
void checkSizes(const chat::Conversation &Talk, const Limits &Bounds,
                Fields &F);

/// Takes "strict" out of tools whose API does not mean it for templates.
void hideStrict(Json &Tools);

/// Refuses tools, in the form of chat completions, that are no functions.
/// Whether all are.
bool checkTools(const Json &Tools, Fields &F);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_CONVERSATIONS_H
