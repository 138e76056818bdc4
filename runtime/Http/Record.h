//===- Record.h - Requests as tenon serve --record keeps them ---*- C++ -*-===//
//
// A file of JSON, one object a line. The first one, and the first that a server
// adds to a file, says what served; each other one is a request with its
// answer. docs/server.md lists the members. It has no keys of the API.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_RECORD_H
#define TENON_RUNTIME_HTTP_RECORD_H

#include "runtime/Http/RequestTrace.h"
#include "runtime/Support/Result.h"

namespace tenon::http {

/// What decides on the bits of a model's answers, beside --max-num-seqs.
struct RecordedModel {
  std::string Name;
  std::string Artifact; ///< A hash.
  std::string Version;  ///< Of Tenon.
  std::string Level;    ///< Of the CPU.
  std::string Fingerprint;
};

/// What served.
struct RecordHeader {
  int64_t MaxNumSeqs = 0;
  std::string DefaultModel; ///< Empty: none.
  std::vector<RecordedModel> Models;
};

/// A request and what was answered.
struct RecordedRequest {
  size_t Line = 0;   ///< Of the file, from 1.
  size_t Server = 0; ///< Index of its header.
  double At = 0;     ///< Seconds from the start of the server.
  std::string Id, Method, Path;
  /// None where it was no UTF-8, and none were right.
  std::optional<std::string> Body;
  std::string Model; ///< Empty: none was found.
  int64_t Time = 0, Completed = 0;
  std::optional<uint64_t> Seed;
  size_t CachedTokens = 0;
  int Status = 0;
  bool IsStream = false, IsGone = false;
  /// None where it was too long to be kept.
  std::optional<std::string> Answer;
};

struct Record {
  std::vector<RecordHeader> Servers;
  std::vector<RecordedRequest> Requests;
  size_t Dropped = 0; ///< Requests that could not be written.
  /// The last line is not whole: its server was killed.
  bool IsCut = false;
};

/// How every record begins.
inline constexpr std::string_view RecordBegin = R"({"tenon_record":1,)";

std::string recordLineOf(const RecordHeader &H);
/// `Start` is when its server began, on the clock of RequestTrace::Begin.
std::string recordLineOf(const RequestTrace &T, const RecordHeader &H,
                         double Start);
/// Says that so many requests are missing.
std::string droppedLineOf(size_t Count);

/// Reads a record, which errors call `Name`; they name line and member. Answers
/// are checked against their checksums.
Result<Record> parseRecord(std::string_view Text, const std::string &Name);
/// The same of a file.
Result<Record> readRecord(const std::string &Path);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_RECORD_H
