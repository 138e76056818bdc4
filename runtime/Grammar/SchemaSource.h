//===- SchemaSource.h - The schemas of a document ---------------*- C++ -*-===//
//
// Every schema in a document by number, with its JSON pointer, and what "$ref"
// means in it: pointers, anchors and embedded resources ("$id").
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_SCHEMASOURCE_H
#define TENON_RUNTIME_GRAMMAR_SCHEMASOURCE_H

#include "runtime/Support/Json.h"

#include <deque>
#include <map>

namespace tenon::grammar {

using SchemaId = uint32_t;

/// Which rules a document follows, by its "$schema".
enum class Dialect { Unsaid, Draft4To7, Draft2019, Draft2020 };

class SchemaSource {
public:
  /// `Root` must outlive this.
  static Result<SchemaSource> read(const Json &Root);

  /// Schemas that are there from the start.
  static constexpr SchemaId False = 0, Root = 1;

  const Json &at(SchemaId Id) const { return *Schemas[Id].Value; }
  /// "#/properties/a".
  const std::string &pointer(SchemaId Id) const { return Schemas[Id].Pointer; }
  Dialect dialect() const { return Rules; }

  /// The schema that is the member `Key`, or its member or element `Sub`.
  SchemaId child(SchemaId Parent, const std::string &Key);
  SchemaId child(SchemaId Parent, const std::string &Key,
                 const std::string &Sub);
  SchemaId child(SchemaId Parent, const std::string &Key, size_t Index) {
    return child(Parent, Key, std::to_string(Index));
  }
  /// One that is not in the document, with the pointer of one that is.
  SchemaId add(Json Value, SchemaId For);
  /// What the "$ref" or "$dynamicRef" `Ref` in `From` names.
  Result<SchemaId> resolve(SchemaId From, const std::string &Ref);
  /// Whether the "$dynamicRef" of a schema means the same wherever it is
  /// reached from.
  Result<bool> isStatic(SchemaId From);
  /// An error at a keyword of a schema.
  Error error(SchemaId At, const std::string &Keyword,
              const std::string &Why) const;

private:
  struct Schema {
    const Json *Value;
    std::string Pointer;
    std::string Base;
  };

  SchemaId number(const Json &Value, std::string Pointer, std::string Base);
  Status scan(const Json &Value, const std::string &Pointer, std::string Base,
              int Depth);

  std::deque<Json> Made;
  std::vector<Schema> Schemas;
  std::map<const Json *, SchemaId> Ids;
  std::map<const Json *, std::pair<std::string, std::string>> Places;
  std::map<std::string, const Json *> Resources;
  std::map<std::string, const Json *> Anchors; ///< "base#name".
  std::map<std::string, int> DynamicAnchors;   ///< How often.
  Dialect Rules = Dialect::Unsaid;
};

/// `Key` as a part of a JSON pointer.
std::string pointerPart(std::string_view Key);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_SCHEMASOURCE_H
