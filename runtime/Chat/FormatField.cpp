//===- FormatField.cpp - One value in a format ----------------------------===//

#include "runtime/Chat/FormatField.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tenon;
using namespace tenon::chat;

/// The digits of `Number`, without its sign.
static std::string digitsOf(int64_t Number, const FormatField &F) {
  auto Left = Number < 0 ? uint64_t{0} - static_cast<uint64_t>(Number)
                         : static_cast<uint64_t>(Number);
  unsigned Base = F.Type == 'x' || F.Type == 'X' ? 16
                  : F.Type == 'o'                ? 8
                  : F.Type == 'b'                ? 2
                                                 : 10;
  std::string Out;
  do {
    Out += "0123456789abcdef"[Left % Base];
    Left /= Base;
    if (F.Commas && Left != 0 && Out.size() % 4 == 3)
      Out += ',';
  } while (Left != 0);
  if (F.Alternate && Base != 10)
    Out += std::string(1, F.Type == 'X' ? 'x' : F.Type) + "0";
  std::reverse(Out.begin(), Out.end());
  if (F.Type == 'X')
    std::transform(Out.begin(), Out.end(), Out.begin(),
                   [](char C) { return C >= 'a' && C <= 'x' ? C - 32 : C; });
  return Out;
}

static std::string realDigits(double Number, const FormatField &F) {
  Number = std::fabs(Number);
  if (!std::isfinite(Number))
    return std::isnan(Number) ? "nan" : "inf";
  bool Percent = F.Type == '%';
  char Format[] = {'%', '.', '*', Percent ? 'f' : F.Type, 0};
  char Buffer[MaxPrecision + 400];
  int Precision = F.Precision < 0 ? 6 : std::min(F.Precision, MaxPrecision);
  std::snprintf(Buffer, sizeof(Buffer), Format, Precision,
                Percent ? Number * 100 : Number);
  std::string Out = Buffer;
  if (F.Commas) {
    size_t Whole = Out.find_first_not_of("0123456789");
    Whole = Whole == Out.npos ? Out.size() : Whole;
    for (size_t I = 3; I < Whole; I += 3)
      Out.insert(Whole - I, ",");
  }
  return Percent ? Out + "%" : Out;
}

Text chat::padded(Text Body, const std::string &Sign, const FormatField &F,
                  char DefaultAlign) {
  size_t Size = tokenizer::countCodes(Body.str()) + Sign.size();
  size_t Missing = F.Width > Size ? F.Width - Size : 0;
  char Align = F.Align ? F.Align : DefaultAlign;
  size_t Before = Align == '<' ? 0 : Align == '^' ? Missing / 2 : Missing;
  auto Fill = [&](Text &Out, size_t Count) {
    for (size_t I = 0; I < Count; ++I)
      Out.append(F.Fill, Origin::Template);
  };
  Text Out;
  Origin From = Body.origin();
  if (Align == '=')
    Out.append(Sign, From);
  Fill(Out, Before);
  if (Align != '=')
    Out.append(Sign, From);
  Out.append(Body);
  Fill(Out, Missing - Before);
  return Out;
}

Text chat::formatNumber(const Value &V, const FormatField &F) {
  bool IsReal = F.Type && std::string_view("eEfFgG%").find(F.Type) !=
                              std::string_view::npos;
  bool Negative =
      V.is(Kind::Float) ? std::signbit(V.asReal()) : V.asInteger() < 0;
  std::string Sign = Negative        ? "-"
                     : F.Sign == '-' ? ""
                                     : std::string(1, F.Sign);
  std::string Digits =
      IsReal ? realDigits(V.asReal(), F) : digitsOf(V.asInteger(), F);
  return padded(Text(Digits, V.origin()), Sign, F, '>');
}

Text chat::cut(const Text &From, const FormatField &F) {
  if (F.Precision < 0)
    return From;
  return From.part(0, byteOfCode(From.str(), static_cast<size_t>(F.Precision)));
}

Result<size_t> chat::readNumber(const std::string &From, size_t &At,
                                size_t Most) {
  size_t Number = 0;
  for (; At < From.size() && From[At] >= '0' && From[At] <= '9'; ++At) {
    Number = Number * 10 + static_cast<size_t>(From[At] - '0');
    if (Number > Most)
      return Error("a number in a format is above " + std::to_string(Most));
  }
  return Number;
}

Error chat::badFormat(const std::string &Format, const std::string &Expected) {
  return Error("the format " + printable(Format) + ": expected " + Expected);
}
