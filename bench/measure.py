"""What the benchmarks here share: running tools, reading artifacts, limits."""

import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import threading
import time

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: error: {message}")


def run(command):
    """Standard output of a command that must succeed."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError as failure:
        fail(f"{command[0]}: {failure.strerror}")
    if done.returncode != 0:
        fail(f"{shlex.join(command)}: exit status {done.returncode}")
    return done.stdout


def run_json(command):
    return json.loads(run(command))


def add_build_option(parser):
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        default=CHECKOUT / "build",
        help="build folder with bin/tenon and bin/tenon-limits [build]",
    )


def limits(build, only, seconds=0.5, megabytes=2048, rows=None):
    """Limits of the machine now: see tenon-limits."""
    command = [build / "bin" / "tenon-limits", "--seconds", seconds,
               "--megabytes", megabytes]
    if rows is not None:
        command += ["--rows", rows]
    for name in only:
        command += ["--only", name]
    return run_json(command)


def random_checkpoint(build, shape):
    """Directory with a checkpoint of random weights, written when missing."""
    directory = build / "bench" / shape
    if not (directory / "config.json").exists():
        print(f"writing {directory}", file=sys.stderr)
        part = build / "bench" / (shape + ".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        run(["rm", "-rf", part])
        script = CHECKOUT / "scripts" / "make-random-checkpoint"
        # It needs NumPy, which scripts/setup puts there.
        python = CHECKOUT / ".venv" / "bin" / "python3"
        run([python if python.exists() else sys.executable, script, shape,
             part])
        part.rename(directory)
    return directory


def artifact(build, file, shape):
    """The artifact to measure: `file`, or one of `shape`, made when missing."""
    if file:
        return pathlib.Path(file)
    made = build / "bench" / (shape + ".tenon")
    if not made.exists():
        checkpoint = random_checkpoint(build, shape)
        print(f"compiling {made}", file=sys.stderr)
        run([build / "bin" / "tenon", "compile", checkpoint, "-o", made])
    return made


ELEMENT_BYTES = {"f32": 4, "bf16": 2, "f16": 2}


class Facts:
    """What an artifact makes the machine read and multiply."""

    def __init__(self, build, file):
        report = run_json([build / "bin" / "tenon", "inspect", file, "--json"])
        self.file_bytes = report["file_bytes"]
        self.level = [code["level"] for code in report["code"]]
        self.page_tokens = max(
            (cache["page_tokens"] for cache in report["caches"]), default=1
        )
        self.kv_bytes_per_token = sum(
            cache["bytes_per_token"] for cache in report["caches"]
        )
        # Products are packed in panels; tables of rows are only gathered from.
        matmuls = [
            weight
            for weight in report["weights"]["list"]
            if weight["layout"].startswith("panels.")
        ]
        if not matmuls:
            fail(f"{file}: no weight is packed in panels: nothing to measure")
        vocabulary = report["model"]["vocabulary"]
        self.has_experts = any(".experts." in weight["name"]
                               for weight in matmuls)
        chosen = self.chosen_experts(report, matmuls)
        self.head_parameters = 0
        self.layer_parameters = 0
        self.weight_bytes = 0
        self.quantised_bytes = 0
        by_type = {}
        for weight in matmuls:
            # As the model has them: padding is nobody's work.
            parameters = weight["rows"] * weight["columns"]
            element = weight["layout"].split(".")[1]
            if element in ELEMENT_BYTES:
                size = parameters * ELEMENT_BYTES[element]
            else:
                # Quantised: blocks with their scales, multiplied as bf16.
                size, element = weight["bytes"], "bf16"
                self.quantised_bytes += size
            if ".experts." in weight["name"]:
                parameters, size = parameters * chosen, size * chosen
            self.weight_bytes += size
            by_type[element] = by_type.get(element, 0) + size
            if weight["rows"] == vocabulary:
                self.head_parameters += parameters
            else:
                self.layer_parameters += parameters
        # The type that the matmuls compute in, in most of the bytes.
        self.element = max(by_type, key=by_type.get)
        # What the library has for such weights and some rows.
        self.library_element = ("u8s8s32" if 2 * self.quantised_bytes
                                > self.weight_bytes else self.element)

    def chosen_experts(self, report, matmuls):
        """The share of the experts' weights that one token is for."""
        def count(with_experts):
            return sum(weight["rows"] * weight["columns"] for weight in matmuls
                       if (".experts." in weight["name"]) == with_experts)

        if not self.has_experts:
            return 1
        active = report["estimates"]["matmul_parameters"]
        return (active - count(False)) / count(True)

    def decode_bytes(self, prompt_tokens, new_tokens, batch):
        """Bytes that one decoding step must read, on average over the run;
        None where tokens of several sequences choose experts of their own.
        """
        if self.has_experts and batch > 1:
            return None
        context = prompt_tokens + (new_tokens + 1) / 2
        return self.weight_bytes + batch * context * self.kv_bytes_per_token

    def step_operations(self, batch):
        """Operations in matmuls of a decoding step; None for mixtures."""
        if self.has_experts:
            return None
        return 2 * batch * (self.layer_parameters + self.head_parameters)

    def prefill_operations(self, prompt_tokens, batch):
        """Operations in matmuls of a prefill that wants the last row only."""
        return 2 * batch * (
            prompt_tokens * self.layer_parameters + self.head_parameters
        )


def memory_of(pid):
    """(anonymous, resident peak) bytes of a process; 0 when it has ended."""
    anonymous = peak = 0
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    anonymous = int(line.split()[1]) * 1024
                elif line.startswith("VmHWM:"):
                    peak = int(line.split()[1]) * 1024
    except (OSError, IndexError):
        pass
    return anonymous, peak


def children_of(pid):
    found = []
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            for child in file.read().split():
                found += [int(child)] + children_of(int(child))
    except OSError:
        pass
    return found


class Watched:
    """A fresh process: seconds to its first output and its end, memory.

    first_output_s is None when nothing was printed. Memory is sampled every
    5 ms, over the process and its children.
    """

    def __init__(self, command):
        command = [str(part) for part in command]
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
        except OSError as failure:
            fail(f"{command[0]}: {failure.strerror}")
        self.first_output_s = None
        self.output = b""

        def read():
            for piece in iter(lambda: os.read(process.stdout.fileno(), 65536),
                              b""):
                if self.first_output_s is None:
                    self.first_output_s = time.perf_counter() - begin
                self.output += piece

        reader = threading.Thread(target=read)
        reader.start()
        self.peak_anonymous = 0
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            processes = [process.pid] + children_of(process.pid)
            anonymous = sum(memory_of(pid)[0] for pid in processes)
            self.peak_anonymous = max(self.peak_anonymous, anonymous)
            time.sleep(0.005)
        self.total_s = time.perf_counter() - begin
        reader.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        # Exact, of the largest process.
        self.peak_resident = usage.ru_maxrss * 1024
        if process.returncode != 0:
            fail(f"{shlex.join(command)}: exit status {process.returncode}")


def medians(rounds):
    """Median of every number of equal dictionaries."""
    return {
        key: statistics.median(one[key] for one in rounds) for key in rounds[0]
    }


def print_table(rounds):
    """The rounds and their medians, one column per number."""
    columns = list(rounds[0])
    rows = [(str(index + 1), one) for index, one in enumerate(rounds)]
    rows.append(("median", medians(rounds)))
    print("  ".join(["round ".ljust(6)] + [f"{name:>14}" for name in columns]))
    for label, one in rows:
        cells = [f"{one[name]:14.3f}" for name in columns]
        print("  ".join([label.ljust(6)] + cells))


def finish(answer, checks):
    """Prints the answer as JSON and ends; `checks` are (holds, text)."""
    answer["failed"] = [text for holds, text in checks if not holds]
    print(json.dumps(answer))
    for text in answer["failed"]:
        print(f"failed: {text}", file=sys.stderr)
    sys.exit(1 if answer["failed"] else 0)
