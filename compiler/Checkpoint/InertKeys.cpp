//===- InertKeys.cpp - Settings that never change a forward pass ----------===//
//
// What is not listed here must be read by whoever imports the model, or is
// refused. A listed key that does matter to one family is read by that family
// and then never looked up here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/Config.h"

#include <algorithm>
#include <span>

using namespace tenon;

namespace {

/// Where the file comes from and which Python class or kernel would run it.
/// The importer goes by model_type; auto_map and custom_pipelines name code
/// that is never run, so they change nothing once the model_type is one that
/// is known. The stored type of each tensor is read from the weights. What
/// other programs than Transformers keep here (transformers.js_config) is
/// theirs.
constexpr std::string_view Provenance[] = {"architectures",
                                           "attn_implementation",
                                           "auto_map",
                                           "custom_pipelines",
                                           "dtype",
                                           "finetuning_task",
                                           "is_llama_config",
                                           "language",
                                           "name",
                                           "name_or_path",
                                           "tokenizer_class",
                                           "tokenizer_name",
                                           "torch_dtype",
                                           "transformers.js_config",
                                           "transformers_version",
                                           "unsloth_fixed",
                                           "unsloth_version"};

/// Starting values, losses, memory and steps of training. pretraining_tp splits
/// matmuls into slices of the same sum.
constexpr std::string_view Training[] = {"gradient_checkpointing",
                                         "init_std",
                                         "initializer_factor",
                                         "initializer_range",
                                         "label_smoothing",
                                         "neftune_noise_alpha",
                                         "num_steps",
                                         "pretraining_tp",
                                         "router_aux_loss_coef",
                                         "router_z_loss_coef",
                                         "save_step",
                                         "tf_legacy_loss",
                                         "total_flos",
                                         "use_reentrant_checkpointing"};

/// Dropout: off whenever a model is evaluated. Only as a rate.
constexpr std::string_view Dropout[] = {"activation_dropout",
                                        "attention_dropout",
                                        "attention_probs_dropout_prob",
                                        "attn_pdrop",
                                        "classifier_dropout",
                                        "decoder_layerdrop",
                                        "encoder_layerdrop",
                                        "dropout",
                                        "dropout_rate",
                                        "embd_pdrop",
                                        "embedding_dropout",
                                        "hidden_dropout",
                                        "hidden_dropout_prob",
                                        "layerdrop",
                                        "resid_pdrop",
                                        "residual_dropout",
                                        "summary_first_dropout"};

/// Which of the computed values Python hands back, and in what container;
/// whether it keeps a cache; how it cuts the feed-forward into chunks.
constexpr std::string_view Outputs[] = {"chunk_size_feed_forward",
                                        "keys_to_ignore_at_inference",
                                        "output_attentions",
                                        "output_hidden_states",
                                        "output_past",
                                        "output_router_logits",
                                        "output_scores",
                                        "return_dict",
                                        "return_dict_in_generate",
                                        "torchscript",
                                        "use_cache",
                                        "use_return_dict"};

/// Ids with a meaning outside of the layers: where to stop, what to pad with.
/// A family that derives positions from the padding id reads it.
constexpr std::string_view TokenIds[] = {
    "bos_token_id",  "cls_token_id", "decoder_start_token_id", "eos_token_id",
    "mask_token_id", "pad_token_id", "sep_token_id",           "unk_token_id"};

/// Names of classes; the size of a classification head is its weight's.
constexpr std::string_view Labels[] = {"id2label", "label2id", "num_labels",
                                       "problem_type"};

/// How tokens are chosen from logits: older files keep it here. What counts
/// is generation_config.json.
constexpr std::string_view Generation[] = {"bad_words_ids",
                                           "begin_suppress_tokens",
                                           "diversity_penalty",
                                           "do_sample",
                                           "early_stopping",
                                           "encoder_no_repeat_ngram_size",
                                           "exponential_decay_length_penalty",
                                           "forced_bos_token_id",
                                           "forced_eos_token_id",
                                           "length_penalty",
                                           "max_length",
                                           "min_length",
                                           "no_repeat_ngram_size",
                                           "num_beam_groups",
                                           "num_beams",
                                           "num_return_sequences",
                                           "prefix",
                                           "remove_invalid_values",
                                           "repetition_penalty",
                                           "suppress_tokens",
                                           "task_specific_params",
                                           "temperature",
                                           "top_k",
                                           "top_p",
                                           "typical_p"};

/// Of heads that answer multiple-choice questions, which no importer reads.
constexpr std::string_view Summaries[] = {
    "summary_activation", "summary_last_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj"};

/// Left over from the first BERT and LLaMA code, which nothing reads any more.
constexpr std::string_view Leftovers[] = {
    "max_sequence_length", "pooler_fc_size", "pooler_num_attention_heads",
    "pooler_num_fc_layers", "pooler_size_per_head"};

/// Features that change the result when on; inert only as false or empty.
constexpr std::string_view OnlyWhenOff[] = {"add_cross_attention",
                                            "attention_bias",
                                            "is_decoder",
                                            "is_encoder_decoder",
                                            "mlp_bias",
                                            "pruned_heads",
                                            "rope_interleaved",
                                            "tie_encoder_decoder",
                                            "use_bfloat16",
                                            "use_mrope"};

/// Below sentence_transformers: what its cross-encoders do with the logits that
/// the model gives.
constexpr std::string_view BehindLogits[] = {"activation_fn", "version"};

bool isIn(std::span<const std::string_view> Group, std::string_view Key) {
  return std::find(Group.begin(), Group.end(), Key) != Group.end();
}

} // namespace

bool tenon::isInertKey(std::string_view Key, const Json &Value) {
  // Null says that whatever the key names is not set.
  if (Value.is_null())
    return true;
  // Python's private state, which the classes that write it set anew. Families
  // read the few that say how the model is built.
  if (Key.starts_with('_'))
    return true;
  if (isIn(Dropout, Key))
    return Value.is_number();
  if (isIn(OnlyWhenOff, Key))
    return Value == false || (Value.is_structured() && Value.empty());
  if (Key == "sentence_transformers")
    return Value.is_object() &&
           std::all_of(
               Value.items().begin(), Value.items().end(),
               [](const auto &Each) { return isIn(BehindLogits, Each.key()); });
  if (Key == "directionality") // One of the leftovers.
    return Value == "bidi";
  if (Key == "pooler_type")
    return Value == "first_token_transform";
  return isIn(Provenance, Key) || isIn(Training, Key) || isIn(Outputs, Key) ||
         isIn(TokenIds, Key) || isIn(Labels, Key) || isIn(Generation, Key) ||
         isIn(Summaries, Key) || isIn(Leftovers, Key);
}
