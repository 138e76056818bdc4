/*===- EngineTestCode.c - Stands in for generated code in tests
---------------===*\
|*
|* A tiny "model" behind the ABI of generated code. It depends on everything
|* that an engine must get right: pages, positions, both cache layers, threads
|* and barriers, library matmuls, output rows.
|*
|* Of the token at position p of a sequence t_0 ... t_p:
|*   h = sum of (i + 1) * (t_i + 1) for i <= p, read back from the cache
|*   logits = W [h % 97 - 48, p, 1 + prefix, 1, ...]
|* Kernels 0 and 1 are marked in the region, for layers 0 and 1; 2 is the
matmul.
|* Where the artifact's bound of few tokens is above 2, a token that ran the
|* variant for few counts as t + 5.
|* Where the batch has rows of input, the row r of a token 47 makes it count as
|* (r[0] + 2 * r[last]) % 97.
|* With a source text s_0 ... h grows by the sum of 3 * (i + 1) * (s_i + 1).
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/Abi/TenonRt.h"

enum {
  PageTokens = 16,
  PageFloats = 272, /* only the first PageTokens are used */
  Depth = 20,
  Width = 50,
  Features = 4,      /* of a row of input of images */
  ImageToken = 47,   /* has a row of input in steps that have any */
  WaitingToken = 48, /* twice in a row: the step lasts until it is cancelled */
  FailingToken =
      49 /* makes the step ask for a matmul primitive there is none of */
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

/* Of the source text; in the second kind of cache. */
static float *crossOf(const tenon_rt_step *Step, int32_t Sequence,
                      int32_t Position) {
  int32_t Page = Step->batch->cross_pages[Sequence][Position / PageTokens];
  float *Base = (float *)Step->scopes[1].caches[1];
  return Base + (int64_t)Page * PageFloats + Position % PageTokens;
}

static void compute(void *Environment, int64_t Thread, int64_t Threads) {
  Context *C = (Context *)Environment;
  const tenon_rt_step *Step = C->Step;
  const tenon_rt_batch *Batch = Step->batch;
  Step->functions->mark(Step->runtime, 0, &Step->scopes[0], Batch->tokens,
                        Thread);
  int IsFew = Batch->few_tokens > 2 && Batch->tokens <= Batch->few_tokens;
  for (int64_t T = Thread; T < Batch->tokens; T += Threads) {
    int32_t S = Batch->sequence_of[T], P = Batch->positions[T];
    int32_t Id = Batch->token_ids[T];
    if (Id == ImageToken && Batch->features) {
      const float *Row = Batch->features + T * Width;
      Id = (int32_t)(Row[0] + 2 * Row[Width - 1]) % 97;
    }
    *slotOf(Step, 0, S, P) = (float)(Id + 1 + 5 * IsFew);
    *slotOf(Step, 1, S, P) = (float)(P + 1);
  }
  Step->functions->barrier(Step->runtime);
  Step->functions->mark(Step->runtime, 1, &Step->scopes[1],
                        Batch->output_row_count, Thread);
  for (int64_t R = Thread; R < Batch->output_row_count; R += Threads) {
    int32_t T = Batch->output_rows[R];
    int32_t S = Batch->sequence_of[T], P = Batch->positions[T];
    float H = 0;
    for (int32_t I = 0; I <= P; ++I)
      H += *slotOf(Step, 0, S, I) * *slotOf(Step, 1, S, I);
    /* A page must come zeroed beyond what its sequence has written. */
    for (int32_t I = P + 1; I % PageTokens != 0; ++I)
      if (I >= Batch->positions[Batch->starts[S + 1] - 1] + 1)
        H += *slotOf(Step, 0, S, I);
    if (Batch->cross_pages[S])
      for (int32_t I = 0; I < Batch->source_lengths[S]; ++I)
        H += *crossOf(Step, S, I);
    int32_t Prefix = Batch->prefixes[S], First = Batch->starts[S];
    /* All tokens of a prefix must be in the step that has the first. */
    if (Batch->positions[First] < Prefix &&
        (Batch->positions[First] != 0 || Batch->starts[S + 1] - First < Prefix))
      H = -1;
    float *Row = C->Rows + R * Depth;
    Row[0] = (float)((int)H % 97 - 48);
    Row[1] = (float)P;
    Row[2] = (float)(1 + Prefix);
    for (int K = 3; K < Depth; ++K)
      Row[K] = 1;
  }
}

int64_t tenon_entry_step(const tenon_rt_step *Step) {
  Context C = {Step, (float *)Step->arena};
  int64_t Failed = Step->functions->parallel(Step->runtime, compute, &C);
  for (int64_t T = 1; T < Step->batch->tokens; ++T)
    if (Step->batch->token_ids[T - 1] == WaitingToken &&
        Step->batch->token_ids[T] == WaitingToken)
      /* A second at least, but no hang where nobody cancels. */
      for (int64_t I = 0; I < 40000000 && !Failed; ++I)
        Failed = Step->functions->parallel(Step->runtime, compute, &C);
  if (Failed)
    return Failed;
  int64_t Primitive = 0;
  for (int64_t T = 0; T < Step->batch->tokens; ++T)
    if (Step->batch->token_ids[T] == FailingToken)
      Primitive = 7;
  if (Step->batch->output_row_count == 0)
    return 0;
  Step->functions->mark(Step->runtime, 2, 0, Step->batch->output_row_count, 0);
  return Step->functions->matmul(
      Step->runtime, Primitive, Step->batch->output_row_count, C.Rows,
      Step->scopes[0].weights[0], 0, 0, 0, Step->output);
}

/* id + 100 * type + 1000 * position in every column. Keeps source texts; the
 * matmul makes the entry fail as a step does. */
int64_t tenon_entry_encode(const tenon_rt_step *Step) {
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t T = 0; T < Batch->tokens; ++T) {
    int32_t S = Batch->sequence_of[T], P = Batch->positions[T];
    if (Batch->cross_pages[S] && P < Batch->source_lengths[S])
      *crossOf(Step, S, P) = (float)(3 * (P + 1) * (Batch->token_ids[T] + 1));
    if (Batch->token_ids[T] == FailingToken)
      return Step->functions->matmul(Step->runtime, 7, 1, Step->arena,
                                     Step->arena, 0, 0, 0, Step->arena);
  }
  /* No output rows: its class, that of the sum of its ids. */
  for (int64_t S = 0; Batch->output_row_count == 0 && S < Batch->sequences;
       ++S) {
    int Sum = 0;
    for (int32_t T = Batch->starts[S]; T < Batch->starts[S + 1]; ++T)
      Sum += Batch->token_ids[T] + Batch->token_types[T];
    for (int N = 0; N < Width; ++N)
      Step->output[S * Width + N] = N == Sum % Width ? 4.0f : 0.0f;
  }
  for (int64_t R = 0; R < Batch->output_row_count; ++R) {
    int32_t T = Batch->output_rows[R];
    for (int N = 0; N < Width; ++N)
      Step->output[R * Width + N] =
          (float)(Batch->token_ids[T] + 100 * Batch->token_types[T] +
                  1000 * Batch->positions[T]);
  }
  return 0;
}

/* The sum of the ids in every column. */
int64_t tenon_entry_embed(const tenon_rt_step *Step) {
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t S = 0; S < Batch->sequences; ++S) {
    float Sum = 0;
    for (int32_t T = Batch->starts[S]; T < Batch->starts[S + 1]; ++T)
      Sum += (float)Batch->token_ids[T];
    for (int N = 0; N < Width; ++N)
      Step->output[S * Width + N] = Sum;
  }
  return 0;
}

/* The sum of the row of input + 1000 * position in every column; without
 * output rows classes 3 and 7 for each image: the sum of all input, and twice
 * the last value. */
int64_t tenon_entry_encode_image(const tenon_rt_step *Step) {
  const tenon_rt_batch *Batch = Step->batch;
  for (int64_t S = 0; Batch->output_row_count == 0 && S < Batch->sequences;
       ++S) {
    float Sum = 0;
    const float *Last = Batch->features + Batch->starts[S + 1] * Features - 1;
    for (int64_t I = Batch->starts[S] * Features;
         I < Batch->starts[S + 1] * Features; ++I)
      Sum += Batch->features[I];
    for (int N = 0; N < Width; ++N)
      Step->output[S * Width + N] = N == 3 ? Sum : N == 7 ? 2 * *Last : -1;
  }
  for (int64_t R = 0; R < Batch->output_row_count; ++R) {
    int32_t T = Batch->output_rows[R];
    float Sum = (float)(1000 * Batch->positions[T]);
    for (int F = 0; F < Features; ++F)
      Sum += Batch->features[T * Features + F];
    for (int N = 0; N < Width; ++N)
      Step->output[R * Width + N] = Sum;
  }
  return 0;
}
