//===- JsonEvents.cpp - JSON read without building a tree -----------------===//

#include "compiler/Checkpoint/JsonEvents.h"

#include <optional>

using namespace tenon;

namespace {

/// Turns nlohmann's callbacks into ours and remembers the first error.
class Adapter final : public nlohmann::json_sax<Json> {
public:
  Adapter(std::string_view File, JsonEvents &Events)
      : File(File), Events(Events) {}

  bool null() override { return take(Events.scalar(Json())); }
  bool boolean(bool Value) override { return take(Events.scalar(Value)); }
  bool number_integer(number_integer_t Value) override {
    return take(Events.scalar(Value));
  }
  bool number_unsigned(number_unsigned_t Value) override {
    return take(Events.scalar(Value));
  }
  bool number_float(number_float_t Value, const string_t &) override {
    return take(Events.scalar(Value));
  }
  bool string(string_t &Value) override { return take(Events.scalar(Value)); }
  bool binary(binary_t &) override { return false; } // Never in JSON text.
  bool start_object(std::size_t) override { return open('{'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &Key) override { return take(Events.key(Key)); }
  bool parse_error(std::size_t Position, const std::string &,
                   const nlohmann::detail::exception &) override {
    Problem = Error(std::string(File) + ": invalid JSON at byte " +
                    std::to_string(Position));
    return false;
  }

  std::optional<Error> Problem;

private:
  bool take(Status Outcome) {
    if (!Outcome)
      Problem = Outcome.error();
    return static_cast<bool>(Outcome);
  }
  bool open(char Bracket) {
    if (++Depth > MaxJsonDepth)
      return take(Error(std::string(File) +
                        ": invalid JSON: nested deeper than " +
                        std::to_string(MaxJsonDepth) + " levels"));
    return take(Events.open(Bracket));
  }
  bool close() {
    --Depth;
    return take(Events.close());
  }

  std::string_view File;
  JsonEvents &Events;
  int Depth = 0;
};

} // namespace

Status tenon::readJsonEvents(std::string_view Text, std::string_view File,
                             JsonEvents &Events) {
  Adapter Receiver(File, Events);
  if (!Json::sax_parse(Text.begin(), Text.end(), &Receiver))
    return Receiver.Problem.value_or(
        Error(std::string(File) + ": invalid JSON"));
  return {};
}
