//===- StatusLine.cpp - A line on a terminal that is overwritten ----------===//

#include "runtime/Tool/StatusLine.h"

#include "runtime/Support/Console.h"
#include "runtime/Support/Json.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

static constexpr std::string_view EmptyLine = "\r\033[K";

StatusLine::StatusLine() : IsTerminal(::isatty(STDERR_FILENO) != 0) {}

void StatusLine::show(std::string_view Text) {
  if (!IsTerminal)
    return;
  std::string Line = escaped(Text);
  struct winsize Size = {};
  // A line that wraps would not be overwritten.
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &Size) == 0 && Size.ws_col > 0) {
    size_t Characters = 0, End = 0;
    for (; End < Line.size(); ++End) {
      bool Begins = (static_cast<unsigned char>(Line[End]) & 0xc0) != 0x80;
      if (Begins && ++Characters == Size.ws_col)
        break;
    }
    Line.resize(End);
  }
  if (Line == Shown)
    return;
  // Nobody can be told when this fails.
  (void)writeAll(STDERR_FILENO, std::string(EmptyLine) + Line);
  Shown = std::move(Line);
}

void StatusLine::clear() {
  if (!Shown.empty())
    (void)writeAll(STDERR_FILENO, EmptyLine);
  Shown.clear();
}
