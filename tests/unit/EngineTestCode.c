/*===- EngineTestCode.c - Stands in for generated code in tests
---------------===*\
|*
|* A tiny "model" behind the ABI of generated code. It depends on everything
|* that an engine must get right: pages, positions, both cache layers, threads
|* and barriers, library products, rows wanted.
|*
|* Of the token at position p of a sequence t_0 ... t_p:
|*   h = sum of (i + 1) * (t_i + 1) for i <= p, read back from the cache
|*   logits = W [h, p, 1, 1, ...]
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/Abi/TenonRt.h"

enum {
  PageTokens = 16,
  PageFloats = 272, /* only the first PageTokens are used */
  Depth = 20,
  Width = 50,
  FailingToken = 49 /* makes the step ask for a product there is none of */
};

typedef struct {
  const tenon_rt_step *Step;
  float *Rows;
} Context;

static float *slotOf(const tenon_rt_step *Step, int64_t Scope, int32_t Sequence,
                     int32_t Position) {
  int32_t Page = Step->batch->pages[Sequence][Position / PageTokens];
  float *Base = (float *)Step->scopes[Scope].caches[0];
  return Base + (int64_t)Page * PageFloats + Position % PageTokens;
}

static void compute(void *Environment, int64_t Thread, int64_t Threads) {
  Context *C = (Context *)Environment;
  const tenon_rt_step *Step = C->Step;
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t T = Thread; T < Batch->tokens; T += Threads) {
    int32_t S = Batch->sequence_of[T], P = Batch->positions[T];
    *slotOf(Step, 0, S, P) = (float)(Batch->token_ids[T] + 1);
    *slotOf(Step, 1, S, P) = (float)(P + 1);
  }
  Step->functions->barrier(Step->runtime);
  for (int64_t R = Thread; R < Batch->rows; R += Threads) {
    int32_t T = Batch->wanted[R];
    int32_t S = Batch->sequence_of[T], P = Batch->positions[T];
    float H = 0;
    for (int32_t I = 0; I <= P; ++I)
      H += *slotOf(Step, 0, S, I) * *slotOf(Step, 1, S, I);
    /* A page must come zeroed beyond what its sequence has written. */
    for (int32_t I = P + 1; I % PageTokens != 0; ++I)
      if (I >= Batch->positions[Batch->starts[S + 1] - 1] + 1)
        H += *slotOf(Step, 0, S, I);
    float *Row = C->Rows + R * Depth;
    Row[0] = H;
    Row[1] = (float)P;
    for (int K = 2; K < Depth; ++K)
      Row[K] = 1;
  }
}

void tenon_entry_step(const tenon_rt_step *Step) {
  Context C = {Step, (float *)Step->arena};
  Step->functions->parallel(Step->runtime, compute, &C);
  int64_t Site = 0;
  for (int64_t T = 0; T < Step->batch->tokens; ++T)
    if (Step->batch->token_ids[T] == FailingToken)
      Site = 7;
  if (Step->batch->rows != 0)
    Step->functions->matmul(Step->runtime, Site, Step->batch->rows, C.Rows,
                            Step->scopes[0].weights[0], 0, 0, 0, Step->output);
}

/* id + 100 * type + 1000 * position in every column. */
void tenon_entry_encode(const tenon_rt_step *Step) {
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t R = 0; R < Batch->rows; ++R) {
    int32_t T = Batch->wanted[R];
    for (int N = 0; N < Width; ++N)
      Step->output[R * Width + N] =
          (float)(Batch->token_ids[T] + 100 * Batch->token_types[T] +
                  1000 * Batch->positions[T]);
  }
}

/* The sum of the ids in every column. */
void tenon_entry_embed(const tenon_rt_step *Step) {
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t S = 0; S < Batch->sequences; ++S) {
    float Sum = 0;
    for (int32_t T = Batch->starts[S]; T < Batch->starts[S + 1]; ++T)
      Sum += (float)Batch->token_ids[T];
    for (int N = 0; N < Width; ++N)
      Step->output[S * Width + N] = Sum;
  }
}
