#!/usr/bin/env python3
"""Makes and checks the numeric references in fixtures/.

Each fixture is a small checkpoint of random weights as Transformers saves it,
with what Transformers (eager attention, f32) computes from the stored weights.
README.md describes the files.

  generate.py                    all fixtures
  generate.py llama bert-relu    those of a family, and one
  generate.py --check            compare what is stored with Transformers
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

import reference
from families import FIXTURES

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent


def check_all(chosen, out):
    failures = 0
    for fixture in chosen:
        directory = out / fixture.full_name
        complaints, measures = reference.check(fixture, directory)
        print(f"{fixture.full_name}: {measures}", flush=True)
        for complaint in complaints:
            print(f"error: {fixture.full_name}: {complaint}", file=sys.stderr)
        failures += len(complaints)
    known = {f.full_name for f in FIXTURES}
    for path in sorted(out.iterdir()):
        if path.is_dir() and path.name not in known:
            print(f"error: {path}: no such fixture", file=sys.stderr)
            failures += 1
    total = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    if total > reference.MAX_TOTAL_BYTES:
        print(f"error: {total} bytes, more than {reference.MAX_TOTAL_BYTES}",
              file=sys.stderr)
        failures += 1
    print(f"{len(chosen)} fixtures, {total} bytes in all, "
          f"{failures} failures")
    return failures == 0


def main():
    families = list(reference.FAMILIES)
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chosen", nargs="*", metavar="FAMILY|FIXTURE",
                        help="a family (" + ", ".join(families)
                        + ") or a fixture's full name; default all")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "fixtures")
    parser.add_argument("--check", action="store_true",
                        help="compare instead of writing")
    options = parser.parse_args()
    known = {f.full_name for f in FIXTURES} | set(families)
    for name in options.chosen:
        if name not in known:
            parser.error(f"unknown family or fixture '{name}'")
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    chosen = [f for f in FIXTURES if not options.chosen
              or {f.family, f.full_name} & set(options.chosen)]
    if options.check:
        sys.exit(0 if check_all(chosen, options.out) else 1)
    options.out.mkdir(parents=True, exist_ok=True)
    for fixture in chosen:
        # Whole or not at all.
        with tempfile.TemporaryDirectory(dir=options.out) as scratch:
            made = pathlib.Path(scratch) / fixture.full_name
            reference.make(fixture, made)
            target = options.out / fixture.full_name
            if target.exists():
                shutil.rmtree(target)
            made.rename(target)
    reference.write_index(FIXTURES, options.out)


if __name__ == "__main__":
    main()
