//===- tokenizer.cpp - tokenizer.json, and texts through it ---------------===//
//
// Input: a tokenizer.json, NUL, a text. Without a text it encodes one of its
// own.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Tokenizer/Unicode.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::tokenizer;

static void roundTrip(const Tokenizer &T, std::string_view Text,
                      bool WithSpecials) {
  Result<std::vector<int32_t>> Ids = T.encode(Text, WithSpecials);
  if (!fuzz::isGood(Ids))
    return;
  for (bool Skip : {true, false}) {
    std::string Whole = T.decode(*Ids, Skip);
    fuzz::require(!findInvalidUtf8(Whole), "what is decoded is UTF-8");
    StreamingDecoder Decoder(T, Skip);
    std::string Pieces;
    for (int32_t Id : *Ids) {
      std::string Piece = Decoder.push(Id);
      fuzz::require(!findInvalidUtf8(Piece), "every piece is UTF-8");
      Pieces += Piece;
    }
    Pieces += Decoder.finish();
    fuzz::require(Pieces == Whole, "decoding ids one by one gives the same");
  }
  Result<std::vector<int32_t>> Cut = T.encode(Text, WithSpecials, 3);
  if (fuzz::isGood(Cut))
    fuzz::require(Cut->size() <= std::max<size_t>(3, Ids->size()),
                  "a limit lengthens nothing");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto [File, Text] = fuzz::splitAtNul(fuzz::textOf(Data, Size));
  Result<Tokenizer> T = Tokenizer::fromJson(File, "tokenizer.json");
  if (!fuzz::isGood(T))
    return 0;
  if (Text.empty())
    Text = "A word, 12 don't\n été 🦙 <s>[MASK]";
  roundTrip(*T, Text, true);
  roundTrip(*T, Text, false);
  // Ids that no text has.
  const int32_t Any[] = {-1, 0, 1, 2, 1 << 22, INT32_MAX, INT32_MIN, 3, 3};
  fuzz::require(!findInvalidUtf8(T->decode(Any)), "any ids decode to UTF-8");
  return 0;
}
