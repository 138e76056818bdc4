"""Small checkpoints of random weights, of any depth, in Hugging Face's form."""

import json

import numpy

HIDDEN, HEADS, FFN, VOCABULARY, POSITIONS = 48, 4, 64, 61, 64


def read_safetensors(path):
    """The tensors of a file by name: (dtype, shape, bytes)."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"],
                         data[end + first:end + last])
    return tensors


def write_safetensors(path, tensors):
    """Writes what `read_safetensors` gives."""
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, data in tensors.values():
            file.write(data)


def write_model(path, config, shapes):
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config, indent=1))
    random = numpy.random.default_rng(len(shapes))
    write_safetensors(path / "model.safetensors", {
        name: ("F32", shape,
               (random.standard_normal(shape) / shape[-1] ** 0.5)
               .astype(numpy.float32).tobytes())
        for name, shape in shapes.items()})
    return path


def llama(path, layers):
    """A LLaMA with half as many key-value heads as heads."""
    half = HIDDEN // 2
    shapes = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN),
              "model.norm.weight": (HIDDEN,),
              "lm_head.weight": (VOCABULARY, HIDDEN)}
    for layer in range(layers):
        for name, shape in {
                "input_layernorm": (HIDDEN,),
                "post_attention_layernorm": (HIDDEN,),
                "self_attn.q_proj": (HIDDEN, HIDDEN),
                "self_attn.k_proj": (half, HIDDEN),
                "self_attn.v_proj": (half, HIDDEN),
                "self_attn.o_proj": (HIDDEN, HIDDEN),
                "mlp.gate_proj": (FFN, HIDDEN),
                "mlp.up_proj": (FFN, HIDDEN),
                "mlp.down_proj": (HIDDEN, FFN)}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    return write_model(path, {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "attention_bias": False, "mlp_bias": False, "hidden_act": "silu",
        "hidden_size": HIDDEN, "intermediate_size": FFN,
        "max_position_embeddings": POSITIONS,
        "num_attention_heads": HEADS, "num_hidden_layers": layers,
        "num_key_value_heads": HEADS // 2, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "tie_word_embeddings": False,
        "torch_dtype": "float32", "vocab_size": VOCABULARY}, shapes)


IMAGE_TOKEN, IMAGE_SIDE, IMAGE_ROWS = 8192, 32, 16
# Images first, whatever their place, as many models of images have it.
IMAGE_TEMPLATE = """{% for message in messages %}[{{ message.role }}] \
{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}\
{{ '<image>\n' }}{% endfor %}\
{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}\
{{ part['text'] }}{% endfor %}
{% endfor %}[assistant]"""


def llava(path, example, template=IMAGE_TEMPLATE, near=None):
    """A checkpoint of a LLaMA with a CLIP tower of random weights: an image of 32
    x 32 pixels is 16 tokens, whose id is the one behind the vocabulary. Without
    `template` it keeps its own. Rows of images lie around the embedding of the
    token `near`, so that a trained model makes sense of them."""
    config = json.loads((example / "config.json").read_text())
    image_token = config["vocab_size"]
    wide, width, ffn, layers, patch = config["hidden_size"], 24, 40, 2, 8
    tower = "vision_tower.vision_model."
    shapes = {f"{tower}embeddings.class_embedding": (width,),
              f"{tower}embeddings.patch_embedding.weight":
                  (width, 3, patch, patch),
              f"{tower}embeddings.position_embedding.weight":
                  (IMAGE_ROWS + 1, width),
              "multi_modal_projector.linear_1.weight": (wide, width),
              "multi_modal_projector.linear_1.bias": (wide,),
              "multi_modal_projector.linear_2.weight": (wide, wide),
              "multi_modal_projector.linear_2.bias": (wide,)}
    norms = ["pre_layrnorm", "post_layernorm"]
    linears = {}
    for layer in range(layers):
        inner = f"encoder.layers.{layer}."
        norms += [inner + "layer_norm1", inner + "layer_norm2"]
        for name in "qkv":
            linears[f"{inner}self_attn.{name}_proj"] = (width, width)
        linears[f"{inner}self_attn.out_proj"] = (width, width)
        linears[f"{inner}mlp.fc1"] = (ffn, width)
        linears[f"{inner}mlp.fc2"] = (width, ffn)
    for name in norms:
        shapes |= {f"{tower}{name}.weight": (width,),
                   f"{tower}{name}.bias": (width,)}
    for name, shape in linears.items():
        shapes |= {f"{tower}{name}.weight": shape,
                   f"{tower}{name}.bias": shape[:1]}
    write_model(path, {
        "architectures": ["LlavaForConditionalGeneration"],
        "model_type": "llava", "image_token_index": image_token,
        "text_config": {**config, "vocab_size": image_token + 1},
        "vision_config": {
            "model_type": "clip_vision_model", "hidden_size": width,
            "intermediate_size": ffn, "num_hidden_layers": layers,
            "num_attention_heads": 2, "image_size": IMAGE_SIDE,
            "patch_size": patch}}, shapes)
    weights = path / "model.safetensors"
    tensors = read_safetensors(weights)
    for name, (dtype, shape, data) in read_safetensors(
            example / "model.safetensors").items():
        if name == "model.embed_tokens.weight":
            row = len(data) // shape[0]
            shape, data = [image_token + 1, shape[1]], data + bytes(row)
        tensors[f"language_model.{name}"] = dtype, shape, data
    tokenizer = json.loads((example / "tokenizer.json").read_text())
    if near:
        weight, bias = (f"multi_modal_projector.linear_2.{part}"
                        for part in ("weight", "bias"))
        token = tokenizer["model"]["vocab"][near]
        embedding = tensors["language_model.model.embed_tokens.weight"][2]
        tensors[bias] = "F32", [wide], embedding[4 * wide * token:][:4 * wide]
        small = 0.02 * numpy.frombuffer(tensors[weight][2], numpy.float32)
        tensors[weight] = "F32", [wide, wide], small.tobytes()
    write_safetensors(weights, tensors)
    (path / "preprocessor_config.json").write_text(json.dumps({
        "image_processor_type": "CLIPImageProcessor", "do_resize": True,
        "size": {"shortest_edge": IMAGE_SIDE}, "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": IMAGE_SIDE, "width": IMAGE_SIDE},
        "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
        "image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]}))
    tokenizer["added_tokens"].append({
        **tokenizer["added_tokens"][0], "id": image_token,
        "content": "<image>"})
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name in "tokenizer_config.json", "generation_config.json":
        (path / name).write_text((example / name).read_text())
    if template:
        (path / "chat_template.jinja").write_text(template)
    return path


def bert(path, layers, positions=POSITIONS, vocabulary=VOCABULARY, prefix="",
         head=(), **settings):
    """A BERT; `head` has more matrices: names, outputs and inputs."""
    shapes = {"embeddings.word_embeddings.weight": (vocabulary, HIDDEN),
              "embeddings.position_embeddings.weight": (positions, HIDDEN),
              "embeddings.token_type_embeddings.weight": (2, HIDDEN)}

    def norm(name):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (HIDDEN,)

    def linear(name, outputs, inputs):
        shapes[name + ".weight"] = (outputs, inputs)
        shapes[name + ".bias"] = (outputs,)

    norm("embeddings.LayerNorm")
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        for part in "query", "key", "value":
            linear(f"{name}.attention.self.{part}", HIDDEN, HIDDEN)
        linear(f"{name}.attention.output.dense", HIDDEN, HIDDEN)
        norm(f"{name}.attention.output.LayerNorm")
        linear(f"{name}.intermediate.dense", FFN, HIDDEN)
        linear(f"{name}.output.dense", HIDDEN, FFN)
        norm(f"{name}.output.LayerNorm")
    shapes = {prefix + name: shape for name, shape in shapes.items()}
    for matrix in head:
        linear(*matrix)
    return write_model(path, {
        "architectures": ["BertModel"], "model_type": "bert",
        "hidden_act": "gelu", "hidden_size": HIDDEN,
        "intermediate_size": FFN, "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions, "num_attention_heads": HEADS,
        "num_hidden_layers": layers, "type_vocab_size": 2,
        "pad_token_id": 0, "torch_dtype": "float32",
        "vocab_size": vocabulary, **settings}, shapes)


def cross_encoder(path, positions, vocabulary=VOCABULARY):
    """A BERT that gives a pair of texts one score."""
    return bert(path, 2, positions, vocabulary, "bert.", [
        ("bert.pooler.dense", HIDDEN, HIDDEN), ("classifier", 1, HIDDEN)],
        architectures=["BertForSequenceClassification"],
        id2label={"0": "LABEL_0"})


def word_tokenizer(path):
    """One word of the vocabulary for each of its ids."""
    vocabulary = {"[PAD]": 0, "[UNK]": 1}
    for number in range(2, VOCABULARY):
        vocabulary[f"w{number}"] = number
    (path / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary,
                  "unk_token": "[UNK]"}}))


def pair_tokenizer(path, vocabulary):
    """Words of a vocabulary with BERT's special tokens, texts and pairs."""
    def special(token, kind):
        return {"SpecialToken": {"id": token, "type_id": kind}}

    first = [special("[CLS]", 0), {"Sequence": {"id": "A", "type_id": 0}},
             special("[SEP]", 0)]
    second = [{"Sequence": {"id": "B", "type_id": 1}}, special("[SEP]", 1)]
    (path / "tokenizer.json").write_text(json.dumps({
        "version": "1.0",
        "added_tokens": [
            {"id": vocabulary[token], "content": token, "special": True,
             "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False}
            for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing", "single": first,
            "pair": first + second, "special_tokens": {
                token: {"id": token, "ids": [vocabulary[token]],
                        "tokens": [token]} for token in ("[CLS]", "[SEP]")}},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary,
                  "unk_token": "[UNK]"}}))


def sentence_bert(path, positions, vocabulary=VOCABULARY):
    """A BERT whose rows are averaged."""
    bert(path, 2, positions, vocabulary)
    word_tokenizer(path)
    kinds = "sentence_transformers.models."
    (path / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": kinds + "Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling",
         "type": kinds + "Pooling"}]))
    (path / "1_Pooling").mkdir()
    (path / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": HIDDEN,
         "pooling_mode_mean_tokens": True}))
    return path
