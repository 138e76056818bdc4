//===- JsonLines.cpp - Files of one JSON value a line ---------------------===//

#include "runtime/Tool/JsonLines.h"

#include <cerrno>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

Result<JsonLines> JsonLines::open(const std::string &Path) {
  if (Path == "-")
    return JsonLines("standard input", FileDescriptor(), std::nullopt);
  Result<InputFile> File = openInput(Path);
  if (!File)
    return File.error();
  return JsonLines(Path, std::move(File->Descriptor),
                   static_cast<uint64_t>(File->Info.st_size));
}

/// False at the end.
Result<bool> JsonLines::nextLine(std::string &Text) {
  constexpr size_t MaxLineBytes = 16 << 20, PieceBytes = 1 << 18;
  size_t Seen = Begin;
  for (;;) {
    size_t End = Buffer.find('\n', Seen);
    if (End == std::string::npos && !IsAtEnd) {
      Seen = Buffer.size() - Begin;
      if (Seen > MaxLineBytes)
        return Error(File + ":" + std::to_string(Line + 1) +
                     ": is longer than " + std::to_string(MaxLineBytes) +
                     " bytes: expected a JSON value a line");
      Buffer.erase(0, std::exchange(Begin, 0));
      Buffer.resize(Seen + PieceBytes);
      ssize_t Count;
      do
        Count = ::read(Descriptor ? Descriptor.get() : STDIN_FILENO,
                       Buffer.data() + Seen, PieceBytes);
      while (Count < 0 && errno == EINTR);
      if (Count < 0)
        return systemError(File, "cannot read");
      IsAtEnd = Count == 0;
      Buffer.resize(Seen + static_cast<size_t>(Count));
      continue;
    }
    if (End == std::string::npos && Begin == Buffer.size())
      return false;
    size_t Next = End == std::string::npos ? Buffer.size() : End + 1;
    Text = Buffer.substr(Begin, std::min(End, Buffer.size()) - Begin);
    Position += Next - Begin;
    Begin = Next;
    ++Line;
    return true;
  }
}

Result<std::optional<Json>> JsonLines::next() {
  std::string Text;
  for (;;) {
    Result<bool> HasMore = nextLine(Text);
    if (!HasMore)
      return HasMore.error();
    if (!*HasMore)
      return std::optional<Json>();
    if (Text.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    Result<Json> Value = parseJson(Text, place());
    if (!Value)
      return Value.error();
    return std::optional<Json>(std::move(*Value));
  }
}
