//===- Model.cpp - Models, text and settings ------------------------------===//

#include "Native.h"

#include <cmath>
#include <utility>

using namespace tenon::python;
using namespace nb::literals;

Model::Model(const std::string &Path) {
  const char *File = terminated("path", Path);
  tenon_model *Loaded = nullptr;
  tenon_status Status = TENON_OK;
  {
    nb::gil_scoped_release Release;
    Status = tenon_model_load(File, &Loaded);
  }
  check(Status);
  Handle.reset(Loaded);
}

/// Calls `Ask`(elements, capacity, count) as often as its answer takes: first
/// with room for `Guess` elements.
template <typename List, typename Function>
static List listOf(size_t Guess, Function Ask) {
  List Elements(Guess, 0);
  size_t Count = 0;
  tenon_status Status = TENON_OK;
  {
    nb::gil_scoped_release Release;
    Status = Ask(Elements.data(), Elements.size(), &Count);
    if (Status == TENON_OK && Count > Elements.size()) {
      Elements.resize(Count);
      Status = Ask(Elements.data(), Elements.size(), &Count);
    }
  }
  check(Status);
  Elements.resize(Count);
  return Elements;
}

template <typename Function>
static Tokens tokensOf(size_t Guess, Function Ask) {
  return listOf<Tokens>(Guess, Ask);
}

template <typename Function> static nb::str textOf(size_t Guess, Function Ask) {
  auto Text = listOf<std::string>(Guess, Ask);
  return nb::str(Text.data(), Text.size());
}

static Tokens encode(const Model &M, const std::string &Text, bool Special,
                     std::optional<size_t> MaxTokens) {
  return tokensOf(Text.size() + 8, [&](int32_t *Ids, size_t Room, size_t *N) {
    return tenon_model_encode_truncated(M.get(), Text.data(), Text.size(),
                                        Special, MaxTokens.value_or(SIZE_MAX),
                                        Ids, Room, N);
  });
}

static Tokens chatPrompt(const Model &M, const std::string &Conversation) {
  return tokensOf(
      Conversation.size() + 64, [&](int32_t *Ids, size_t Room, size_t *N) {
        return tenon_model_chat_prompt(M.get(), Conversation.data(),
                                       Conversation.size(), Ids, Room, N);
      });
}

static nb::str decode(const Model &M, const Tokens &Ids, bool Special) {
  return textOf(Ids.size() * 8, [&](char *Text, size_t Room, size_t *Bytes) {
    return tenon_model_decode(M.get(), Ids.data(), Ids.size(), Special, Text,
                              Room, Bytes);
  });
}

static nb::str parseAnswer(const Model &M, const Tokens &Prompt,
                           const Tokens &Ids,
                           const std::optional<std::string> &UpToStop,
                           const std::string &Tools) {
  return textOf(Ids.size() * 8 + 64, [&](char *Json, size_t Room,
                                         size_t *Bytes) {
    return tenon_model_parse_answer(
        M.get(), Prompt.data(), Prompt.size(), Ids.data(), Ids.size(),
        UpToStop ? UpToStop->data() : nullptr, UpToStop ? UpToStop->size() : 0,
        Tools.data(), Tools.size(), Json, Room, Bytes);
  });
}

static nb::object readImage(const Model &M, const std::string &Path) {
  const char *File = terminated("path", Path);
  int64_t Shape[3];
  check(tenon_model_image_shape(M.get(), Shape));
  auto Pixels = std::make_unique<float[]>(
      static_cast<size_t>(Shape[0] * Shape[1] * Shape[2]));
  tenon_status Status = TENON_OK;
  {
    nb::gil_scoped_release Release;
    Status = tenon_model_read_image(M.get(), File, Pixels.get());
  }
  check(Status);
  float *Values = Pixels.get();
  nb::capsule Owner(Pixels.release(), [](void *Memory) noexcept {
    delete[] static_cast<float *>(Memory);
  });
  size_t Sizes[3] = {static_cast<size_t>(Shape[0]),
                     static_cast<size_t>(Shape[1]),
                     static_cast<size_t>(Shape[2])};
  return nb::ndarray<nb::numpy, float>(Values, 3, Sizes, Owner).cast();
}

namespace {

/// Text of one token after another.
struct Decoder {
  Decoder(const Model &M, bool Special) {
    check(tenon_decoder_create(M.get(), Special, &Handle));
  }
  Decoder(const Decoder &) = delete;
  ~Decoder() { tenon_decoder_destroy(Handle); }

  nb::str push(int32_t Token) {
    const char *Text = nullptr;
    size_t Bytes = 0;
    check(tenon_decoder_push(Handle, Token, &Text, &Bytes));
    return nb::str(Text, Bytes);
  }
  nb::str finish() {
    const char *Text = nullptr;
    size_t Bytes = 0;
    check(tenon_decoder_finish(Handle, &Text, &Bytes));
    return nb::str(Text, Bytes);
  }

  tenon_decoder *Handle = nullptr;
};

/// Chooses tokens from scores.
struct Sampler {
  Sampler(const Model &M, nb::handle Settings) {
    CSettings Wish(Settings);
    check(tenon_sampler_create(M.get(), Wish.get(), &Handle));
  }
  Sampler(const Sampler &) = delete;
  ~Sampler() { tenon_sampler_destroy(Handle); }

  void seek(int64_t Position) { check(tenon_sampler_seek(Handle, Position)); }
  int32_t
  pick(nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>
           Scores) {
    int32_t Token = 0;
    check(tenon_sampler_pick(Handle, Scores.data(), Scores.size(), &Token));
    return Token;
  }

  tenon_sampler *Handle = nullptr;
};

} // namespace

/// Sets `Target` to the attribute `Name`, where that is not None.
template <typename T>
static void read(nb::handle Fields, const char *Name, T &Target) {
  nb::object Value = Fields.attr(Name);
  if (Value.is_none())
    return;
  using Wide = std::conditional_t<
      std::is_floating_point_v<T>, double,
      std::conditional_t<std::is_same_v<T, int32_t>, bool, T>>;
  Wide Read{};
  if (!nb::try_cast<Wide>(Value, Read))
    raise(TENON_INVALID_ARGUMENT,
          std::string(Name) + " is " + nb::cast<std::string>(nb::repr(Value)) +
              ": expected " +
              (std::is_same_v<Wide, double> ? "a number"
               : std::is_same_v<Wide, bool> ? "True or False"
                                            : "a whole number in range"));
  Target = static_cast<T>(Read);
}

/// The attribute `Attribute` as `T`: a sequence; `Name` is what users call it.
template <typename T>
static T readList(nb::handle Fields, const char *Attribute, const char *Name,
                  const char *Expected) {
  nb::object Value = Fields.attr(Attribute);
  T Read;
  if (!nb::try_cast<T>(Value, Read))
    raise(TENON_INVALID_ARGUMENT, std::string(Name) + " is " +
                                      nb::cast<std::string>(nb::repr(Value)) +
                                      ": expected " + Expected);
  return Read;
}

const char *tenon::python::terminated(const char *Name,
                                      const std::string &Text) {
  if (Text.find('\0') != std::string::npos)
    raise(TENON_INVALID_ARGUMENT,
          std::string(Name) +
              ": a text has the character U+0000: expected none");
  return Text.c_str();
}

/// The attribute `Attribute`, a text or None, which `Kept` then holds; `Name`
/// is what users call it.
static const char *readText(nb::handle Fields, const char *Attribute,
                            const char *Name, std::string &Kept) {
  nb::object Value = Fields.attr(Attribute);
  if (Value.is_none())
    return nullptr;
  if (!nb::try_cast<std::string>(Value, Kept))
    raise(TENON_INVALID_ARGUMENT, std::string(Name) + " is " +
                                      nb::cast<std::string>(nb::repr(Value)) +
                                      ": expected a text");
  return terminated(Name, Kept);
}

std::vector<const float *>
tenon::python::pixelsOf(const Model &M, const std::vector<Pixels> &Images) {
  int64_t Shape[3];
  check(tenon_model_image_shape(M.get(), Shape));
  std::vector<const float *> First;
  for (const Pixels &Image : Images) {
    for (size_t I = 0; I < 3; ++I)
      if (static_cast<int64_t>(Image.shape(I)) != Shape[I])
        raise(TENON_INVALID_ARGUMENT,
              "pixels have the shape (" + std::to_string(Image.shape(0)) +
                  ", " + std::to_string(Image.shape(1)) + ", " +
                  std::to_string(Image.shape(2)) + "): expected (" +
                  std::to_string(Shape[0]) + ", " + std::to_string(Shape[1]) +
                  ", " + std::to_string(Shape[2]) + ")");
    First.push_back(Image.data());
  }
  return First;
}

void CSettings::setImages(std::vector<const float *> Pixels) {
  Images = std::move(Pixels);
  Values.images = Images.data();
  Values.image_count = Images.size();
}

void CSettings::setTools(std::string Json) {
  Tools = std::move(Json);
  Values.tools = Tools.c_str();
}

CSettings::CSettings(nb::handle Fields) {
  tenon_settings_init(&Values);
  read(Fields, "max_new_tokens", Values.max_new_tokens);
  read(Fields, "min_new_tokens", Values.min_new_tokens);
  read(Fields, "temperature", Values.temperature);
  read(Fields, "top_k", Values.top_k);
  read(Fields, "top_p", Values.top_p);
  read(Fields, "min_p", Values.min_p);
  read(Fields, "typical_p", Values.typical_p);
  read(Fields, "_seed_bits", Values.seed);
  read(Fields, "n", Values.n);
  read(Fields, "first_choice", Values.first_choice);
  read(Fields, "num_beams", Values.num_beams);
  read(Fields, "length_penalty", Values.length_penalty);
  read(Fields, "repetition_penalty", Values.repetition_penalty);
  read(Fields, "presence_penalty", Values.presence_penalty);
  read(Fields, "frequency_penalty", Values.frequency_penalty);
  read(Fields, "prompt_lookup_num_tokens", Values.prompt_lookup_num_tokens);
  read(Fields, "prefix_tokens", Values.prefix_tokens);
  read(Fields, "ignore_eos", Values.ignore_eos);
  read(Fields, "include_stop", Values.include_stop);
  read(Fields, "echo", Values.echo);
  read(Fields, "json_object", Values.json_object);
  read(Fields, "fixed_order", Values.fixed_order);
  nb::object Stopping = Fields.attr("early_stopping");
  if (nb::isinstance<nb::str>(Stopping)) {
    if (nb::cast<std::string>(Stopping) != "never")
      raise(TENON_INVALID_ARGUMENT,
            "early_stopping is " + nb::cast<std::string>(nb::repr(Stopping)) +
                ": expected True, False or 'never'");
    Values.early_stopping = 2;
  } else {
    read(Fields, "early_stopping", Values.early_stopping);
  }
  int64_t Top = -1;
  read(Fields, "logprobs", Top);
  if (!Fields.attr("logprobs").is_none()) {
    if (Top < 0 || Top > INT32_MAX)
      raise(TENON_INVALID_ARGUMENT,
            "logprobs is " + std::to_string(Top) +
                ": expected at least 0, the number of top tokens");
    Values.logprobs = 1;
    Values.top_logprobs = static_cast<int32_t>(Top);
  }
  // Mapping, words and texts come as pairs and lists from Settings.
  using Pairs = std::vector<std::vector<double>>;
  for (const std::vector<double> &Pair : readList<Pairs>(
           Fields, "_bias_pairs", "logit_bias", "token ids and numbers")) {
    BiasTokens.push_back(static_cast<int32_t>(Pair[0]));
    Biases.push_back(static_cast<float>(Pair[1]));
  }
  for (const Tokens &Word : readList<std::vector<Tokens>>(
           Fields, "_bad_word_ids", "bad_words", "sequences of token ids")) {
    BadWordTokens.insert(BadWordTokens.end(), Word.begin(), Word.end());
    BadWordLengths.push_back(Word.size());
  }
  Stops = readList<std::vector<std::string>>(Fields, "_stop_texts", "stop",
                                             "texts");
  for (const std::string &Stop : Stops)
    StopPointers.push_back(terminated("stop", Stop));
  Choices =
      readList<std::vector<std::string>>(Fields, "_choices", "choice", "texts");
  for (const std::string &Choice : Choices)
    ChoicePointers.push_back(terminated("choice", Choice));
  Values.choices = ChoicePointers.data();
  Values.choice_count = ChoicePointers.size();
  Values.json_schema = readText(Fields, "_schema_text", "json_schema", Schema);
  Values.regex = readText(Fields, "regex", "regex", Regex);
  Values.ebnf = readText(Fields, "ebnf", "ebnf", Ebnf);
  Values.format = readText(Fields, "format", "format", Format);
  StopTokens = readList<Tokens>(Fields, "_stop_token_ids", "stop_token_ids",
                                "token ids");
  Values.bias_tokens = BiasTokens.data();
  Values.biases = Biases.data();
  Values.bias_count = BiasTokens.size();
  // Null would be refused where all words are empty.
  static constexpr int32_t None = 0;
  Values.bad_word_tokens = BadWordTokens.empty() ? &None : BadWordTokens.data();
  Values.bad_word_lengths = BadWordLengths.data();
  Values.bad_word_count = BadWordLengths.size();
  Values.stop_strings = StopPointers.data();
  Values.stop_string_count = StopPointers.size();
  Values.stop_token_ids = StopTokens.data();
  Values.stop_token_id_count = StopTokens.size();
}

void tenon::python::bindModel(nb::module_ &M) {
  nb::enum_<tenon_entry>(M, "Entry")
      .value("STEP", TENON_ENTRY_STEP)
      .value("ENCODE", TENON_ENTRY_ENCODE)
      .value("EMBED", TENON_ENTRY_EMBED)
      .value("ENCODE_IMAGE", TENON_ENTRY_ENCODE_IMAGE);
  nb::class_<Model>(M, "Model")
      .def(nb::init<const std::string &>(), "path"_a)
      .def("describe",
           [](const Model &Self) {
             const char *Json = nullptr;
             size_t Bytes = 0;
             check(tenon_model_describe(Self.get(), &Json, &Bytes));
             return nb::str(Json, Bytes);
           })
      .def("vocabulary",
           [](const Model &Self) { return tenon_model_vocabulary(Self.get()); })
      .def("max_sequence",
           [](const Model &Self) {
             return tenon_model_max_sequence(Self.get());
           })
      .def("max_source",
           [](const Model &Self) { return tenon_model_max_source(Self.get()); })
      .def("decoder_start",
           [](const Model &Self) {
             return tenon_model_decoder_start(Self.get());
           })
      .def("has_entry",
           [](const Model &Self, tenon_entry Entry) {
             return tenon_model_has_entry(Self.get(), Entry) != 0;
           })
      .def("has_chat",
           [](const Model &Self) {
             return tenon_model_has_chat(Self.get()) != 0;
           })
      .def("encode", &encode, "text"_a, "special"_a,
           "max_tokens"_a = nb::none())
      .def("decode", &decode, "tokens"_a, "special"_a)
      .def("chat_prompt", &chatPrompt, "conversation"_a)
      .def("parse_answer", &parseAnswer, "prompt"_a, "ids"_a,
           "up_to_stop"_a.none(), "tools"_a)
      .def("read_image", &readImage, "path"_a);
  nb::class_<Decoder>(M, "Decoder")
      .def(nb::init<const Model &, bool>(), "model"_a, "special"_a)
      .def("push", &Decoder::push, "token"_a)
      .def("finish", &Decoder::finish);
  nb::class_<Sampler>(M, "Sampler")
      .def(nb::init<const Model &, nb::handle>(), "model"_a, "settings"_a)
      .def("seek", &Sampler::seek, "position"_a)
      .def("pick", &Sampler::pick, "scores"_a);
}
