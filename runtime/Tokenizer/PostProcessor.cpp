//===- PostProcessor.cpp - Tokens around a text ---------------------------===//

#include "runtime/Tokenizer/PostProcessor.h"

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Vocabulary.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

static Result<int64_t> readId(const JsonField &Field) {
  return Field.asInteger(0, MaxTokenId - 1);
}

/// Items {"SpecialToken": {"id", "type_id"}} and {"Sequence": {"id": "A",
/// "type_id"}} of the array `Key`; `Specials` has the ids of the former.
Result<PostProcessor::Items> PostProcessor::readItems(const JsonField &Field,
                                                      const char *Key,
                                                      const JsonField &Specials,
                                                      bool IsPair) {
  Items Made;
  auto Read = [&](const JsonField &Entry) -> Status {
    if (Status Known = expectOnly(Entry, {"SpecialToken", "Sequence"}); !Known)
      return Known;
    if (Entry.json().size() != 1)
      return Entry.expected("either \"SpecialToken\" or \"Sequence\"");
    bool IsText = Entry.has("Sequence");
    Result<JsonField> Body = Entry.member(IsText ? "Sequence" : "SpecialToken");
    if (!Body)
      return Body.error();
    if (Status Known = expectOnly(*Body, {"id", "type_id"}); !Known)
      return Known;
    Item &One = Made.emplace_back();
    if (Body->has("type_id")) {
      Result<int64_t> Type = Body->member("type_id")->asInteger(0, INT32_MAX);
      if (!Type)
        return Type.error();
      One.Type = static_cast<int32_t>(*Type);
    }
    Result<JsonField> Name = Body->member("id");
    if (!Name)
      return Name.error();
    Result<std::string> Text = Name->asString();
    if (!Text)
      return Text.error();
    if (IsText) {
      if (*Text != "A" && (!IsPair || *Text != "B"))
        return Name->expected(IsPair ? "A or B, the sequences of a pair"
                                     : "A, the only sequence of a single text");
      One.From = *Text == "A" ? Item::First : Item::Second;
      return {};
    }
    if (!Specials.has(*Text))
      return Name->expected("a member of \"special_tokens\"");
    Result<JsonField> Token = Specials.member(*Text);
    if (!Token)
      return Token.error();
    return forEachElement(*Token, "ids", [&](const JsonField &Id) -> Status {
      Result<int64_t> Value = readId(Id);
      if (!Value)
        return Value.error();
      One.Ids.push_back(static_cast<int32_t>(*Value));
      return {};
    });
  };
  if (Status Done = forEachElement(Field, Key, Read); !Done)
    return Done.error();
  // Each text item copies the ids: hostile files must not multiply them.
  auto Count = [&](Item::Kind From) {
    return std::count_if(Made.begin(), Made.end(),
                         [&](const Item &I) { return I.From == From; });
  };
  if (Count(Item::First) != 1 || Count(Item::Second) != (IsPair ? 1 : 0))
    return Field.expected(IsPair ? "the sequences A and B once in \"pair\""
                                 : "the sequence A once in \"single\"");
  return Made;
}

Result<PostProcessor::Template>
PostProcessor::readTemplate(const JsonField &Field) {
  if (Status Known =
          expectOnly(Field, {"type", "single", "pair", "special_tokens"});
      !Known)
    return Known.error();
  Result<JsonField> Specials = Field.member("special_tokens");
  if (!Specials)
    return Specials.error();
  Template Made;
  Result<Items> Single = readItems(Field, "single", *Specials, false);
  if (!Single)
    return Single.error();
  Made.Single = std::move(*Single);
  bool HasPair = Field.has("pair");
  if (HasPair) {
    Result<size_t> Size = Field.member("pair")->arraySize();
    if (!Size)
      return Size.error();
    HasPair = *Size != 0;
  }
  if (HasPair) {
    Result<Items> Pair = readItems(Field, "pair", *Specials, true);
    if (!Pair)
      return Pair.error();
    Made.Pair = std::move(*Pair);
  }
  return Made;
}

/// BertProcessing and RobertaProcessing: "cls" and "sep", each [token, id].
Result<PostProcessor::Template> PostProcessor::readFrame(const JsonField &Field,
                                                         bool IsRoberta) {
  Status Known = IsRoberta
                     ? expectOnly(Field, {"type", "sep", "cls", "trim_offsets",
                                          "add_prefix_space"})
                     : expectOnly(Field, {"type", "sep", "cls"});
  if (!Known)
    return Known.error();
  Item Begin, End;
  for (auto [Key, To] : {std::pair("cls", &Begin), std::pair("sep", &End)}) {
    Result<JsonField> Pair = Field.member(Key);
    if (!Pair)
      return Pair.error();
    Result<size_t> Size = Pair->arraySize();
    if (!Size)
      return Size.error();
    if (*Size != 2)
      return Pair->expected("[token, id]");
    Result<JsonField> Id = Pair->element(1);
    Result<int64_t> Value = readId(*Id);
    if (!Value)
      return Value.error();
    To->Ids = {static_cast<int32_t>(*Value)};
  }
  Item Text{Item::First}, Other{Item::Second};
  Template Made{{Begin, Text, End}, Items{Begin, Text, End}};
  if (IsRoberta) {
    // Its tokens have no types.
    Made.Pair->push_back(End);
  } else {
    Other.Type = End.Type = 1;
  }
  Made.Pair->push_back(std::move(Other));
  Made.Pair->push_back(std::move(End));
  return Made;
}

Result<PostProcessor>
PostProcessor::fromJson(const JsonField &Field,
                        const std::function<bool(int32_t)> &IsToken) {
  Result<JsonField> Type = Field.member("type");
  if (!Type)
    return Type.error();
  Result<std::string> Name = Type->asString();
  if (!Name)
    return Name.error();
  PostProcessor Made;
  if (*Name == "Sequence") {
    if (Status Known = expectOnly(Field, {"type", "processors"}); !Known)
      return Known.error();
    Status Done = forEachElement(
        Field, "processors", [&](const JsonField &Element) -> Status {
          Result<PostProcessor> Step = fromJson(Element, IsToken);
          if (!Step)
            return Step.error();
          Made.Templates.insert(Made.Templates.end(), Step->Templates.begin(),
                                Step->Templates.end());
          return {};
        });
    if (!Done)
      return Done.error();
    return Made;
  }
  if (*Name == "ByteLevel") {
    // It only trims offsets.
    Status Known = expectOnly(
        Field, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (!Known)
      return Known.error();
    return Made;
  }
  bool IsRoberta = *Name == "RobertaProcessing";
  if (*Name != "TemplateProcessing" && *Name != "BertProcessing" && !IsRoberta)
    return Type->expected("a post-processor that is supported");
  Result<Template> Read = *Name == "TemplateProcessing"
                              ? readTemplate(Field)
                              : readFrame(Field, IsRoberta);
  if (!Read)
    return Read.error();
  for (const Items &All : {Read->Single, Read->Pair.value_or(Items())})
    for (const Item &One : All)
      for (int32_t Id : One.Ids)
        if (!IsToken(Id))
          return Error(Field.file() + ": field " + printable(Field.path()) +
                       " adds the id " + std::to_string(Id) +
                       ": expected the id of a token");
  Made.Templates.push_back(std::move(*Read));
  return Made;
}

size_t PostProcessor::added() const {
  size_t Count = 0;
  for (const Template &Each : Templates)
    for (const Item &One : Each.Single)
      Count += One.Ids.size();
  return Count;
}

const PostProcessor::Items *PostProcessor::pairItems() const {
  static const Items Joined = {{Item::First}, {Item::Second, {}, 1}};
  if (Templates.empty())
    return &Joined;
  // What a second template makes of a pair is not defined.
  return Templates.size() == 1 && Templates[0].Pair ? &*Templates[0].Pair
                                                    : nullptr;
}

Result<size_t> PostProcessor::addedToPair() const {
  const Items *Pair = pairItems();
  if (!Pair)
    return Error("the tokenizer's post-processor says nothing of pairs of "
                 "texts: expected one that has a template for them");
  size_t Count = 0;
  for (const Item &One : *Pair)
    Count += One.Ids.size();
  return Count;
}

std::vector<int32_t> PostProcessor::apply(std::vector<int32_t> Ids,
                                          bool AddSpecial) const {
  if (!AddSpecial)
    return Ids;
  for (const Template &Each : Templates) {
    std::vector<int32_t> Framed;
    for (const Item &One : Each.Single) {
      const std::vector<int32_t> &From =
          One.From == Item::Special ? One.Ids : Ids;
      Framed.insert(Framed.end(), From.begin(), From.end());
    }
    Ids = std::move(Framed);
  }
  return Ids;
}

EncodedPair PostProcessor::applyToPair(const std::vector<int32_t> &First,
                                       const std::vector<int32_t> &Second,
                                       bool AddSpecial) const {
  EncodedPair Made;
  for (const Item &One : *pairItems()) {
    if (One.From == Item::Special && !AddSpecial)
      continue;
    const std::vector<int32_t> &From = One.From == Item::Special ? One.Ids
                                       : One.From == Item::First ? First
                                                                 : Second;
    Made.Ids.insert(Made.Ids.end(), From.begin(), From.end());
    Made.Types.resize(Made.Ids.size(), One.Type);
  }
  return Made;
}
