//===- Record.cpp - Requests as tenon serve --record keeps them -----------===//

#include "runtime/Http/Record.h"

#include "runtime/Artifact/Format.h"
#include "runtime/Http/Api.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Unicode.h"

#include <cinttypes>
#include <cmath>
#include <limits>
#include <span>

using namespace tenon;
using namespace tenon::http;

static std::string checksumTextOf(std::string_view Text) {
  char Digits[17];
  std::snprintf(Digits, sizeof(Digits), "%016" PRIx64,
                artifact::checksumOf(std::as_bytes(std::span(Text))));
  return Digits;
}

static Json modelJson(const RecordedModel &M) {
  return {{"name", M.Name},
          {"artifact", M.Artifact},
          {"version", M.Version},
          {"level", M.Level},
          {"fingerprint", M.Fingerprint}};
}

std::string http::recordLineOf(const RecordHeader &H) {
  Json J = {{"tenon_record", 1},
            {"max_num_seqs", H.MaxNumSeqs},
            {"default_model", H.DefaultModel},
            {"models", Json::array()}};
  for (const RecordedModel &M : H.Models)
    J["models"].push_back(modelJson(M));
  return wireText(J) + "\n";
}

std::string http::droppedLineOf(size_t Count) {
  return wireText(Json{{"dropped", Count}}) + "\n";
}

std::string http::recordLineOf(const RequestTrace &T, const RecordHeader &H,
                               double Start) {
  Json Model;
  for (const RecordedModel &M : H.Models)
    if (M.Name == T.Model)
      Model = modelJson(M);
  bool IsText = !tokenizer::findInvalidUtf8(T.Said->Body);
  Json J = {{"id", T.Id},
            {"at", std::round((T.Begin - Start) * 1e6) / 1e6},
            {"time", static_cast<int64_t>(T.Time)},
            {"method", T.Method},
            {"path", T.Path},
            {"body", IsText ? Json(T.Said->Body) : Json()},
            {"model", std::move(Model)},
            {"seed", T.Seed ? Json(*T.Seed) : Json()},
            {"cached_tokens", T.CachedTokens},
            {"completed", T.Completed},
            {"status", T.Status},
            {"stream", T.IsStream},
            {"gone", T.IsGone},
            {"bytes", T.AnswerBytes}};
  const std::optional<std::string> &Answer = T.Said->Answer;
  J["checksum"] = Answer ? Json(checksumTextOf(*Answer)) : Json();
  J["answer"] = Answer ? Json(*Answer) : Json();
  return wireText(J) + "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads members one after another; the first error stays.
class Members {
public:
  explicit Members(const JsonField &Of) : Of(Of) {}

  bool isNull(const char *Key) { return !Of.has(Key); }
  std::string string(const char *Key) {
    return take<std::string>(Key,
                             [](const JsonField &F) { return F.asString(); });
  }
  bool boolean(const char *Key) {
    return take<bool>(Key, [](const JsonField &F) { return F.asBool(); });
  }
  double number(const char *Key) {
    return take<double>(Key, [](const JsonField &F) { return F.asNumber(); });
  }
  int64_t integer(const char *Key, int64_t Max = Most) {
    return take<int64_t>(
        Key, [Max](const JsonField &F) { return F.asInteger(0, Max); });
  }
  uint64_t seed(const char *Key) {
    return take<uint64_t>(Key, [](const JsonField &F) -> Result<uint64_t> {
      if (!F.json().is_number_unsigned())
        return F.expected("a whole number");
      return F.json().get<uint64_t>();
    });
  }
  std::optional<Error> Failure;

private:
  static constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  template <typename T, typename Reader> T take(const char *Key, Reader Read) {
    if (Failure)
      return {};
    Result<JsonField> Member = Of.member(Key);
    Result<T> Value = Member ? Read(*Member) : Result<T>(Member.error());
    if (Value)
      return std::move(*Value);
    Failure = Value.error();
    return {};
  }
  const JsonField &Of;
};

} // namespace

static Result<RecordHeader> readHeader(const JsonField &Line) {
  Members In(Line);
  RecordHeader H;
  In.integer("tenon_record", 1);
  H.MaxNumSeqs = In.integer("max_num_seqs", generation::MaxChoices);
  H.DefaultModel = In.string("default_model");
  if (In.Failure)
    return *In.Failure;
  Result<JsonField> Models = Line.member("models");
  if (!Models)
    return Models.error();
  Result<size_t> Count = Models->arraySize();
  if (!Count)
    return Count.error();
  for (size_t I = 0; I < *Count; ++I) {
    JsonField One = *Models->element(I); // It is there.
    Members Own(One);
    H.Models.push_back({Own.string("name"), Own.string("artifact"),
                        Own.string("version"), Own.string("level"),
                        Own.string("fingerprint")});
    if (Own.Failure)
      return *Own.Failure;
  }
  return H;
}

static Result<RecordedRequest> readRequest(const JsonField &Line) {
  Members In(Line);
  RecordedRequest R;
  R.Id = In.string("id");
  R.At = In.number("at");
  R.Time = In.integer("time");
  R.Method = In.string("method");
  R.Path = In.string("path");
  if (!In.isNull("body"))
    R.Body = In.string("body");
  if (!In.isNull("model")) {
    Result<JsonField> Model = Line.member("model");
    if (!Model)
      return Model.error();
    Members Own(*Model);
    R.Model = Own.string("name");
    if (Own.Failure)
      return *Own.Failure;
  }
  if (!In.isNull("seed"))
    R.Seed = In.seed("seed");
  R.CachedTokens = static_cast<size_t>(In.integer("cached_tokens"));
  R.Completed = In.integer("completed");
  R.Status = static_cast<int>(In.integer("status", 999));
  R.IsStream = In.boolean("stream");
  R.IsGone = In.boolean("gone");
  if (In.isNull("answer") || In.Failure) {
    if (In.Failure)
      return *In.Failure;
    return R;
  }
  R.Answer = In.string("answer");
  std::string Checksum = In.string("checksum");
  if (In.Failure)
    return *In.Failure;
  if (checksumTextOf(*R.Answer) != Checksum)
    return Line.member("checksum")
        ->expected(checksumTextOf(*R.Answer) +
                   ", the answer's: the line is damaged");
  return R;
}

Result<Record> http::readRecord(const std::string &Path) {
  constexpr uint64_t MostBytes = uint64_t(16) << 30;
  Result<std::string> Text = readFile(Path, MostBytes);
  if (!Text)
    return Text.error();
  return parseRecord(*Text, Path);
}

Result<Record> http::parseRecord(std::string_view Text,
                                 const std::string &Name) {
  if (!Text.starts_with(RecordBegin))
    return Error(Name + ": is no record of tenon serve: expected " +
                 std::string(RecordBegin) + " at its beginning");
  Record All;
  size_t Number = 0;
  for (size_t From = 0; From < Text.size();) {
    size_t End = Text.find('\n', From);
    All.IsCut = End == std::string::npos;
    if (All.IsCut)
      break;
    std::string_view Line = Text.substr(From, End - From);
    std::string Place = Name + ":" + std::to_string(++Number);
    From = End + 1;
    Result<Json> J = parseJson(Line, Place);
    if (!J)
      return J.error();
    JsonField Field(*J, Place);
    if (J->is_object() && J->contains("tenon_record")) {
      Result<RecordHeader> H = readHeader(Field);
      if (!H)
        return H.error();
      All.Servers.push_back(std::move(*H));
    } else if (J->is_object() && J->contains("dropped")) {
      Members In(Field);
      All.Dropped += static_cast<size_t>(In.integer("dropped"));
      if (In.Failure)
        return *In.Failure;
    } else {
      Result<RecordedRequest> R = readRequest(Field);
      if (!R)
        return R.error();
      R->Line = Number;
      R->Server = All.Servers.size() - 1;
      All.Requests.push_back(std::move(*R));
    }
  }
  if (All.Servers.empty())
    return Error(Name + ": its first line is not whole");
  return All;
}
