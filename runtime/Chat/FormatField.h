//===- FormatField.h - One value in a format --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_FORMATFIELD_H
#define TENON_RUNTIME_CHAT_FORMATFIELD_H

#include "runtime/Chat/Value.h"

namespace tenon::chat {

/// The largest width and precision of a field.
inline constexpr size_t MaxWidth = 1u << 16;
inline constexpr int MaxPrecision = 400;

/// How one value is written, by % as by format().
struct FormatField {
  std::string Fill = " ";
  char Align = 0; ///< < > ^ or =
  char Sign = '-';
  bool Alternate = false;
  bool Commas = false;
  size_t Width = 0;
  int Precision = -1;
  char Type = 0;
};

/// `Body` with a sign, both filled up to the width.
Text padded(Text Body, const std::string &Sign, const FormatField &F,
            char DefaultAlign);

/// A number with sign and width.
Text formatNumber(const Value &V, const FormatField &F);

/// As many characters as the precision says.
Text cut(const Text &From, const FormatField &F);

/// A number from the digits at `At`; an error beyond `Most`.
Result<size_t> readNumber(const std::string &From, size_t &At, size_t Most);

Error badFormat(const std::string &Format, const std::string &Expected);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_FORMATFIELD_H
