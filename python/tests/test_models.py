"""Encoders, encoder-decoders, vision, tokenizers, sessions, descriptions."""

import concurrent.futures
import json

import numpy as np
import pytest
import tenon
from conftest import FIXTURES

WORDS = ["a b c", "x y z w", "a", "q w e r t y u i o p a s d f g h j k l z x"]


def test_embed(sentences):
    model = tenon.load(sentences, threads=1)
    assert model.kind == "encoder"
    seen = []
    rows = model.embed(WORDS, progress=lambda done, all: seen.append((done, all)))
    assert rows.dtype == np.float32 and rows.shape == (4, 72)
    assert seen[-1] == (4, 4)
    for text, row in zip(WORDS, rows):
        assert np.array_equal(model.embed(text), row), "as alone"
    # Longer texts are cut as the tokenizer cuts them: 14 words and 2 tokens.
    cut = " ".join(WORDS[3].split()[:14])
    assert np.array_equal(model.embed(cut), rows[3])
    assert model.embed([]).shape == (0, 72)
    with pytest.raises(tenon.InvalidArgument, match="gives no classes"):
        model.classify("a")


def test_embed_is_the_mean_of_hidden_states(sentences):
    model = tenon.load(sentences, threads=1)
    hidden = model.encode("a b c")
    assert hidden.shape == (5, 72)
    assert np.allclose(hidden.mean(axis=0), model.embed("a b c"), atol=1e-6)
    several = model.encode(["a b c", "a"])
    assert np.array_equal(several[0], hidden) and several[1].shape == (3, 72)


def test_encode_agrees_with_transformers(fixture):
    folder = FIXTURES / "bert-gelu"
    model = tenon.load(fixture("bert-gelu"))
    hidden = model.encode(np.load(folder / "input_ids.npy"),
                          token_types=np.load(folder / "token_type_ids.npy"))
    reference = np.load(folder / "hidden.npy")
    assert np.abs(hidden - reference).max() < 1e-5 * np.abs(reference).max()


def test_classify_texts(fixture):
    folder = FIXTURES / "bert-classes"
    model = tenon.load(fixture("bert-classes"))
    tokens = np.load(folder / "input_ids.npy")
    types = np.load(folder / "token_type_ids.npy")
    reference = np.load(folder / "classes.npy").reshape(-1)
    labels = model.classify(tokens, token_types=types, top=None)
    assert [l.index for l in labels] == np.argsort(-reference).tolist()
    for label in labels:
        assert label.score == pytest.approx(reference[label.index], abs=1e-4)
    assert sum(l.probability for l in labels) == pytest.approx(1)
    assert len(model.classify([tokens, tokens], top=1)[1]) == 1
    with pytest.raises(tenon.InvalidArgument, match="expected classify"):
        model.encode(tokens)
    with pytest.raises(tenon.InvalidArgument, match="for one text"):
        model.classify([tokens, tokens], token_types=types)


def test_classify_images(fixture):
    folder = FIXTURES / "vit-pictures"
    model = tenon.load(fixture("vit-pictures"))
    assert model.kind == "vision"
    reference = np.load(folder / "classes.npy")
    png, jpeg = model.classify([folder / "image.png", folder / "image.jpeg"],
                               top=None)
    one = model.classify(str(folder / "image.png"))
    assert one == png[:5]
    scores = sorted(reference.reshape(-1, len(png))[0], reverse=True)
    pixels = model.classify(np.load(folder / "png_values.npy").reshape(
        3, 24, 24), top=None)
    assert [l.score for l in pixels] == pytest.approx([l.score for l in png],
                                                      abs=1e-3)
    assert any(np.allclose([l.score for l in answer], scores, atol=1e-3)
               for answer in (png, jpeg))
    assert one[0].name == f"LABEL_{one[0].index}"
    assert model.image_features(folder / "image.png").shape == (1, 7)
    with pytest.raises(tenon.InvalidArgument, match="expected \\(3, 24, 24\\)"):
        model.classify(np.zeros((3, 2, 2)))
    with pytest.raises(tenon.InvalidArgument, match="expected \\[channels"):
        model.classify(np.zeros((24, 24)))
    with pytest.raises(tenon.InvalidArgument, match="expected a path or pixels"):
        model.image_features([["a"]])
    with pytest.raises(tenon.InvalidArgument, match="top is -1"):
        model.classify(folder / "image.png", top=-1)
    with pytest.raises(tenon.NotFound):
        model.classify("no-such.png")


def test_images_in_prompts(fixture):
    folder = FIXTURES / "llava-pictures"
    model = tenon.load(fixture("llava-pictures"), threads=1)
    assert model.kind == "decoder"
    token = json.loads((folder / "config.json").read_text())[
        "image_token_index"]
    # One token for each image in the place of its 16 rows.
    prompt, rows = [], 0
    for each in np.load(folder / "input_ids.npy").tolist():
        rows = (rows or 16) - 1 if each == token else 0
        if each != token or rows == 15:
            prompt.append(each)
    pictures = [folder / "image.png", str(folder / "image.jpeg")]
    values = [np.load(folder / f"{kind}_values.npy") for kind in
              ("png", "jpeg")]
    wish = {"temperature": 0, "max_new_tokens": 16, "ignore_eos": True}
    expected = np.load(folder / "image_greedy.npy").tolist()
    for images in pictures, values:
        answer = model.generate(prompt, images=images, **wish)
        assert answer.choices[0].token_ids == expected
    assert answer.usage.prompt_tokens == len(prompt) + 30
    for images, wrong in (((), "for each of 0 images"),
                          (pictures[:1], "for each of 1 images"),
                          ([np.zeros((3, 2, 2))] * 2,
                           "expected \\(3, 24, 24\\)")):
        with pytest.raises(tenon.InvalidArgument, match=wrong):
            model.generate(prompt, images=images, **wish)


def test_translate(fixture):
    folder = FIXTURES / "t5-published"
    model = tenon.load(fixture("t5-published"))
    assert model.kind == "encoder-decoder"
    source = np.load(folder / "input_ids.npy")
    answer = model.generate(source, max_new_tokens=8, num_beams=1)
    assert 1 <= len(answer.token_ids) <= 8
    beams = model.generate([source, source], max_new_tokens=8, num_beams=3)
    assert beams[0].token_ids == beams[1].token_ids
    with pytest.raises(tenon.NotFound, match="tokenizer"):
        model.translate("a text")


def test_translate_gives_texts(fixture, sentences, model):
    with pytest.raises(tenon.InvalidArgument, match="does not translate"):
        model.translate("a")


def test_sessions(model):
    tokens = model.tokenizer.encode("In the beginning God")
    whole = model.logits(tokens)
    assert whole.shape == (len(tokens), model.vocabulary_size)
    assert not whole.flags.owndata and not whole.flags.writeable
    session = tenon.Session(model, threads=1, cache_tokens=512)
    first, second = session.sequence(), session.sequence()
    assert first.append(tokens[:2], rows="none").shape[0] == 0
    fork = first.fork()
    rows = session.step([(first, tokens[2:]), (second, tokens[:2])])
    kept = rows[0].copy()
    assert len(first) == len(tokens) and len(fork) == 2
    assert np.allclose(rows[0][-1], whole[-1], atol=1e-3)
    last = fork.append(tokens[2:], rows="last")
    assert np.array_equal(rows[0], kept), "what was answered stays"
    assert np.allclose(last[0], kept[0], atol=1e-3)
    first.truncate(2)
    assert len(first) == 2
    first.end()
    first.end()
    session.cancel()  # nothing runs
    with pytest.raises(tenon.InvalidArgument):
        second.append([model.vocabulary_size])
    with pytest.raises(tenon.NotFound):
        len(first)
    other = tenon.Session(model, threads=1, cache_tokens=64)
    with pytest.raises(tenon.InvalidArgument, match="of another session"):
        other.step([(second, [1])])
    with pytest.raises(tenon.InvalidArgument, match="rows is 'first'"):
        second.append([1], rows="first")


def test_sequences_that_are_dropped_in_a_step(model):
    """The collector may drop one in any thread, also while a step runs."""
    session = tenon.Session(model, threads=1, cache_tokens=512)
    first, dropped = session.sequence(), [session.sequence()]
    native, calls = session._native, []

    class Watched:
        def __getattr__(self, name):
            calls.append(name)
            return getattr(native, name)

        def run(self, *arguments):
            calls.append("run")
            dropped.clear()
            answer = native.run(*arguments)
            calls.append("ran")
            return answer

    session._native = Watched()
    first.append([1, 2])
    assert calls == ["run", "ran"]
    assert len(first) == 2
    assert calls[2:] == ["end_sequence", "length"]


def test_threads_take_turns_in_a_session(model):
    session = tenon.Session(model, threads=1, cache_tokens=512)
    expected = session.sequence().append([1, 2, 3])

    def run():
        for _ in range(10):
            sequence = session.sequence()
            assert np.array_equal(sequence.append([1, 2, 3]), expected)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(run) for _ in range(4)]:
            done.result(60)


def test_sampler(model):
    sampler = tenon.Sampler(model, temperature=0)
    row = model.logits("In the beginning")[-1]
    assert sampler.pick(row) == int(row.argmax())
    drawn = tenon.Sampler(model, tenon.Settings(temperature=2.0, seed=9))
    picks = [drawn.pick(row, position=p) for p in range(40)]
    assert [drawn.pick(row, position=p) for p in range(40)] == picks
    assert len(set(picks)) > 1
    with pytest.raises(tenon.InvalidArgument, match="expected one row"):
        sampler.pick(np.stack([row, row]))


def test_tokenizer(model):
    text = "In the beginning, naïve 🙂"
    tokens = model.tokenizer.encode(text)
    assert model.tokenizer.decode(tokens) == text
    assert "".join(model.tokenizer.decode_stream(tokens)) == text
    assert len(model.tokenizer.encode(text, max_tokens=3)) == 3
    plain = model.tokenizer.encode(text, special_tokens=False)
    assert plain == tokens[-len(plain):]
    assert model.tokenizer.decode(np.array(tokens)) == text
    count = model.vocabulary_size
    for decode in (model.tokenizer.decode,
                   lambda ids: list(model.tokenizer.decode_stream(ids))):
        with pytest.raises(tenon.InvalidArgument,
                           match=f"token id {count} is no token: expected one"
                                 f" of the vocabulary's {count}"):
            decode([count])
    with pytest.raises(tenon.InvalidArgument, match="text is 3"):
        model.tokenizer.encode(3)
    with pytest.raises(tenon.InvalidArgument, match="max_tokens is -1"):
        model.tokenizer.encode(text, max_tokens=-1)


def test_describe(model, example):
    facts = model.describe()
    assert facts["file"] == example
    assert facts["model"]["family"] == "llama"
    assert facts["model"]["max_sequence"] == model.max_length
    assert facts["model"]["vocabulary"] == model.vocabulary_size
    assert repr(model) == f"<tenon.Model {example!r}: llama, decoder>"
    assert model.kind == "decoder"


def test_what_a_model_lacks(model, sentences):
    with pytest.raises(tenon.InvalidArgument, match="no embeddings: it has"):
        model.embed("a")
    with pytest.raises(tenon.InvalidArgument, match="no outputs of texts"):
        model.encode("a")
    with pytest.raises(tenon.InvalidArgument, match="no features of images"):
        model.image_features("a.png")
    encoder = tenon.load(sentences)
    with pytest.raises(tenon.NotFound, match="step"):
        encoder.generate("a")
    with pytest.raises(tenon.NotFound):
        encoder.chat("a")


def test_close(example):
    model = tenon.load(example)
    request = model.stream("And the", max_new_tokens=300, ignore_eos=True)
    model.close()
    with pytest.raises(tenon.Cancelled):
        request.result(60)
    assert model.generate("a", max_new_tokens=2).token_ids, "used again"
    model.close()
