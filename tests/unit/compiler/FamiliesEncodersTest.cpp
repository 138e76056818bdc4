//===- FamiliesEncodersTest.cpp - Encoders, encoder-decoders, vision ------===//

#include "FamilyFixture.h"

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Families/GenerationSettings.h"

#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

using transformer::Activation;

/// What an architecture gives: the entry's output, its columns, and between
/// hidden states and these the activation and the parameters.
struct Answer {
  std::string Output;
  int64_t Columns = 0;
  Activation Act = Activation::None;
  std::vector<std::string> Parameters;

  bool operator==(const Answer &) const = default;
};

void PrintTo(const Answer &A, std::ostream *Stream) {
  *Stream << A.Output << ", " << A.Columns << " columns, activation "
          << static_cast<int>(A.Act);
  for (const std::string &Name : A.Parameters)
    *Stream << ", " << Name;
}

class EncodersTest : public FamilyTest {
protected:
  static Json as(const Json &Base, const std::string &Architecture) {
    return with(Base, {{"architectures", {Architecture}}});
  }

  /// The answer of a config; parameters of norms before the first linear layer
  /// are the body's.
  Answer answerOf(const Json &Settings) {
    Answer A;
    auto Model = import(Settings);
    EXPECT_TRUE(Model) << Model.error().message();
    if (!Model)
      return A;
    func::FuncOp Entry = entriesOf(*Model->Module).front();
    A.Output = Entry->getAttrOfType<StringAttr>(attr::Output).str();
    A.Columns =
        cast<RankedTensorType>(Entry.getResultTypes().front()).getDimSize(1);
    EXPECT_TRUE(
        walkModel(Entry, [&](Operation *Op, const CallFrame &Frame) -> Status {
          if (Op->getParentOfType<func::FuncOp>().getName() != "answer")
            return {};
          if (auto Act = dyn_cast<ActivationOp>(Op))
            A.Act = Act.getKind();
          if (auto P = dyn_cast<ParameterOp>(Op))
            A.Parameters.push_back(Frame.nameOf(P));
          return {};
        }));
    return A;
  }

  static std::vector<std::string> both(const std::string &Key) {
    return {Key + ".weight", Key + ".bias"};
  }
  static std::vector<std::string>
  all(std::initializer_list<std::vector<std::string>> Lists) {
    std::vector<std::string> All;
    for (const auto &List : Lists)
      All.insert(All.end(), List.begin(), List.end());
    return All;
  }

  static Refusal architecture(const std::string &Name,
                              const std::string &Expected) {
    return {{{"architectures", {Name}}},
            "field 'architectures' is '" + Name + "': expected " + Expected};
  }
};

Json bertLike(const std::string &Family) {
  return {{"model_type", Family},
          {"vocab_size", 97},
          {"hidden_size", 60},
          {"intermediate_size", 88},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 3},
          {"max_position_embeddings", 64}};
}

const Answer Hidden = {"hidden", 60, Activation::None, {}};

//===----------------------------------------------------------------------===//
// BERT
//===----------------------------------------------------------------------===//

TEST_F(EncodersTest, BertDefaults) {
  expectDefaults(bertLike("bert"), {{"hidden_act", "gelu", "relu"},
                                    {"layer_norm_eps", 1e-12, 1e-5},
                                    {"type_vocab_size", 2, 1}});
  // Nothing that hidden states depend on.
  EXPECT_EQ(graphOf(with(bertLike("bert"),
                         {{"position_embedding_type", "absolute"},
                          {"is_decoder", false},
                          {"add_cross_attention", false},
                          {"tie_word_embeddings", false},
                          {"pad_token_id", 5},
                          {"_num_labels", 7},
                          {"id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}},
                          {"pooler_type", "first_token_transform"},
                          {"directionality", "bidi"}})),
            graphOf(bertLike("bert")));
}

TEST_F(EncodersTest, BertAnswers) {
  Json Base = with(bertLike("bert"),
                   {{"hidden_act", "gelu_new"},
                    {"id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}}});
  const std::vector<std::string> Transform =
      all({both("cls.predictions.transform.dense"),
           both("cls.predictions.transform.LayerNorm")});
  EXPECT_EQ(answerOf(Base), Hidden);
  EXPECT_EQ(answerOf(as(Base, "BertModel")), Hidden);
  const Answer Masked = {"logits", 97, Activation::GeluTanh,
                         all({Transform,
                              {"bert.embeddings.word_embeddings.weight",
                               "cls.predictions.bias"}})};
  EXPECT_EQ(answerOf(as(Base, "BertForMaskedLM")), Masked);
  EXPECT_EQ(answerOf(as(Base, "BertForPreTraining")), Masked);
  EXPECT_EQ(answerOf(as(Base, "BertForSequenceClassification")),
            (Answer{"classes", 3, Activation::Tanh,
                    all({both("bert.pooler.dense"), both("classifier")})}));
  EXPECT_EQ(answerOf(as(Base, "BertForTokenClassification")),
            (Answer{"logits", 3, Activation::None, both("classifier")}));
  EXPECT_EQ(answerOf(as(Base, "BertForQuestionAnswering")),
            (Answer{"logits", 2, Activation::None, both("qa_outputs")}));
}

TEST_F(EncodersTest, MaskedHeadsAreTiedUnlessTheConfigSaysNo) {
  struct Case {
    Json Base;
    const char *Architecture, *Table, *Own;
  };
  for (const Case &C : {Case{bertLike("bert"), "BertForMaskedLM",
                             "bert.embeddings.word_embeddings.weight",
                             "cls.predictions.decoder.weight"},
                        Case{bertLike("roberta"), "RobertaForMaskedLM",
                             "roberta.embeddings.word_embeddings.weight",
                             "lm_head.decoder.weight"},
                        Case{bertLike("electra"), "ElectraForMaskedLM",
                             "electra.embeddings.word_embeddings.weight",
                             "generator_lm_head.weight"}}) {
    Json Base = as(C.Base, C.Architecture);
    expectDefaults(Base, {{"tie_word_embeddings", true, false}});
    auto Has = [&](const Json &Settings, const char *Name) {
      return llvm::is_contained(answerOf(Settings).Parameters, Name);
    };
    Json Untied = with(Base, {{"tie_word_embeddings", false}});
    EXPECT_TRUE(Has(Base, C.Table) && !Has(Base, C.Own));
    EXPECT_TRUE(Has(Untied, C.Own) && !Has(Untied, C.Table));
  }
}

TEST_F(EncodersTest, Labels) {
  Json Base = as(bertLike("bert"), "BertForSequenceClassification");
  auto Labels = [&](const Json &Changes) {
    auto Model = import(with(Base, Changes));
    EXPECT_TRUE(Model) << Model.error().message();
    return Model ? Model->Labels : std::vector<std::string>();
  };
  const std::vector<std::string> Two = {"LABEL_0", "LABEL_1"};
  EXPECT_EQ(Labels(Json::object()), Two);
  EXPECT_EQ(Labels({{"num_labels", 3}}),
            (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(Labels({{"_num_labels", 1}}), std::vector<std::string>{"LABEL_0"});
  EXPECT_EQ(Labels({{"id2label", {{"1", "no"}, {"0", "yes"}}}}),
            (std::vector<std::string>{"yes", "no"}));
  expectRefusals(
      Base,
      {{{{"id2label", Json::object()}},
        "field 'id2label' is an object: expected names of classes 0, 1, ..."},
       {{{"id2label", {{"0", 1}}}},
        "field 'id2label.0' is 1: expected a string"},
       {{{"id2label", {{"0", "a"}, {"2", "c"}}}},
        "field 'id2label.2' is 'c': the family bert does not read this key, "
        "which may change the result (if not: tenon compile "
        "--ignore-config-key id2label.2)"},
       {{{"num_labels", 3}, {"_num_labels", 2}},
        "field '_num_labels' is 2: expected 3, as 'num_labels' has"},
       {{{"num_labels", 0}},
        "field 'num_labels' is 0: expected a whole number from 1 to "
        "1048576"}});
}

constexpr const char *KnownBert =
    "BertModel, or BertFor with MaskedLM, PreTraining, SequenceClassification, "
    "TokenClassification or QuestionAnswering";

TEST_F(EncodersTest, BertRefuses) {
  expectRefusals(
      bertLike("bert"),
      {architecture("BertLMHeadModel", KnownBert),
       architecture("BertForMultipleChoice", KnownBert),
       architecture("BertForNextSentencePrediction", KnownBert),
       {{{"architectures", {1}}},
        "field 'architectures[0]' is 1: expected a string"},
       {{{"is_decoder", true}}, "field 'is_decoder' is true: expected false"},
       {{{"add_cross_attention", true}},
        "field 'add_cross_attention' is true: expected false"},
       {{{"position_embedding_type", "relative_key_query"}},
        "field 'position_embedding_type' is 'relative_key_query': expected "
        "absolute"},
       {{{"hidden_act", "mish"}},
        std::string("field 'hidden_act' is 'mish': ") + KnownActivations},
       {{{"hidden_size", 61}},
        "field 'hidden_size' is 61: expected a multiple of "
        "num_attention_heads"},
       unread("bert", "embedding_size", 32, "32"),
       unread("bert", "rope_theta", 10000, "10000"),
       unread("bert", "head_dim", 16, "16"),
       unread("bert", "is_encoder_decoder", true, "true"),
       unread("bert", "pooler_type", "mean", "'mean'")});
}

//===----------------------------------------------------------------------===//
// RoBERTa and XLM-RoBERTa
//===----------------------------------------------------------------------===//

TEST_F(EncodersTest, RobertaDefaults) {
  for (const char *Family : {"roberta", "xlm-roberta"})
    expectDefaults(bertLike(Family), {{"hidden_act", "gelu", "relu"},
                                      {"layer_norm_eps", 1e-12, 1e-5},
                                      {"type_vocab_size", 2, 1},
                                      {"pad_token_id", 1, 0}});
}

TEST_F(EncodersTest, RobertasPositionsBeginBehindThePadding) {
  for (int64_t Padding : {0, 1, 5}) {
    auto Model = import(with(bertLike("roberta"), {{"pad_token_id", Padding}}));
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ((*Model->Module)
                  ->getAttrOfType<IntegerAttr>(attr::MaxSequence)
                  .getInt(),
              63 - Padding);
    Model->Module->walk([&](EmbeddingOp Op) {
      if (Op.getIndex() == IndexKind::Position) {
        EXPECT_EQ(static_cast<int64_t>(Op.getOffset()), Padding + 1);
      }
    });
  }
}

TEST_F(EncodersTest, RobertaAnswers) {
  for (auto [Family, Class] :
       {std::pair("roberta", "Roberta"), {"xlm-roberta", "XLMRoberta"}}) {
    Json Base =
        with(bertLike(Family), {{"hidden_act", "relu"}, {"num_labels", 4}});
    std::string For = std::string(Class) + "For";
    EXPECT_EQ(answerOf(Base), Hidden);
    EXPECT_EQ(answerOf(as(Base, std::string(Class) + "Model")), Hidden);
    // Its activations are what they are, whatever the layers have.
    EXPECT_EQ(answerOf(as(Base, For + "MaskedLM")),
              (Answer{"logits", 97, Activation::Gelu,
                      all({both("lm_head.dense"),
                           both("lm_head.layer_norm"),
                           {"roberta.embeddings.word_embeddings.weight",
                            "lm_head.bias"}})}));
    EXPECT_EQ(
        answerOf(as(Base, For + "SequenceClassification")),
        (Answer{"classes", 4, Activation::Tanh,
                all({both("classifier.dense"), both("classifier.out_proj")})}));
    EXPECT_EQ(answerOf(as(Base, For + "TokenClassification")),
              (Answer{"logits", 4, Activation::None, both("classifier")}));
    EXPECT_EQ(answerOf(as(Base, For + "QuestionAnswering")),
              (Answer{"logits", 2, Activation::None, both("qa_outputs")}));
  }
}

TEST_F(EncodersTest, RobertaRefuses) {
  const char *Known =
      "RobertaModel, or RobertaFor with MaskedLM, SequenceClassification, "
      "TokenClassification or QuestionAnswering";
  expectRefusals(
      bertLike("roberta"),
      {architecture("RobertaForCausalLM", Known),
       architecture("RobertaForMultipleChoice", Known),
       {{{"pad_token_id", 63}},
        "field 'max_position_embeddings' is 64: expected more than "
        "pad_token_id + 1"},
       {{{"pad_token_id", nullptr}},
        "field 'pad_token_id' is null: expected a token, as positions begin "
        "behind its id"},
       {{{"is_decoder", true}}, "field 'is_decoder' is true: expected false"},
       {{{"position_embedding_type", "relative_key"}},
        "field 'position_embedding_type' is 'relative_key': expected "
        "absolute"}});
}

//===----------------------------------------------------------------------===//
// DistilBERT and ELECTRA
//===----------------------------------------------------------------------===//

Json distilbert() {
  return {{"model_type", "distilbert"},
          {"vocab_size", 97},
          {"dim", 60},
          {"hidden_dim", 88},
          {"n_layers", 2},
          {"n_heads", 3},
          {"max_position_embeddings", 64}};
}

TEST_F(EncodersTest, DistilbertDefaults) {
  Json Base = distilbert();
  expectDefaults(Base, {{"activation", "gelu", "relu"}});
  EXPECT_EQ(graphOf(with(Base, {{"sinusoidal_pos_embds", true},
                                {"tie_weights_", true},
                                {"qa_dropout", 0.1},
                                {"seq_classif_dropout", 0.2},
                                {"pad_token_id", 3}})),
            graphOf(Base));
}

TEST_F(EncodersTest, DistilbertAnswers) {
  Json Base =
      with(distilbert(), {{"activation", "gelu_new"}, {"num_labels", 4}});
  EXPECT_EQ(answerOf(Base), Hidden);
  EXPECT_EQ(answerOf(as(Base, "DistilBertModel")), Hidden);
  EXPECT_EQ(answerOf(as(Base, "DistilBertForMaskedLM")),
            (Answer{"logits", 97, Activation::GeluTanh,
                    all({both("vocab_transform"),
                         both("vocab_layer_norm"),
                         {"distilbert.embeddings.word_embeddings.weight",
                          "vocab_projector.bias"}})}));
  EXPECT_EQ(answerOf(with(as(Base, "DistilBertForMaskedLM"),
                          {{"tie_word_embeddings", false}}))
                .Parameters,
            all({both("vocab_transform"), both("vocab_layer_norm"),
                 both("vocab_projector")}));
  EXPECT_EQ(answerOf(as(Base, "DistilBertForSequenceClassification")),
            (Answer{"classes", 4, Activation::Relu,
                    all({both("pre_classifier"), both("classifier")})}));
  EXPECT_EQ(answerOf(as(Base, "DistilBertForTokenClassification")),
            (Answer{"logits", 4, Activation::None, both("classifier")}));
  EXPECT_EQ(answerOf(as(Base, "DistilBertForQuestionAnswering")),
            (Answer{"logits", 2, Activation::None, both("qa_outputs")}));
}

TEST_F(EncodersTest, DistilbertRefuses) {
  expectRefusals(
      distilbert(),
      {architecture("DistilBertForMultipleChoice",
                    "DistilBertModel, or DistilBertFor with MaskedLM, "
                    "SequenceClassification, TokenClassification or "
                    "QuestionAnswering"),
       {{{"activation", "mish"}},
        std::string("field 'activation' is 'mish': ") + KnownActivations},
       {{{"dim", 61}}, "field 'dim' is 61: expected a multiple of n_heads"},
       unread("distilbert", "layer_norm_eps", 1e-5, "1e-05"),
       unread("distilbert", "hidden_size", 60, "60"),
       unread("distilbert", "type_vocab_size", 2, "2")});
}

TEST_F(EncodersTest, ElectraDefaults) {
  Json Base = bertLike("electra");
  expectDefaults(Base, {{"embedding_size", 128, 36},
                        {"embedding_size", 128, 60},
                        {"hidden_act", "gelu", "relu"},
                        {"layer_norm_eps", 1e-12, 1e-5},
                        {"type_vocab_size", 2, 1}});
  EXPECT_EQ(graphOf(with(Base, {{"summary_type", "first"},
                                {"summary_use_proj", true},
                                {"summary_activation", "gelu"},
                                {"summary_last_dropout", 0.1}})),
            graphOf(Base));
  // Rows as wide as the layers' need no projection.
  EXPECT_EQ(
      graphOf(with(Base, {{"embedding_size", 60}})).find("embeddings_project"),
      std::string::npos);
}

TEST_F(EncodersTest, ElectraAnswers) {
  Json Base =
      with(bertLike("electra"),
           {{"hidden_act", "relu"}, {"embedding_size", 36}, {"num_labels", 4}});
  EXPECT_EQ(answerOf(Base), Hidden);
  EXPECT_EQ(answerOf(as(Base, "ElectraModel")), Hidden);
  EXPECT_EQ(answerOf(as(Base, "ElectraForMaskedLM")),
            (Answer{"logits", 97, Activation::Gelu,
                    all({both("generator_predictions.dense"),
                         both("generator_predictions.LayerNorm"),
                         {"electra.embeddings.word_embeddings.weight",
                          "generator_lm_head.bias"}})}));
  EXPECT_EQ(
      answerOf(as(Base, "ElectraForPreTraining")),
      (Answer{"logits", 1, Activation::Relu,
              all({both("discriminator_predictions.dense"),
                   both("discriminator_predictions.dense_prediction")})}));
  EXPECT_EQ(
      answerOf(as(Base, "ElectraForSequenceClassification")),
      (Answer{"classes", 4, Activation::Gelu,
              all({both("classifier.dense"), both("classifier.out_proj")})}));
  EXPECT_EQ(answerOf(as(Base, "ElectraForTokenClassification")),
            (Answer{"logits", 4, Activation::None, both("classifier")}));
  EXPECT_EQ(answerOf(as(Base, "ElectraForQuestionAnswering")),
            (Answer{"logits", 2, Activation::None, both("qa_outputs")}));
}

TEST_F(EncodersTest, ElectraRefuses) {
  const char *Known =
      "ElectraModel, or ElectraFor with MaskedLM, PreTraining, "
      "SequenceClassification, TokenClassification or QuestionAnswering";
  expectRefusals(
      bertLike("electra"),
      {architecture("ElectraForMultipleChoice", Known),
       architecture("ElectraForCausalLM", Known),
       {{{"embedding_size", 0}},
        "field 'embedding_size' is 0: expected a whole number from 1 to "
        "1048576"},
       {{{"is_decoder", true}}, "field 'is_decoder' is true: expected false"}});
}

//===----------------------------------------------------------------------===//
// ModernBERT
//===----------------------------------------------------------------------===//

Json modernbert() {
  Json Settings = bertLike("modernbert");
  Settings["num_hidden_layers"] = 5;
  Settings["max_position_embeddings"] = 512;
  return Settings;
}

TEST_F(EncodersTest, ModernbertDefaults) {
  Json Base = modernbert();
  const char *Full = "full_attention", *Sliding = "sliding_attention";
  expectDefaults(
      Base, {{"hidden_activation", "gelu", "relu"},
             {"norm_eps", 1e-5, 1e-6},
             {"norm_bias", false, true},
             {"attention_bias", false, true},
             {"mlp_bias", false, true},
             {"local_attention", 128, 32},
             // An odd width reaches as far as the even one below.
             {"local_attention", 129, 130},
             {"global_attn_every_n_layers", 3, 2},
             {"layer_types",
              {Full, Sliding, Sliding, Full, Sliding},
              {Full, Sliding, Full, Sliding, Full}},
             {"global_rope_theta", 160000, 10000},
             {"local_rope_theta", 10000, 160000},
             {"rope_parameters",
              {{Full, {{"rope_type", "default"}, {"rope_theta", 160000}}},
               {Sliding, {{"rope_type", "default"}, {"rope_theta", 10000}}}},
              {{Full, {{"rope_type", "linear"}, {"factor", 2.0}}}}}});
  EXPECT_EQ(graphOf(with(Base, {{"sparse_prediction", true},
                                {"sparse_pred_ignore_index", -100},
                                {"deterministic_flash_attn", true},
                                {"reference_compile", false},
                                {"repad_logits_with_grad", true},
                                {"initializer_cutoff_factor", 2.0},
                                {"layer_norm_eps", 1e-2},
                                {"mlp_dropout", 0.1},
                                {"decoder_bias", false},
                                {"classifier_bias", true},
                                {"classifier_activation", "relu"},
                                {"classifier_pooling", "mean"},
                                {"position_embedding_type", "absolute"}})),
            graphOf(Base));
}

TEST_F(EncodersTest, ModernbertWindowsReachBothWays) {
  auto Model = import(modernbert());
  ASSERT_TRUE(Model) << Model.error().message();
  std::vector<uint64_t> Windows;
  EXPECT_TRUE(walkModel(entriesOf(*Model->Module).front(),
                        [&](Operation *Op, const CallFrame &) -> Status {
                          if (auto A = dyn_cast<AttentionOp>(Op))
                            Windows.push_back(A.getWindow().value_or(0));
                          return {};
                        }));
  // 64 positions away are seen.
  EXPECT_EQ(Windows, (std::vector<uint64_t>{0, 65, 65, 0, 65}));
}

TEST_F(EncodersTest, ModernbertAnswers) {
  Json Base = with(modernbert(), {{"num_labels", 4}});
  const std::vector<std::string> End = {"final_norm.weight"},
                                 Inner = {"model.final_norm.weight"},
                                 Head = {"head.dense.weight",
                                         "head.norm.weight"};
  EXPECT_EQ(answerOf(Base), (Answer{"hidden", 60, Activation::None, End}));
  EXPECT_EQ(answerOf(as(Base, "ModernBertModel")),
            (Answer{"hidden", 60, Activation::None, End}));
  Json Masked = as(Base, "ModernBertForMaskedLM");
  EXPECT_EQ(answerOf(Masked),
            (Answer{"logits", 97, Activation::Gelu,
                    all({Inner,
                         Head,
                         {"model.embeddings.tok_embeddings.weight",
                          "decoder.bias"}})}));
  EXPECT_EQ(answerOf(with(Masked, {{"tie_word_embeddings", false}})).Parameters,
            all({Inner, Head, both("decoder")}));
  expectDefaults(Masked, {{"decoder_bias", true, false},
                          {"classifier_bias", false, true},
                          {"classifier_activation", "gelu", "relu"},
                          {"tie_word_embeddings", true, false}});
  Json Classes = as(Base, "ModernBertForSequenceClassification");
  EXPECT_EQ(answerOf(Classes),
            (Answer{"classes", 4, Activation::Gelu,
                    all({Inner, Head, both("classifier")})}));
  expectDefaults(Classes, {{"classifier_pooling", "cls", "mean"},
                           {"classifier_bias", false, true},
                           {"classifier_activation", "gelu", "relu"}});
  EXPECT_EQ(answerOf(as(Base, "ModernBertForTokenClassification")),
            (Answer{"logits", 4, Activation::Gelu,
                    all({Inner, Head, both("classifier")})}));
  EXPECT_EQ(answerOf(as(Base, "ModernBertForQuestionAnswering")),
            (Answer{"logits", 2, Activation::Gelu,
                    all({Inner, Head, both("classifier")})}));
}

TEST_F(EncodersTest, ModernbertRefuses) {
  expectRefusals(
      modernbert(),
      {architecture("ModernBertForMultipleChoice",
                    "ModernBertModel, or ModernBertFor with MaskedLM, "
                    "SequenceClassification, TokenClassification or "
                    "QuestionAnswering"),
       {{{"architectures", {"ModernBertForSequenceClassification"}},
         {"classifier_pooling", "max"}},
        "field 'classifier_pooling' is 'max': expected cls or mean"},
       {{{"layer_types", {"full_attention"}}},
        "field 'layer_types' is an array: expected 5 entries, one a layer"},
       {{{"hidden_activation", "mish"}},
        std::string("field 'hidden_activation' is 'mish': ") +
            KnownActivations},
       {{{"hidden_size", 61}},
        "field 'hidden_size' is 61: expected a multiple of "
        "num_attention_heads"},
       {{{"local_attention", 0}},
        "field 'local_attention' is 0: expected a whole number from 1 to "
        "16777216"},
       unread("modernbert", "rope_scaling", {{"type", "linear"}, {"factor", 2}},
              "an object"),
       unread("modernbert", "head_dim", 16, "16"),
       unread("modernbert", "hidden_act", "relu", "'relu'"),
       unread("modernbert", "type_vocab_size", 2, "2")});
}

//===----------------------------------------------------------------------===//
// T5
//===----------------------------------------------------------------------===//

Json t5() {
  return {{"model_type", "t5"}, {"vocab_size", 97}, {"d_model", 64},
          {"d_kv", 16},         {"d_ff", 88},       {"num_layers", 2},
          {"num_heads", 3}};
}

TEST_F(EncodersTest, T5Defaults) {
  Json Base = t5();
  expectDefaults(Base, {{"num_decoder_layers", nullptr, 3},
                        {"num_decoder_layers", 2, 1},
                        {"relative_attention_num_buckets", 32, 16},
                        {"relative_attention_max_distance", 128, 64},
                        {"layer_norm_epsilon", 1e-6, 1e-5},
                        {"feed_forward_proj", "relu", "gelu"},
                        {"feed_forward_proj", "relu", "gated-relu"},
                        {"n_positions", 512, 64},
                        {"tie_word_embeddings", true, false},
                        {"scale_decoder_outputs", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"is_encoder_decoder", true},
                                {"is_decoder", false},
                                {"dense_act_fn", "relu"},
                                {"is_gated_act", false},
                                {"output_past", true},
                                {"task_specific_params",
                                 {{"summarization", {{"num_beams", 4}}}}}})),
            graphOf(Base));
  // The published gated form has the tanh form of GELU.
  Json Gated = with(Base, {{"feed_forward_proj", "gated-gelu"}});
  EXPECT_EQ(graphOf(with(Base, {{"feed_forward_proj", "gated-gelu_new"}})),
            graphOf(Gated));
  EXPECT_EQ(graphOf(with(
                Gated, {{"dense_act_fn", "gelu_new"}, {"is_gated_act", true}})),
            graphOf(Gated));
}

TEST_F(EncodersTest, T5HeadsAreScaledWhenTied) {
  struct Case {
    Json Changes;
    const char *Weight;
    bool IsScaled;
  };
  for (const Case &C :
       {Case{Json::object(), "shared.weight", true},
        Case{{{"tie_word_embeddings", true}}, "shared.weight", true},
        Case{{{"tie_word_embeddings", false}}, "lm_head.weight", false},
        // Newer files tie always, and say this instead.
        Case{{{"scale_decoder_outputs", false}}, "shared.weight", false},
        Case{{{"tie_word_embeddings", false}, {"scale_decoder_outputs", true}},
             "lm_head.weight",
             true}}) {
    SCOPED_TRACE(C.Changes.dump());
    auto Model = import(with(t5(), C.Changes));
    ASSERT_TRUE(Model) << Model.error().message();
    Model->Module->walk([&](LmHeadOp Head) {
      EXPECT_EQ(Head.getWeight().getDefiningOp<ParameterOp>().getKey(),
                C.Weight);
      auto Scale = dyn_cast<ScaleOp>(*Head->user_begin());
      ASSERT_EQ(static_cast<bool>(Scale), C.IsScaled);
      if (Scale) {
        EXPECT_DOUBLE_EQ(Scale.getFactor().convertToDouble(), 0.125);
      }
    });
  }
}

TEST_F(EncodersTest, T5Refuses) {
  expectRefusals(
      t5(),
      {architecture("T5EncoderModel", "T5ForConditionalGeneration"),
       architecture("T5ForSequenceClassification",
                    "T5ForConditionalGeneration"),
       {{{"is_encoder_decoder", false}},
        "field 'is_encoder_decoder' is false: expected true"},
       {{{"feed_forward_proj", "gated-mish"}},
        std::string("field 'feed_forward_proj' is 'gated-mish': ") +
            KnownActivations + ", or one of them after 'gated-'"},
       {{{"feed_forward_proj", "gated-gelu"}, {"dense_act_fn", "gelu"}},
        "field 'dense_act_fn' is 'gelu': expected gelu_new, as "
        "feed_forward_proj has it"},
       {{{"is_gated_act", true}},
        "field 'is_gated_act' is true: expected what feed_forward_proj says"},
       {{{"relative_attention_num_buckets", 31}},
        "field 'relative_attention_num_buckets' is 31: expected an even number "
        "from 4 on"},
       {{{"relative_attention_max_distance", 16}},
        "field 'relative_attention_max_distance' is 16: expected more than "
        "half of relative_attention_num_buckets"},
       {{{"layer_norm_epsilon", -1}},
        "field 'layer_norm_epsilon' is -1: expected a number from 0 to 0.5"},
       unread("t5", "is_decoder", true, "true"),
       unread("t5", "hidden_size", 64, "64"),
       unread("t5", "scale_embedding", true, "true")});
}

//===----------------------------------------------------------------------===//
// BART and Marian
//===----------------------------------------------------------------------===//

Json bartLike(const std::string &Family) {
  return {{"model_type", Family},
          {"vocab_size", 97},
          {"d_model", 64},
          {"encoder_layers", 2},
          {"encoder_ffn_dim", 88},
          {"encoder_attention_heads", 4},
          {"decoder_layers", 3},
          {"decoder_ffn_dim", 72},
          {"decoder_attention_heads", 2},
          {"max_position_embeddings", 64}};
}

TEST_F(EncodersTest, BartDefaults) {
  Json Base = bartLike("bart");
  expectDefaults(Base, {{"activation_function", "gelu", "relu"},
                        {"scale_embedding", false, true},
                        {"tie_word_embeddings", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"is_encoder_decoder", true},
                                {"add_bias_logits", false},
                                {"add_final_layer_norm", false},
                                {"normalize_before", false},
                                {"normalize_embedding", true},
                                {"static_position_embeddings", false},
                                {"extra_pos_embeddings", 2},
                                {"classif_dropout", 0.1},
                                {"num_hidden_layers", 2},
                                {"_num_labels", 3},
                                {"num_beams", 4},
                                {"task_specific_params", Json::object()}})),
            graphOf(Base));
}

TEST_F(EncodersTest, BartsTablesAreOneOrFour) {
  std::string Tied = graphOf(bartLike("bart"));
  EXPECT_NE(Tied.find("\"shared.weight\""), std::string::npos);
  EXPECT_EQ(Tied.find("\"embed_tokens.weight\""), std::string::npos);
  EXPECT_EQ(Tied.find("\"lm_head.weight\""), std::string::npos);
  std::string Untied =
      graphOf(with(bartLike("bart"), {{"tie_word_embeddings", false}}));
  EXPECT_EQ(Untied.find("\"shared.weight\""), std::string::npos);
  EXPECT_NE(Untied.find("\"embed_tokens.weight\""), std::string::npos);
  EXPECT_NE(Untied.find("\"lm_head.weight\""), std::string::npos);
}

TEST_F(EncodersTest, BartRefuses) {
  std::vector<Refusal> Cases = {
      architecture("BartForSequenceClassification",
                   "BartForConditionalGeneration or BartModel"),
      {{{"normalize_embedding", false}},
       "field 'normalize_embedding' is false: expected true"},
      {{{"static_position_embeddings", true}},
       "field 'static_position_embeddings' is true: expected false"},
      {{{"extra_pos_embeddings", 0}},
       "field 'extra_pos_embeddings' is 0: expected 2"},
      {{{"num_hidden_layers", 6}},
       "field 'num_hidden_layers' is 6: expected 2, as 'encoder_layers' has"},
      {{{"is_encoder_decoder", false}},
       "field 'is_encoder_decoder' is false: expected true"},
      {{{"encoder_attention_heads", 5}},
       "field 'encoder_attention_heads' is 5: expected a divisor of d_model"},
      {{{"decoder_attention_heads", 5}},
       "field 'decoder_attention_heads' is 5: expected a divisor of d_model"},
      {{{"activation_function", "mish"}},
       std::string("field 'activation_function' is 'mish': ") +
           KnownActivations},
      unread("bart", "layer_norm_eps", 1e-6, "1e-06"),
      unread("bart", "is_decoder", true, "true"),
      unread("bart", "decoder_vocab_size", 53, "53")};
  for (const char *Key : {"add_bias_logits", "add_final_layer_norm",
                          "do_blenderbot_90_layernorm", "normalize_before"})
    Cases.push_back(
        {{{Key, true}},
         std::string("field '") + Key + "' is true: expected false"});
  expectRefusals(bartLike("bart"), Cases);
}

TEST_F(EncodersTest, MarianDefaults) {
  Json Base = bartLike("marian");
  expectDefaults(Base, {{"activation_function", "gelu", "swish"},
                        {"scale_embedding", false, true},
                        {"share_encoder_decoder_embeddings", true, false},
                        {"tie_word_embeddings", true, false}});
  expectDefaults(with(Base, {{"share_encoder_decoder_embeddings", false}}),
                 {{"decoder_vocab_size", nullptr, 53},
                  {"decoder_vocab_size", 97, 53},
                  {"tie_word_embeddings", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"normalize_embedding", false},
                                {"static_position_embeddings", true},
                                {"extra_pos_embeddings", 98},
                                {"add_bias_logits", false},
                                {"num_hidden_layers", 2}})),
            graphOf(Base));
  // Positions are computed, and nothing norms the embedding.
  EXPECT_EQ(graphOf(Base).find("embed_positions"), std::string::npos);
  EXPECT_EQ(graphOf(Base).find("layernorm_embedding"), std::string::npos);
}

TEST_F(EncodersTest, MarianRefuses) {
  expectRefusals(
      bartLike("marian"),
      {architecture("MarianForCausalLM", "MarianMTModel or MarianModel"),
       {{{"decoder_vocab_size", 53}},
        "field 'decoder_vocab_size' is 53: expected vocab_size, as the "
        "embeddings are shared"},
       {{{"normalize_embedding", true}},
        "field 'normalize_embedding' is true: expected false"},
       {{{"static_position_embeddings", false}},
        "field 'static_position_embeddings' is false: expected true"},
       {{{"add_final_layer_norm", true}},
        "field 'add_final_layer_norm' is true: expected false"},
       {{{"force_bos_token_to_be_generated", true}},
        "field 'force_bos_token_to_be_generated' is true: expected false"},
       unread("marian", "layer_norm_eps", 1e-6, "1e-06")});
}

//===----------------------------------------------------------------------===//
// How encoder-decoders generate
//===----------------------------------------------------------------------===//

class GenerationTest : public testing::Test {
protected:
  /// With `Own` as generation_config.json, if it is not null.
  Result<GenerationInfo> read(const Json &Settings, const Json &Own = nullptr,
                              const GenerationDefaults &Defaults = {
                                  true, {}, {}}) {
    Notes.clear();
    auto Config = tenon::Config::parse(Settings.dump(), "config.json");
    if (!Own.is_null())
      Config->setGeneration(
          *tenon::Config::parse(Own.dump(), "generation_config.json"));
    return readGeneration(*Config, 97, Defaults, Notes);
  }

  std::vector<std::string> Notes;
};

TEST_F(GenerationTest, NothingSaidIsGreedy) {
  auto Info = read(Json::object());
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_EQ(Info->Beams, 1);
  EXPECT_EQ(Info->LengthPenalty, 1);
  EXPECT_EQ(Info->Stops, sampling::EarlyStopping::No);
  EXPECT_FALSE(Info->Sample);
  EXPECT_EQ(Info->NoRepeatNgram, 0);
  EXPECT_EQ(Info->RepetitionPenalty, 1);
  EXPECT_EQ(Info->MinLength, 0);
  EXPECT_FALSE(Info->MaxLength || Info->MaxNewTokens);
  EXPECT_FALSE(Info->DecoderStart || Info->ForcedFirst || Info->ForcedLast);
  EXPECT_FALSE(Info->Renormalize);
  EXPECT_TRUE(Info->Suppressed.empty());
}

const Json Everything = {{"eos_token_id", 2},
                         {"decoder_start_token_id", 3},
                         {"forced_bos_token_id", 0},
                         {"forced_eos_token_id", 4},
                         {"num_beams", 4},
                         {"length_penalty", 2.0},
                         {"early_stopping", true},
                         {"no_repeat_ngram_size", 3},
                         {"repetition_penalty", 1.5},
                         {"min_length", 6},
                         {"min_new_tokens", 9},
                         {"min_p", 0.25},
                         {"typical_p", 0.5},
                         {"stop_strings", {"\n", "END"}},
                         {"max_length", 142},
                         {"max_new_tokens", 20},
                         {"renormalize_logits", true},
                         {"suppress_tokens", {7}},
                         {"bad_words_ids", {{96}, {5}, {2}, {2, 8}}}};

TEST_F(GenerationTest, ReadsEverySettingFromEitherFile) {
  for (bool IsOwn : {false, true}) {
    auto Info = IsOwn ? read(Json::object(), Everything) : read(Everything);
    ASSERT_TRUE(Info) << Info.error().message();
    EXPECT_EQ(Info->EndOfSequence, std::vector<int32_t>{2});
    EXPECT_EQ(Info->DecoderStart, 3);
    EXPECT_EQ(Info->ForcedFirst, 0);
    EXPECT_EQ(Info->ForcedLast, 4);
    EXPECT_EQ(Info->Beams, 4);
    EXPECT_EQ(Info->LengthPenalty, 2);
    EXPECT_EQ(Info->Stops, sampling::EarlyStopping::Yes);
    EXPECT_EQ(Info->NoRepeatNgram, 3);
    EXPECT_EQ(Info->RepetitionPenalty, 1.5);
    EXPECT_EQ(Info->MinLength, 6);
    EXPECT_EQ(Info->MinNewTokens, 9);
    EXPECT_EQ(Info->MinP, 0.25);
    EXPECT_EQ(Info->TypicalP, 0.5);
    EXPECT_EQ(Info->StopStrings, (std::vector<std::string>{"\n", "END"}));
    EXPECT_EQ(Info->BadWords, (std::vector<std::vector<int32_t>>{{2, 8}}))
        << "the end of sequence alone is none";
    EXPECT_EQ(Info->MaxLength, 142);
    EXPECT_EQ(Info->MaxNewTokens, 20);
    EXPECT_TRUE(Info->Renormalize);
    EXPECT_EQ(Info->Suppressed, (std::vector<int32_t>{7, 96, 5}));
    EXPECT_TRUE(Notes.empty());
  }
}

TEST_F(GenerationTest, TheOtherFileIsTheWholeTruth) {
  auto Info = read(Everything, Json::object(), {true, 5, 6});
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_EQ(Info->Beams, 1);
  EXPECT_EQ(Info->MinLength, 0);
  EXPECT_TRUE(Info->Suppressed.empty());
  EXPECT_FALSE(Info->ForcedFirst || Info->ForcedLast);
  // But for where sequences begin and end.
  EXPECT_EQ(Info->DecoderStart, 3);
  EXPECT_EQ(Info->EndOfSequence, std::vector<int32_t>{2});
}

TEST_F(GenerationTest, ClassesHaveDefaultsThatNullSwitchesOff) {
  GenerationDefaults Bart{true, 2, 2};
  auto Info = read(Json::object(), nullptr, Bart);
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_EQ(Info->DecoderStart, 2);
  EXPECT_EQ(Info->ForcedLast, 2);
  Info = read({{"forced_eos_token_id", nullptr}}, nullptr, Bart);
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_FALSE(Info->ForcedLast);
  // A default beyond the vocabulary is none.
  Info = read(Json::object(), nullptr, {true, 58100, 0});
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_FALSE(Info->DecoderStart);
  EXPECT_EQ(Info->ForcedLast, 0);
}

TEST_F(GenerationTest, DecodersOnlyReadEndsFromTheirConfig) {
  auto Info = read(Everything, nullptr, {});
  ASSERT_TRUE(Info) << Info.error().message();
  EXPECT_EQ(Info->EndOfSequence, std::vector<int32_t>{2});
  EXPECT_EQ(Info->Beams, 1);
  EXPECT_FALSE(Info->DecoderStart);
}

TEST_F(GenerationTest, NotesWhatItLeavesOut) {
  auto Notice = [&](const Json &Own) {
    auto Info = read(Json::object(), Own);
    EXPECT_TRUE(Info) << Info.error().message();
    return Notes;
  };
  const std::string Left = ": not used when generating";
  EXPECT_EQ(Notice({{"epsilon_cutoff", 0.5}}),
            std::vector<std::string>{"generation_config.json: field "
                                     "'epsilon_cutoff' is 0.5" +
                                     Left});
  EXPECT_EQ(Notice({{"diversity_penalty", 0.5}}),
            std::vector<std::string>{"generation_config.json: field "
                                     "'diversity_penalty' is 0.5" +
                                     Left});
  // In a config.json among other keys, which mean nothing here.
  ASSERT_TRUE(read({{"diversity_penalty", 0.5}, {"d_model", 64}}));
  EXPECT_EQ(Notes, std::vector<std::string>{
                       "config.json: field 'diversity_penalty' is 0.5" + Left});
  EXPECT_EQ(Notice({{"bad_words_ids", {{1, 97}}}}),
            std::vector<std::string>{
                "generation_config.json: field 'bad_words_ids' is an array: "
                "expected words of tokens of the vocabulary; others are left "
                "out"});
  // What is off, or says nothing about which token is taken.
  auto Never = read(Json::object(), {{"early_stopping", "never"}});
  ASSERT_TRUE(Never) << Never.error().message();
  EXPECT_EQ(Never->Stops, sampling::EarlyStopping::Never);
  auto Stop = read(Json::object(), {{"stop_strings", "END"}});
  ASSERT_TRUE(Stop) << Stop.error().message();
  EXPECT_EQ(Stop->StopStrings, std::vector<std::string>{"END"});
  EXPECT_TRUE(Notice({{"early_stopping", "never"},
                      {"num_return_sequences", 1},
                      {"num_beam_groups", 1},
                      {"typical_p", 1.0},
                      {"diversity_penalty", 0.0},
                      {"encoder_no_repeat_ngram_size", 0},
                      {"remove_invalid_values", false},
                      {"pad_token_id", 1},
                      {"bos_token_id", 0},
                      {"use_cache", true},
                      {"transformers_version", "4.40.0"}})
                  .empty());
}

TEST_F(GenerationTest, Refuses) {
  struct Case {
    Json Own;
    const char *Message;
  };
  for (const Case &C :
       {Case{{{"num_beams", 0}},
             "field 'num_beams' is 0: expected a whole number from 1 to 1024"},
        Case{{{"length_penalty", "long"}},
             "field 'length_penalty' is 'long': expected a finite number"},
        Case{{{"early_stopping", "often"}},
             "field 'early_stopping' is 'often': expected true, false or "
             "'never'"},
        Case{{{"min_p", 1.5}},
             "field 'min_p' is 1.5: expected a number from 0 to 1"},
        Case{{{"typical_p", -1}},
             "field 'typical_p' is -1: expected a number from 0 to 1"},
        Case{{{"min_new_tokens", -1}},
             "field 'min_new_tokens' is -1: expected a whole number from 0 to "
             "16777216"},
        Case{{{"stop_strings", {""}}},
             "field 'stop_strings' is an array: expected texts of at least one "
             "character"},
        Case{{{"early_stopping", 1}},
             "field 'early_stopping' is 1: expected true or false"},
        Case{{{"no_repeat_ngram_size", -1}},
             "field 'no_repeat_ngram_size' is -1: expected a whole number from "
             "0 to 16777216"},
        Case{{{"repetition_penalty", 0}},
             "field 'repetition_penalty' is 0: expected a number from 0.001 to "
             "1000"},
        Case{{{"max_length", 0}},
             "field 'max_length' is 0: expected a whole number from 1 to "
             "16777216"},
        Case{{{"forced_bos_token_id", 97}},
             "field 'forced_bos_token_id' is 97: expected a whole number from "
             "0 to 96"},
        Case{{{"decoder_start_token_id", -1}},
             "field 'decoder_start_token_id' is -1: expected a whole number "
             "from 0 to 96"},
        Case{{{"suppress_tokens", {97}}},
             "field 'suppress_tokens[0]' is 97: expected a whole number from 0 "
             "to 96"},
        Case{{{"bad_words_ids", {1}}},
             "field 'bad_words_ids[0]' is 1: expected an array"}}) {
    auto Info = read(Json::object(), C.Own);
    ASSERT_FALSE(Info) << C.Own;
    EXPECT_EQ(Info.error().message(),
              std::string("generation_config.json: ") + C.Message);
  }
}

TEST_F(EncodersTest, FamiliesHaveTheirGenerationDefaults) {
  auto Generation = [&](const Json &Settings) {
    auto Model = import(Settings);
    EXPECT_TRUE(Model) << Model.error().message();
    return Model ? Model->Generation : GenerationInfo();
  };
  GenerationInfo Info = Generation(bartLike("bart"));
  EXPECT_EQ(Info.DecoderStart, 2);
  EXPECT_EQ(Info.ForcedLast, 2);
  Info = Generation(with(bartLike("marian"), {{"vocab_size", 58101}}));
  EXPECT_EQ(Info.DecoderStart, 58100);
  EXPECT_EQ(Info.ForcedLast, 0);
  Info = Generation(t5());
  EXPECT_FALSE(Info.DecoderStart || Info.ForcedLast);
  Info = Generation(with(t5(), {{"decoder_start_token_id", 0}}));
  EXPECT_EQ(Info.DecoderStart, 0);
}

//===----------------------------------------------------------------------===//
// ViT
//===----------------------------------------------------------------------===//

Json vit() {
  return {{"model_type", "vit"},
          {"hidden_size", 60},
          {"intermediate_size", 88},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 3}};
}

TEST_F(EncodersTest, VitDefaults) {
  Json Base = vit();
  expectDefaults(Base, {{"image_size", 224, 192},
                        {"image_size", {224, 224}, {224, 192}},
                        {"patch_size", 16, 32},
                        {"patch_size", {16, 16}, {16, 8}},
                        {"num_channels", 3, 1},
                        {"hidden_act", "gelu", "relu"},
                        {"layer_norm_eps", 1e-12, 1e-6},
                        {"qkv_bias", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"encoder_stride", 8},
                                {"pooler_output_size", 7},
                                {"pooler_act", "relu"},
                                {"id2label", {{"0", "cat"}}}})),
            graphOf(Base));
}

TEST_F(EncodersTest, VitSizes) {
  struct Case {
    Json Changes;
    int64_t Sequence, Patch;
  };
  for (const Case &C :
       {Case{Json::object(), 197, 768},
        Case{{{"image_size", {48, 32}}, {"patch_size", 8}}, 25, 192},
        // Where patches do not fill the image, the rest is left out.
        Case{{{"image_size", {50, 33}}, {"patch_size", {8, 10}}}, 19, 240},
        Case{{{"image_size", 8}, {"patch_size", 8}, {"num_channels", 1}},
             2,
             64}}) {
    SCOPED_TRACE(C.Changes.dump());
    auto Model = import(with(vit(), C.Changes));
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ((*Model->Module)
                  ->getAttrOfType<IntegerAttr>(attr::MaxSequence)
                  .getInt(),
              C.Sequence);
    Model->Module->walk([&](InputFeaturesOp Op) {
      EXPECT_EQ(cast<RankedTensorType>(Op.getType()).getDimSize(1), C.Patch);
    });
  }
}

TEST_F(EncodersTest, VitAnswers) {
  Json Base = with(vit(), {{"id2label", {{"0", "cat"}, {"1", "dog"}}}});
  EXPECT_EQ(answerOf(Base),
            (Answer{"hidden", 60, Activation::None, both("layernorm")}));
  EXPECT_EQ(answerOf(as(Base, "ViTModel")),
            (Answer{"hidden", 60, Activation::None, both("layernorm")}));
  Json Classes = as(Base, "ViTForImageClassification");
  EXPECT_EQ(answerOf(Classes),
            (Answer{"classes", 2, Activation::None,
                    all({both("vit.layernorm"), both("classifier")})}));
  auto Model = import(Classes);
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->Labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST_F(EncodersTest, VitRefuses) {
  const char *Known = "ViTModel or ViTForImageClassification";
  expectRefusals(
      vit(),
      {architecture("ViTForMaskedImageModeling", Known),
       {{{"architectures", {"ViTForImageClassification"}},
         {"id2label", Json::object()}},
        "field 'id2label' is an object: expected names of classes 0, 1, ..."},
       {{{"image_size", {1, 2, 3}}},
        "field 'image_size' is an array: expected a side, or height and width"},
       {{{"image_size", 0}},
        "field 'image_size' is 0: expected a whole number from 1 to 16384"},
       {{{"image_size", {32, 0}}},
        "field 'image_size[1]' is 0: expected a whole number from 1 to 16384"},
       {{{"patch_size", 225}},
        "field 'patch_size' is 225: expected at most image_size"},
       {{{"num_channels", 2}}, "field 'num_channels' is 2: expected 1 or 3"},
       {{{"hidden_size", 61}},
        "field 'hidden_size' is 61: expected a multiple of the 3 attention "
        "heads"},
       unread("vit", "hidden_activation", "relu", "'relu'"),
       unread("vit", "use_mask_token", true, "true")});
}

} // namespace
