//===- ArtifactManifestTest.cpp - The manifest's JSON, both ways ----------===//

#include "ArtifactTestSupport.h"

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::test;

namespace {

/// The sample with sections placed as a writer would.
Manifest placedManifest() {
  Manifest M = sampleManifest();
  M.AbiMajor = TENON_RT_ABI_MAJOR;
  M.AbiMinor = TENON_RT_ABI_MINOR;
  uint64_t Next = ArtifactPage;
  auto Place = [&](uint64_t &Offset, uint64_t Bytes) {
    Offset = Next;
    Next = alignToPage(Next + Bytes);
  };
  M.Weights = sampleWeights();
  for (WeightInfo &W : M.Weights) {
    W.Bytes = static_cast<uint64_t>(packedBytes(W.Layout, W.Rows, W.Columns));
    W.Checksum = 0xfedcba9876543210u - W.Bytes;
    Place(W.Offset, W.Bytes);
  }
  for (CpuLevel Level : {CpuLevel::AVX2, CpuLevel::AVX512_BF16}) {
    CodeInfo C = sampleCode(Level);
    C.Bytes = 5000;
    C.Checksum = 7;
    Place(C.Offset, C.Bytes);
    M.Code.push_back(C);
  }
  M.Tokenizer.emplace();
  M.Tokenizer->Bytes = 10;
  Place(M.Tokenizer->Offset, 10);
  M.Prefixes = PrefixesInfo{0, 20, 9, 2, 128};
  Place(M.Prefixes->Offset, 20);
  return M;
}

} // namespace

TEST(ArtifactManifest, RoundTrips) {
  Manifest M = placedManifest();
  Json Form = toJson(M);
  // Through text, as in a file.
  Result<Json> Parsed = parseJson(Form.dump(), "f");
  ASSERT_TRUE(Parsed) << messageOf(Parsed);
  Result<Manifest> Read = manifestFromJson(*Parsed, "f");
  ASSERT_TRUE(Read) << messageOf(Read);
  EXPECT_EQ(toJson(*Read).dump(1), Form.dump(1));

  // The JSON form could lose a field in both directions alike.
  EXPECT_EQ(Read->ProducedBy, "tenon test");
  EXPECT_EQ(Read->Family, "llama");
  EXPECT_EQ(Read->WeightType, "bf16");
  EXPECT_EQ(Read->Vocabulary, 97);
  EXPECT_EQ(Read->MaxSequence, 128);
  EXPECT_EQ(Read->MaxTokensPerStep, 64);
  EXPECT_EQ(Read->FewTokens, 8);
  EXPECT_EQ(Read->TokenTypes, 2);
  EXPECT_EQ(Read->MaxTextTokens, 32);
  ASSERT_EQ(Read->Entries.size(), 3u);
  EXPECT_EQ(Read->Entries[1].Role, "embed");
  EXPECT_EQ(Read->Entries[1].Output, OutputKind::Pooled);
  EXPECT_EQ(Read->Entries[1].Width, 24);
  EXPECT_TRUE(Read->Entries[1].UsesTokenTypes);
  EXPECT_EQ(Read->Entries[1].Features, 0);
  EXPECT_EQ(Read->Entries[2].Output, OutputKind::Classes);
  EXPECT_EQ(Read->Entries[2].Features, 8);
  EXPECT_EQ(Read->Entries[0].Vocabulary, 90);
  EXPECT_EQ(Read->vocabularyOf(Read->Entries[0]), 90);
  EXPECT_EQ(Read->vocabularyOf(Read->Entries[1]), 97);
  ASSERT_EQ(Read->Caches.size(), 2u);
  EXPECT_EQ(Read->Caches[0].Layers, 2);
  EXPECT_EQ(Read->Caches[0].KvHeads, 3);
  EXPECT_EQ(Read->Caches[0].HeadDim, 24);
  EXPECT_EQ(Read->Caches[0].Format, CacheFormat::BF16);
  EXPECT_EQ(Read->Caches[0].PageTokens, 16);
  EXPECT_EQ(Read->Caches[0].PageBytes, 3 * 16 * (24 + 32) * 2);
  EXPECT_EQ(Read->Caches[0].Content, CacheContent::Sequence);
  EXPECT_EQ(Read->Caches[0].Form, "keys_values");
  EXPECT_EQ(Read->Caches[1].Content, CacheContent::Cross);
  EXPECT_EQ(Read->Caches[1].Form, "latent");
  EXPECT_EQ(Read->MaxSource, 77);
  ASSERT_EQ(Read->Scopes.size(), 2u);
  EXPECT_EQ(Read->Scopes[1].Name, "layer.0");
  EXPECT_EQ(Read->Scopes[1].CacheLayers, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(Read->Scopes[1].Weights, (std::vector<int64_t>{1, 2}));
  ASSERT_EQ(Read->Weights.size(), 3u);
  EXPECT_EQ(Read->Weights[1].Name, "q+k");
  EXPECT_EQ(Read->Weights[1].Layout, M.Weights[1].Layout);
  EXPECT_EQ(Read->Weights[1].Rows, 97);
  EXPECT_EQ(Read->Weights[1].Columns, 33);
  EXPECT_EQ(Read->Weights[1].Offset, M.Weights[1].Offset);
  EXPECT_EQ(Read->Weights[1].Bytes, M.Weights[1].Bytes);
  EXPECT_EQ(Read->Weights[1].Checksum, M.Weights[1].Checksum);
  ASSERT_EQ(Read->Code.size(), 2u);
  const CodeInfo &C = Read->Code[1];
  EXPECT_EQ(C.Level, CpuLevel::AVX512_BF16);
  EXPECT_EQ(C.Offset, M.Code[1].Offset);
  EXPECT_EQ(C.Bytes, 5000u);
  EXPECT_EQ(C.Checksum, 7u);
  EXPECT_EQ(C.ArenaBytes, 4096u);
  EXPECT_EQ(C.ScratchBytes, 8192u);
  ASSERT_EQ(C.Primitives.size(), 2u);
  EXPECT_EQ(C.Primitives[1].K, 33);
  EXPECT_EQ(C.Primitives[1].N, 97);
  EXPECT_EQ(C.Primitives[1].Source, StorageFormat::BF16);
  EXPECT_EQ(C.Primitives[1].Destination, StorageFormat::F32);
  EXPECT_EQ(C.Primitives[1].Layout, M.Weights[1].Layout);
  EXPECT_TRUE(C.Primitives[1].HasBias);
  EXPECT_EQ(C.Primitives[1].Act, Activation::GeluTanh);
  EXPECT_EQ(C.Primitives[1].Multiplier, StorageFormat::BF16);
  EXPECT_EQ(C.Primitives[1].Residual, StorageFormat::F32);
  EXPECT_EQ(C.Primitives[0].Multiplier, std::nullopt);
  ASSERT_EQ(C.Plan.size(), 2u);
  EXPECT_EQ(C.Plan[1].Function, "layer.few");
  EXPECT_EQ(C.Plan[1].Value, "%k");
  EXPECT_EQ(C.Plan[1].Offset, 1024u);
  EXPECT_EQ(C.Plan[1].Bytes, 512u);
  EXPECT_EQ(C.Plan[1].FirstUse, 1);
  EXPECT_EQ(C.Plan[1].LastUse, 2);
  ASSERT_EQ(C.Kernels.size(), 2u);
  EXPECT_EQ(C.Kernels[0].Text, "matmul %x weight %w outs(%y)");
  EXPECT_EQ(C.Kernels[0].Function, "layer.many");
  EXPECT_EQ(C.Kernels[0].Primitive, 1);
  EXPECT_EQ(C.Kernels[0].Reason, "many rows");
  EXPECT_EQ(C.Kernels[0].Cost.WeightBytes, 6656);
  EXPECT_EQ(C.Kernels[0].Cost.RowBytes, 454);
  EXPECT_EQ(C.Kernels[0].Cost.RowFlops, 6402);
  EXPECT_EQ(C.Kernels[0].Cost.Numbers, Arithmetic::BF16);
  EXPECT_EQ(C.Kernels[0].Cost.Keys, KeysSeen::None);
  EXPECT_EQ(C.Kernels[1].Primitive, std::nullopt);
  EXPECT_EQ(C.Kernels[1].Reason, "");
  EXPECT_EQ(C.Kernels[1].Cost.KeyBytes, 80);
  EXPECT_EQ(C.Kernels[1].Cost.KeyFlops, 32);
  EXPECT_EQ(C.Kernels[1].Cost.Window, 16);
  EXPECT_EQ(C.Kernels[1].Cost.UsedParts, 2);
  EXPECT_EQ(C.Kernels[1].Cost.Parts, 8);
  EXPECT_EQ(C.Kernels[1].Cost.Keys, KeysSeen::Sequence);
  ASSERT_TRUE(Read->Tokenizer);
  EXPECT_EQ(Read->Tokenizer->Offset, M.Tokenizer->Offset);
  EXPECT_EQ(Read->Tokenizer->Bytes, 10u);
  ASSERT_TRUE(Read->Prefixes);
  EXPECT_EQ(Read->Prefixes->Offset, M.Prefixes->Offset);
  EXPECT_EQ(Read->Prefixes->Checksum, 9u);
  EXPECT_EQ(Read->Prefixes->Prompts, 2);
  EXPECT_EQ(Read->Prefixes->Tokens, 128);
  EXPECT_EQ(Read->Generation.EndOfSequence, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(Read->Generation.Temperature, 0.7);
  EXPECT_EQ(Read->Generation.TopK, 40);
  EXPECT_EQ(Read->Generation.TopP, 0.95);
  EXPECT_TRUE(Read->Generation.Sample);
  EXPECT_EQ(Read->Generation.DecoderStart, 11);
  EXPECT_EQ(Read->Generation.ForcedFirst, 12);
  EXPECT_EQ(Read->Generation.ForcedLast, 13);
  EXPECT_EQ(Read->Generation.Suppressed, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(Read->Generation.Beams, 4);
  EXPECT_EQ(Read->Generation.LengthPenalty, 2.5);
  EXPECT_EQ(Read->Generation.Stops, sampling::EarlyStopping::Never);
  EXPECT_EQ(Read->Generation.NoRepeatNgram, 3);
  EXPECT_EQ(Read->Generation.RepetitionPenalty, 1.25);
  EXPECT_EQ(Read->Generation.MinLength, 7);
  EXPECT_EQ(Read->Generation.MinNewTokens, 8);
  EXPECT_EQ(Read->Generation.MinP, 0.125);
  EXPECT_EQ(Read->Generation.TypicalP, 0.75);
  EXPECT_EQ(Read->Generation.BadWords, M.Generation.BadWords);
  EXPECT_EQ(Read->Generation.StopStrings, M.Generation.StopStrings);
  EXPECT_EQ(Read->Generation.MaxLength, 60);
  EXPECT_EQ(Read->Generation.MaxNewTokens, 59);
  EXPECT_TRUE(Read->Generation.Renormalize);
  ASSERT_TRUE(Read->Image);
  EXPECT_EQ(Read->Image->Channels, 1);
  EXPECT_EQ(Read->Image->Height, 12);
  EXPECT_EQ(Read->Image->Width, 6);
  EXPECT_EQ(Read->Image->PatchHeight, 4);
  EXPECT_EQ(Read->Image->PatchWidth, 2);
  EXPECT_EQ(Read->Image->patches(), 9);
  EXPECT_EQ(Read->Image->patchValues(), 8);
  EXPECT_EQ(Read->Image->Preprocessing.Mean, std::vector<double>{0.25});
  EXPECT_EQ(Read->Labels, M.Labels);
  EXPECT_EQ(Read->Estimates, M.Estimates);
  EXPECT_EQ(Read->Compiled, M.Compiled);
}

TEST(ArtifactManifest, OptionalFieldsMayBeNull) {
  Manifest M = placedManifest();
  M.MaxTextTokens.reset();
  M.Chat.reset();
  M.Tokenizer.reset();
  M.Generation = {};
  M.Image.reset();
  M.Entries.pop_back(); // takes images
  M.Estimates = nullptr;
  Result<Manifest> Read = manifestFromJson(toJson(M), "f");
  ASSERT_TRUE(Read) << messageOf(Read);
  EXPECT_FALSE(Read->MaxTextTokens);
  EXPECT_FALSE(Read->Chat);
  EXPECT_FALSE(Read->Tokenizer);
  EXPECT_FALSE(Read->Generation.Temperature);
  EXPECT_FALSE(Read->Generation.TopK);
  EXPECT_FALSE(Read->Generation.DecoderStart);
  EXPECT_FALSE(Read->Generation.MaxLength);
  EXPECT_FALSE(Read->Image);
}

TEST(ArtifactManifest, ChatTemplates) {
  Manifest M = placedManifest();
  Json Form = toJson(M);
  Result<Manifest> Read = manifestFromJson(Form, "f");
  ASSERT_TRUE(Read) << messageOf(Read);
  ASSERT_TRUE(Read->Chat);
  EXPECT_EQ(Read->Chat->Templates, M.Chat->Templates);
  EXPECT_EQ(Read->Chat->Tokens, M.Chat->Tokens);
  EXPECT_EQ(Read->Chat->ToolFormat, "hermes");
  auto Expect = [&](const char *Pointer, const Json &Value,
                    const std::string &Message) {
    Json Wrong = Form;
    Wrong[Json::json_pointer(Pointer)] = Value;
    Result<Manifest> Read = manifestFromJson(Wrong, "f");
    ASSERT_FALSE(Read) << Pointer;
    EXPECT_NE(messageOf(Read).find(Message), std::string::npos)
        << messageOf(Read);
  };
  Expect("/chat/tool_format", "xml",
         "'chat.tool_format' is 'xml': expected "
         "one of deepseek-v3.2, ");
  Expect("/chat/templates", Json::object(), "expected at least one template");
  Expect("/chat/templates", 3, "'chat.templates' is 3: expected an object");
  Expect("/chat/templates/default", 3, "'chat.templates.default' is 3");
  Expect("/chat/templates/default", std::string((1 << 20) + 1, 'a'),
         "expected at most 1048576 bytes");
  Expect("/chat/tokens/bos_token", nullptr, "'chat.tokens.bos_token' is null");
  Expect("/chat/tokens", {{std::string(1025, 'a'), "a"}},
         "expected names of at most 1024 bytes");
  Expect("/chat", 3, "'chat' is 3: expected an object");
  // Artifacts of before have no such field.
  Form.erase("chat");
  Read = manifestFromJson(Form, "f");
  ASSERT_TRUE(Read) << messageOf(Read);
  EXPECT_FALSE(Read->Chat);
}

TEST(ArtifactManifest, ImagesInPrompts) {
  Manifest M = placedManifest();
  M.Entries[0].Features = 24;
  M.Entries[2].Output = OutputKind::Hidden;
  M.Entries[2].Width = 24;
  M.Image->Token = 89;
  M.Image->Rows = 9;
  Json Form = toJson(M);
  Result<Manifest> Read = manifestFromJson(Form, "f");
  ASSERT_TRUE(Read) << messageOf(Read);
  EXPECT_EQ(Read->Entries[0].Features, 24);
  EXPECT_EQ(Read->Image->Token, 89);
  EXPECT_EQ(Read->Image->Rows, 9);
  auto Expect = [&](const char *Pointer, const Json &Value,
                    const std::string &Message) {
    Json Wrong = Form;
    Wrong[Json::json_pointer(Pointer)] = Value;
    EXPECT_EQ(messageOf(manifestFromJson(Wrong, "f")), "f: field " + Message);
  };
  const std::string Encode =
      "'entries' is an array: expected an entry 'encode_image' that answers "
      "hidden rows of 24, the features of 'step'";
  Expect("/entries/2/output", "classes", Encode);
  Expect("/entries/2/width", 23, Encode);
  Expect("/entries/2/role", "encode_pictures", Encode);
  Expect("/entries/0/features", 0,
         "'entries' is an array: expected an entry 'step' with features for "
         "images with a token");
  Expect("/entries/0/role", "steps",
         "'entries' is an array: expected an entry 'step' with features for "
         "images with a token");
  Expect("/image/token", 90,
         "'image' is an object: expected a token below 90, the vocabulary of "
         "'step'");
  Expect("/image/rows", 0,
         "'image.rows' is 0: expected a whole number from 1 to 10");
  Expect("/image/rows", 11,
         "'image.rows' is 11: expected a whole number from 1 to 10");
  Form["image"]["rows"] = 10;
  EXPECT_TRUE(manifestFromJson(Form, "f")) << "the class token stands, too";
}

TEST(ArtifactManifest, NamesWhatIsWrong) {
  struct Case {
    const char *Pointer;
    Json Value;
    const char *Message;
  };
  const int64_t Big = int64_t(1) << 62;
  const Case Cases[] = {
      {"/abi_minor", TENON_RT_ABI_MINOR + 1,
       "f: field 'abi_minor' is 2: expected at most 1 (run the model with a "
       "newer version)"},
      {"/abi_major", 1,
       "f: field 'abi_major' is 1: expected 5 (compile the model again "
       "with this version)"},
      {"/family", "a\x1b[31m",
       "field 'family' is 'a\\x1b[31m': expected a name"},
      {"/family", "", "field 'family' is '': expected a name"},
      {"/family", std::string(2000, 'a'), "expected a name of 1 to 1024 bytes"},
      {"/vocabulary", -1, "field 'vocabulary' is -1: expected a whole number"},
      {"/vocabulary", 1.5,
       "field 'vocabulary' is 1.5: expected a whole number"},
      {"/vocabulary", 5000000, "field 'vocabulary' is 5000000"},
      {"/max_sequence", 0, "field 'max_sequence' is 0"},
      {"/max_tokens_per_step", "64", "field 'max_tokens_per_step' is '64'"},
      {"/max_text_tokens", 0, "field 'max_text_tokens' is 0"},
      {"/entries", 3, "field 'entries' is 3: expected an array"},
      {"/entries/0", 3, "field 'entries[0]' is 3: expected an object"},
      {"/entries/0/role", "a b", "field 'entries[0].role' is 'a b'"},
      {"/entries/1/role", "step", "field 'entries' has 'step' twice"},
      {"/entries/0/output", "text",
       "field 'entries[0].output' is 'text': expected logits, hidden, "
       "pooled or classes"},
      {"/entries/0/width", 0, "field 'entries[0].width' is 0"},
      {"/entries/0/uses_token_types", 1, "expected true or false"},
      {"/caches/0/kv_heads", 0, "field 'caches[0].kv_heads' is 0"},
      {"/caches/0/page_tokens", 24,
       "field 'caches[0].page_tokens' is 24: expected a multiple of 16"},
      {"/caches/0/page_bytes", 5375,
       "field 'caches[0].page_bytes' is 5375: expected 5376 to"},
      {"/caches/0/page_bytes", Big, "field 'caches[0].page_bytes' is"},
      {"/caches/0/type", "f64", "expected f32, bf16 or i8"},
      {"/caches/1/content", "memories",
       "field 'caches[1].content' is 'memories': expected sequence or cross"},
      {"/caches/1/content", "sequence",
       "field 'max_source' is 77: expected 0 without a cross-attention cache"},
      {"/caches/1/form", "", "expected keys_values or latent"},
      {"/caches/1/kv_heads", 2,
       "field 'caches[1].kv_heads' is 2: expected 1 for a latent cache"},
      {"/caches/1/page_bytes", 5119,
       "field 'caches[1].page_bytes' is 5119: expected 5120 to"},
      {"/max_source", 0,
       "field 'max_source' is 0: expected at least 1 with a cross-attention "
       "cache"},
      {"/entries/0/features", 3,
       "field 'image' is an object: expected an object with a token for an "
       "entry 'step' with features"},
      {"/image/rows", 1, "field 'image.rows' is 1: expected 0"},
      {"/image/token", -1, "field 'image.token' is -1"},
      {"/entries/0/vocabulary", -1, "field 'entries[0].vocabulary' is -1"},
      {"/entries/2/features", 0, "field 'entries[2].features' is 0"},
      {"/entries/2/features", 7,
       "field 'image' is an object: expected patches of 7 values"},
      {"/image", nullptr,
       "field 'image' is null: expected an object for the entry"},
      {"/image/channels", 3,
       "field 'image.preprocessing' is an object: expected steps"},
      {"/image/patch_height", 13,
       "field 'image.patch_height' is 13: expected at most the height, 12"},
      {"/image/width", 1,
       "field 'image.patch_width' is 2: expected at most the width, 1"},
      {"/image/patch_width", 0, "field 'image.patch_width' is 0"},
      {"/image/channels", Big, "field 'image.channels' is"},
      {"/image/preprocessing", 1, "field 'image.preprocessing' is 1"},
      {"/image/height", 65535,
       "field 'image.preprocessing' is an object: expected steps that result "
       "in 1 x 65535 x 6"},
      {"/image/width", 7,
       "field 'image.preprocessing' is an object: expected steps that result "
       "in 1 x 12 x 7"},
      {"/labels", "a", "field 'labels' is 'a': expected an array"},
      {"/labels/1", 1, "field 'labels[1]' is 1: expected a string"},
      {"/scopes/1/name", "model", "field 'scopes' has 'model' twice"},
      {"/scopes/1/cache_layers", Json::array(), "'scopes[1].cache_layers'"},
      {"/scopes/1/cache_layers/0", 2,
       "field 'scopes[1].cache_layers' is an array: expected layers below 2"},
      {"/scopes/1/cache_layers/1", 1, "expected layers below 1 for cache 1"},
      {"/scopes/1/cache_layers/0", -2, "'scopes[1].cache_layers[0]' is -2"},
      {"/scopes/1/weights/1", 3,
       "field 'scopes[1].weights[1]' is 3: expected a whole number from -1 to "
       "2"},
      {"/scopes/1/weights/1", -2, "field 'scopes[1].weights[1]' is -2"},
      {"/weights/0/layout", "rows.f64", "field 'weights[0].layout'"},
      {"/weights/0/rows", 98,
       "field 'weights[0].bytes' is 9312: expected 9408 "
       "for 98 x 24 in row_major.f32"},
      {"/weights/0/rows", Big, "field 'weights[0].rows'"},
      {"/weights/0/columns", -24, "field 'weights[0].columns' is -24"},
      {"/weights/2/columns", 2, "field 'weights[2].columns' is 2: expected 1"},
      {"/weights/0/offset", 4097, "expected a multiple of 4096"},
      {"/weights/0/offset", 0, "field 'weights[0].offset' is 0"},
      {"/weights/0/offset", Big, "field 'weights[0].offset'"},
      {"/weights/1/offset", 4096, "expected it after the end of weight"},
      {"/weights/0/checksum", "12", "expected 16 hexadecimal digits"},
      {"/weights/0/checksum", "0X00000000000000", "16 hexadecimal digits"},
      {"/code/0/level", "avx1024", "field 'code[0].level' is 'avx1024'"},
      {"/code/1/level", "avx2", "field 'code' has 'avx2' twice"},
      {"/code/0/bytes", 0, "field 'code[0].bytes' is 0"},
      {"/code/0/offset", 8192,
       "code for avx2 is at offset 8192: expected it "
       "after the end of weight 'embed' at 13408"},
      {"/code/0/arena_bytes", -1, "field 'code[0].arena_bytes' is -1"},
      {"/code/0/arena_bytes", 1024,
       "field 'code[0].plan[1].offset' is 1024: expected offset + bytes (512) "
       "within the arena of 1024"},
      {"/code/0/scratch_bytes", -1, "field 'code[0].scratch_bytes' is -1"},
      {"/code/0/plan/0/last_use", -1, "field 'code[0].plan[0].last_use' is -1"},
      {"/code/0/plan/0/first_use", 9, "expected at least the first use, 9"},
      {"/code/0/primitives/0/k", 0, "field 'code[0].primitives[0].k' is 0"},
      {"/code/0/primitives/0/layout", "vector.f32",
       "expected a layout of matrices"},
      {"/code/0/primitives/0/activation", "mish",
       "'code[0].primitives[0].activation'"},
      {"/code/0/primitives/1/residual", "int4",
       "'code[0].primitives[1].residual'"},
      {"/code/0/kernels", 1, "field 'code[0].kernels' is 1: expected an array"},
      {"/code/0/kernels/0/text", "", "field 'code[0].kernels[0].text' is ''"},
      {"/code/0/kernels/0/function", "a\n",
       "field 'code[0].kernels[0].function'"},
      {"/code/0/kernels/0/primitive", 2,
       "field 'code[0].kernels[0].primitive' is 2: expected a whole number "
       "from 0 to 1"},
      {"/code/0/kernels/0/primitive", -1,
       "field 'code[0].kernels[0].primitive' is -1"},
      {"/code/0/kernels/0/reason", "",
       "field 'code[0].kernels[0].reason' is ''"},
      {"/code/0/kernels/0/cost", nullptr,
       "field 'code[0].kernels[0].cost' is null: expected an object"},
      {"/code/0/kernels/0/cost/weight_bytes", -1,
       "field 'code[0].kernels[0].cost.weight_bytes' is -1"},
      {"/code/0/kernels/0/cost/row_flops", INT64_MAX,
       "field 'code[0].kernels[0].cost.row_flops' is 9223372036854775807"},
      {"/code/0/kernels/0/cost/parts", 0,
       "field 'code[0].kernels[0].cost.parts' is 0"},
      {"/code/0/kernels/1/cost/used_parts", 9,
       "field 'code[0].kernels[1].cost.used_parts' is 9: expected at most the "
       "parts, 8"},
      {"/code/0/kernels/1/cost/keys", "some",
       "is 'some': expected none, causal, sequence or source"},
      {"/code/0/kernels/1/cost/numbers", "f64",
       "is 'f64': expected f32, bf16 or int8"},
      {"/tokenizer/offset", 1, "field 'tokenizer.offset' is 1"},
      {"/generation/end_of_sequence/0", -1, "end_of_sequence[0]' is -1"},
      {"/generation/temperature", -0.5, "field 'generation.temperature'"},
      {"/generation/top_p", 1.5, "expected a number from 0.0 to 1.0"},
      {"/generation/top_k", -1, "field 'generation.top_k' is -1"},
      {"/generation/decoder_start", -1, "'generation.decoder_start' is -1"},
      {"/generation/forced_first", "a", "'generation.forced_first' is 'a'"},
      {"/generation/forced_last", Big, "'generation.forced_last' is"},
      {"/generation/suppressed/1", -2, "'generation.suppressed[1]' is -2"},
      {"/generation/beams", 0, "field 'generation.beams' is 0"},
      {"/generation/beams", 5000, "field 'generation.beams' is 5000"},
      {"/generation/length_penalty", 1e9, "'generation.length_penalty' is"},
      {"/generation/early_stopping", 1, "expected true, false or 'never'"},
      {"/generation/early_stopping", "often",
       "expected true, false or 'never'"},
      {"/generation/min_p", 2, "expected a number from 0.0 to 1.0"},
      {"/generation/typical_p", "a", "expected a finite number"},
      {"/generation/min_new_tokens", -1, "expected a whole number from 0"},
      {"/generation/bad_words",
       {{1}, Json::array()},
       "expected words of at least one token"},
      {"/generation/bad_words/0/1", -1, "expected a whole number from 0"},
      {"/generation/bad_words/0", 1, "expected an array"},
      {"/generation/stop_strings",
       {"a", ""},
       "expected strings of at least one byte"},
      {"/generation/no_repeat_ngram", -1, "'generation.no_repeat_ngram' is"},
      {"/generation/repetition_penalty", 0, "'generation.repetition_penalty'"},
      {"/generation/min_length", -1, "'generation.min_length' is -1"},
      {"/generation/max_length", 0, "'generation.max_length' is 0"},
      {"/generation/max_new_tokens", -1, "'generation.max_new_tokens' is -1"},
      {"/generation/renormalize", nullptr, "'generation.renormalize'"},
      {"/estimates", 3, "field 'estimates' is 3: expected an object"},
  };
  Json Good = toJson(placedManifest());
  ASSERT_TRUE(manifestFromJson(Good, "f"));
  for (const Case &C : Cases) {
    Json Bad = Good;
    Bad.at(Json::json_pointer(C.Pointer)) = C.Value;
    std::string Message = messageOf(manifestFromJson(Bad, "f"));
    EXPECT_NE(Message.find(C.Message), std::string::npos)
        << C.Pointer << ": " << Message;
    EXPECT_EQ(Message.rfind("f: ", 0), 0u) << Message;
    EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;
  }
  EXPECT_NE(messageOf(manifestFromJson(Json(3), "f")), "");
}

TEST(ArtifactManifest, TooManyKernels) {
  Json Bad = toJson(placedManifest());
  Json &Kernels = Bad["code"][0]["kernels"];
  Kernels = Json::array_t(static_cast<size_t>(MaxKernels) + 1, Kernels[0]);
  EXPECT_EQ(messageOf(manifestFromJson(Bad, "f")),
            "f: field 'code[0].kernels' is an array: expected at most 65536 "
            "elements");
}

TEST(ArtifactManifest, ImagesOfTooManyValues) {
  Json Bad = toJson(placedManifest());
  Bad["image"]["width"] = Bad["image"]["height"] = 20000;
  EXPECT_EQ(messageOf(manifestFromJson(Bad, "f")),
            "f: field 'image.height' is 20000: expected at most 268435456 "
            "values in an image of 1 channels and width 20000");
}

TEST(ArtifactManifest, EveryFieldIsRequired) {
  Json Good = toJson(placedManifest());
  Json Flat = Good.flatten();
  int Tried = 0;
  for (const auto &[Pointer, Value] : Flat.items()) {
    Json::json_pointer Where(Pointer);
    Json Bad = Good;
    Json &Parent = Bad.at(Where.parent_pointer());
    if (!Parent.is_object() || Pointer.starts_with("/estimates/") ||
        Pointer.starts_with("/compiled/") || Pointer.starts_with("/chat/"))
      continue;
    Parent.erase(Where.back());
    // By this one older artifacts, which lack some, are told apart.
    if (Pointer == "/generation/min_p") {
      Result<Manifest> Older = manifestFromJson(Bad, "f");
      ASSERT_TRUE(Older) << messageOf(Older);
      EXPECT_FALSE(Older->Generation.MinP || Older->Generation.TypicalP);
      EXPECT_TRUE(Older->Generation.StopStrings.empty());
      continue;
    }
    if (Pointer == "/image/token") {
      Result<Manifest> Older = manifestFromJson(Bad, "f");
      ASSERT_TRUE(Older) << messageOf(Older);
      EXPECT_FALSE(Older->Image->Token);
      continue;
    }
    if (Pointer == "/code/0/scratch_bytes" ||
        Pointer == "/code/1/scratch_bytes") {
      Result<Manifest> Older = manifestFromJson(Bad, "f");
      ASSERT_TRUE(Older) << messageOf(Older);
      continue;
    }
    std::string Message = messageOf(manifestFromJson(Bad, "f"));
    EXPECT_NE(Message.find("missing field"), std::string::npos)
        << Pointer << ": " << Message;
    ++Tried;
  }
  EXPECT_GT(Tried, 110);
}

TEST(ArtifactManifest, HostileValuesDoNotCrash) {
  Json Good = toJson(placedManifest());
  const Json Hostile[] = {nullptr,
                          true,
                          -1,
                          0,
                          INT64_MAX,
                          INT64_MIN,
                          UINT64_MAX,
                          1e308,
                          "",
                          std::string(5000, '\x01'),
                          Json::array(),
                          Json::array({1, "a", nullptr}),
                          Json::object()};
  int Refused = 0;
  Json Flat = Good.flatten();
  for (const auto &[Pointer, Value] : Flat.items())
    for (const Json &Replacement : Hostile) {
      Json Bad = Good;
      Bad.at(Json::json_pointer(Pointer)) = Replacement;
      Refused += !manifestFromJson(Bad, "f");
    }
  EXPECT_GT(Refused, 1000);
}
