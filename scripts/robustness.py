"""What mutate-files, mutate-modules, kill-while-writing and the soaks share: the
tools of a build, small models, mutations, and findings."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "numerics" / "fixtures"
sys.path.insert(0, str(ROOT / "tests" / "EndToEnd"))


def parser_of(description):
    """The options that all have."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, default=ROOT / "build",
                        help="whose tools are tried [build]")
    parser.add_argument("--seed", type=int, default=1,
                        help="of all random choices [1]")
    parser.add_argument("--keep", type=pathlib.Path,
                        help="where findings are kept [a new folder]")
    return parser


class Findings:
    """Keeps what went wrong."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = folder
        self.count = 0

    def add(self, what, files=()):
        """Says what went wrong, and keeps a copy of the files."""
        self.count += 1
        print(f"FINDING {self.count}: {what}", flush=True)
        for path in files:
            if self.folder is None:
                self.folder = pathlib.Path(tempfile.mkdtemp(prefix=self.name + "-"))
            kept = self.folder / str(self.count)
            kept.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, kept / path.name, dirs_exist_ok=True)
            else:
                shutil.copy(path, kept)
            print(f"  kept in {kept / path.name}", flush=True)

    def finish(self):
        if self.count:
            print(f"{self.name}: {self.count} findings")
        sys.exit(1 if self.count else 0)


def tool(build, name):
    path = build / "bin" / name
    if not path.exists():
        sys.exit(f"{path} does not exist: build it, or name another build with "
                 "--build-dir")
    return path


def environment():
    """Of tools: no thread spins on a core that another needs."""
    made = dict(os.environ, OMP_WAIT_POLICY="passive")
    # Sanitizers call it a defect when an allocation is refused.
    made.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
    return made


def no_core_dump():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Ended:
    """A process that has ended: status (negative: by a signal; None: it took
    more than so many seconds of processor time, or waited far longer), stdout
    and stderr as text."""

    def __init__(self, command, seconds, **options):
        self.command = " ".join(map(str, command))

        def limit():
            no_core_dump()
            whole = max(1, int(seconds))
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 10))
        try:
            done = subprocess.run(
                [str(part) for part in command], capture_output=True,
                timeout=30 * seconds, env=environment(), preexec_fn=limit,
                check=False, stdin=subprocess.DEVNULL,
                # A terminal's SIGINT is for the script.
                start_new_session=True, **options)
            self.status = done.returncode
            self.out = done.stdout.decode(errors="replace")
            self.err = done.stderr.decode(errors="replace")
            if self.status == -signal.SIGXCPU:
                self.status = None
        except subprocess.TimeoutExpired:
            self.status, self.out, self.err = None, "", ""

    def problem(self):
        """Why this is no orderly end, or nothing: an exit status of 0, or of 1
        or 2 with one line of error, besides notes and remarks."""
        if self.status is None:
            return "takes too long"
        if self.status not in (0, 1, 2):
            return f"ends with {self.status}: {self.err[-1500:]}"
        errors = []
        for line in self.err.splitlines():
            if line.startswith("tenon: error: "):
                errors.append(line)
            elif not line.startswith(("tenon: note: ", "remark: ")):
                return f"says {line[:500]!r}, which is neither error nor note"
        if len(errors) != (self.status != 0):
            return f"ends with {self.status} and {len(errors)} lines of error"
        if errors and "a defect of the compiler" in errors[0]:
            return errors[0]
        return None


def compiled(build, model, folder):
    """The artifact of a model, in `folder`."""
    artifact = pathlib.Path(folder) / "model.tenon"
    made = Ended([tool(build, "tenon"), "compile", model, "-o", artifact], 600)
    if made.status != 0:
        sys.exit(f"{made.command}: {made.err}")
    return artifact


def in_parallel(jobs, function, items):
    """Results in order; those so far when SIGINT or SIGTERM says to end."""
    is_over = threading.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: is_over.set())

    def unless_over(item):
        return None if is_over.is_set() else function(item)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(unless_over, items):
            if result is None:
                print("ended early", flush=True)
                is_over.set()
                return
            yield result


# Numbers at the edges of what fields hold.
EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
         0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
         0x8000000000000000, 0xffffffffffffffff]
EDGE_TEXTS = ["0", "1", "-1", "3", "255", "65537", "2147483647", "2147483648",
              "4294967296", "9223372036854775807", "9223372036854775808",
              "18446744073709551615", "1e400", "1e-400", "0.5", "null", "true",
              '""', "[]", "{}", '"x"']


def mutated_bytes(dice, data, most=4):
    """One to `most` random edits."""
    data = bytearray(data)
    for _ in range(dice.randint(1, most)):
        if not data:
            break
        at = dice.randrange(len(data))
        length = dice.randint(1, min(16, len(data) - at))
        kind = dice.randrange(8)
        if kind == 0:
            data[at] = dice.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:at + length]
        elif kind == 4:
            into = dice.randrange(len(data) + 1)
            data[into:into] = data[at:at + length]
        elif kind == 5:
            size = dice.choice([1, 2, 4, 8])
            value = dice.choice(EDGES) & ((1 << 8 * size) - 1)
            data[at:at + size] = value.to_bytes(size, "little")
        elif kind == 6:
            data[at:at + length] = dice.randbytes(length)
        else:
            data += dice.randbytes(length)
    return bytes(data)


def mutated_text(dice, data, most=3):
    """The same for text with numbers, strings and brackets."""
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(dice.randint(1, most)):
        if not text:
            break
        kind = dice.randrange(5)
        at = dice.randrange(len(text))
        if kind == 0:
            return mutated_bytes(dice, text.encode("utf-8", "surrogateescape"))
        if kind == 1:
            text = text[:at] + dice.choice('{}[]",:0-9eE\\ \n') + text[at + 1:]
            continue
        # A whole value, from `at` on.
        end = at
        while at < len(text) and text[at] not in '0123456789"tfn':
            at += 1
        if at == len(text):
            continue
        if text[at] == '"':
            end = text.find('"', at + 1) + 1 or len(text)
        else:
            end = at
            while end < len(text) and (text[end].isalnum() or text[end] in ".+-"):
                end += 1
        if kind == 2:
            text = text[:at] + text[end:]
        elif kind == 3:
            text = text[:at] + dice.choice(EDGE_TEXTS) + text[end:]
        else:
            text = text[:end] + "," + text[at:end] + text[end:]
    return text.encode("utf-8", "surrogateescape")


def dice_of(seed, number):
    """Random choices of one case, the same whatever cases run beside it."""
    return random.Random(f"{seed}/{number}")
