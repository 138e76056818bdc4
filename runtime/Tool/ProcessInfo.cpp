//===- ProcessInfo.cpp - What this process has used -----------------------===//

#include "runtime/Tool/ProcessInfo.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

double tenon::tool::secondsSinceStart() {
  std::ifstream File("/proc/self/stat");
  std::string Line;
  std::getline(File, Line);
  // The second field, the name, may hold blanks: count from its bracket.
  size_t Name = Line.rfind(')');
  if (Name == std::string::npos)
    return 0;
  std::istringstream Fields(Line.substr(Name + 1));
  std::string Skipped;
  constexpr int FieldsBeforeStart = 19;
  for (int I = 0; I < FieldsBeforeStart; ++I)
    Fields >> Skipped;
  double Ticks = 0;
  Fields >> Ticks;
  timespec SinceBoot{};
  ::clock_gettime(CLOCK_BOOTTIME, &SinceBoot);
  double Started = Ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<double>(SinceBoot.tv_sec) +
         static_cast<double>(SinceBoot.tv_nsec) * 1e-9 - Started;
}

double tenon::tool::peakResidentMegabytes() {
  // Not getrusage: that maximum includes the process which called exec.
  std::ifstream File("/proc/self/status");
  for (std::string Word; File >> Word;)
    if (Word == "VmHWM:") {
      double Kilobytes = 0;
      File >> Kilobytes;
      return Kilobytes / 1024;
    }
  return 0;
}
