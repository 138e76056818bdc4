//===- TokenizeCommand.cpp - tenon tokenize -------------------------------===//

#include "runtime/Tokenizer/TokenizeCommand.h"

#include "runtime/Support/Json.h"

using namespace tenon;
using namespace tenon::tokenizer;

static constexpr uint64_t MaxLinesBytes = 1u << 30;

static void appendIds(std::string &Out, const std::vector<int32_t> &Ids) {
  for (size_t I = 0; I < Ids.size(); ++I)
    Out.append(I == 0 ? "" : ",").append(std::to_string(Ids[I]));
}

static Status encodeLines(const Tokenizer &T, const TokenizeOptions &O,
                          std::string &Out) {
  Result<Json> Lines = readJsonFile(O.JsonLinesFile, MaxLinesBytes);
  if (!Lines)
    return Lines.error();
  JsonField Field(*Lines, O.JsonLinesFile);
  if (!Lines->is_array())
    return Error(O.JsonLinesFile + ": expected an array of strings");
  Out = "[";
  for (size_t I = 0; I < Lines->size(); ++I) {
    const Json &Line = (*Lines)[I];
    if (!Line.is_string())
      return Field.element(I)->expected("a string");
    Result<std::vector<int32_t>> Ids =
        T.encode(Line.get_ref<const std::string &>(), O.AddSpecialTokens);
    if (!Ids)
      return Ids.error().withContext(O.JsonLinesFile + ": element " +
                                     std::to_string(I));
    Out += I == 0 ? "[" : ",[";
    appendIds(Out, *Ids);
    Out += "]";
  }
  Out += "]\n";
  return {};
}

Status tokenizer::runTokenize(const Tokenizer &T, const TokenizeOptions &O,
                              std::string &Out) {
  Out.clear();
  if (O.Text) {
    Result<std::vector<int32_t>> Ids = T.encode(*O.Text, O.AddSpecialTokens);
    if (!Ids)
      return Ids.error();
    appendIds(Out, *Ids);
    Out += "\n";
    return {};
  }
  if (!O.JsonLinesFile.empty())
    return encodeLines(T, O, Out);
  if (Status Known = T.checkIds(O.Decode); !Known)
    return Known.error().withContext("--decode");
  Out = T.decode(O.Decode) + "\n";
  return {};
}
