//===- Settings.cpp - What a caller may ask for ---------------------------===//

#include "runtime/Generation/Settings.h"

#include "runtime/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

/// Whether choices and beams fit each other, and what is drawn.
static Status checkChoices(const Settings &S, const Strategy &How,
                           bool LimitsChoice) {
  SettingNames Name = S.names();
  if (How.Beams < 1 || How.Beams > MaxBeams)
    return Name.refuse("num_beams", How.Beams,
                       "1 to " + std::to_string(MaxBeams));
  if (S.Choices < 1 || S.Choices > MaxChoices)
    return Name.refuse("n", S.Choices, "1 to " + std::to_string(MaxChoices));
  int64_t Last = std::numeric_limits<uint32_t>::max() - S.Choices + 1;
  if (S.FirstChoice < 0 || S.FirstChoice > Last)
    return Name.refuse("first_choice", S.FirstChoice,
                       "0 to " + std::to_string(Last));
  std::string Beams =
      Name("num_beams") + " is " + std::to_string(How.Beams) + ": ";
  if (How.Beams > 1 && LimitsChoice)
    return Error(
        Beams + "beam search takes the likeliest tokens: expected 1 with " +
        Name("temperature") + ", " + Name("top_k") + ", " + Name("top_p") +
        ", " + Name("min_p") + " or " + Name("typical_p"));
  if (How.Beams > 1 && S.Choices > How.Beams)
    return Error(Beams +
                 "beam search answers its best texts: expected at "
                 "least " +
                 Name("n") + ", " + std::to_string(S.Choices));
  if (S.Lookup < 0 || S.Lookup > MaxLookup)
    return Name.refuse("prompt_lookup_num_tokens", S.Lookup,
                       "0 to " + std::to_string(MaxLookup));
  if (How.Beams > 1 && S.Lookup > 0)
    return Error(Beams + "beams guess no tokens: expected 1 with " +
                 Name("prompt_lookup_num_tokens"));
  if (How.Beams > 1 && S.Grammar)
    return Error(Beams + "a text that follows a grammar has no beams: "
                         "expected 1");
  if (How.Beams == 1 && (S.LengthPenalty || S.EarlyStopping))
    return Error(Name(S.LengthPenalty ? "length_penalty" : "early_stopping") +
                 ": needs " + Name("num_beams") + " of at least 2");
  if (!std::isfinite(How.LengthPenalty))
    return Name.refuse("length_penalty", How.LengthPenalty, "a finite number");
  return {};
}

Result<Strategy> generation::strategyOf(const Model &M, const Settings &S) {
  const GenerationInfo &Defaults = M.manifest().Generation;
  SettingNames Name = S.names();
  Strategy How;
  How.Beams = S.Beams.value_or(Defaults.Beams);
  How.LengthPenalty = S.LengthPenalty.value_or(Defaults.LengthPenalty);
  How.EarlyStopping = S.EarlyStopping.value_or(Defaults.Stops);
  How.Choices = S.Choices;
  How.FirstChoice = static_cast<uint32_t>(S.FirstChoice);
  How.Lookup = S.Lookup;
  bool Limits = S.TopK || S.TopP || S.MinP || S.TypicalP;
  bool Samples = S.Temperature.value_or(0) != 0 || Limits;
  // Who asks for one of the two does not want the artifact's other.
  if ((Samples || S.Grammar) && !S.Beams)
    How.Beams = 1;
  if (Status Fits = checkChoices(S, How, Samples); !Fits)
    return Fits.error();

  SamplingOptions &Sampling = How.Sampling;
  Sampling.Seed = S.Seed;
  if (Defaults.Sample) {
    Sampling.Temperature = Defaults.Temperature.value_or(1);
    Sampling.TopK = Defaults.TopK.value_or(0);
    Sampling.TopP = Defaults.TopP.value_or(1);
    Sampling.MinP = Defaults.MinP.value_or(0);
    Sampling.TypicalP = Defaults.TypicalP.value_or(1);
    // Transformers would sample between beams, which nobody asked for here.
    if (How.Beams > 1 && !S.Beams && !S.Temperature)
      return Error("the model's settings sample from " +
                   std::to_string(How.Beams) + " beams: expected " +
                   Name("num_beams") + ", or " + Name("temperature"));
  } else if (Limits) {
    // Who limits the choice wants a choice.
    Sampling.Temperature = 1;
  }
  Sampling.Temperature = S.Temperature.value_or(Sampling.Temperature);
  Sampling.TopK = S.TopK.value_or(Sampling.TopK);
  Sampling.TopP = S.TopP.value_or(Sampling.TopP);
  Sampling.MinP = S.MinP.value_or(Sampling.MinP);
  Sampling.TypicalP = S.TypicalP.value_or(Sampling.TypicalP);
  if (Status Fits = check(Sampling, Name); !Fits)
    return Fits.error();
  if (S.Choices > 1 && How.Beams == 1 && Sampling.Temperature == 0)
    return Error(
        Name("n") + " is " + std::to_string(S.Choices) +
        ": the likeliest tokens are the same in every choice: expected "
        "1, or " +
        Name("temperature") + " above 0");
  return How;
}

Result<std::vector<std::vector<int32_t>>>
generation::tokensOfWord(const tokenizer::Tokenizer &T, std::string_view Word) {
  Word.remove_prefix(std::min(Word.find_first_not_of(' '), Word.size()));
  std::vector<std::vector<int32_t>> Words;
  for (const char *Before : {"", " "}) {
    Result<std::vector<int32_t>> Ids =
        T.encode(Before + std::string(Word), false, SIZE_MAX);
    if (!Ids)
      return Ids.error();
    // Behind a space that is a token of its own, the word is the same.
    if (Words.empty() || (Ids->size() == Words.front().size() &&
                          Ids->front() != Words.front().front()))
      Words.push_back(std::move(*Ids));
    if (Words.front().empty())
      return Error("word " + printable(std::string(Word)) +
                   " has no tokens: expected at least one");
  }
  return Words;
}
