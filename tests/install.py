"""An installation is complete, may be moved, and its examples give the tokens
of `tenon run`.

    install.py SOURCE BUILD WORK --cmake CMAKE --cc CC --cxx CXX
               [--flags=FLAGS] [--runtime-only]

Installs BUILD below WORK and moves it; everything after that uses what is
there. FLAGS are compiled and linked with (sanitizers). Of a runtime-only build
there is no compiler, so that the programs are built, but read no model.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

PROMPT = "In the beginning"
# What the examples are called with; the README's program asks for nothing.
SAMPLING = ["24", "0.8", "7"]
SAMPLING_OPTIONS = ["--max-new-tokens", "24", "--temperature", "0.8", "--seed",
                    "7"]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


class Installation:
    def __init__(self, arguments):
        self.source = arguments.source
        self.build = arguments.build
        self.work = arguments.work
        self.cmake = arguments.cmake
        self.cc = arguments.cc
        self.cxx = arguments.cxx
        self.flags = arguments.flags.split()
        self.has_compiler = not arguments.runtime_only
        self.failures = 0
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        staged = self.install("staged")
        self.prefix = self.work / "moved" / "tenon"
        self.prefix.parent.mkdir()
        staged.rename(self.prefix)
        self.staged = staged
        libraries = list(self.prefix.glob("**/libtenon.so"))
        self.check(len(libraries) == 1, f"one libtenon.so: {libraries}")
        self.library = libraries[0]
        # Nothing but the prefix itself may lead to what is in it.
        self.environment = {
            **{name: value for name, value in os.environ.items()
               if name not in ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH",
                               "ONEDNN_MAX_CPU_ISA")},
            "PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig"),
        }

    def check(self, good, what):
        self.failures += not good
        print("ok  " if good else "FAIL", what, flush=True)

    def call(self, command, **more):
        return subprocess.run(list(map(str, command)), capture_output=True,
                              text=True, env=self.environment, **more)

    def need(self, command, **more):
        """The standard output of a command that must succeed."""
        done = self.call(command, **more)
        if done.returncode != 0:
            print("FAIL", *command)
            sys.exit(f"exit status {done.returncode}: {done.stdout[-2000:]}"
                     f"{done.stderr[-2000:]}")
        return done.stdout

    def install(self, name, *options):
        folder = self.work / name
        subprocess.run([self.cmake, "--install", self.build, "--prefix", folder,
                        *options], check=True, stdout=subprocess.DEVNULL)
        return folder

    # What is installed.

    def files(self):
        """Links work, nothing names the build or the place before the move."""
        for path in sorted(self.prefix.rglob("*")):
            if path.is_symlink():
                self.check(path.exists() and not path.readlink().is_absolute(),
                           f"{path.name}: links to {path.readlink()}")
            if path.is_dir():
                continue
            text = path.read_bytes()
            if text.startswith(b"\x7fELF"):
                # Only what the loader reads: sanitizers name sources.
                text = self.need(["readelf", "-d", path]).encode()
            found = [str(folder) for folder in
                     (self.source, self.build, self.staged)
                     if str(folder).encode() in text]
            self.check(not found, f"{path.relative_to(self.prefix)}: names "
                                  f"{found or 'no folder of the build'}")
        versions = re.search(r"SONAME.*\[(libtenon\.so\.\d+)\]", self.need(
            ["readelf", "-d", self.library]))
        self.check(versions and (self.library.parent / versions[1]).exists(),
                   f"soname: {versions and versions[1]}")
        private = self.library.parent / "tenon"
        for tool in [self.library, *self.prefix.glob("bin/*")]:
            lines = self.need(["ldd", tool]).splitlines()
            wrong = [line for line in lines if "not found" in line or
                     ("libdnnl" in line and private.exists() and
                      f"{self.prefix}/" not in line) or
                     # LLVM's OpenMP runtime under the compiler's name.
                     ("libgomp" in line and "/llvm" in line)]
            self.check(not wrong, f"{tool.name}: loads {wrong or 'all'}")

    def header(self):
        header = self.prefix / "include" / "tenon" / "tenon.h"
        for compiler, language, standard in ((self.cc, "c", "c99"),
                                             (self.cxx, "c++", "c++11"),
                                             (self.cxx, "c++", "c++20")):
            self.need([compiler, "-x", language, f"-std={standard}", *WARNINGS,
                       "-fsyntax-only", header])
            print("ok   tenon.h as", standard)
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        declared = set(re.findall(r"\b(tenon_\w+)\(", text))
        marked = set(re.findall(r"\bTENON_API\b[^;(]*?\b(tenon_\w+)\(", text))
        self.check(declared and declared == marked,
                   f"without TENON_API: {sorted(declared - marked)}")
        exported = {line.split()[-1] for line in self.need(
            ["nm", "-D", "--defined-only", self.library]).splitlines()}
        self.check(declared == exported,
                   f"{len(declared)} functions; declared, not exported: "
                   f"{sorted(declared - exported)}; exported, not declared: "
                   f"{sorted(exported - declared)[:9]}")

    # Programs.

    def configured(self, folder, name):
        """The program `name` of a CMake project, built with the package."""
        build = self.work / f"{folder.name}-build"
        flags = " ".join(self.flags)
        self.need([self.cmake, "-S", folder, "-B", build,
                   f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_C_COMPILER={self.cc}",
                   f"-DCMAKE_CXX_COMPILER={self.cxx}",
                   f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}"])
        self.need([self.cmake, "--build", build])
        return build / name

    def programs(self):
        """Pairs of an example, built in every documented way, and whether it
        takes a prompt."""
        examples = self.source / "examples"
        c = examples / "generate-c"
        yield self.configured(c, "generate"), True
        yield self.configured(examples / "generate-cpp", "generate"), True
        by_hand = self.work / "generate"
        found = self.need(["pkg-config", "--cflags", "--libs", "tenon"]).split()
        folder = self.need(["pkg-config", "--variable=libdir", "tenon"]).strip()
        self.need([self.cc, "-std=c99", *WARNINGS, *self.flags,
                   c / "generate.c", *found, f"-Wl,-rpath,{folder}", "-o",
                   by_hand])
        yield by_hand, True
        yield from ((program, False) for program in self.readme())

    def readme(self):
        """The README's program, built with the README's two ways."""
        text = (self.source / "README.md").read_text()
        blocks = dict(re.findall(r"^```(c|cmake)\n(.*?)^```$", text,
                                 re.MULTILINE | re.DOTALL))
        command = re.search(r"^cc (write\.c .*)$", text, re.MULTILINE)[1]
        folder = self.work / "readme"
        folder.mkdir()
        (folder / "write.c").write_text(blocks["c"])
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(Readme C)\n"
            + blocks["cmake"])
        self.need(["sh", "-ec", " ".join([self.cc, *WARNINGS, *self.flags,
                                          command])], cwd=folder)
        yield folder / "write"
        yield self.configured(folder, "write")

    def run(self, program, artifact, arguments):
        """The README's program finds its artifact in the working folder."""
        command = [program, artifact, *arguments] if arguments else [program]
        return self.call(command, cwd=artifact.parent)

    def generate(self):
        programs = list(self.programs())
        for program, takes_prompt in programs:
            done = self.run(program, self.work / "model.tenon",
                            [PROMPT] * takes_prompt)
            self.check(done.returncode == 1 and "model.tenon: cannot open"
                       in done.stderr, f"{program}, no artifact: exit status "
                       f"{done.returncode}, {done.stderr!r}")
        if not self.has_compiler:
            return
        artifact = self.work / "model.tenon"
        tenon = self.prefix / "bin" / "tenon"
        self.need([tenon, "compile", self.source / "examples" / "tiny-llama",
                   "-o", artifact])

        def answer(tool, options):
            return json.loads(self.need([tool, "run", artifact, "--prompt",
                                         PROMPT, "--json", *options]))
        plain = answer(tenon, [])
        sampled = answer(tenon, SAMPLING_OPTIONS)
        self.check(plain["token_ids"][:24] != sampled["token_ids"],
                   "settings change the tokens")
        for program, takes_prompt in programs:
            expected = sampled if takes_prompt else plain
            done = self.run(program, artifact,
                            [PROMPT, *SAMPLING] if takes_prompt else [])
            ids = ",".join(map(str, expected["token_ids"]))
            self.check(done.returncode == 0
                       and done.stdout == expected["text"] + "\n"
                       and (not takes_prompt
                            or done.stderr == f"token ids: {ids}\n"),
                       f"{program}: {done.stdout!r} {done.stderr!r}, expected "
                       f"{expected['text']!r} {ids}")

        runtime = self.install("runtime", "--component", "runtime")
        lacking = [name for name in ("include", "bin/tenon-compile")
                   if (runtime / name).exists()]
        self.check(not lacking, f"component runtime: without {lacking}")
        share = runtime / "share"
        pages = {page.name for page in share.glob("man/man1/*.1")}
        self.check({"tenon.1", "tenon-run.1", "tenon-compile.1"} <= pages
                   and (share / "bash-completion/completions/tenon").exists(),
                   f"component runtime: pages {pages}")
        tool = runtime / "bin" / "tenon"
        self.check(answer(tool, SAMPLING_OPTIONS)["token_ids"]
                   == sampled["token_ids"], "component runtime: tokens")
        done = self.call([tool, "compile", artifact, "-o", artifact])
        self.check(done.returncode == 1 and "runtime-only" in done.stderr,
                   f"component runtime: {done.stderr!r}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "work"):
        parser.add_argument(name, type=pathlib.Path)
    for name in ("--cmake", "--cc", "--cxx"):
        parser.add_argument(name, required=True)
    parser.add_argument("--flags", default="")
    parser.add_argument("--runtime-only", action="store_true")
    test = Installation(parser.parse_args())
    test.files()
    test.header()
    test.generate()
    if test.failures:
        sys.exit(f"{test.failures} failed")
    # oneDNN's library is large.
    shutil.rmtree(test.work)


if __name__ == "__main__":
    main()
