/*===- tenon.h - Running compiled models from C -------------------*- C -*-===*\
|*
|* The public interface of libtenon: load an artifact, run steps of it, read
|* the raw output. Choosing tokens is the caller's.
|*
|* Errors: functions that can fail return a tenon_status. After anything but
|* TENON_OK, out-parameters are unchanged and tenon_last_error() has one line
|* of text for the calling thread.
|*
|* Ownership: what tenon_X_create or tenon_model_load returns belongs to the
|* caller until the matching destroy. A session keeps its model alive.
|*
|* Threads: a model may be used from any number of threads at once. A session
|* and everything obtained from it may be used from one thread at a time;
|* different sessions are independent.
|*
|* Trust: an artifact holds native code. Loading one means trusting it.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TENON_RUNTIME_TENON_H
#define TENON_RUNTIME_TENON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TENON_API __attribute__((visibility("default")))
#else
#define TENON_API
#endif

typedef enum tenon_status { TENON_OK = 0, TENON_ERROR = 1 } tenon_status;

typedef struct tenon_model tenon_model;
typedef struct tenon_session tenon_session;

/** Names a sequence of one session; never reused, never 0. */
typedef int64_t tenon_sequence;

/** Which tokens' output rows an item wants. */
typedef enum tenon_output_rows {
  TENON_OUTPUT_ROWS_NONE = 0,
  TENON_OUTPUT_ROWS_LAST = 1,
  TENON_OUTPUT_ROWS_ALL = 2
} tenon_output_rows;

/** What a model's entry points are called with. */
typedef enum tenon_entry {
  TENON_ENTRY_STEP = 0,        /**< Decoders: appends to sequences. */
  TENON_ENTRY_ENCODE = 1,      /**< Encoders: hidden states of whole texts. */
  TENON_ENTRY_EMBED = 2,       /**< Encoders: one pooled row per text. */
  TENON_ENTRY_ENCODE_IMAGE = 3 /**< Vision: see tenon_session_run_images. */
} tenon_entry;

/** The tokens of one sequence (step) or one whole text (encode, embed). */
typedef struct tenon_item {
  tenon_sequence sequence;    /**< Ignored by encode and embed. */
  const int32_t *tokens;      /**< [token_count] */
  const int32_t *token_types; /**< [token_count], or null for all 0. */
  size_t token_count;         /**< At least 1. */
  tenon_output_rows wanted;   /**< Ignored by embed: one row. */
} tenon_item;

/** What came of one item. */
typedef struct tenon_output {
  tenon_status status; /**< Of this item alone; others have gone on. */
  const char *error;   /**< One line, or null; valid as `values` is. */
  const float *values; /**< [rows][width], valid until the session's next
                            call or its end. */
  size_t rows;
  size_t width;
} tenon_output;

/** The version of the library, such as "0.1.0". */
TENON_API const char *tenon_version(void);

/** The calling thread's last error; empty when there was none. */
TENON_API const char *tenon_last_error(void);

/** Loads the artifact at `path`. */
TENON_API tenon_status tenon_model_load(const char *path, tenon_model **model);
TENON_API void tenon_model_destroy(tenon_model *model);

/** Token ids are below this; 0 for models that read no text. */
TENON_API int64_t tenon_model_vocabulary(const tenon_model *model);
/** Token ids that an entry point takes, and scores, are below this: not the
 *  same for both sides of some encoder-decoders. 0 without the entry. */
TENON_API int64_t tenon_model_entry_vocabulary(const tenon_model *model,
                                               tenon_entry entry);
/** The most tokens a sequence can hold. */
TENON_API int64_t tenon_model_max_sequence(const tenon_model *model);
/** Whether the model has an entry point (1) or not (0). */
TENON_API int tenon_model_has_entry(const tenon_model *model,
                                    tenon_entry entry);

/** The most tokens of a source text; 0 but for encoder-decoders. */
TENON_API int64_t tenon_model_max_source(const tenon_model *model);
/** The token that an encoder-decoder's answer begins with; -1 without one. */
TENON_API int32_t tenon_model_decoder_start(const tenon_model *model);

/** Sets shape [3] to the channels, height and width of the images that a
 *  vision model takes. */
TENON_API tenon_status tenon_model_image_shape(const tenon_model *model,
                                               int64_t *shape);
/** Reads a PNG or JPEG file into pixels [channels][height][width] as the
 *  model's own preprocessing says. */
TENON_API tenon_status tenon_model_read_image(const tenon_model *model,
                                              const char *path, float *pixels);
/** The name of a class (UTF-8, valid as long as the model), or null. */
TENON_API const char *tenon_model_label(const tenon_model *model,
                                        int64_t index);

/**
 * Creates a session with `threads` threads (0: one per core) whose cache holds
 * `cache_tokens` tokens of all sequences together (0: one sequence of the
 * model's full length). In an encoder-decoder's session the source texts of
 * all sequences together may have as many tokens, but at least one text of
 * full length fits.
 */
TENON_API tenon_status tenon_session_create(tenon_model *model, int64_t threads,
                                            int64_t cache_tokens,
                                            tenon_session **session);
TENON_API void tenon_session_destroy(tenon_session *session);

/** Creates an empty sequence, which holds cache pages until it ends. */
TENON_API tenon_status tenon_sequence_create(tenon_session *session,
                                             tenon_sequence *sequence);
TENON_API tenon_status tenon_sequence_end(tenon_session *session,
                                          tenon_sequence sequence);
/** Creates a sequence with the tokens and the source text of another. Both
 *  share cache pages until one of them goes on. */
TENON_API tenon_status tenon_sequence_fork(tenon_session *session,
                                           tenon_sequence sequence,
                                           tenon_sequence *fork);
/** Tokens that the sequence holds. */
TENON_API tenon_status tenon_sequence_length(tenon_session *session,
                                             tenon_sequence sequence,
                                             int64_t *length);

/**
 * Runs all `count` items in one ragged batch through `entry` and fills
 * `outputs` [count]. An item that is wrong, or finds no cache page, gets a
 * status of its own and leaves its sequence as it was; the others go on, and
 * the call returns TENON_OK. TENON_ERROR means that no sequence has changed.
 */
TENON_API tenon_status tenon_session_run(tenon_session *session,
                                         tenon_entry entry,
                                         const tenon_item *items, size_t count,
                                         tenon_output *outputs);

/**
 * Encoder-decoders: encodes each item's tokens as the source text of its
 * sequence, which must come before the sequence's first step. `outputs`
 * [count] have the encoder's rows where wanted. Errors as above.
 */
TENON_API tenon_status tenon_session_encode_sources(tenon_session *session,
                                                    const tenon_item *items,
                                                    size_t count,
                                                    tenon_output *outputs);

/**
 * Vision: runs `count` images, each pixels [channels][height][width] (see
 * tenon_model_image_shape). Outputs are one row of class scores per image, or
 * the rows of the class token and of every patch, as the model has it.
 */
TENON_API tenon_status tenon_session_run_images(tenon_session *session,
                                                const float *const *pixels,
                                                size_t count,
                                                tenon_output *outputs);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENON_RUNTIME_TENON_H */
