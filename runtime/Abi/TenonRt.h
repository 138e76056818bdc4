/*===- TenonRt.h - ABI between generated code and the runtime -----*- C -*-===*\
|*
|* All that compiled model code and the runtime know of each other. Generated
|* code has no undefined symbols but libm's: it reaches the runtime through the
|* function table of the step. Every field is eight bytes wide, so that the
|* code generator addresses fields by index.
|*
|* Versions: structs that the runtime fills begin with their size in bytes. New
|* fields are added at their end, which raises the minor version; anything else
|* raises the major one. A runtime runs code of its own major version and of a
|* minor version that is not above its own, which finds every field it knows.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TENON_RUNTIME_ABI_TENONRT_H
#define TENON_RUNTIME_ABI_TENONRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_RT_ABI_MAJOR 5
#define TENON_RT_ABI_MINOR 1

/** Symbol of an entry point: this prefix and the role (step, encode,
 *  embed, encode_image). */
#define TENON_RT_ENTRY_PREFIX "tenon_entry_"

/**
 * The tokens of one step: all tokens of all sequences back to back (a ragged
 * batch). T tokens, S sequences, R rows of output.
 */
typedef struct tenon_rt_batch {
  int64_t size;                /**< Bytes of this struct. */
  int64_t tokens;              /**< T, at least 1. */
  int64_t sequences;           /**< S, at least 1. */
  int64_t output_row_count;    /**< R, may be 0. */
  const int32_t *token_ids;    /**< [T] */
  const int32_t *token_types;  /**< [T] segment of each token (BERT). */
  const int32_t *positions;    /**< [T] position within its sequence. */
  const int32_t *sequence_of;  /**< [T] index of its sequence, ascending. */
  const int32_t *starts;       /**< [S+1] first token of each sequence. */
  const int32_t *output_rows;  /**< [R] tokens that have an output row,
                                    ascending. */
  const int32_t *const *pages; /**< [S] page numbers of each sequence: page
                                    i holds its positions
                                    [i*page_tokens, (i+1)*page_tokens). */
  const float *features;       /**< [T, width] rows of input, for entries that
                                    take them (patches of images). In "step"
                                    only those of image tokens are read; may
                                    be null where the batch has none. */
  const int32_t *const *cross_pages; /**< [S] as pages, of the
                                    cross-attention caches: each sequence's
                                    source text. */
  const int32_t *source_lengths;     /**< [S] tokens of the source text. */
  const int32_t *prefixes; /**< [S] so many first tokens of the sequence
                              see each other under a prefix mask. */
  int64_t few_tokens;      /**< Batches of at most so many tokens (of output
                              rows, in a head) run the variants for few, all
                              others those for many. At most the manifest's;
                              0: always those for many. */
  int64_t staged_pages;    /**< Pages of keys and values of this step, for
                              entries that have them nowhere else. */
  const int32_t *staged_starts; /**< [S+1] slot of the first token of each
                                   sequence in these pages, counted over all of
                                   them; the last: where the pages end. */
} tenon_rt_batch;

/**
 * One scope of parameters, usually a layer: its packed weights by weight index
 * of the manifest, and for each kind of cache the address of page 0 of this
 * layer (null when the scope has none). An element of an array, so its layout
 * belongs to the major version.
 */
typedef struct tenon_rt_scope {
  const void *const *weights;
  void *const *caches;
} tenon_rt_scope;

/** A piece of parallel work; called once per thread, `thread < threads`. */
typedef void (*tenon_rt_body)(void *environment, int64_t thread,
                              int64_t threads);

/** Items [first, first + count) of a loop. */
typedef struct tenon_rt_items {
  int64_t first;
  int64_t count;
} tenon_rt_items;

/**
 * What generated code may ask of the runtime. `parallel` and `matmul` answer 0,
 * or another number, after which generated code returns that number from its
 * entry point at once: the call has failed or was cancelled.
 */
typedef struct tenon_rt_functions {
  int64_t size; /**< Bytes of this struct. */
  /** Runs `body` on every thread of the pool and waits for all. */
  int64_t (*parallel)(void *runtime, tenon_rt_body body, void *environment);
  /** Inside a body: returns once every thread of the region has arrived. */
  void (*barrier)(void *runtime);
  /**
   * The library matmul of primitive `primitive` of the manifest on `rows` rows:
   *   dst = activation(src * weights^T + bias) * multiplier + residual
   * with src [rows,K], multiplier, residual and dst [rows,N] dense and
   * row-major, bias [N] f32. Operands the primitive does not have are null.
   * dst overlaps no other operand. Buffers have room for rows rounded up by
   * tenon_rt_bucket; rows beyond `rows` are garbage on return. Called outside
   * bodies only.
   */
  int64_t (*matmul)(void *runtime, int64_t primitive, int64_t rows,
                    const void *src, const void *weights, const void *bias,
                    const void *multiplier, const void *residual, void *dst);
  /**
   * Kernel `kernel` of the manifest begins, on `rows` rows, in
   * thread `thread` of a body, or outside of bodies, where `thread` is 0. It
   * ends with the next mark of the thread, its body or its library matmul.
   * `scope` is the layer that it runs for, null where it is none's. Computes
   * nothing.
   */
  void (*mark)(void *runtime, int64_t kernel, const tenon_rt_scope *scope,
               int64_t rows, int64_t thread);
  /**
   * Inside a body: the next items of [0, total) for thread `thread` of
   * `threads`, total below 2^24: a part of its share or of another's, of
   * `grain` items, at least 1, or more. Writes the first of them and how many
   * there are. None is the end of the loop for this thread: its next call
   * begins the next loop. All threads of a body go through the same loops in
   * the same order, each until it gets none.
   */
  void (*claim)(void *runtime, int64_t thread, int64_t threads, int64_t total,
                int64_t grain, tenon_rt_items *items);
} tenon_rt_functions;

/** The single argument of an entry point. */
typedef struct tenon_rt_step {
  int64_t size; /**< Bytes of this struct. */
  const tenon_rt_functions *functions;
  void *runtime; /**< Handed back to every function. */
  const tenon_rt_batch *batch;
  const tenon_rt_scope *scopes; /**< In the manifest's order. */
  char *arena;                  /**< 64-byte aligned, manifest's size. */
  float *output;                /**< [R, output width], or [S, width] for a
                                     pooled entry. */
  char *scratch;                /**< 64-byte aligned, for bodies: a part for
                                     each thread, one behind another. */
  int64_t scratch_bytes;        /**< Of a part: at least the manifest's, a
                                     multiple of 64. */
} tenon_rt_step;

/** Answers 0, or what a function of the table answered that was not 0. */
typedef int64_t (*tenon_rt_entry)(const tenon_rt_step *step);

/**
 * Row counts are padded to buckets so that a few library primitives serve all
 * of them: multiples of 16 up to 128, then of 64 up to 1024, then of 256.
 */
static inline int64_t tenon_rt_bucket(int64_t rows) {
  int64_t step = rows <= 128 ? 16 : rows <= 1024 ? 64 : 256;
  return (rows + step - 1) / step * step;
}

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* TENON_RUNTIME_ABI_TENONRT_H */
