//===- generate.cpp - Text from a prompt with libtenon, in C++ ------------===//
//
// Usage: generate MODEL.tenon PROMPT [MAX_NEW_TOKENS [TEMPERATURE [SEED]]]
//
// Prints the new text as it comes, then the token ids on stderr.
//
//===----------------------------------------------------------------------===//

#include <charconv>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tenon/tenon.h>
#include <vector>

/// A failed call: its status, and its line of text as what().
struct TenonError : std::runtime_error {
  tenon_status Status;
  explicit TenonError(tenon_status Failed)
      : std::runtime_error(tenon_last_error()), Status(Failed) {}
};

static void check(tenon_status Status) {
  if (Status != TENON_OK)
    throw TenonError(Status);
}

/// What a tenon_X_create gives, destroyed with its owner.
template <typename T, void (*Destroy)(T *)> class Handle {
public:
  /// Calls `create(arguments..., &handle)`.
  template <typename... Parameters, typename... Arguments>
  explicit Handle(tenon_status (*Create)(Parameters...),
                  const Arguments &...Values) {
    T *Created = nullptr;
    check(Create(Values..., &Created));
    Owned.reset(Created);
  }
  operator T *() const { return Owned.get(); }

private:
  struct Deleter {
    void operator()(T *Object) const { Destroy(Object); }
  };
  std::unique_ptr<T, Deleter> Owned;
};
using Model = Handle<tenon_model, tenon_model_destroy>;
using Session = Handle<tenon_session, tenon_session_destroy>;
using Generation = Handle<tenon_generation, tenon_generation_destroy>;

static std::vector<int32_t> tokenize(const Model &M, std::string_view Text) {
  size_t Count = 0;
  check(tenon_model_encode(M, Text.data(), Text.size(), 1, nullptr, 0, &Count));
  std::vector<int32_t> Tokens(Count);
  check(tenon_model_encode(M, Text.data(), Text.size(), 1, Tokens.data(), Count,
                           &Count));
  return Tokens;
}

static void generate(const char *Path, const char *Prompt,
                     const tenon_settings &Settings) {
  Model M(tenon_model_load, Path);
  std::vector<int32_t> Tokens = tokenize(M, Prompt);
  Session S(tenon_session_create, M, 0, 0);
  Generation G(tenon_generation_create, S, &Settings, Tokens.data(),
               Tokens.size());
  tenon_piece Piece{};
  Piece.struct_size = sizeof(Piece);
  const char *Separator = "token ids: ";
  while (Piece.finish == TENON_FINISH_NONE) {
    check(tenon_generation_next(G, &Piece));
    std::cout << std::string_view(Piece.text, Piece.text_bytes) << std::flush;
    for (size_t I = 0; I < Piece.token_count; ++I) {
      std::cerr << Separator << Piece.tokens[I];
      Separator = ",";
    }
  }
  std::cout << '\n';
  std::cerr << '\n';
}

static void read(std::string_view Text, auto &Number) {
  const char *End = Text.data() + Text.size();
  auto [Stop, Failure] = std::from_chars(Text.data(), End, Number);
  if (Failure != std::errc() || Stop != End)
    throw std::invalid_argument("no number: " + std::string(Text));
}

int main(int Count, char **Arguments) try {
  if (Count < 3 || Count > 6)
    throw std::invalid_argument("usage: generate MODEL.tenon PROMPT"
                                " [MAX_NEW_TOKENS [TEMPERATURE [SEED]]]");
  // What is not given stays as the model has it.
  tenon_settings Settings;
  tenon_settings_init(&Settings);
  if (Count > 3)
    read(Arguments[3], Settings.max_new_tokens);
  if (Count > 4)
    read(Arguments[4], Settings.temperature);
  if (Count > 5)
    read(Arguments[5], Settings.seed);
  generate(Arguments[1], Arguments[2], Settings);
  return 0;
} catch (const TenonError &Error) {
  std::cerr << "generate: error: " << Error.what() << '\n';
  if (Error.Status == TENON_UNSUPPORTED_CPU)
    std::cerr << "generate: compile the model with --target-cpu for this CPU\n";
  if (Error.Status == TENON_DAMAGED_FILE)
    std::cerr << "generate: compile the model again with this version of "
                 "Tenon\n";
  return 1;
} catch (const std::invalid_argument &Error) {
  std::cerr << Error.what() << '\n';
  return 2;
}
