//===- AnswerCompare.h - Whether two answers say the same -------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_ANSWERCOMPARE_H
#define TENON_RUNTIME_HTTP_ANSWERCOMPARE_H

#include <optional>
#include <string>
#include <string_view>

namespace tenon::http {

/// What differs between the answer that is recorded and the new one, as one
/// line; none: nothing. Equal bytes are the same. Of streams, what comes to
/// each choice or item is joined, for its parts may be cut, and those of
/// several choices mixed, otherwise. With `IsCut` the recorded one is the
/// beginning of a stream; of the new one only that much counts.
std::optional<std::string> differenceOf(std::string_view Recorded,
                                        std::string_view New, bool IsStream,
                                        bool IsCut);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_ANSWERCOMPARE_H
