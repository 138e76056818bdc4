//===- Api.h - OpenAI's API on engines --------------------------*- C++ -*-===//
//
// Which paths there are, and what becomes of a request to each.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_API_H
#define TENON_RUNTIME_HTTP_API_H

#include "runtime/Http/Constraints.h"
#include "runtime/Http/Fields.h"
#include "runtime/Http/HttpServer.h"
#include "runtime/Http/Images.h"
#include "runtime/Http/Metrics.h"
#include "runtime/Http/RequestHistory.h"
#include "runtime/Serving/Encoder.h"
#include "runtime/Serving/Engine.h"

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tenon::http {

/// A model that clients name: it generates texts, or encodes them.
struct ServedModel {
  std::string Name;
  /// What decides on the bits of answers: artifact, version and CPU.
  std::string Fingerprint;
  int64_t Created = 0; ///< Unix seconds of its artifact.
  std::variant<serving::Engine, serving::Encoder> Runs;
  ModelMetrics Metrics = {};

  bool generates() const { return Runs.index() == 0; }
  const engine::Model &code() const {
    return std::visit(
        [](const auto &R) -> const engine::Model & { return R.model(); }, Runs);
  }
  /// Of one that generates.
  const serving::Engine &engine() const {
    return std::get<serving::Engine>(Runs);
  }
  serving::Engine &engine() { return std::get<serving::Engine>(Runs); }
  /// Of one that does not.
  serving::Encoder &encoder() { return std::get<serving::Encoder>(Runs); }
};

/// A path that the server answers, in which {name} stands for any text.
struct Endpoint {
  std::string_view Method, Path;
  bool IsOpen = false; ///< Needs no key.
};

/// Answers requests. For the server's thread, but for drain() and giveUp().
class Api {
public:
  /// All that there are.
  static std::vector<Endpoint> endpoints();

  /// With `Keys` every request needs one of them, but those of endpoints that
  /// are open. Requests without a "model" are for `DefaultModel`; empty: are
  /// refused.
  Api(std::vector<std::unique_ptr<ServedModel>> Models,
      std::vector<std::string> Keys, std::string DefaultModel,
      const Limits &Bounds);

  /// Takes a request; `Server` is where work is done.
  void take(HttpServer &Server, std::shared_ptr<Exchange> E);

  /// Takes no more texts, waits for those that there are, at most `Seconds` or
  /// until giveUp(), and then cancels them.
  void drain(double Seconds);
  /// Takes no more texts, and cancels those that there are.
  void giveUp();
  const std::vector<std::unique_ptr<ServedModel>> &models() const {
    return Models;
  }
  /// From now on no text is taken, and /health answers 503.
  void beginDraining();

private:
  struct Route;
  static std::span<const Route> routes();
  std::optional<size_t> keyOf(const HttpRequest &R) const;
  // What needs no worker; `Name` is what a path has in the place of a {name}.
  void showLife(Exchange &E, const std::string &Name) const;
  void showHealth(Exchange &E, const std::string &Name) const;
  void showDescription(Exchange &E, const std::string &Name) const;
  void showPage(Exchange &E, const std::string &Name) const;
  void showModel(Exchange &E, const std::string &Name) const;
  void explain(Exchange &E, const std::string &Name) const;
  void call(HttpServer &Server, std::shared_ptr<Exchange> E,
            void (*Answer)(struct Call));

  const std::vector<std::unique_ptr<ServedModel>> Models;
  const std::vector<std::string> Keys;
  const std::string DefaultModel;
  GrammarStore Grammars;
  const ImageBytes HeldImages = std::make_shared<std::atomic<size_t>>(0);
  const Limits Bounds;
  const std::string Description; ///< What /openapi.json answers.
  RequestHistory History;
  bool IsDraining = false;
};

/// What an endpoint is given, on a worker.
struct Call {
  HttpServer &Server;
  const std::vector<std::unique_ptr<ServedModel>> &Models;
  const std::string &DefaultModel;
  GrammarCache Grammars;
  const ImageBytes HeldImages;
  const Limits &Bounds;
  std::shared_ptr<Exchange> Asked;
  Json Body; ///< An object, or null of a GET.

  /// The model that the member "model" names. Null, and an error in `F`, where
  /// there is none of the name, or it is of another kind.
  ServedModel *anyModel(Fields &F) const;
  ServedModel *generator(Fields &F) const;
  /// With `Embeds`, one that embeds, else one that classifies.
  ServedModel *encoder(Fields &F, bool Embeds) const;
  /// A reader of images for what generator() gave.
  ImageReader images(const ServedModel *M) const {
    return {M ? &M->code() : nullptr, Bounds, HeldImages};
  }
  /// One that embeds, or that gives a pair of texts one score.
  ServedModel *ranker(Fields &F) const;
  void reply(Json Answer) const;
  void reply(const ApiError &Why) const;
  /// Hands the exchange back to the server's thread.
  void onServer(std::function<void(Exchange &)> Then) const;
};

/// The answer to an error, in the form that the path's API has.
HttpResponse errorAnswer(std::string_view Path, const ApiError &Why);
void replyError(Exchange &E, const ApiError &Why);
/// Whether a path is of Anthropic's API.
bool isAnthropicPath(std::string_view Path);
/// JSON for the wire; what is not UTF-8 is replaced.
std::string wireText(const Json &J);

// Endpoints, each on a worker.
/// POST /v1/chat/completions and /v1/completions.
void completeChat(Call C);
void completeText(Call C);
/// POST /v1/responses.
void respond(Call C);
/// POST /v1/messages and /v1/messages/count_tokens, in Anthropic's form.
void answerMessages(Call C);
void countMessageTokens(Call C);
/// POST /v1/embeddings, /v1/rerank and /v1/classify.
void embed(Call C);
void rerank(Call C);
void classify(Call C);
/// POST /tokenize, /detokenize and /apply-template.
void tokenize(Call C);
void detokenize(Call C);
void applyTemplate(Call C);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_API_H
