"""Every family: steps cut otherwise, and ragged batches, change nothing.

steps.py TENON WORK TARGET FIXTURE|FAMILY...

Through the C interface, f32, EQUIVALENCE_TOLERANCE. One fixture of each family
is compiled once. A decoder's whole prompt is what chunks (by code for few and
for many tokens), single tokens, and the same sequence among others in one
ragged batch are compared with; for an encoder-decoder this is the decoder's
text after its source. Texts of an encoder are compared with each alone.
"""

import sys

import numpy

import library
import support

CHUNKS = (1, 5, 13)
# What other sequences of a batch hold, as rotations of the prompt.
OTHERS = ((3, 4), (11, 9), (7, 1))


class Steps:
    def __init__(self, test, fixture, artifact):
        self.test = test
        self.fixture = fixture
        self.session = library.Session(
            test.bin.parent / "runtime" / "CApi" / "libtenon.so", artifact,
            1024)
        self.source = None

    def close(self, values, expected, what):
        what = f"{self.fixture.name}: {what}"
        if isinstance(values, str) or values.shape != expected.shape:
            self.test.check(False, f"{what}: {values!r}"[:300])
            return
        error = support.largest_error(values, expected)
        self.test.check(error <= support.EQUIVALENCE_TOLERANCE,
                        f"{what}: largest error {error:.2e}, at most "
                        f"{support.EQUIVALENCE_TOLERANCE:.0e}")

    def sequence(self, rotation=0):
        """A new sequence, after a source text if the model takes one."""
        sequence = self.session.create()
        if self.source is not None:
            self.session.encode_source(
                sequence, numpy.roll(self.source, rotation)[rotation % 5:])
        return sequence

    def decoder(self, tokens, source=None):
        self.source = source
        whole, = self.session.step((self.sequence(), tokens))
        for size in CHUNKS:
            sequence = self.sequence()
            parts = [self.session.step((sequence, tokens[i:i + size]))[0]
                     for i in range(0, len(tokens), size)]
            if any(isinstance(part, str) for part in parts):
                self.test.check(False, f"{self.fixture.name}: {parts}"[:300])
                continue
            self.close(numpy.concatenate(parts), whole, f"chunks of {size}")
        texts = [numpy.roll(tokens, by)[:count] for by, count in OTHERS]
        alone = [self.session.step((self.sequence(by), text))[0]
                 for (by, _), text in zip(OTHERS, texts)]
        items = [(self.sequence(by), text)
                 for (by, _), text in zip(OTHERS, texts)]
        items.insert(1, (self.sequence(), tokens))
        answers = self.session.step(*items)
        for count, values, expected in zip(
                [len(tokens), *(len(t) for t in texts)],
                [answers.pop(1), *answers], [whole, *alone]):
            self.close(values, expected, f"{count} tokens among four")

    def encoder(self, tokens, types):
        lengths = [1, 9, len(tokens), 2]
        texts = [(0, numpy.roll(tokens, 3 * i)[:n],
                  None if types is None else numpy.roll(types, i)[:n])
                 for i, n in enumerate(lengths)]
        alone = [self.session.run(library.ENCODE, text)[0] for text in texts]
        for length, values, expected in zip(
                lengths, self.session.run(library.ENCODE, *texts), alone):
            self.close(values, expected, f"{length} tokens among four")

    def run(self):
        kind, tokens = self.fixture.kind, self.fixture.tokens
        with self.session:
            if kind == "logits":
                self.decoder(tokens)
            elif kind == "seq2seq":
                self.decoder(self.fixture.decoder_tokens, tokens)
            else:
                self.encoder(tokens, self.fixture.types)


def main():
    target = sys.argv[3]
    test = support.Test(sys.argv[1:3] + sys.argv[4:])
    if target != "native" and not support.runnable(target,
                                                   test.native_level()):
        test.skip(target, "this machine cannot run it")
        return
    for fixture in support.first_of_each(support.fixtures(test.names)):
        # Images are given to whole prompts, not to steps.
        if fixture.kind in ("image", "image_logits"):
            continue
        artifact = test.compile(fixture.path, fixture.name, "--dtype", "f32",
                                "--target-cpu", target, *fixture.options)
        Steps(test, fixture, artifact).run()
        artifact.unlink()
    test.finish()


if __name__ == "__main__":
    main()
