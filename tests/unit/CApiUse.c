/*===- CApiUse.c - The C API as a C program uses it ---------------*- C -*-===*\
|*
|* Compiled as C. Answers 0, or the line of the first check that failed. The
|* model is that of EngineTestCode.c with the tokenizer of
|* CommandLineFixture.h.
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/tenon.h"

#include <math.h>
#include <string.h>

#define CHECK(CONDITION)                                                       \
  if (!(CONDITION))                                                            \
  return __LINE__

int useTenonFromC(const char *path);

static int useText(tenon_model *model) {
  int32_t tokens[8];
  size_t count = 0, bytes = 0;
  const char *piece = 0;
  char text[32];
  tenon_decoder *decoder = 0;
  CHECK(tenon_model_encode(model, "a b", 3, 1, 0, 0, &count) == TENON_OK);
  CHECK(count == 4);
  CHECK(tenon_model_encode(model, "a b", 3, 1, tokens, 8, &count) == TENON_OK);
  CHECK(tokens[0] == 2 && tokens[1] == 4 && tokens[2] == 5 && tokens[3] == 3);
  CHECK(tenon_model_encode(model, "a b", 3, 0, tokens, 8, &count) == TENON_OK);
  CHECK(count == 2 && tokens[0] == 4 && tokens[1] == 5);
  CHECK(tenon_model_encode_truncated(model, "a b", 3, 1, 3, tokens, 8,
                                     &count) == TENON_OK);
  CHECK(count == 3 && tokens[0] == 2 && tokens[1] == 4 && tokens[2] == 3);
  CHECK(tenon_model_encode(model, "a b", 3, 0, tokens, 8, &count) == TENON_OK);
  CHECK(tenon_model_encode(model, "\xff", 1, 0, tokens, 8, &count) ==
        TENON_INVALID_ARGUMENT);
  CHECK(count == 2);
  CHECK(tenon_model_decode(model, tokens, 2, 0, text, sizeof(text), &bytes) ==
        TENON_OK);
  CHECK(bytes == 3 && memcmp(text, "a b", 3) == 0);
  text[0] = 'x';
  CHECK(tenon_model_decode(model, tokens, 2, 0, text, 2, &bytes) == TENON_OK);
  CHECK(bytes == 3 && text[0] == 'x');
  CHECK(tenon_decoder_create(model, 0, &decoder) == TENON_OK);
  CHECK(tenon_decoder_push(decoder, 4, &piece, &bytes) == TENON_OK);
  CHECK(bytes <= 1);
  text[0] = 0;
  strncat(text, piece, bytes);
  CHECK(tenon_decoder_push(decoder, 5, &piece, &bytes) == TENON_OK);
  strncat(text, piece, bytes);
  CHECK(tenon_decoder_finish(decoder, &piece, &bytes) == TENON_OK);
  strncat(text, piece, bytes);
  CHECK(strcmp(text, "a b") == 0);
  tokens[0] = 12;
  CHECK(tenon_decoder_push(decoder, 12, &piece, &bytes) ==
        TENON_INVALID_ARGUMENT);
  CHECK(tenon_model_decode(model, tokens, 2, 0, text, sizeof(text), &bytes) ==
        TENON_INVALID_ARGUMENT);
  CHECK(strcmp(tenon_last_error(),
               "tenon_model_decode: token id 12 is no token: expected one of "
               "the vocabulary's 12") == 0);
  tenon_decoder_destroy(decoder);
  return 0;
}

static int useSampler(tenon_model *model) {
  tenon_settings settings;
  tenon_sampler *sampler = 0;
  float scores[3] = {0, 5, 1}, bad[1];
  int32_t token = -1;
  tenon_settings_init(&settings);
  CHECK(settings.struct_size == sizeof(settings));
  CHECK(tenon_sampler_create(model, &settings, &sampler) == TENON_OK);
  CHECK(tenon_sampler_pick(sampler, scores, 3, &token) == TENON_OK);
  CHECK(token == 1);
  bad[0] = NAN;
  CHECK(tenon_sampler_pick(sampler, bad, 1, &token) == TENON_INVALID_ARGUMENT);
  CHECK(token == 1);
  tenon_sampler_destroy(sampler);
  sampler = 0;
  settings.top_p = 2;
  CHECK(tenon_sampler_create(model, &settings, &sampler) ==
        TENON_INVALID_ARGUMENT);
  CHECK(sampler == 0 && strstr(tenon_last_error(), "top") != 0);
  return 0;
}

/* A sampler draws by position, as a generation does. */
static int usePositions(tenon_model *model) {
  tenon_settings settings;
  tenon_sampler *sampler = 0;
  float scores[16];
  int32_t first[8], again;
  int i, same = 0;
  for (i = 0; i < 16; ++i)
    scores[i] = (float)(i % 3);
  tenon_settings_init(&settings);
  settings.temperature = 2;
  settings.seed = 9;
  CHECK(tenon_sampler_create(model, &settings, &sampler) == TENON_OK);
  for (i = 0; i < 8; ++i)
    CHECK(tenon_sampler_pick(sampler, scores, 16, &first[i]) == TENON_OK);
  for (i = 8; i-- > 0;) {
    CHECK(tenon_sampler_seek(sampler, i) == TENON_OK);
    CHECK(tenon_sampler_pick(sampler, scores, 16, &again) == TENON_OK);
    CHECK(again == first[i]);
  }
  CHECK(tenon_sampler_seek(sampler, -1) == TENON_INVALID_ARGUMENT);
  tenon_sampler_destroy(sampler);
  settings.first_choice = 1;
  CHECK(tenon_sampler_create(model, &settings, &sampler) == TENON_OK);
  for (i = 0; i < 8; ++i) {
    CHECK(tenon_sampler_pick(sampler, scores, 16, &again) == TENON_OK);
    same += again == first[i];
  }
  CHECK(same < 8);
  tenon_sampler_destroy(sampler);
  return 0;
}

static int useSequences(tenon_session *session) {
  int32_t tokens[3] = {4, 5, 6};
  tenon_sequence sequence = 0, fork = 0;
  tenon_item items[2];
  tenon_output outputs[2];
  int64_t length = 0;
  int i;
  float whole;
  memset(items, 0, sizeof(items));
  memset(outputs, 0, sizeof(outputs));
  for (i = 0; i < 2; ++i) {
    items[i].struct_size = sizeof(tenon_item);
    items[i].tokens = tokens;
    items[i].token_count = 3;
    items[i].output_rows = TENON_OUTPUT_ROWS_LAST;
    outputs[i].struct_size = sizeof(tenon_output);
  }
  CHECK(tenon_sequence_create(session, &sequence) == TENON_OK);
  items[0].sequence = sequence;
  items[0].prefix = 2;
  CHECK(tenon_session_run(session, TENON_ENTRY_STEP, items, 1, outputs) ==
        TENON_OK);
  CHECK(outputs[0].status == TENON_OK && outputs[0].rows == 1);
  whole = outputs[0].values[0];
  CHECK(tenon_sequence_truncate(session, sequence, 1) ==
        TENON_INVALID_ARGUMENT); /* within the prefix */
  CHECK(tenon_sequence_truncate(session, sequence, 2) == TENON_OK);
  CHECK(tenon_sequence_length(session, sequence, &length) == TENON_OK);
  CHECK(length == 2);
  CHECK(tenon_sequence_fork(session, sequence, &fork) == TENON_OK);
  items[0].prefix = 0;
  items[0].tokens = tokens + 2;
  items[0].token_count = 1;
  items[1] = items[0];
  items[1].sequence = fork;
  CHECK(tenon_session_run(session, TENON_ENTRY_STEP, items, 2, outputs) ==
        TENON_OK);
  CHECK(outputs[0].values[0] == whole && outputs[1].values[0] == whole);
  CHECK(tenon_sequence_end(session, sequence) == TENON_OK);
  CHECK(tenon_sequence_end(session, fork) == TENON_OK);
  CHECK(tenon_sequence_truncate(session, fork, 0) == TENON_NOT_FOUND);

  /* Callers of other versions. */
  items[0].struct_size = sizeof(tenon_item) - 8;
  CHECK(tenon_session_run(session, TENON_ENTRY_STEP, items, 1, outputs) ==
        TENON_INVALID_ARGUMENT);
  items[0].struct_size = sizeof(tenon_item);
  items[1].struct_size = sizeof(tenon_item) + 8;
  CHECK(tenon_session_run(session, TENON_ENTRY_STEP, items, 2, outputs) ==
        TENON_INVALID_ARGUMENT);
  outputs[0].struct_size = 8;
  CHECK(tenon_session_run(session, TENON_ENTRY_STEP, items, 1, outputs) ==
        TENON_INVALID_ARGUMENT);
  return 0;
}

static int useGeneration(tenon_model *model, tenon_session *session) {
  int32_t prompt[2] = {4, 5}, found[8];
  size_t count = 0, bytes = 0;
  tenon_settings settings;
  tenon_generation *generation = 0;
  struct {
    tenon_piece piece;
    int64_t unknown;
  } newer; /* A caller of a later version. */
  memset(&newer, 0, sizeof(newer));
  newer.piece.struct_size = sizeof(newer);
  tenon_settings_init(&settings);
  settings.max_new_tokens = 5;
  settings.ignore_eos = 1;
  CHECK(tenon_generation_create(session, &settings, prompt, 2, &generation) ==
        TENON_OK);
  while (newer.piece.finish == TENON_FINISH_NONE) {
    size_t i;
    CHECK(tenon_generation_next(generation, &newer.piece) == TENON_OK);
    CHECK(newer.piece.struct_size == sizeof(newer));
    for (i = 0; i < newer.piece.token_count && count < 8; ++i)
      found[count++] = newer.piece.tokens[i];
    bytes += newer.piece.text_bytes;
  }
  CHECK(newer.piece.finish == TENON_FINISH_LENGTH && count == 5 && bytes > 0);
  CHECK(found[0] >= 0 && found[0] < tenon_model_vocabulary(model));
  CHECK(tenon_generation_next(generation, &newer.piece) == TENON_OK);
  CHECK(newer.piece.token_count == 0 &&
        newer.piece.finish == TENON_FINISH_LENGTH);
  newer.unknown = 1;
  CHECK(tenon_generation_next(generation, &newer.piece) ==
        TENON_INVALID_ARGUMENT);
  newer.unknown = 0;
  tenon_generation_destroy(generation);

  /* One beam finds what is likeliest at every step, and more may differ. */
  settings.num_beams = 2;
  CHECK(tenon_generation_create(session, &settings, prompt, 2, &generation) ==
        TENON_OK);
  do {
    CHECK(tenon_generation_next(generation, &newer.piece) == TENON_OK);
  } while (newer.piece.finish == TENON_FINISH_NONE);
  CHECK(newer.piece.token_count == 5);
  tenon_generation_destroy(generation);

  settings.num_beams = -1;
  prompt[1] = 77; /* Is in no vocabulary. */
  CHECK(tenon_generation_create(session, &settings, prompt, 2, &generation) ==
        TENON_INVALID_ARGUMENT);
  prompt[1] = 5;
  settings.num_beams = 0;
  CHECK(tenon_generation_create(session, &settings, prompt, 2, &generation) ==
        TENON_INVALID_ARGUMENT);
  CHECK(tenon_generation_create(session, 0, prompt, 0, &generation) ==
        TENON_INVALID_ARGUMENT);
  return 0;
}

/* Two texts of one prompt, with log-probabilities, until a token ends them. */
static int useChoices(tenon_session *session) {
  const int32_t prompt[3] = {4, 5, 6}, stop[1] = {7},
                bias_tokens[4] = {7, 9, 48, 49};
  const int32_t bad_tokens[3] = {8, 9, 8};
  const size_t bad_lengths[2] = {1, 2};
  /* The model waits on 48 and fails on 49. */
  const float biases[4] = {60, 60, -100, -100};
  const char *strings[1] = {"never this"};
  int32_t found[2][64];
  size_t counts[2] = {0, 0}, i;
  int ended[2] = {0, 0};
  tenon_settings settings;
  tenon_piece piece;
  tenon_prompt_logprobs scores;
  tenon_generation *generation = 0;
  memset(&piece, 0, sizeof(piece));
  piece.struct_size = sizeof(piece);
  tenon_settings_init(&settings);
  settings.max_new_tokens = 60;
  settings.min_new_tokens = 4;
  settings.temperature = 20;
  settings.seed = 21;
  settings.n = 2;
  settings.bias_tokens = bias_tokens;
  settings.biases = biases;
  settings.bias_count = 4;
  settings.bad_word_tokens = bad_tokens;
  settings.bad_word_lengths = bad_lengths;
  settings.bad_word_count = 2;
  settings.stop_strings = strings;
  settings.stop_string_count = 1;
  settings.stop_token_ids = stop;
  settings.stop_token_id_count = 1;
  settings.echo = settings.logprobs = 1;
  settings.top_logprobs = 3;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_OK);
  do {
    CHECK(tenon_generation_next(generation, &piece) == TENON_OK);
    CHECK(piece.choice == 0 || piece.choice == 1);
    CHECK(!ended[piece.choice]);
    CHECK(piece.top_count == 3 && piece.token_count == 1);
    CHECK(piece.logprobs[0] <= piece.top_logprobs[0]);
    CHECK(piece.top_logprobs[1] <= piece.top_logprobs[0]);
    for (i = 0; i < piece.token_count; ++i)
      found[piece.choice][counts[piece.choice]++] = piece.tokens[i];
    if (piece.finish == TENON_FINISH_NONE)
      continue;
    ended[piece.choice] = 1;
    CHECK(piece.finish == TENON_FINISH_STOP && piece.stop_token_id == 7);
    CHECK(piece.stop_string == 0 && piece.tokens[0] == 7);
  } while (piece.unfinished != 0);
  CHECK(ended[0] && ended[1]);
  CHECK(counts[0] > 4 && counts[1] > 4);
  for (i = 0; i + 1 < counts[0]; ++i)
    CHECK(found[0][i] != 7 && found[0][i] != 8);
  memset(&scores, 0, sizeof(scores));
  scores.struct_size = sizeof(scores);
  CHECK(tenon_generation_prompt_logprobs(generation, &scores) == TENON_OK);
  CHECK(scores.count == 2 && scores.top_count == 3);
  CHECK(scores.logprobs[1] <= scores.top_logprobs[3]);
  tenon_generation_destroy(generation);

  /* The second text alone. */
  settings.n = 0;
  settings.first_choice = 1;
  settings.echo = settings.logprobs = settings.top_logprobs = 0;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_OK);
  for (i = 0; i < counts[1]; ++i) {
    CHECK(tenon_generation_next(generation, &piece) == TENON_OK);
    CHECK(piece.token_count == 1 && piece.tokens[0] == found[1][i]);
    CHECK(piece.logprobs == 0 && piece.top_count == 0);
  }
  CHECK(piece.finish == TENON_FINISH_STOP && piece.unfinished == 0);
  tenon_generation_destroy(generation);

  /* All end in one step, and are handed out one by one. */
  settings.n = 3;
  settings.max_new_tokens = 1;
  settings.min_new_tokens = 0;
  settings.stop_token_id_count = 0;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_OK);
  for (i = 0; i < 3; ++i) {
    CHECK(tenon_generation_next(generation, &piece) == TENON_OK);
    CHECK(piece.choice == (int64_t)i && piece.unfinished == 2 - (int64_t)i);
    CHECK(piece.finish == TENON_FINISH_LENGTH && piece.token_count == 1);
  }
  tenon_generation_destroy(generation);
  settings.min_p = 2;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_INVALID_ARGUMENT);
  CHECK(strstr(tenon_last_error(), "min_p is 2: expected 0 to 1") != 0);
  settings.min_p = -1;
  settings.top_logprobs = 1;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_INVALID_ARGUMENT);
  settings.top_logprobs = 0;
  settings.biases = 0;
  CHECK(tenon_generation_create(session, &settings, prompt, 3, &generation) ==
        TENON_INVALID_ARGUMENT);
  return 0;
}

/* The structs as the first version had them. */
struct first_settings {
  size_t struct_size;
  int64_t max_new_tokens;
  double temperature;
  int64_t top_k;
  double top_p;
  int64_t num_beams;
  double length_penalty;
  int32_t early_stopping;
  int32_t ignore_eos;
  uint64_t seed;
  int64_t prefix_tokens;
  int64_t not_theirs;
};

static int useAsFirstVersion(tenon_session *session) {
  const int32_t prompt[2] = {4, 5};
  struct first_settings settings;
  struct {
    tenon_piece piece;
  } older;
  tenon_generation *generation = 0;
  settings.not_theirs = 1234;
  (tenon_settings_init)((tenon_settings *)&settings);
  CHECK(settings.struct_size == 80 && settings.not_theirs == 1234);
  CHECK(settings.max_new_tokens == -1 && settings.length_penalty != 0);
  settings.max_new_tokens = 1;
  CHECK(tenon_generation_create(session, (tenon_settings *)&settings, prompt, 2,
                                &generation) == TENON_OK);
  memset(&older, 0x55, sizeof(older));
  older.piece.struct_size = 48;
  CHECK(tenon_generation_next(generation, &older.piece) == TENON_OK);
  CHECK(older.piece.finish == TENON_FINISH_LENGTH);
  CHECK(older.piece.token_count == 1);
  CHECK(older.piece.choice == 0x5555555555555555);
  older.piece.struct_size = 40;
  CHECK(tenon_generation_next(generation, &older.piece) ==
        TENON_INVALID_ARGUMENT);
  tenon_generation_destroy(generation);
  settings.struct_size = 72;
  CHECK(tenon_generation_create(session, (tenon_settings *)&settings, prompt, 2,
                                &generation) == TENON_INVALID_ARGUMENT);
  return 0;
}

int useTenonFromC(const char *path) {
  tenon_model *model = 0;
  tenon_session *session = 0;
  int line;
  CHECK(tenon_model_load(path, &model) == TENON_OK);
  CHECK(tenon_session_create(model, 2, 0, &session) == TENON_OK);
  if ((line = useText(model)) || (line = useSampler(model)) ||
      (line = usePositions(model)) || (line = useSequences(session)) ||
      (line = useGeneration(model, session)) || (line = useChoices(session)) ||
      (line = useAsFirstVersion(session)))
    return line;
  CHECK(tenon_session_cancel(session) == TENON_OK);
  tenon_session_destroy(session);
  tenon_model_destroy(model);
  return 0;
}
