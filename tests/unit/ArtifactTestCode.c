/*===- ArtifactTestCode.c - Native code for loader tests ----------*- C -*-===*\
|*
|* An entry point that answers each output row's token id times VARIANT.
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/Abi/TenonRt.h"

int64_t tenon_entry_step(const tenon_rt_step *step);

int64_t tenon_entry_step(const tenon_rt_step *step) {
  for (int64_t i = 0; i < step->batch->output_row_count; ++i)
    step->output[i] =
        (float)(VARIANT * step->batch->token_ids[step->batch->output_rows[i]]);
  return 0;
}
