"""Several sequences in one ragged batch against each alone.

ragged.py TENON WORK

Through the C interface. Decoders in f32, EQUIVALENCE_TOLERANCE, with lengths
around the sizes of blocks and pages; what is encoded has the very bits that it
has alone. Errors of one item must leave the others alone.
"""

import sys

import numpy

import library
import support

LENGTHS = [1, 2, 3, 63, 64, 65]


class Ragged:
    def __init__(self, test):
        self.test = test
        self.library = test.bin.parent / "runtime" / "CApi" / "libtenon.so"

    def session(self, artifact, cache_tokens):
        return library.Session(self.library, artifact, cache_tokens)

    def close(self, values, reference, what):
        """Checks rows of output, or reports the item's error."""
        if isinstance(values, str):
            self.test.check(False, f"{what}: {values}")
            return
        if values.shape != reference.shape:
            self.test.check(False, f"{what}: shape {values.shape}, expected "
                                   f"{reference.shape}")
            return
        error = support.largest_error(values, reference)
        self.test.check(
            error <= support.EQUIVALENCE_TOLERANCE,
            f"{what}: largest error {error:.2e}, at most "
            f"{support.EQUIVALENCE_TOLERANCE:.0e}")

    def refused(self, answer, part, what):
        self.test.check(isinstance(answer, str) and part in answer
                        and "\n" not in answer,
                        f"{what}: {answer!r}, expected an error with {part!r}")

    def decoder(self, name):
        fixture = support.fixtures([name])[0]
        artifact = self.test.compile(fixture.path, name, "--dtype", "f32")
        tokens = fixture.tokens
        # Every sequence has tokens of its own, so that none can pass for
        # another.
        prompts = [tokens[10 * i:10 * i + n] for i, n in enumerate(LENGTHS)]
        follow = tokens[200:]
        alone = []
        with self.session(artifact, 1024) as session:
            whole, = session.step((session.create(), tokens))
            for length in LENGTHS:
                part, = session.step((session.create(), tokens[:length]))
                self.close(part, whole[:length],
                           f"{name}: {length} tokens against as many of 300")
        for prompt in prompts:
            with self.session(artifact, 512) as session:
                sequence = session.create()
                first, = session.step((sequence, prompt))
                then, = session.step((sequence, follow[:1]))
                alone.append((first, then,
                              *session.step((sequence, follow[1:18]))))

        with self.session(artifact, 1024) as session:
            sequences = [session.create() for _ in prompts]
            for number in range(len(prompts) - 1):
                pair = session.step(*zip(sequences[number:number + 2],
                                         prompts[number:number + 2]))
                for i, values in enumerate(pair):
                    self.close(values, alone[number + i][0],
                               f"{name}: {LENGTHS[number + i]} tokens beside "
                               f"{LENGTHS[number + 1 - i]}")
                # New sequences find pages that others have used.
                for i in number, number + 1:
                    session.end(sequences[i])
                    sequences[i] = session.create()
            for length, values, expected in zip(
                    LENGTHS, session.step(*zip(sequences, prompts)), alone):
                self.close(values, expected[0],
                           f"{name}: {length} tokens, all six at once")
            batch = session.step(*((s, follow[:1]) for s in sequences))
            for length, values, expected in zip(LENGTHS, batch, alone):
                self.close(values, expected[1],
                           f"{name}: token {length + 1}, all six at once")
            # Some decode on while a new one is read and others get a chunk.
            late = session.create()
            batch = session.step(
                (sequences[4], follow[1:2]), (late, prompts[3]),
                (sequences[0], follow[1:18]), (sequences[5], follow[1:2]))
            for values, expected, what in (
                    (batch[0], alone[4][2][:1], "decoding"),
                    (batch[1], alone[3][0], "new"),
                    (batch[2], alone[0][2], "chunk"),
                    (batch[3], alone[5][2][:1], "decoding")):
                self.close(values, expected, f"{name}: mixed step, {what}")

    def decoder_errors(self, name):
        fixture = support.fixtures([name])[0]
        artifact = self.test.compile(fixture.path, name, "--dtype", "f32")
        tokens = fixture.tokens
        most = 512
        with self.session(artifact, 192) as session:
            first, second = session.create(), session.create()
            session.step((first, tokens[:64]), (second, tokens[:64]))
            good, bad = session.step((first, tokens[64:65]),
                                     (second, tokens[64:65]))
            self.refused(bad, "out of cache pages", f"{name}: third page")
            self.test.check(session.length(second) == 64,
                            f"{name}: {session.length(second)} tokens after a "
                            f"refused step, expected 64")
            session.end(first)
            again, = session.step((second, tokens[64:65]))
            self.close(again, good, f"{name}: retried when pages were free")
        with self.session(artifact, most) as session:
            first, second = session.create(), session.create()
            alone, = session.step((first, tokens[:5]))
            wrong = session.run(library.STEP, (second, [1, 2, 10 ** 6], None),
                                (session.create(), tokens[:5], None),
                                (session.create(), [1, -1], None))
            self.refused(wrong[0], "1000000", f"{name}: token beyond")
            self.close(wrong[1], alone, f"{name}: beside wrong tokens")
            self.refused(wrong[2], "-1", f"{name}: negative token")
            self.test.check(session.length(second) == 0,
                            f"{name}: a refused sequence stays empty")
        with self.session(artifact, 2 * most) as session:
            sequence = session.create()
            long = numpy.resize(tokens, most)
            session.step((sequence, long))
            over, fine = session.step((sequence, tokens[:1]),
                                      (session.create(), tokens[:5]))
            self.refused(over, str(most), f"{name}: position {most}")
            self.close(fine, alone, f"{name}: beside a full sequence")

    def same(self, values, reference, what):
        self.test.check(not isinstance(values, str)
                        and numpy.array_equal(values, reference),
                        f"{what}: has the bits that it has alone")

    def encoder(self, name, dtype):
        """Texts that would begin anywhere in a page of 64 tokens."""
        fixture = support.fixtures([name])[0]
        artifact = self.test.compile(fixture.path, f"{name}-{dtype}", "--dtype",
                                     dtype, "--max-tokens-per-step", 256)
        lengths = [1, 2, 3, 7, 37, 8, 31, 9, 15, 16, 17, 37, 5, 33, 11]
        with self.session(artifact, 0) as session:
            texts = [(0, numpy.roll(fixture.tokens, 3 * i)[:n],
                      numpy.roll(fixture.types, i)[:n])
                     for i, n in enumerate(lengths)]
            alone = [session.run(library.ENCODE, text)[0] for text in texts]
            for length, values, expected in zip(
                    lengths, session.run(library.ENCODE, *texts), alone):
                self.same(values, expected,
                          f"{name} {dtype}: {length} tokens among others")

    def sources(self, name):
        """Source texts that are encoded together, and what follows them."""
        fixture = support.fixtures([name])[0]
        artifact = self.test.compile(fixture.path, name, "--dtype", "f32")
        start = fixture.decoder_tokens[:3]
        lengths = [17, 5, 29, 3, 21, 8]
        sources = [numpy.resize(numpy.roll(fixture.tokens, 3 * i), n)
                   for i, n in enumerate(lengths)]
        with self.session(artifact, 1024) as session:
            alone = []
            for tokens in sources:
                sequence = session.create()
                rows, = session.encode_sources((sequence, tokens))
                logits, = session.step((sequence, start))
                alone.append((rows, logits))
                session.end(sequence)
            sequences = [session.create() for _ in sources]
            together = session.encode_sources(*zip(sequences, sources))
            steps = session.step(*((s, start) for s in sequences))
            for length, rows, logits, (rows_alone, logits_alone) in zip(
                    lengths, together, steps, alone):
                self.same(rows, rows_alone, f"{name}: source of {length}")
                self.close(logits, logits_alone,
                           f"{name}: behind a source of {length}")


def main():
    test = support.Test(sys.argv[1:])
    ragged = Ragged(test)
    ragged.decoder("llama-long")
    ragged.decoder_errors("llama-long")
    for dtype in "f32", "bf16":
        ragged.encoder("bert-gelu", dtype)
    ragged.encoder("bert-relu", "f32")
    ragged.sources("bart-gelu")
    ragged.sources("t5-gated")
    test.finish()


if __name__ == "__main__":
    main()
