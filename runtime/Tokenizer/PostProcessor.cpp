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

/// TemplateProcessing: items {"SpecialToken": {"id", "type_id"}} and
/// {"Sequence": {"id": "A", "type_id"}}; "special_tokens" has their ids.
Result<PostProcessor::Template>
PostProcessor::readTemplate(const JsonField &Field) {
  if (Status Known =
          expectOnly(Field, {"type", "single", "pair", "special_tokens"});
      !Known)
    return Known.error();
  Result<JsonField> Specials = Field.member("special_tokens");
  if (!Specials)
    return Specials.error();
  Template Items;
  Status Done =
      forEachElement(Field, "single", [&](const JsonField &Entry) -> Status {
        if (Status Known = expectOnly(Entry, {"SpecialToken", "Sequence"});
            !Known)
          return Known;
        if (Entry.json().size() != 1)
          return Entry.expected("either \"SpecialToken\" or \"Sequence\"");
        bool IsText = Entry.has("Sequence");
        Result<JsonField> Body =
            Entry.member(IsText ? "Sequence" : "SpecialToken");
        if (!Body)
          return Body.error();
        if (Status Known = expectOnly(*Body, {"id", "type_id"}); !Known)
          return Known;
        Result<JsonField> Name = Body->member("id");
        if (!Name)
          return Name.error();
        Result<std::string> Text = Name->asString();
        if (!Text)
          return Text.error();
        if (IsText) {
          if (*Text != "A")
            return Name->expected("A, the only sequence of a single text");
          Items.push_back({true, {}});
          return {};
        }
        if (!Specials->has(*Text))
          return Name->expected("a member of \"special_tokens\"");
        Result<JsonField> Token = Specials->member(*Text);
        if (!Token)
          return Token.error();
        Item &Special = Items.emplace_back();
        return forEachElement(
            *Token, "ids", [&](const JsonField &Id) -> Status {
              Result<int64_t> Value = readId(Id);
              if (!Value)
                return Value.error();
              Special.Ids.push_back(static_cast<int32_t>(*Value));
              return {};
            });
      });
  if (!Done)
    return Done.error();
  // Each text item copies the ids: hostile files must not multiply them.
  auto Texts = std::count_if(Items.begin(), Items.end(),
                             [](const Item &I) { return I.IsText; });
  if (Texts != 1)
    return Field.expected("the sequence A once in \"single\"");
  return Items;
}

/// BertProcessing and RobertaProcessing: "cls" and "sep", each [token, id].
Result<PostProcessor::Template> PostProcessor::readPair(const JsonField &Field,
                                                        bool IsRoberta) {
  Status Known = IsRoberta
                     ? expectOnly(Field, {"type", "sep", "cls", "trim_offsets",
                                          "add_prefix_space"})
                     : expectOnly(Field, {"type", "sep", "cls"});
  if (!Known)
    return Known.error();
  Template Items(3);
  Items[1].IsText = true;
  for (auto [Key, Index] : {std::pair("cls", 0), std::pair("sep", 2)}) {
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
    Items[static_cast<size_t>(Index)].Ids = {static_cast<int32_t>(*Value)};
  }
  return Items;
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
  Result<Template> Items = *Name == "TemplateProcessing"
                               ? readTemplate(Field)
                               : readPair(Field, IsRoberta);
  if (!Items)
    return Items.error();
  for (const Item &One : *Items)
    for (int32_t Id : One.Ids)
      if (!IsToken(Id))
        return Error(Field.file() + ": field " + printable(Field.path()) +
                     " adds the id " + std::to_string(Id) +
                     ": expected the id of a token");
  Made.Templates.push_back(std::move(*Items));
  return Made;
}

size_t PostProcessor::added() const {
  size_t Count = 0;
  for (const Template &Items : Templates)
    for (const Item &One : Items)
      Count += One.Ids.size();
  return Count;
}

std::vector<int32_t> PostProcessor::apply(std::vector<int32_t> Ids,
                                          bool AddSpecial) const {
  if (!AddSpecial)
    return Ids;
  for (const Template &Items : Templates) {
    std::vector<int32_t> Framed;
    for (const Item &One : Items) {
      const std::vector<int32_t> &From = One.IsText ? Ids : One.Ids;
      Framed.insert(Framed.end(), From.begin(), From.end());
    }
    Ids = std::move(Framed);
  }
  return Ids;
}
