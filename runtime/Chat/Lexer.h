//===- Lexer.h - Templates to tokens ----------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_LEXER_H
#define TENON_RUNTIME_CHAT_LEXER_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::chat {

/// Where something stands in a template; both count from 1, columns in
/// characters.
struct Place {
  unsigned Line = 1;
  unsigned Column = 1;
};

/// `E`, with the place in front: "line 3, column 14: ...".
Error errorAt(Place At, const Error &E);
Error errorAt(Place At, const std::string &Message);

struct Token {
  enum class Kind {
    Data, ///< What is printed as it is.
    PrintBegin,
    PrintEnd,
    BlockBegin,
    BlockEnd,
    Name,
    String,
    Integer,
    Float,
    Operator,
    End
  };

  Kind K = Kind::End;
  Place At;
  /// Data, name, operator, or the content of a string.
  std::string Text;
  int64_t Integer = 0;
  double Real = 0;

  bool isName(std::string_view Name) const {
    return K == Kind::Name && Text == Name;
  }
  bool isOperator(std::string_view Sign) const {
    return K == Kind::Operator && Text == Sign;
  }
};

/// What errors call a token: "'endfor'", "the end of the template".
std::string describe(const Token &T);

/// The tokens of `Source`, valid UTF-8, the last one Kind::End, with white
/// space removed as trim_blocks, lstrip_blocks and the signs in tags say.
Result<std::vector<Token>> tokenize(std::string_view Source);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_LEXER_H
