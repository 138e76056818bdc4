//===- ChatTestSupport.h - Short ways to render -----------------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_CHATTESTSUPPORT_H
#define TENON_TESTS_UNIT_CHATTESTSUPPORT_H

#include "runtime/Chat/Template.h"

#include <gtest/gtest.h>

namespace tenon::chat {

/// The pieces of `Source` with the user's variables in `User`; an error fails
/// the test.
inline std::vector<Piece> piecesOf(std::string_view Source,
                                   const Json &User = Json::object(),
                                   const Json &Model = Json::object()) {
  Result<Template> T = Template::parse(Source);
  if (!T) {
    ADD_FAILURE() << Source << ": " << T.error().message();
    return {};
  }
  Variables Given;
  Given.OfUser = User;
  Given.OfModel = Model;
  Result<std::vector<Piece>> Pieces = T->render(Given);
  if (!Pieces) {
    ADD_FAILURE() << Source << ": " << Pieces.error().message();
    return {};
  }
  return *Pieces;
}

/// The text of `Source`, or the message of its error.
inline std::string rendered(std::string_view Source,
                            const Json &User = Json::object(),
                            const Json &Model = Json::object()) {
  Result<Template> T = Template::parse(Source);
  if (!T)
    return T.error().message();
  Variables Given;
  Given.OfUser = User;
  Given.OfModel = Model;
  Result<std::vector<Piece>> Pieces = T->render(Given);
  return Pieces ? joined(*Pieces) : Pieces.error().message();
}

/// Pieces with those of the user in brackets.
inline std::string marked(const std::vector<Piece> &Pieces) {
  std::string All;
  for (const Piece &P : Pieces)
    All += P.From == Origin::User ? "[" + P.Text + "]" : P.Text;
  return All;
}

} // namespace tenon::chat

#endif // TENON_TESTS_UNIT_CHATTESTSUPPORT_H
