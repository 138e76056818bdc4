//===- ShownProgress.h - The progress of a compilation ----------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_SHOWNPROGRESS_H
#define TENON_COMPILER_DRIVER_SHOWNPROGRESS_H

#include "runtime/Support/Progress.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace tenon {

/// Says what a compilation does.
class ShownProgress {
public:
  explicit ShownProgress(ProgressForm Wanted)
      : Form(Wanted == ProgressForm::Terminal && !::isatty(2)
                 ? ProgressForm::None
                 : Wanted) {}
  ~ShownProgress() { clear(); }
  /// `Share` of the phase is done, where that is known.
  void show(const std::string &Phase,
            std::optional<double> Share = std::nullopt) {
    switch (Form) {
    case ProgressForm::None:
      return;
    case ProgressForm::Terminal:
      llvm::errs() << "\r\033[K" << Phase;
      if (Share)
        llvm::errs() << " " << static_cast<int>(*Share * 100) << " %";
      return;
    case ProgressForm::Json:
      llvm::errs() << progressJson(Phase, Share);
    }
  }
  void clear() {
    if (Form == ProgressForm::Terminal)
      llvm::errs() << "\r\033[K";
  }

private:
  ProgressForm Form;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SHOWNPROGRESS_H
