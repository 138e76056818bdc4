//===- CheckpointConfigTest.cpp - Settings and what was read of them ------===//

#include "compiler/Checkpoint/Config.h"
#include "tests/unit/CheckpointFixture.h"

using namespace tenon;

namespace {

Config parsed(std::string_view Text) {
  Result<Config> Settings = Config::parse(Text, "c.json");
  EXPECT_TRUE(Settings) << Settings.error().message();
  return *Settings;
}

using Paths = std::vector<std::string>;

class ConfigFiles : public TemporaryFiles {};

TEST_F(ConfigFiles, DirectoryWithGeneration) {
  write("config.json", R"({"hidden_size": 8})");
  auto Plain = Config::open(Directory);
  ASSERT_TRUE(Plain);
  EXPECT_FALSE(Plain->generation());
  write("generation_config.json", R"({"top_k": 5, "eos_token_id": [1, 2]})");
  auto Both = Config::open(Directory);
  ASSERT_TRUE(Both);
  EXPECT_EQ(Both->file(), pathOf("config.json"));
  ASSERT_TRUE(Both->generation());
  EXPECT_EQ(*Both->generation()->integer("top_k", 1, 10), 5);
  // The record outlives the copy that generation() hands out.
  EXPECT_EQ(Both->generation()->unreadKeys(), Paths{"eos_token_id"});
  EXPECT_EQ(Both->unreadKeys(), Paths{"hidden_size"});
}

TEST_F(ConfigFiles, FilesThatAreWrong) {
  std::string Path = pathOf("config.json");
  EXPECT_ERROR(Config::open(Directory), Path, "cannot open");
  write("config.json", "[1]");
  EXPECT_ERROR(Config::open(Directory), Path,
               "is not a JSON object: expected an object of settings");
  write("config.json", "{\"a\":1,\"a\":2}");
  EXPECT_ERROR(Config::open(Directory), Path, "duplicate key 'a'");
  write("config.json", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_ERROR(Config::open(Directory), Path, "Git LFS pointer");
  write("config.json", "{}");
  std::filesystem::resize_file(Path, (1 << 20) + 1);
  EXPECT_ERROR(Config::open(Directory), Path,
               "is 1048577 bytes long: expected at most 1048576");
  write("config.json", "{}");
  write("generation_config.json", "{");
  EXPECT_ERROR(Config::open(Directory), pathOf("generation_config.json"),
               "invalid JSON");
}

TEST(ConfigTest, Integers) {
  Config C = parsed(R"({"n":7,"f":1.5,"s":"x","z":null,"big":1e30,)"
                    R"("u":18446744073709551615})");
  EXPECT_EQ(*C.integer("n", 1, 10), 7);
  EXPECT_EQ(*C.integerOr("n", 3, 1, 10), 7);
  EXPECT_EQ(*C.integerOr("none", 3, 1, 10), 3);
  EXPECT_EQ(*C.integerOr("z", 3, 1, 10), 3);
  EXPECT_EQ(**C.optionalInteger("n", 1, 10), 7);
  EXPECT_FALSE(C.optionalInteger("z", 1, 10)->has_value());
  EXPECT_ERROR(C.integer("n", 8, 10), "c.json",
               "field 'n' is 7: expected a whole number from 8 to 10");
  EXPECT_ERROR(C.integer("none", 8, 10), "c.json",
               "missing field 'none': expected a whole number from 8 to 10");
  EXPECT_ERROR(C.integer("z", 1, 2), "c.json", "field 'z' is null: expected");
  EXPECT_ERROR(C.integer("f", 1, 2), "c.json", "field 'f' is 1.5: expected");
  EXPECT_ERROR(C.integer("s", 1, 2), "c.json", "field 's' is 'x': expected");
  EXPECT_ERROR(C.integer("u", 1, INT64_MAX), "c.json",
               "field 'u' is 18446744073709551615");
  EXPECT_ERROR(C.integerOr("n", 3, 1, 6), "c.json", "from 1 to 6");
  EXPECT_ERROR(C.optionalInteger("s", 1, 6), "c.json", "field 's' is 'x'");
}

TEST(ConfigTest, Numbers) {
  Config C = parsed(R"({"e":1e-5,"i":10000,"s":"1","z":null})");
  EXPECT_EQ(*C.number("e"), 1e-5);
  EXPECT_EQ(*C.number("i", 0, 1e9), 10000.0);
  EXPECT_EQ(*C.numberOr("none", 2.5), 2.5);
  EXPECT_EQ(*C.numberOr("z", 2.5), 2.5);
  EXPECT_FALSE(C.optionalNumber("z")->has_value());
  EXPECT_ERROR(C.number("e", 0.5, 1), "c.json",
               "field 'e' is 1e-05: expected a number from 0.5 to 1");
  EXPECT_ERROR(C.numberOr("i", 1, 0, 9999), "c.json", "from 0 to 9999");
  EXPECT_ERROR(C.number("s"), "c.json",
               "field 's' is '1': expected a finite number");
  EXPECT_ERROR(C.number("none"), "c.json",
               "missing field 'none': expected a number");
}

TEST(ConfigTest, BooleansAndStrings) {
  Config C = parsed(R"({"t":true,"s":"silu","z":null,"n":0})");
  EXPECT_EQ(*C.boolean("t"), true);
  EXPECT_EQ(*C.booleanOr("none", true), true);
  EXPECT_EQ(*C.booleanOr("z", false), false);
  EXPECT_FALSE(C.optionalBoolean("z")->has_value());
  EXPECT_ERROR(C.boolean("n"), "c.json",
               "field 'n' is 0: expected true or false");
  EXPECT_ERROR(C.boolean("none"), "c.json",
               "missing field 'none': expected true or false");
  EXPECT_EQ(*C.string("s"), "silu");
  EXPECT_EQ(*C.stringOr("z", "gelu"), "gelu");
  EXPECT_EQ(**C.optionalString("s"), "silu");
  EXPECT_ERROR(C.string("t"), "c.json", "field 't' is true: expected a string");
  EXPECT_ERROR(C.string("none"), "c.json",
               "missing field 'none': expected a string");
  EXPECT_EQ(C.expected("s", "gelu or relu").message(),
            "c.json: field 's' is 'silu': expected gelu or relu");
  EXPECT_EQ(C.expected("none", "gelu").message(),
            "c.json: missing field 'none': expected gelu");
}

TEST(ConfigTest, Arrays) {
  Config C = parsed(R"({"i":[1,2],"d":[0.5,1],"s":["a","b"],"one":3,"z":null,)"
                    R"("mixed":[1,"a"]})");
  EXPECT_EQ(*C.integers("i", 0, 9), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*C.numbers("d"), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(*C.strings("s"), (Paths{"a", "b"}));
  EXPECT_EQ(*C.optionalIntegers("i", 0, 9), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*C.optionalIntegers("one", 0, 9), std::vector<int64_t>{3});
  EXPECT_TRUE(C.optionalIntegers("z", 0, 9)->empty());
  EXPECT_TRUE(C.optionalIntegers("none", 0, 9)->empty());
  EXPECT_EQ(*C.optionalStrings("s"), (Paths{"a", "b"}));
  EXPECT_TRUE(C.optionalStrings("z")->empty());
  EXPECT_ERROR(C.integers("i", 2, 9), "c.json",
               "field 'i[0]' is 1: expected a whole number from 2 to 9");
  EXPECT_ERROR(C.integers("one", 0, 9), "c.json",
               "field 'one' is 3: expected an array");
  EXPECT_ERROR(C.integers("none", 0, 9), "c.json",
               "missing field 'none': expected an array of whole numbers");
  EXPECT_ERROR(C.optionalIntegers("one", 4, 9), "c.json", "field 'one' is 3");
  EXPECT_ERROR(C.strings("mixed"), "c.json",
               "field 'mixed[0]' is 1: expected a string");
  EXPECT_ERROR(C.numbers("mixed"), "c.json",
               "field 'mixed[1]' is 'a': expected a finite number");
  EXPECT_ERROR(C.numbers("none"), "c.json", "expected an array of numbers");
  EXPECT_ERROR(C.strings("none"), "c.json", "expected an array of strings");
}

TEST(ConfigTest, NullIsNotAbsent) {
  Config C = parsed(R"({"sliding_window":null,"n":1})");
  EXPECT_FALSE(C.has("sliding_window"));
  EXPECT_TRUE(C.has("n"));
  EXPECT_FALSE(C.has("none"));
  EXPECT_EQ(C.unreadKeys(), (Paths{"sliding_window", "n"}));
  EXPECT_TRUE(C.isNull("sliding_window"));
  EXPECT_FALSE(C.isNull("n"));
  EXPECT_FALSE(C.isNull("none"));
  EXPECT_EQ(C.unreadKeys(), Paths{"n"});
}

TEST(ConfigTest, NestedKeysAreRecorded) {
  Config C = parsed(
      R"({"b":1,"rope_scaling":{"type":"linear","factor":2,"deep":{"x":1,"y":2}},)"
      R"("rope_scaling.factor":3,"other":{"k":1}})");
  Config Rope = *C.object("rope_scaling");
  EXPECT_EQ(Rope.path(), "rope_scaling");
  EXPECT_EQ(*Rope.string("type"), "linear");
  EXPECT_ERROR(Rope.integer("factor", 3, 9), "c.json",
               "field 'rope_scaling.factor' is 2");
  EXPECT_ERROR(Rope.integer("none", 3, 9), "c.json",
               "missing field 'rope_scaling.none'");
  Config Deep = **Rope.optionalObject("deep");
  EXPECT_EQ(*Deep.integer("y", 0, 9), 2);
  // The top-level key with a dot is another one than the nested key read.
  EXPECT_EQ(C.unreadKeys(), (Paths{"b", "rope_scaling.deep.x",
                                   "rope_scaling.factor", "other"}));
  EXPECT_EQ(Rope.unreadKeys(), Paths{"rope_scaling.deep.x"});
  EXPECT_FALSE(C.optionalObject("none")->has_value());
  EXPECT_ERROR(C.object("b"), "c.json", "field 'b' is 1: expected an object");
  EXPECT_ERROR(C.object("none"), "c.json",
               "missing field 'none': expected an object");
  EXPECT_ERROR(C.optionalObject("b"), "c.json", "field 'b' is 1");
}

TEST(ConfigTest, UnreadKeysAreRefusedUnlessInert) {
  Config C =
      parsed(R"({"use_cache":true,"hidden_size":8,"rope":{"use_cache":true}})");
  EXPECT_ERROR(C.refuseUnreadKeys("llama", {}, "--ignore"), "c.json",
               "fields 'hidden_size' is 8, 'rope' is an object: llama does not "
               "read these keys, which may change the result (if not: "
               "tenon compile --ignore hidden_size,rope)");
  ASSERT_TRUE(C.integer("hidden_size", 1, 9));
  EXPECT_ERROR(C.refuseUnreadKeys("llama", {}, "--ignore"), "c.json",
               "field 'rope' is an object: llama does not read this key, which "
               "may change the result (if not: tenon compile --ignore rope)");
  // What is inert at the top is not where it is nested.
  Config Rope = *C.object("rope");
  EXPECT_ERROR(C.refuseUnreadKeys("llama", {}, "--ignore"), "c.json",
               "field 'rope.use_cache' is true: llama does not read this key");
  EXPECT_TRUE(C.refuseUnreadKeys("llama", {"rope.use_cache"}));
  for (const char *Wrong : {"rope", "hidden_size", "use_cach"})
    EXPECT_ERROR(C.refuseUnreadKeys("llama", {Wrong}, "--ignore"), "c.json",
                 ": --ignore is '" + std::string(Wrong) +
                     "': expected a key of this file that llama does not "
                     "read");
  ASSERT_TRUE(Rope.boolean("use_cache"));
  EXPECT_TRUE(C.refuseUnreadKeys("llama"));
}

TEST(ConfigTest, InertKeys) {
  for (const char *Key : {"transformers_version",
                          "torch_dtype",
                          "dtype",
                          "architectures",
                          "use_cache",
                          "_name_or_path",
                          "initializer_range",
                          "bos_token_id",
                          "pad_token_id",
                          "return_dict",
                          "output_attentions",
                          "id2label",
                          "label2id",
                          "gradient_checkpointing",
                          "auto_map",
                          "custom_pipelines",
                          "tf_legacy_loss",
                          "total_flos",
                          "temperature",
                          "pretraining_tp",
                          "pooler_fc_size",
                          "is_llama_config",
                          "language",
                          "name",
                          "num_steps",
                          "save_step",
                          "transformers.js_config",
                          "_flash_attn_2_enabled",
                          "_anything"})
    EXPECT_TRUE(isInertKey(Key, "value")) << Key;
  for (const char *Key : {"hidden_size",
                          "rope_theta",
                          "rope_scaling",
                          "rope_parameters",
                          "hidden_act",
                          "rms_norm_eps",
                          "layer_norm_eps",
                          "sliding_window",
                          "use_sliding_window",
                          "layer_types",
                          "max_window_layers",
                          "attention_bias",
                          "mlp_bias",
                          "tie_word_embeddings",
                          "head_dim",
                          "position_embedding_type",
                          "quantization_config",
                          "model_type",
                          "partial_rotary_factor",
                          "logit_scale",
                          "attn_logit_softcapping",
                          "text_config",
                          "max_position_embeddings",
                          "vocab_size",
                          "unheard_of"}) {
    EXPECT_FALSE(isInertKey(Key, true)) << Key;
    EXPECT_TRUE(isInertKey(Key, nullptr)) << Key;
  }
  EXPECT_TRUE(isInertKey("attention_bias", false));
  EXPECT_TRUE(isInertKey("sentence_transformers",
                         {{"activation_fn", "Sigmoid"}, {"version", "4.1"}}));
  EXPECT_FALSE(isInertKey("sentence_transformers", {{"similarity", "dot"}}));
}

TEST(ConfigTest, InertByValue) {
  EXPECT_TRUE(isInertKey("attention_dropout", 0.1));
  EXPECT_FALSE(isInertKey("attention_dropout", "alibi"));
  for (const char *Key :
       {"is_decoder", "add_cross_attention", "is_encoder_decoder", "use_mrope",
        "rope_interleaved"}) {
    EXPECT_TRUE(isInertKey(Key, false)) << Key;
    EXPECT_FALSE(isInertKey(Key, true)) << Key;
    EXPECT_FALSE(isInertKey(Key, 0)) << Key;
  }
  EXPECT_TRUE(isInertKey("pruned_heads", Json::object()));
  EXPECT_FALSE(isInertKey("pruned_heads", Json{{"0", {1}}}));
  EXPECT_TRUE(isInertKey("directionality", "bidi"));
  EXPECT_FALSE(isInertKey("directionality", "left"));
  EXPECT_TRUE(isInertKey("pooler_type", "first_token_transform"));
  EXPECT_FALSE(isInertKey("pooler_type", "mean"));
}

} // namespace
