/*===- ArtifactTestCode.c - Native code for loader tests ----------*- C -*-===*\
|*
|* An entry point that answers each wanted token's id times VARIANT.
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/Abi/TenonRt.h"

void tenon_entry_step(const tenon_rt_step *step);

void tenon_entry_step(const tenon_rt_step *step) {
  for (int64_t i = 0; i < step->batch->rows; ++i)
    step->output[i] =
        (float)(VARIANT * step->batch->token_ids[step->batch->wanted[i]]);
}
