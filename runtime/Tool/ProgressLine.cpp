//===- ProgressLine.cpp - How far a long command is -----------------------===//

#include "runtime/Tool/ProgressLine.h"

#include "runtime/Support/Clock.h"

#include <algorithm>
#include <cstdio>

using namespace tenon;
using namespace tenon::tool;

ProgressLine::ProgressLine(std::string Doing, std::string Things)
    : Doing(std::move(Doing)), Name(std::move(Things)), Begin(secondsNow()) {}

void ProgressLine::show(std::optional<double> Share) {
  double Now = secondsNow();
  constexpr double Pause = 0.1;
  if (!Line.isShown() || Now < Next)
    return;
  Next = Now + Pause;
  double Passed = std::max(Now - Begin, 1e-3);
  char Numbers[160];
  std::snprintf(Numbers, sizeof(Numbers),
                "%s: %zu %s, %.1f %s/s, %.0f tokens/s", Doing.c_str(), Things,
                Name.c_str(), static_cast<double>(Things) / Passed,
                Name.c_str(), static_cast<double>(Tokens) / Passed);
  std::string All = Numbers;
  if (Share && *Share > 0) {
    auto Left = static_cast<int64_t>(Passed / *Share * (1 - *Share) + 0.5);
    std::snprintf(Numbers, sizeof(Numbers), ", %d %%, %lld:%02lld left",
                  static_cast<int>(*Share * 100),
                  static_cast<long long>(Left / 60),
                  static_cast<long long>(Left % 60));
    All += Numbers;
  }
  Line.show(All);
}

void ProgressLine::clear() {
  Line.clear();
  Next = 0;
}
