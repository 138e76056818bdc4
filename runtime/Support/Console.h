//===- Console.h - The standard streams of the tools ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_CONSOLE_H
#define TENON_RUNTIME_SUPPORT_CONSOLE_H

#include "runtime/Support/Result.h"

#include <string_view>

namespace tenon {

/// Writes all of `Bytes`; false when that fails, with the reason in errno.
bool writeAll(int Descriptor, std::string_view Bytes);

/// Writes to standard output; an error when that fails, as on a full disk.
Status print(std::string_view Text);

/// Writes "tenon: error: MESSAGE" or "tenon: note: MESSAGE" to standard error:
/// one line, in which nothing can drive a terminal.
void printError(std::string_view Message);
void printNote(std::string_view Message);

/// Makes sure that the numbers of the standard streams are taken, so that no
/// file that is opened later becomes a stream that the caller had closed.
/// Using such a stream stays an error. For the beginning of main().
void holdStandardStreams();

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_CONSOLE_H
