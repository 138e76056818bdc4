//===- Api.h - OpenAI's API on engines --------------------------*- C++ -*-===//
//
// Which paths there are, and what becomes of a request to each.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_API_H
#define TENON_RUNTIME_HTTP_API_H

#include "runtime/Http/Fields.h"
#include "runtime/Http/HttpServer.h"
#include "runtime/Http/Metrics.h"
#include "runtime/Serving/Engine.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::http {

/// A model that clients name.
struct ServedModel {
  ServedModel(std::string Name, serving::Engine E)
      : Name(std::move(Name)), Texts(std::move(E)) {}

  const engine::Model &code() const { return Texts.model(); }

  std::string Name;
  serving::Engine Texts;
  ModelMetrics Metrics;
  /// What decides on the bits of answers: artifact, version and CPU.
  std::string Fingerprint;
};

/// Answers requests. For the server's thread, but for drain().
class Api {
public:
  /// With `Keys` every request needs one of them, but those for /health, /live
  /// and /metrics.
  Api(std::vector<std::unique_ptr<ServedModel>> Models,
      std::vector<std::string> Keys, const Limits &Bounds)
      : Models(std::move(Models)), Keys(std::move(Keys)), Bounds(Bounds) {}

  /// Takes a request; `Server` is where work is done.
  void take(HttpServer &Server, std::shared_ptr<Exchange> E);

  /// Takes no more texts to generate, waits for those that there are and then
  /// cancels them.
  void drain(double Seconds);
  /// From now on /health answers 503.
  void beginDraining() { IsDraining = true; }

private:
  bool isAllowed(const HttpRequest &R) const;

  const std::vector<std::unique_ptr<ServedModel>> Models;
  const std::vector<std::string> Keys;
  const Limits Bounds;
  bool IsDraining = false;
};

/// What an endpoint is given, on a worker.
struct Call {
  HttpServer &Server;
  const std::vector<std::unique_ptr<ServedModel>> &Models;
  const Limits &Bounds;
  std::shared_ptr<Exchange> Asked;
  Json Body; ///< An object, or null of a GET.

  /// The model that the member "model" names: the first where there is none.
  /// Null, and an error in `F`, where there is no such model.
  ServedModel *model(Fields &F) const;
  void reply(Json Answer) const;
  void reply(const ApiError &Why) const;
  /// Hands the exchange back to the server's thread.
  void onServer(std::function<void(Exchange &)> Then) const;
};

/// Answers in the form of an error.
void replyError(Exchange &E, const ApiError &Why);
/// JSON for the wire; what is not UTF-8 is replaced.
std::string wireText(const Json &J);

// Endpoints, each on a worker.
/// POST /v1/chat/completions and /v1/completions.
void completeChat(Call C);
void completeText(Call C);
/// POST /tokenize, /detokenize and /apply-template.
void tokenize(Call C);
void detokenize(Call C);
void applyTemplate(Call C);

/// The conversation that the members "messages", "tools",
/// "chat_template_kwargs" and "add_generation_prompt" make.
chat::Conversation conversationOf(Fields &F, const Limits &Bounds);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_API_H
