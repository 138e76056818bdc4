//===- StatusLine.h - A line on a terminal that is overwritten --*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_STATUSLINE_H
#define TENON_RUNTIME_TOOL_STATUSLINE_H

#include <string>
#include <string_view>

namespace tenon::tool {

/// What a command is doing, on standard error where that is a terminal; gone
/// when this is destroyed.
class StatusLine {
public:
  StatusLine();
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;
  ~StatusLine() { clear(); }

  bool isShown() const { return IsTerminal; }
  /// Puts `Text` there, cut to the width of the terminal.
  void show(std::string_view Text);
  /// Makes the line empty, for other output.
  void clear();

private:
  bool IsTerminal;
  std::string Shown; ///< What is there now.
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_STATUSLINE_H
