//===- Encoder.h - Texts to encode from many threads ------------*- C++ -*-===//
//
// A session of an encoder on a thread of its own: texts that wait are encoded
// together, ragged, and each is to the bit what it is alone. No input and no
// output: what comes of a request goes to the function that was given with it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_ENCODER_H
#define TENON_RUNTIME_SERVING_ENCODER_H

#include "runtime/Serving/Scheduler.h"

namespace tenon::serving {

/// A text to encode: at least one token, and at most longestText().
struct EncoderText {
  std::vector<int32_t> Tokens;
  std::vector<int32_t> Types = {}; ///< Empty, or one per token.
};

struct EncoderStatistics {
  size_t Queued = 0; ///< Texts.
  uint64_t Texts = 0, Tokens = 0, Steps = 0;
};

/// All functions may be called from any thread.
class Encoder {
public:
  /// One row per text, in their order, or why there are none. On the encoder's
  /// thread, which waits for it.
  using Sink = std::function<void(Result<std::vector<std::vector<float>>>)>;

  /// An encoder that embeds, or puts texts into classes, on a new session of
  /// `M`. At most `MaxQueued` texts wait. An error for a model that does
  /// neither.
  static Result<Encoder> create(std::shared_ptr<const engine::Model> M,
                                const engine::SessionOptions &Room,
                                size_t MaxQueued);
  Encoder(Encoder &&) noexcept;
  Encoder &operator=(Encoder &&) noexcept;
  /// Gives up what is left.
  ~Encoder();

  const engine::Model &model() const;
  /// Whether a row is an embedding; else it has a score for each class.
  bool embeds() const;

  /// Queues texts, at least one. With a refusal, `To` is never called.
  std::variant<RequestId, Refusal> submit(std::vector<EncoderText> Texts,
                                          Sink To);
  /// Gives a request up: its sink hears an error of the kind Cancelled, unless
  /// it has heard.
  void cancel(RequestId Id);

  /// Takes no more requests from now on.
  void close();
  /// Takes no more requests, and waits for those that there are, at most
  /// `Seconds` or until giveUp(); then cancels them. Their sinks have heard
  /// when it returns.
  void drain(double Seconds);
  /// Takes no more requests, and cancels those that there are; waits for
  /// nothing.
  void giveUp();

  EncoderStatistics statistics() const;

private:
  struct Implementation;
  explicit Encoder(std::unique_ptr<Implementation> I);
  std::unique_ptr<Implementation> I;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_ENCODER_H
