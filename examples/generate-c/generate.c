/*===- generate.c - Text from a prompt with libtenon --------------*- C -*-===*\
|*
|* Usage: generate MODEL.tenon PROMPT [MAX_NEW_TOKENS [TEMPERATURE [SEED]]]
|*
|* Prints the new text as it comes, then the token ids on stderr.
|*
\*===----------------------------------------------------------------------===*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* Says what went wrong, and what can be done where the status tells. */
static int report(tenon_status status) {
  fprintf(stderr, "generate: error: %s\n", tenon_last_error());
  if (status == TENON_UNSUPPORTED_CPU)
    fputs("generate: compile the model with --target-cpu for this CPU\n",
          stderr);
  if (status == TENON_DAMAGED_FILE)
    fputs("generate: compile the model again with this version of Tenon\n",
          stderr);
  return 1;
}

/* Sets `tokens` (to be freed) and `count` to the prompt's token ids. */
static tenon_status tokenize(const tenon_model *model, const char *text,
                             int32_t **tokens, size_t *count) {
  size_t bytes = strlen(text);
  /* Without a buffer, only the count is set. */
  tenon_status status =
      tenon_model_encode(model, text, bytes, 1, NULL, 0, count);
  if (status != TENON_OK)
    return status;
  *tokens = malloc((*count + 1) * sizeof(**tokens));
  if (!*tokens) {
    fputs("generate: out of memory\n", stderr);
    exit(1);
  }
  return tenon_model_encode(model, text, bytes, 1, *tokens, *count, count);
}

/* Runs all steps, one token each. */
static tenon_status stream(tenon_generation *generation) {
  const char *separator = "token ids: ";
  tenon_piece piece = {0};
  piece.struct_size = sizeof(piece);
  while (piece.finish == TENON_FINISH_NONE) {
    size_t i;
    tenon_status status = tenon_generation_next(generation, &piece);
    if (status != TENON_OK)
      return status;
    fwrite(piece.text, 1, piece.text_bytes, stdout);
    fflush(stdout);
    for (i = 0; i < piece.token_count; ++i) {
      fprintf(stderr, "%s%d", separator, (int)piece.tokens[i]);
      separator = ",";
    }
  }
  putchar('\n');
  fputc('\n', stderr);
  return TENON_OK;
}

int main(int argc, char **argv) {
  tenon_model *model = NULL;
  tenon_session *session = NULL;
  tenon_generation *generation = NULL;
  int32_t *prompt = NULL;
  size_t count = 0;
  tenon_settings settings;
  tenon_status status;
  char *end = "";

  /* What is not given stays as the model has it. */
  tenon_settings_init(&settings);
  if (argc > 3)
    settings.max_new_tokens = strtoll(argv[3], &end, 10);
  if (argc > 4 && !*end)
    settings.temperature = strtod(argv[4], &end);
  if (argc > 5 && !*end)
    settings.seed = strtoull(argv[5], &end, 10);
  if (argc < 3 || argc > 6 || *end) {
    fputs("usage: generate MODEL.tenon PROMPT"
          " [MAX_NEW_TOKENS [TEMPERATURE [SEED]]]\n",
          stderr);
    return 2;
  }

  /* Each call runs if the one before it has worked. */
  status = tenon_model_load(argv[1], &model);
  if (status == TENON_OK)
    status = tokenize(model, argv[2], &prompt, &count);
  if (status == TENON_OK)
    status = tenon_session_create(model, 0, 0, &session);
  if (status == TENON_OK)
    status =
        tenon_generation_create(session, &settings, prompt, count, &generation);
  if (status == TENON_OK)
    status = stream(generation);

  /* None of these can fail, so that tenon_last_error stays. */
  tenon_generation_destroy(generation);
  tenon_session_destroy(session);
  free(prompt);
  tenon_model_destroy(model);
  return status == TENON_OK ? 0 : report(status);
}
