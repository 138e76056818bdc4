//===- SchemaSource.cpp - The schemas of a document -----------------------===//

#include "runtime/Grammar/SchemaSource.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

std::string grammar::pointerPart(std::string_view Key) {
  std::string Part = "/";
  for (char C : Key)
    Part += C == '~' ? "~0" : C == '/' ? "~1" : std::string(1, C);
  return Part;
}

namespace {

struct Uri {
  std::string Scheme, Authority, Path, Fragment;
  bool HasAuthority = false, HasFragment = false;
};

} // namespace

/// RFC 3986, with a query as part of the path.
static Uri splitUri(std::string_view Text) {
  Uri U;
  if (size_t Hash = Text.find('#'); Hash != Text.npos) {
    U.HasFragment = true;
    U.Fragment = Text.substr(Hash + 1);
    Text = Text.substr(0, Hash);
  }
  size_t Colon = Text.find(':');
  if (Colon != Text.npos && Text.find('/') > Colon) {
    U.Scheme = Text.substr(0, Colon + 1);
    Text.remove_prefix(Colon + 1);
  }
  if (Text.starts_with("//")) {
    U.HasAuthority = true;
    size_t End = std::min(Text.find('/', 2), Text.size());
    U.Authority = Text.substr(0, End);
    Text.remove_prefix(End);
  }
  U.Path = Text;
  return U;
}

static std::string withoutDots(const std::string &Path) {
  std::vector<std::string> Parts;
  size_t At = 0;
  while (true) {
    size_t End = Path.find('/', At);
    std::string Part = Path.substr(At, End - At);
    bool IsLast = End == std::string::npos;
    if (Part == "..") {
      if (Parts.size() > 1)
        Parts.pop_back();
      if (IsLast)
        Parts.push_back("");
    } else if (Part != ".") {
      Parts.push_back(Part);
    } else if (IsLast) {
      Parts.push_back("");
    }
    if (IsLast)
      break;
    At = End + 1;
  }
  std::string Joined;
  for (size_t I = 0; I < Parts.size(); ++I)
    Joined += (I ? "/" : "") + Parts[I];
  return Joined;
}

/// `Ref` seen from `Base`, without its fragment.
static std::string resolved(const std::string &Base, const Uri &Ref) {
  if (!Ref.Scheme.empty())
    return Ref.Scheme + Ref.Authority + Ref.Path;
  Uri B = splitUri(Base);
  if (Ref.HasAuthority)
    return B.Scheme + Ref.Authority + Ref.Path;
  std::string Path = Ref.Path;
  if (Path.empty())
    return Base;
  if (Path[0] != '/')
    Path = B.Path.substr(0, B.Path.rfind('/') + 1) + Path;
  return B.Scheme + B.Authority + withoutDots(Path);
}

SchemaId SchemaSource::number(const Json &Value, std::string Pointer,
                              std::string Base) {
  auto [At, IsNew] = Ids.try_emplace(&Value, SchemaId(Schemas.size()));
  if (IsNew)
    Schemas.push_back({&Value, std::move(Pointer), std::move(Base)});
  return At->second;
}

Error SchemaSource::error(SchemaId At, const std::string &Keyword,
                          const std::string &Why) const {
  std::string Pointer = Schemas[At].Pointer;
  if (!Keyword.empty())
    Pointer += pointerPart(Keyword);
  return Error("JSON schema: " + escaped(Pointer) + ": " + Why);
}

/// Finds resources and anchors in the places where schemas are.
Status SchemaSource::scan(const Json &Value, const std::string &Pointer,
                          std::string Base, int Depth) {
  if (Places.contains(&Value) || !(Value.is_object() || Value.is_boolean()))
    return {};
  if (Depth > 512)
    return Error("JSON schema: nested deeper than 512 schemas");
  if (auto Id = Value.find("$id"); Id != Value.end() && Id->is_string()) {
    Uri U = splitUri(Id->get<std::string>());
    Base = resolved(Base, U);
    if (U.HasFragment && !U.Fragment.empty())
      return Error("JSON schema: " + escaped(Pointer) +
                   "/$id: expected a URI without fragment");
    if (!Resources.try_emplace(Base, &Value).second && Pointer != "#")
      return Error("JSON schema: " + escaped(Pointer) +
                   "/$id: " + printable(Base) + " is given twice");
  }
  Places.emplace(&Value, std::pair(Pointer, Base));
  for (const char *Key : {"$anchor", "$dynamicAnchor"})
    if (auto Name = Value.find(Key); Name != Value.end() && Name->is_string()) {
      Anchors.try_emplace(Base + "#" + Name->get<std::string>(), &Value);
      if (Key[1] == 'd')
        ++DynamicAnchors[Name->get<std::string>()];
    }
  if (!Value.is_object())
    return {};
  static constexpr std::string_view One[] = {"additionalProperties",
                                             "propertyNames",
                                             "items",
                                             "additionalItems",
                                             "contains",
                                             "not",
                                             "if",
                                             "then",
                                             "else",
                                             "unevaluatedItems",
                                             "unevaluatedProperties"};
  static constexpr std::string_view Some[] = {
      "properties",   "patternProperties", "$defs", "definitions",
      "dependencies", "dependentSchemas",  "allOf", "anyOf",
      "oneOf",        "prefixItems",       "items"};
  auto IsIn = [](const auto &Names, const std::string &Key) {
    return std::find(std::begin(Names), std::end(Names), Key) !=
           std::end(Names);
  };
  for (const auto &[Key, Sub] : Value.items()) {
    std::string Here = Pointer + pointerPart(Key);
    if (IsIn(One, Key))
      if (Status Done = scan(Sub, Here, Base, Depth + 1); !Done)
        return Done;
    if (!IsIn(Some, Key) || !(Sub.is_array() || Sub.is_object()))
      continue;
    if (Key == "items" && Sub.is_object())
      continue;
    for (const auto &[Name, Inner] : Sub.items())
      if (Status Done = scan(Inner, Here + pointerPart(Name), Base, Depth + 1);
          !Done)
        return Done;
  }
  return {};
}

Result<SchemaSource> SchemaSource::read(const Json &Root) {
  SchemaSource Source;
  Source.Made.push_back(Json(false));
  Source.number(Source.Made.back(), "#", "");
  if (!Root.is_object() && !Root.is_boolean())
    return Error("JSON schema: #: expected an object or a boolean");
  if (auto Given = Root.find("$schema"); Given != Root.end()) {
    static constexpr std::pair<std::string_view, Dialect> Known[] = {
        {"json-schema.org/draft/2020-12/schema", Dialect::Draft2020},
        {"json-schema.org/draft/2019-09/schema", Dialect::Draft2019},
        {"json-schema.org/draft-07/schema", Dialect::Draft4To7},
        {"json-schema.org/draft-06/schema", Dialect::Draft4To7},
        {"json-schema.org/draft-04/schema", Dialect::Draft4To7},
        {"json-schema.org/schema", Dialect::Unsaid}};
    std::string Name = Given->is_string() ? Given->get<std::string>() : "";
    std::string_view Rest = Name;
    for (std::string_view Prefix : {"https://", "http://"})
      if (Rest.starts_with(Prefix))
        Rest.remove_prefix(Prefix.size());
    if (Rest.ends_with("#"))
      Rest.remove_suffix(1);
    auto Found = std::find_if(std::begin(Known), std::end(Known),
                              [&](const auto &K) { return K.first == Rest; });
    if (Found == std::end(Known))
      return Error("JSON schema: #/$schema is " + printable(Name) +
                   ": expected draft 2020-12 or an earlier one");
    Source.Rules = Found->second;
  }
  if (Status Done = Source.scan(Root, "#", "", 0); !Done)
    return Done.error();
  Source.number(Root, "#", Source.Places.at(&Root).second);
  Source.Resources.try_emplace("", &Root);
  return Source;
}

SchemaId SchemaSource::child(SchemaId Parent, const std::string &Key) {
  const Json &Value = at(Parent)[Key];
  auto Place = Places.find(&Value);
  return number(Value, Schemas[Parent].Pointer + pointerPart(Key),
                Place == Places.end() ? Schemas[Parent].Base
                                      : Place->second.second);
}

SchemaId SchemaSource::child(SchemaId Parent, const std::string &Key,
                             const std::string &Sub) {
  const Json &List = at(Parent)[Key];
  const Json &Value = List.is_array() ? List[std::stoul(Sub)] : List[Sub];
  auto Place = Places.find(&Value);
  return number(
      Value, Schemas[Parent].Pointer + pointerPart(Key) + pointerPart(Sub),
      Place == Places.end() ? Schemas[Parent].Base : Place->second.second);
}

SchemaId SchemaSource::add(Json Value, SchemaId For) {
  Made.push_back(std::move(Value));
  std::string Pointer = Schemas[For].Pointer, Base = Schemas[For].Base;
  return number(Made.back(), std::move(Pointer), std::move(Base));
}

/// %HH back to bytes.
static std::string unquoted(const std::string &Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    unsigned Value = 0;
    if (Text[I] == '%' && I + 2 < Text.size() &&
        std::sscanf(Text.c_str() + I + 1, "%2x", &Value) == 1) {
      Out += static_cast<char>(Value);
      I += 2;
    } else {
      Out += Text[I];
    }
  }
  return Out;
}

Result<SchemaId> SchemaSource::resolve(SchemaId From, const std::string &Ref) {
  Uri U = splitUri(Ref);
  std::string Base = resolved(Schemas[From].Base, U);
  auto Fail = [&](const std::string &Why) {
    return error(From, "$ref", "'" + escaped(Ref) + "' " + Why);
  };
  auto Resource = Resources.find(Base);
  if (Resource == Resources.end())
    return Fail("is another document's: expected a schema of this one");
  std::string Fragment = unquoted(U.Fragment);
  if (!Fragment.empty() && Fragment[0] != '/') {
    auto Anchor = Anchors.find(Base + "#" + Fragment);
    if (Anchor == Anchors.end())
      return Fail("is no anchor of this document");
    const auto &[Pointer, Inner] = Places.at(Anchor->second);
    return number(*Anchor->second, Pointer, Inner);
  }
  const Json *Value = Resource->second;
  auto [Pointer, Inner] = Places.at(Value);
  for (size_t At = 0; At < Fragment.size();) {
    size_t End = std::min(Fragment.find('/', At + 1), Fragment.size());
    std::string Part;
    for (size_t I = At + 1; I < End; ++I)
      if (Fragment[I] == '~' && I + 1 < End) {
        Part += Fragment[++I] == '1' ? '/' : '~';
      } else {
        Part += Fragment[I];
      }
    At = End;
    Pointer += pointerPart(Part);
    if (Value->is_object() && Value->contains(Part)) {
      Value = &(*Value)[Part];
    } else if (Value->is_array() && !Part.empty() && Part.size() < 8 &&
               Part.find_first_not_of("0123456789") == Part.npos &&
               std::stoul(Part) < Value->size()) {
      Value = &(*Value)[std::stoul(Part)];
    } else {
      return Fail("leads nowhere: nothing is at " + printable(Pointer));
    }
    if (auto Place = Places.find(Value); Place != Places.end())
      Inner = Place->second.second;
  }
  if (!Value->is_object() && !Value->is_boolean())
    return Fail("is no schema: expected an object or a boolean");
  if (Status Done = scan(*Value, Pointer, Inner, 0); !Done)
    return Done.error();
  return number(*Value, Pointer, Places.at(Value).second);
}

Result<bool> SchemaSource::isStatic(SchemaId From) {
  std::string Ref = at(From)["$dynamicRef"].get<std::string>();
  Result<SchemaId> Target = resolve(From, Ref);
  if (!Target)
    return Target.error();
  std::string Name = splitUri(Ref).Fragment;
  auto Count = DynamicAnchors.find(Name);
  return Count == DynamicAnchors.end() || Count->second <= 1;
}
