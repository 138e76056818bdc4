//===- MoreToolFormats.h - Rows of single families --------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_MORETOOLFORMATS_H
#define TENON_RUNTIME_TOOLCALLS_MORETOOLFORMATS_H

#include "runtime/ToolCalls/ToolFormat.h"

namespace tenon::tools {

/// Formats that one family of models has.
ToolFormat seedOss();
ToolFormat minimaxM2();
ToolFormat hunyuan3();
ToolFormat solar();
ToolFormat commandR7b();
ToolFormat apriel();
ToolFormat nemotronV2();
ToolFormat granite3();
ToolFormat lfm2();
ToolFormat gigachat();
ToolFormat firefunction();

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_MORETOOLFORMATS_H
