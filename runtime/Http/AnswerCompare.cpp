//===- AnswerCompare.cpp - Whether two answers say the same ---------------===//

#include "runtime/Http/AnswerCompare.h"

#include "runtime/Support/Json.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::http;

/// The order in which members and choices come says nothing.
using Sorted = nlohmann::json;

/// Adds a part of a choice to what there is of it: texts and arrays are joined.
static void join(Sorted &To, const Sorted &Part) {
  if (Part.is_null())
    return;
  if (To.is_null()) {
    To = Part;
  } else if (To.is_string() && Part.is_string()) {
    To.get_ref<std::string &>() += Part.get_ref<const std::string &>();
  } else if (To.is_array() && Part.is_array()) {
    To.insert(To.end(), Part.begin(), Part.end());
  } else if (To.is_object() && Part.is_object()) {
    for (const auto &[Key, Value] : Part.items())
      join(To[Key], Value);
  } else if (To != Part) {
    To = Sorted::array({To, Part}); // They cannot be the same any more.
  }
}

/// Adds an event of OpenAI's streams, which have parts of choices.
static void addChunk(Sorted Event, Sorted &Joined) {
  for (const Sorted &Choice : Event["choices"]) {
    if (!Choice.is_object())
      continue;
    Sorted Part = Choice;
    std::string Index = Part.value("index", Sorted()).dump();
    Part.erase("index");
    join(Joined["choices"][Index], Part);
  }
  Event.erase("choices");
  Sorted Usage = Event.value("usage", Sorted());
  Event.erase("usage");
  join(Joined["usage"], Usage);
  if (Joined["frames"].empty() || Joined["frames"].back() != Event)
    Joined["frames"].push_back(std::move(Event));
}

/// Adds an event with a name to `Events`; a part of a text to the part before,
/// if they are of the same text.
static void addNamed(Sorted Event, Sorted &Events) {
  if (Event.is_object())
    Event.erase("sequence_number"); // It counts parts.
  Sorted *Last = Events.empty() ? nullptr : &Events.back();
  if (Last && Event.contains("delta") && Last->contains("delta")) {
    Sorted Rest = Event, LastRest = *Last;
    for (Sorted *Each : {&Rest, &LastRest}) {
      Sorted &Delta = (*Each)["delta"];
      if (Delta.is_string())
        Delta = "";
      for (const char *Key : {"text", "thinking", "partial_json"})
        if (Delta.is_object() && Delta.contains(Key))
          Delta[Key] = "";
    }
    if (Rest == LastRest && Event["delta"].is_string()) {
      (*Last)["delta"].get_ref<std::string &>() +=
          Event["delta"].get<std::string>();
      return;
    }
    if (Rest == LastRest)
      for (const char *Key : {"text", "thinking", "partial_json"})
        if (Event["delta"].contains(Key)) {
          (*Last)["delta"][Key].get_ref<std::string &>() +=
              Event["delta"][Key].get<std::string>();
          return;
        }
  }
  Events.push_back(std::move(Event));
}

/// A stream with its parts joined. What is not a whole event is left out.
static Sorted joined(std::string_view Stream) {
  Sorted J = {{"choices", Sorted::object()},
              {"usage", nullptr},
              {"frames", Sorted::array()},
              {"events", Sorted::array()}};
  while (true) {
    size_t End = Stream.find("\n\n");
    if (End == std::string_view::npos)
      return J;
    std::string_view Event = Stream.substr(0, End);
    Stream.remove_prefix(End + 2);
    size_t Data = Event.find("data: ");
    if (Data == std::string_view::npos)
      continue;
    Event.remove_prefix(Data + 6);
    Sorted Parsed = Sorted::parse(Event, nullptr, /*allow_exceptions=*/false);
    if (Parsed.is_object() && Parsed.contains("choices"))
      addChunk(std::move(Parsed), J);
    else
      addNamed(Parsed.is_discarded() ? Sorted(std::string(Event))
                                     : std::move(Parsed),
               J["events"]);
  }
}

/// Whether `Part` is the beginning of `Whole`: texts and arrays may go on.
static bool isBeginning(const Sorted &Part, const Sorted &Whole) {
  if (Part.is_null())
    return true;
  if (Part.is_string() && Whole.is_string())
    return Whole.get_ref<const std::string &>().starts_with(
        Part.get_ref<const std::string &>());
  if (Part.is_array() && Whole.is_array())
    return Part.size() <= Whole.size() &&
           std::equal(Part.begin(), Part.end(), Whole.begin(), isBeginning);
  if (Part.is_object() && Whole.is_object()) {
    for (const auto &[Key, Value] : Part.items())
      if (!Whole.contains(Key) || !isBeginning(Value, Whole.at(Key)))
        return false;
    return true;
  }
  return Part == Whole;
}

/// Where two texts differ, with what stands there.
static std::string placeOf(std::string_view Recorded, std::string_view New) {
  size_t At = static_cast<size_t>(
      std::mismatch(Recorded.begin(), Recorded.end(), New.begin(), New.end())
          .first -
      Recorded.begin());
  constexpr size_t Before = 20, Shown = 60;
  size_t From = At - std::min(At, Before);
  return "byte " + std::to_string(At) + " on: recorded " +
         printable(Recorded.substr(From, Shown)) + ", now " +
         printable(New.substr(From, Shown));
}

std::optional<std::string> http::differenceOf(std::string_view Recorded,
                                              std::string_view New,
                                              bool IsStream, bool IsCut) {
  if (Recorded == New || (IsCut && New.starts_with(Recorded)))
    return std::nullopt;
  if (!IsStream)
    return placeOf(Recorded, New);
  Sorted Old = joined(Recorded), Now = joined(New);
  if (IsCut ? isBeginning(Old, Now) : Old == Now)
    return std::nullopt;
  return "joined, " +
         placeOf(Old.dump(-1, ' ', false, Sorted::error_handler_t::replace),
                 Now.dump(-1, ' ', false, Sorted::error_handler_t::replace));
}
