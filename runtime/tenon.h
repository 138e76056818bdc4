/*===- tenon.h - Running compiled models from C -------------------*- C -*-===*\
|*
|* The public interface of libtenon: load an artifact, run steps of it and read
|* the raw output, or generate text with it.
|*
|* Errors: functions that can fail return a tenon_status, one code per kind of
|* error. After anything but TENON_OK, out-parameters are unchanged and
|* tenon_last_error() has one line of text for the calling thread. Every such
|* function may answer TENON_INVALID_ARGUMENT (a null pointer, a value out of
|* range), TENON_OUT_OF_MEMORY and TENON_INTERNAL; its comment names the others.
|*
|* Structs that callers pass begin with struct_size, which the caller sets to
|* sizeof the struct; in an array every element has the same. Later versions add
|* fields at the end: a library takes fields that an older caller lacks as 0,
|* fills only those that the caller has, and refuses a newer caller's fields
|* that it does not know unless they are 0.
|*
|* Ownership: what tenon_X_create or tenon_model_load returns belongs to the
|* caller until the matching destroy, which takes null. A session and a decoder
|* keep their model alive; a generation ends before its session does. Arrays and
|* strings that a function is given are copied where they are needed longer.
|*
|* Threads: a model may be used from any number of threads at once. A session
|* and everything obtained from it may be used from one thread at a time, any
|* thread, but for tenon_session_cancel. Different sessions are independent, and
|* compute on threads of their own. An engine may be used from any number of
|* threads, but for tenon_engine_wait, which one thread calls at a time. A
|* process that was forked has none of the threads of sessions, engines and
|* resources: it must neither use nor destroy them.
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

typedef enum tenon_status {
  TENON_OK = 0,
  TENON_INVALID_ARGUMENT = 1, /**< Cannot be done as it was asked for. */
  TENON_NOT_FOUND = 2, /**< No such file, sequence, entry or part of a model. */
  TENON_OUT_OF_CACHE_PAGES = 3, /**< May work when other sequences end. */
  TENON_OUT_OF_MEMORY = 4,      /**< No memory, or no more threads. */
  TENON_DAMAGED_FILE = 5, /**< Damaged, of another kind or another version. */
  TENON_UNSUPPORTED_CPU = 6, /**< Code or library need another CPU. */
  TENON_CANCELLED = 7,       /**< By tenon_session_cancel. */
  TENON_INTERNAL = 8,        /**< A defect, or of the operating system. */
  TENON_QUEUE_FULL = 9       /**< Of an engine; may work later. */
} tenon_status;

typedef struct tenon_model tenon_model;
typedef struct tenon_session tenon_session;
typedef struct tenon_decoder tenon_decoder;
typedef struct tenon_sampler tenon_sampler;
typedef struct tenon_generation tenon_generation;
typedef struct tenon_values tenon_values;
typedef struct tenon_engine tenon_engine;
typedef struct tenon_resources tenon_resources;

/** Names a sequence of one session; never reused, never 0. */
typedef int64_t tenon_sequence;

/** Which tokens of an item have output rows. */
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
  size_t struct_size;
  tenon_sequence sequence;       /**< Ignored by encode and embed. */
  const int32_t *tokens;         /**< [token_count] */
  const int32_t *token_types;    /**< [token_count], or null for all 0. */
  size_t token_count;            /**< At least 1. */
  tenon_output_rows output_rows; /**< Ignored by embed: one row. */
  /** So many first tokens see each other, in models with a prefix mask; only in
   *  the first step of a sequence, which must hold them all. 0 elsewhere. */
  int64_t prefix;
} tenon_item;

/** What came of one item. */
typedef struct tenon_output {
  size_t struct_size;  /**< Set by the caller. */
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

/** Loads the artifact at `path`. Also: not found, damaged file, unsupported
 *  CPU.
 *
 *  The file is used where it is, so it should stay as it is: replace it by
 *  another of its name instead of writing to it. When it is cut off or written
 *  to, the calls that ran meanwhile and all later ones of its sessions answer
 *  damaged file (runtime/README.md of the sources). For that the first call
 * installs a handler of SIGBUS, which hands on to the one before it what is not
 * its own. A program that installs its own should do so first, or hand on
 * likewise. */
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
 *  vision model takes. Also: not found, of other models. */
TENON_API tenon_status tenon_model_image_shape(const tenon_model *model,
                                               int64_t *shape);
/** Reads a PNG or JPEG file into pixels [channels][height][width] as the
 *  model's own preprocessing says. Also: not found, damaged file. */
TENON_API tenon_status tenon_model_read_image(const tenon_model *model,
                                              const char *path, float *pixels);
/** The token that stands for an image in prompts of a model that reads images
 *  beside text; -1 where there is none. */
TENON_API int32_t tenon_model_image_token(const tenon_model *model);
/** The name of a class (UTF-8, valid as long as the model), or null. */
TENON_API const char *tenon_model_label(const tenon_model *model,
                                        int64_t index);

/** Sets `json` to a description of the model, the object that
 *  `tenon inspect --json` prints but for weights_verified and huge_pages:
 *  [bytes] UTF-8, no terminating 0, valid as long as the model. */
TENON_API tenon_status tenon_model_describe(tenon_model *model,
                                            const char **json, size_t *bytes);

/**
 * Threads (0: one per core) that sessions and engines of any models share: they
 * take turns step by step, in the order in which they asked. And the bytes that
 * their caches and working memory may have together (0: no limit); weights,
 * which are mapped files, and outputs do not count. What is created on the
 * resources keeps them.
 */
TENON_API tenon_status tenon_resources_create(int64_t threads,
                                              uint64_t memory_bytes,
                                              tenon_resources **resources);
TENON_API void tenon_resources_destroy(tenon_resources *resources);

/**
 * Creates a session with `threads` threads (0: one per core) whose cache holds
 * `cache_tokens` tokens of all sequences together (0: one sequence of the
 * model's full length). In an encoder-decoder's session the source texts of
 * all sequences together may have as many tokens, but at least one text of
 * full length fits. Also: unsupported CPU.
 */
TENON_API tenon_status tenon_session_create(tenon_model *model, int64_t threads,
                                            int64_t cache_tokens,
                                            tenon_session **session);
/** The same on shared resources. Also: out of memory, where the cache is more
 *  than what is left of the bytes. */
TENON_API tenon_status tenon_session_create_on(tenon_resources *resources,
                                               tenon_model *model,
                                               int64_t cache_tokens,
                                               tenon_session **session);
TENON_API void tenon_session_destroy(tenon_session *session);
/** From any thread: the call that runs on the session, if any, soon answers
 *  cancelled, all sequences as before it. */
TENON_API tenon_status tenon_session_cancel(tenon_session *session);

/* Functions of sequences also answer not found, for one that has ended. */

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
/** Drops the tokens from the first `length` on, and gives back their pages.
 *  `length` may not exceed what the sequence holds, nor lie within its prefix.
 *  A source text stays. */
TENON_API tenon_status tenon_sequence_truncate(tenon_session *session,
                                               tenon_sequence sequence,
                                               int64_t length);
/** Tokens that the sequence holds. */
TENON_API tenon_status tenon_sequence_length(tenon_session *session,
                                             tenon_sequence sequence,
                                             int64_t *length);

/**
 * Runs all `count` items in one ragged batch through `entry` and fills
 * `outputs` [count]. An item that is wrong, or finds no cache page, gets a
 * status of its own and leaves its sequence as it was; the others go on, and
 * the call returns TENON_OK. Anything else means that no sequence has changed.
 * Also: not found (the entry; of an item its sequence), out of cache pages (of
 * an item), cancelled.
 */
TENON_API tenon_status tenon_session_run(tenon_session *session,
                                         tenon_entry entry,
                                         const tenon_item *items, size_t count,
                                         tenon_output *outputs);

/**
 * Encoder-decoders: encodes each item's tokens as the source text of its
 * sequence, which must come before the sequence's first step. `outputs`
 * [count] have the encoder's rows where asked for. Errors as above.
 */
TENON_API tenon_status tenon_session_encode_sources(tenon_session *session,
                                                    const tenon_item *items,
                                                    size_t count,
                                                    tenon_output *outputs);

/**
 * Vision: runs `count` images, each pixels [channels][height][width] (see
 * tenon_model_image_shape). Outputs are one row of class scores per image, or
 * the rows of the class token and of every patch, as the model has it. Also:
 * not found, of other models; cancelled.
 */
TENON_API tenon_status tenon_session_run_images(tenon_session *session,
                                                const float *const *pixels,
                                                size_t count,
                                                tenon_output *outputs);

/** Hands over the memory that the last outputs' values lie in: they stay valid
 *  until `values` is destroyed, after the session's end too. Null where there
 *  is none, or it was handed over before. */
TENON_API tenon_status tenon_session_take_values(tenon_session *session,
                                                 tenon_values **values);
TENON_API void tenon_values_destroy(tenon_values *values);

/* Text: the artifact's tokenizer. Functions also answer not found, where the
 * artifact has none, and damaged file, where it cannot be read. */

/** The token ids of `text`, `bytes` bytes of UTF-8, with the special tokens
 *  around a text if `special` is not 0. Sets `count` to how many there are, and
 *  fills `tokens` [capacity] only if all fit; `capacity` may be 0. */
TENON_API tenon_status tenon_model_encode(const tenon_model *model,
                                          const char *text, size_t bytes,
                                          int special, int32_t *tokens,
                                          size_t capacity, size_t *count);
/** The same for a text to encode or embed: at most `max_tokens` tokens, as the
 *  tokenizer cuts texts, special tokens among them. */
TENON_API tenon_status tenon_model_encode_truncated(
    const tenon_model *model, const char *text, size_t bytes, int special,
    size_t max_tokens, int32_t *tokens, size_t capacity, size_t *count);
/** The text of `tokens` [count], each a token of the tokenizer, without special
 *  ones unless `special` is not 0. Sets `bytes` to its length, and fills `text`
 * [capacity], without a terminating 0, only if all fits. */
TENON_API tenon_status tenon_model_decode(const tenon_model *model,
                                          const int32_t *tokens, size_t count,
                                          int special, char *text,
                                          size_t capacity, size_t *bytes);

/** Whether the model has a chat template (1) or not (0). */
TENON_API int tenon_model_has_chat(const tenon_model *model);
/** The token ids of the prompt that the model's chat template makes of a
 *  conversation: a JSON object of `bytes` bytes with "messages", an array of
 *  objects with "role" and "content", and perhaps "tools",
 *  "add_generation_prompt" (true if it is missing) and other variables of the
 *  template. Arguments of calls are objects, or JSON texts of them. Nothing in
 *  it becomes a special token (docs/chat-templates.md of the sources). `count`
 *  and `tokens` as of tenon_model_encode. Tools that the template does not read
 *  are an error. Also: not found, without a chat template. */
TENON_API tenon_status tenon_model_chat_prompt(const tenon_model *model,
                                               const char *conversation,
                                               size_t bytes, int32_t *tokens,
                                               size_t capacity, size_t *count);

/** Tells the tool calls in an answer, `tokens` [count] that came after
 *  `prompt` [prompt_count], from its text (docs/tool-calls.md of the sources).
 *  `up_to_stop`: null, or the `stop_bytes` bytes of text before a stop text
 * that has ended the answer. `tools`: an array of tools as OpenAI's API has it,
 * JSON of `tools_bytes` bytes; null or empty without their schemas. The answer
 * is a JSON object of "text", "reasoning" if there is some, and "tool_calls";
 * `bytes` and `json` [capacity] as of tenon_model_decode. Also: not found,
 * where the artifact says no format of calls. */
TENON_API tenon_status tenon_model_parse_answer(
    const tenon_model *model, const int32_t *prompt, size_t prompt_count,
    const int32_t *tokens, size_t count, const char *up_to_stop,
    size_t stop_bytes, const char *tools, size_t tools_bytes, char *json,
    size_t capacity, size_t *bytes);

/** Creates a decoder of one token after another, without special tokens unless
 *  `special` is not 0. */
TENON_API tenon_status tenon_decoder_create(const tenon_model *model,
                                            int special,
                                            tenon_decoder **decoder);
TENON_API void tenon_decoder_destroy(tenon_decoder *decoder);
/** Sets `text` to the `bytes` bytes of text, often none and never a part of a
 *  character, that are certain now that `token` follows; valid until the
 *  decoder's next call. */
TENON_API tenon_status tenon_decoder_push(tenon_decoder *decoder, int32_t token,
                                          const char **text, size_t *bytes);
/** The same for the rest of the text; afterwards a new text begins. */
TENON_API tenon_status tenon_decoder_finish(tenon_decoder *decoder,
                                            const char **text, size_t *bytes);

/** How tokens are chosen, and what ends a text; tenon_settings_init sets all
 *  fields to the model's own settings. docs/generation.md of the sources has
 *  formulas, order and ranges. Arrays may be null where their count is 0. */
typedef struct tenon_settings {
  size_t struct_size;
  int64_t max_new_tokens; /**< -1: the model's, or 128. */
  double temperature;     /**< 0: the likeliest token; -1: the model's. */
  int64_t top_k;          /**< 0: all; -1: the model's. */
  double top_p;           /**< 1: all; -1: the model's. */
  int64_t num_beams;      /**< 1: no beam search; -1: the model's. */
  double length_penalty;  /**< NaN: the model's. */
  int32_t early_stopping; /**< 0, 1, or 2 for "never"; -1: the model's. */
  int32_t ignore_eos;     /**< 1: end-of-sequence tokens end nothing. */
  uint64_t seed;          /**< Of the choices. One below 0 of other interfaces
                               is the same 64 bits. */
  int64_t prefix_tokens;  /**< First tokens of the prompt that see each other,
                               in models with a prefix mask. */
  /* What follows is unknown to the first version. */
  double min_p;              /**< 0: all; -1: the model's. */
  double typical_p;          /**< 1: all; 0 or -1: the model's. */
  double repetition_penalty; /**< 1: none; 0 or -1: the model's. */
  double presence_penalty;   /**< -2 to 2; 0: none. */
  double frequency_penalty;  /**< -2 to 2; 0: none. */
  int64_t min_new_tokens; /**< Nothing ends a text before; -1: the model's. */
  int64_t n; /**< Texts to generate, of a beam search the best; 0 or 1: one. */
  int64_t first_choice; /**< The number of the first, see tenon_piece. */
  /** Added to the scores of tokens: bias_tokens and biases [bias_count], the
   *  latter -100 to 100. */
  const int32_t *bias_tokens;
  const float *biases;
  size_t bias_count;
  /** Sequences of tokens that are never generated, besides the model's: their
   *  lengths [bad_word_count], and the tokens of all of them in a row. */
  const int32_t *bad_word_tokens;
  const size_t *bad_word_lengths;
  size_t bad_word_count;
  /** Texts (UTF-8) and tokens that end a text, besides the model's. */
  const char *const *stop_strings;
  size_t stop_string_count;
  const int32_t *stop_token_ids;
  size_t stop_token_id_count;
  int32_t include_stop; /**< 1: what has ended a text is a part of it. */
  int32_t echo; /**< 1: a text begins with the prompt, and the prompt's tokens
                     have log-probabilities if new ones have. */
  int32_t logprobs;     /**< 1: tokens have log-probabilities, */
  int32_t top_logprobs; /**< and so have so many likeliest in their place. */
  int64_t prompt_lookup_num_tokens; /**< 0 to 64 tokens are guessed and checked
                                         in one step; the text is the same. */
  /** The images of the prompt [image_count], pixels [channels][height][width]
   *  each (see tenon_model_image_shape), in the order of the image tokens, of
   *  which the prompt has one for each (see tenon_model_image_token). */
  const float *const *images;
  size_t image_count;
  /** What the text must be (docs/constrained-output.md of the sources), at most
   *  one of these: UTF-8 of a JSON schema, of a regular expression that all of
   *  it matches or of a grammar (GBNF), which may be null; one of the texts
   *  choices [choice_count]; an object in JSON. */
  const char *json_schema;
  const char *regex;
  const char *ebnf;
  const char *const *choices;
  size_t choice_count;
  int32_t json_object; /**< 1: an object in JSON. */
  int32_t
      fixed_order;    /**< 1: keys in the order in which the schema has them. */
  const char *format; /**< Of strings in a schema: "asserted" or "annotation";
                           null: as the schema's dialect has it. */
  /** The tools of the conversation that the prompt was made of: JSON (UTF-8),
   *  an array as OpenAI's API has it, or null. Calls fulfil the schemas of
   * those with "strict": true (docs/tool-calls.md of the sources). */
  const char *tools;
} tenon_settings;

/** Sets struct_size, and every field to the model's own settings, of a struct
 *  of `struct_size` bytes. */
TENON_API void tenon_settings_init_sized(tenon_settings *settings,
                                         size_t struct_size);
/** The same for programs of the first version, whose struct is shorter; others
 *  get the macro. */
TENON_API void tenon_settings_init(tenon_settings *settings);
#define tenon_settings_init(settings)                                          \
  tenon_settings_init_sized((settings), sizeof(tenon_settings))

/** Creates a sampler with temperature, top_k, top_p, min_p, typical_p, seed and
 *  first_choice of `settings`; where these say so, with the settings of
 *  `model`. What it draws at a position depends on scores, settings and
 *  position only. It begins at position 0, and every pick goes to the next. */
TENON_API tenon_status tenon_sampler_create(const tenon_model *model,
                                            const tenon_settings *settings,
                                            tenon_sampler **sampler);
TENON_API void tenon_sampler_destroy(tenon_sampler *sampler);
/** Sets the position of the next pick: the tokens that its sequence holds
 * before it, as tenon_generation counts them, which then draws the same. */
TENON_API tenon_status tenon_sampler_seek(tenon_sampler *sampler,
                                          int64_t position);
/** Sets `token` to the index chosen from `scores` [count]. A NaN or +infinity
 *  is an invalid argument. */
TENON_API tenon_status tenon_sampler_pick(tenon_sampler *sampler,
                                          const float *scores, size_t count,
                                          int32_t *token);

typedef enum tenon_finish {
  TENON_FINISH_NONE = 0,    /**< It goes on. */
  TENON_FINISH_EOS = 1,     /**< An end-of-sequence token. */
  TENON_FINISH_LENGTH = 2,  /**< The settings' limit. */
  TENON_FINISH_ERROR = 3,   /**< See tenon_last_error. */
  TENON_FINISH_CONTEXT = 4, /**< The model's longest sequence. */
  TENON_FINISH_STOP = 5     /**< A stop string or a stop token. */
} tenon_finish;

/** What a step has added to one text of a generation; what it points to is
 *  valid until the generation's next call. */
typedef struct tenon_piece {
  size_t struct_size;    /**< Set by the caller. */
  const int32_t *tokens; /**< [token_count]; of a beam search none before the
                              last piece. */
  size_t token_count;
  const char *text; /**< [text_bytes] UTF-8, no terminating 0; none where the
                         artifact has no tokenizer. */
  size_t text_bytes;
  tenon_finish finish; /**< Of this text. */
  /* What follows is unknown to the first version. */
  int64_t choice;     /**< Which text: 0 to n - 1. It is drawn as choice number
                           first_choice + choice of the seed. */
  int64_t unfinished; /**< Texts that have more pieces to come. */
  /** [token_count] and [token_count][top_count], likeliest first: natural
   *  logarithms of probabilities, of the model's scores as they were before
   *  settings changed them. Null unless asked for. */
  const float *logprobs;
  const int32_t *top_tokens;
  const float *top_logprobs;
  size_t top_count;
  /** With TENON_FINISH_STOP what it was: a text (UTF-8, [stop_bytes], no
   *  terminating 0), or, where that is null, a token; else -1. */
  const char *stop_string;
  size_t stop_bytes;
  int64_t stop_token_id;
} tenon_piece;

/** Log-probabilities of the prompt of a generation with `echo` and `logprobs`;
 *  valid until they are asked for again or the generation ends. */
typedef struct tenon_prompt_logprobs {
  size_t struct_size; /**< Set by the caller. */
  size_t count; /**< Of tokens, from the second one of the prompt on, as far as
                     it has run. */
  const float *logprobs;     /**< [count] */
  const int32_t *top_tokens; /**< [count][top_count] */
  const float *top_logprobs; /**< [count][top_count] */
  size_t top_count;
} tenon_prompt_logprobs;

/** Creates a generation that goes on with the tokens `prompt` [count], or
 *  answers them in an encoder-decoder. It takes a sequence of its own (one per
 *  beam or text), so that several may share a session, from its first step
 *  to its end. Null settings are the model's own. */
TENON_API tenon_status tenon_generation_create(tenon_session *session,
                                               const tenon_settings *settings,
                                               const int32_t *prompt,
                                               size_t count,
                                               tenon_generation **generation);
TENON_API void tenon_generation_destroy(tenon_generation *generation);
/** Fills `piece` with what a step has added to one text, and runs a step when
 *  the last one has no more. A text that goes wrong finishes with
 *  TENON_FINISH_ERROR, and the status says why (also: out of cache pages). A
 *  cancelled step changes nothing and may be repeated. After the end pieces are
 *  empty and have the `finish` of the first text. Also: not found, without an
 *  entry "step". */
TENON_API tenon_status tenon_generation_next(tenon_generation *generation,
                                             tenon_piece *piece);
TENON_API tenon_status tenon_generation_prompt_logprobs(
    tenon_generation *generation, tenon_prompt_logprobs *logprobs);

/* Engines: many requests at once, each answered by the same tokens whatever
 * else runs (docs/serving.md of the sources). */

/** Names a request of one engine; never reused, never 0. */
typedef int64_t tenon_request;

/** Zeros are the defaults. */
typedef struct tenon_engine_options {
  size_t struct_size;
  int64_t threads;         /**< 0: one per core. */
  int64_t cache_tokens;    /**< Of all sequences together. 0: max_num_seqs of
                                full length, but at most a quarter of the
                                machine's memory if that holds one. */
  int64_t source_tokens;   /**< The same of encoder-decoders' source texts. */
  int64_t max_num_seqs;    /**< Sequences generated at once; 0: 8. */
  int64_t max_queued;      /**< Requests that wait; 0: 256. */
  double max_step_ms;      /**< What a step may take; 0: 100. */
  int32_t no_prefix_cache; /**< 1: no part of a prompt is kept for others. */
  tenon_resources *resources; /**< What it shares with others, `threads` is 0
                                   then; null: it has threads of its own. A
                                   cache_tokens of 0 takes no more than half of
                                   what is left of the bytes, if one text of
                                   full length fits in that. */
} tenon_engine_options;

/** Creates an engine on threads of its own; null options are the defaults.
 *  Also: not found, without an entry "step"; damaged file, for artifacts of an
 *  older compiler. */
TENON_API tenon_status tenon_engine_create(tenon_model *model,
                                           const tenon_engine_options *options,
                                           tenon_engine **engine);
/** Gives up what still runs. No thread may be in tenon_engine_wait. */
TENON_API void tenon_engine_destroy(tenon_engine *engine);

/** What a request brings beside settings; zeros are the defaults. */
typedef struct tenon_terms {
  size_t struct_size;
  double timeout;   /**< Seconds after which it fails; 0: never. */
  const char *salt; /**< Only requests of the same salt share cached prefixes;
                       null is the salt "". */
} tenon_terms;

/** Queues the generation of what `settings` say (null: the model's own) from
 *  the tokens `prompt` [count]. Null terms are the defaults. With
 *  TENON_QUEUE_FULL, `retry_after`, which may be null, is set to the seconds
 *  after which it is worth another try. Also: out of cache pages, for what can
 *  never fit; cancelled, when tenon_engine_drain was called. */
TENON_API tenon_status tenon_engine_submit(tenon_engine *engine,
                                           const tenon_settings *settings,
                                           const int32_t *prompt, size_t count,
                                           const tenon_terms *terms,
                                           tenon_request *request,
                                           double *retry_after);
/** Gives a request up in any state; nothing happens if it has ended. */
TENON_API tenon_status tenon_engine_cancel(tenon_engine *engine,
                                           tenon_request request);

/** Keeps the prompts of a file that tenon_engine_save_prefixes has written,
 *  those used last first, as far as there is room, in place of those that are
 *  kept: requests that begin so run the rest of their prompts only. `prompts`,
 *  which may be null, is set to how many there are: 0 too for a file made by
 *  another artifact, version of Tenon or CPU. Also: not found, damaged file. */
TENON_API tenon_status tenon_engine_load_prefixes(tenon_engine *engine,
                                                  const char *path,
                                                  size_t *prompts);
/** Writes the cached prefixes to a file, which is replaced when it is whole.
 *  Requests that run wait. */
TENON_API tenon_status tenon_engine_save_prefixes(tenon_engine *engine,
                                                  const char *path);

typedef enum tenon_request_state {
  TENON_REQUEST_QUEUED = 0,
  TENON_REQUEST_PREFILLING = 1,
  TENON_REQUEST_DECODING = 2,
  TENON_REQUEST_FINISHED = 3, /**< All its texts have ended. */
  TENON_REQUEST_CANCELLED = 4,
  TENON_REQUEST_FAILED = 5
} tenon_request_state;

/** News of one request; what it points to is valid until the engine's next
 *  tenon_engine_wait. */
typedef struct tenon_update {
  size_t struct_size;    /**< Set by the caller. */
  tenon_request request; /**< 0: there are no news. */
  tenon_request_state state;
  const tenon_piece *piece; /**< Added to one text; of an update with one of the
                                 last three states null. */
  tenon_status status;      /**< Of a failed request or text, and why: */
  const char *error;        /**< one line, or null. */
  /** Of finished requests with `echo` and `logprobs`, else null. */
  const tenon_prompt_logprobs *prompt_logprobs;
  /* Of requests that have ended. */
  size_t prompt_tokens;
  size_t cached_tokens;     /**< Of these, from cached prefixes. */
  size_t completion_tokens; /**< Of all texts. */
  double queued_s;          /**< From submitting to the first step. */
  double first_token_s;     /**< From submitting to the first new token. */
  double longest_gap_s;     /**< Between two steps that brought new tokens. */
  double total_s;           /**< From submitting to the end. */
} tenon_update;

/** Fills `update` with the next news of any request, waiting at most `seconds`
 *  for them (negative: as long as it takes, or until tenon_engine_wake). Every
 *  request ends with one update of one of the last three states. News are kept
 *  until they are asked for. */
TENON_API tenon_status tenon_engine_wait(tenon_engine *engine, double seconds,
                                         tenon_update *update);
/** Lets the call of tenon_engine_wait that waits, or else the next one that
 *  would, answer without news. */
TENON_API tenon_status tenon_engine_wake(tenon_engine *engine);

/** Takes no more requests and waits for those that there are, at most `seconds`
 *  seconds; then gives them up. Sets `finished`, which may be null, to whether
 *  all could finish. */
TENON_API tenon_status tenon_engine_drain(tenon_engine *engine, double seconds,
                                          int *finished);

typedef struct tenon_statistics {
  size_t struct_size; /**< Set by the caller. */
  size_t queued, running;
  uint64_t submitted, finished, cancelled, failed, refused;
  uint64_t steps, prompt_tokens, cached_tokens, completion_tokens;
  int64_t pages, free_pages;
  size_t cached_prefixes;
} tenon_statistics;
TENON_API tenon_status tenon_engine_statistics(const tenon_engine *engine,
                                               tenon_statistics *statistics);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENON_RUNTIME_TENON_H */
