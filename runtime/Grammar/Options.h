//===- Options.h - How grammars are read ------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_OPTIONS_H
#define TENON_RUNTIME_GRAMMAR_OPTIONS_H

#include <cstddef>
#include <cstdint>

namespace tenon::grammar {

/// Beyond these a grammar is refused, so that one request cannot take much of
/// a server.
struct Limits {
  size_t SourceBytes = 2u << 20;
  int Depth = 256;            ///< Of a schema's JSON, or of nested groups.
  size_t Branches = 2048;     ///< Alternatives of one value.
  size_t Values = 20'000;     ///< Different kinds of value in a schema.
  size_t States = 1u << 20;   ///< Nodes of all regular expressions.
  double Seconds = 5;         ///< To compile.
  size_t Memory = 256u << 20; ///< Of what is kept of texts while matching.
  /// Steps of a matcher, states, sequences and parts of nodes that are looked
  /// at, of about 0.1 us each: so many are at hand, and with each token some
  /// more.
  size_t Steps = 2'000'000;
  size_t StepsPerToken = 50'000;
};

/// Whether "format" is asserted.
enum class Formats {
  /// Not where "$schema" says 2019-09 or 2020-12, whose default that is.
  ByDialect,
  Asserted,
  Annotation
};

struct SchemaOptions {
  /// Keys come in the order in which the schema has them; else in any.
  bool FixedOrder = false;
  Formats Format = Formats::ByDialect;
  /// Between JSON's tokens: what a run of white space may cost, where a space
  /// costs 1, a tab 2 and a line end 16.
  uint32_t MaxWhitespace = 64;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_OPTIONS_H
