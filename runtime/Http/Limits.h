//===- Limits.h - What a client may ask of the server -----------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_LIMITS_H
#define TENON_RUNTIME_HTTP_LIMITS_H

#include <cstddef>

namespace tenon::http {

/// The one table of limits. What is beyond them is answered with the status
/// that stands beside each, and nothing of it is kept.
struct Limits {
  size_t HeaderBytes = 16 << 10;   ///< 431: request line and headers.
  size_t BodyBytes = 16 << 20;     ///< 413.
  size_t BufferBytes = 64 << 10;   ///< 400: the head, or tail, of chunks.
  size_t AllBodyBytes = 512 << 20; ///< 503: of requests not yet answered.
  size_t Connections = 4096;       ///< 503.
  size_t Messages = 4096;          ///< 400: of a conversation.
  size_t Tools = 128;              ///< 400.
  size_t StopStrings = 16;         ///< 400.
  size_t StopStringBytes = 1024;   ///< 400: each of them.
  size_t Images = 16;              ///< 400: of a conversation.
  size_t ImagePixels = 32 << 20;   ///< 400: each of them.
  /// 503: pixels as models take them, of requests whose prompts have not run.
  size_t AllImageBytes = 1 << 30;
  size_t Choices = 128;            ///< 400: "n".
  size_t Prompts = 128;            ///< 400: of a completion.
  size_t EmbeddingTexts = 2048;    ///< 400.
  size_t TopLogProbabilities = 20; ///< 400.
  size_t LogitBiases = 1024;       ///< 400.
  size_t RequestIdBytes = 128;     ///< Longer ones are replaced.
  /// What a reader of a stream may leave unread, beside the buffers of the
  /// system: its request is cancelled beyond.
  size_t UnreadBytes = 1 << 20;
  /// Of an answer, for the record or a log with content; longer ones are left
  /// out of these.
  size_t KeptAnswerBytes = 16 << 20;
  /// What may wait to be written to the record, and to the log, each; what is
  /// beyond is dropped and counted.
  size_t UnwrittenBytes = 64 << 20;
  /// Requests that have ended which can be explained.
  size_t ExplainedRequests = 1024;
  /// Seconds for the headers of a request, from the answer before on, and then
  /// without a byte of its body.
  double ReadSeconds = 75;
  /// Seconds in which a reader takes nothing.
  double WriteSeconds = 60;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_LIMITS_H
