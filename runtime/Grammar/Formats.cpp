//===- Formats.cpp - What "format" of JSON schema means -------------------===//

#include "runtime/Grammar/Formats.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

/// RFC 3339, with February's 29th in leap years alone, without leap seconds.
static std::string date() {
  std::string Year = "[0-9]{4}";
  std::string Leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|"
                     "(?:[02468][048]|[13579][26])00)";
  return "(?:" + Year +
         "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|"
         "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
         "02-(?:0[1-9]|1[0-9]|2[0-8]))|" +
         Leap + "-02-29)";
}

static std::string time() {
  return "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?"
         "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
}

/// RFC 3339, appendix A.
static std::string duration() {
  std::string Time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|"
                     "[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
  std::string Day = "[0-9]+D";
  std::string Month = "[0-9]+M(?:" + Day + ")?";
  std::string Date = "(?:" + Day + "|" + Month + "|[0-9]+Y(?:" + Month + ")?)";
  return "P(?:" + Date + "(?:" + Time + ")?|" + Time + "|[0-9]+W)";
}

static std::string ipv4() {
  std::string Part = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return "(?:" + Part + "\\.){3}" + Part;
}

/// RFC 4291, section 2.2.
static std::string ipv6() {
  std::string H = "[0-9a-fA-F]{1,4}";
  std::string Last = "(?:" + H + ":" + H + "|" + ipv4() + ")";
  std::string Ways = "(?:" + H + ":){6}" + Last;
  for (int Before = 0; Before <= 7; ++Before) {
    // So many groups before "::"; at least one is left out.
    std::string Head =
        Before == 0 ? ""
                    : "(?:" + H + ":){" + std::to_string(Before - 1) + "}" + H;
    int Most = 7 - Before;
    std::string Tail;
    if (Most >= 1)
      Tail = "(?:(?:" + H + ":){0," + std::to_string(Most - 1) + "}" + H + ")?";
    Ways += "|" + Head + "::" + Tail;
    if (Most >= 2)
      Ways += "|" + Head + "::(?:" + H + ":){0," + std::to_string(Most - 2) +
              "}" + ipv4();
  }
  return "(?:" + Ways + ")";
}

static std::string hostname() {
  std::string Label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
  return "(?=.{1,253}$)" + Label + "(?:\\." + Label + ")*";
}

static std::string email() {
  std::string Atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
  std::string Label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
  return Atom + "(?:\\." + Atom + ")*@" + Label + "(?:\\." + Label + ")*";
}

/// RFC 3986, with a scheme; `Reference`: without one, too.
static std::string uri(bool Reference) {
  std::string Escape = "%[0-9a-fA-F]{2}";
  std::string Char = "(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|" + Escape + ")";
  std::string User = "(?:[a-zA-Z0-9._~!$&'()*+,;=:-]|" + Escape + ")*";
  std::string Name = "(?:[a-zA-Z0-9._~!$&'()*+,;=-]|" + Escape + ")*";
  std::string Authority =
      "(?:" + User + "@)?(?:\\[" + ipv6() + "\\]|" + Name + ")(?::[0-9]*)?";
  std::string Path = "(?:/" + Char + "*)*";
  std::string Rest =
      "(?:\\?(?:" + Char + "|[/?])*)?(?:#(?:" + Char + "|[/?])*)?";
  std::string Hier = "(?://" + Authority + Path + "|/(?:" + Char + "+" + Path +
                     ")?|" + Char + "+" + Path + "|)";
  std::string Full = "[a-zA-Z][a-zA-Z0-9+.-]*:" + Hier + Rest;
  if (!Reference)
    return Full;
  std::string NoColon = "(?:[a-zA-Z0-9._~!$&'()*+,;=@-]|" + Escape + ")+";
  return "(?:" + Full + "|(?://" + Authority + Path + "|/(?:" + Char + "+" +
         Path + ")?|" + NoColon + Path + "|)" + Rest + ")";
}

FormatMeaning grammar::meaningOf(std::string_view Format) {
  static constexpr std::string_view Annotations[] = {
      "int32", "int64", "float", "double", "password", "byte", "binary"};
  if (std::find(std::begin(Annotations), std::end(Annotations), Format) !=
      std::end(Annotations))
    return {std::nullopt, true};
  if (Format == "date")
    return {date()};
  if (Format == "time")
    return {time()};
  if (Format == "date-time")
    return {date() + "[Tt]" + time()};
  if (Format == "duration")
    return {duration()};
  if (Format == "uuid")
    return {"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"};
  if (Format == "ipv4")
    return {ipv4()};
  if (Format == "ipv6")
    return {ipv6()};
  if (Format == "hostname")
    return {hostname()};
  if (Format == "email")
    return {email()};
  if (Format == "uri")
    return {uri(false)};
  if (Format == "uri-reference")
    return {uri(true)};
  if (Format == "json-pointer")
    return {"(?:/(?:[^~/]|~[01])*)*"};
  return {};
}
