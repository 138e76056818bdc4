//===- Encode.cpp - Prompts to token ids ----------------------------------===//

#include "runtime/Chat/Encode.h"

using namespace tenon;
using namespace tenon::chat;

Result<std::vector<int32_t>> chat::encode(const tokenizer::Tokenizer &T,
                                          const std::vector<Piece> &Pieces) {
  tokenizer::EncodeOptions Options;
  Options.AddSpecialTokens = false;
  Options.MaxTokens = SIZE_MAX;
  std::vector<tokenizer::ByteRange> OfTemplate;
  std::string All;
  for (const Piece &P : Pieces) {
    size_t Begin = All.size();
    All += P.Text;
    if (P.From != Origin::Template || P.Text.empty())
      continue;
    // Callers may hand over neighbours of one origin.
    if (!OfTemplate.empty() && OfTemplate.back().End == Begin)
      OfTemplate.back().End = All.size();
    else
      OfTemplate.push_back({Begin, All.size()});
  }
  Options.SpecialTokensWithin = OfTemplate;
  return T.encode(All, Options);
}
