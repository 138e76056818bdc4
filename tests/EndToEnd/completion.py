"""Words that bash completes, and manual pages.

completion.py TENON WORK
"""

import re
import subprocess
import sys

import support

ASK = """
eval "$(tenon completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tenon
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(test, *words):
    """What bash has for the last word."""
    done = subprocess.run(["bash", "-c", ASK, "bash", "tenon", *words],
                          capture_output=True, text=True,
                          env={"PATH": f"{test.bin}:/usr/bin:/bin"})
    test.check(done.returncode == 0 and done.stderr == "",
               f"{words}: {done.stderr}")
    return done.stdout.split()


def main():
    test = support.Test(sys.argv[1:3])
    commands = completed(test, "")
    test.check({"compile", "run", "chat", "cache", "bisect"} <= set(commands),
               f"commands: {commands}")
    for words, expected in [
            (["cha"], ["chat"]),
            (["cache", "li"], ["list"]),
            (["run", "m.tenon", "--max-new"], ["--max-new-tokens"]),
            (["run", "m.tenon", "--kv-cache", "i"], ["int8"]),
            # The compiler's own options, by the compiler.
            (["compile", "--quantize", "in"], ["int8", "int4"]),
            (["compile", "--quantize", "=", "in"], ["int8", "int4"]),
            (["bisect", "--disa"], ["--disable-pass"]),
            (["run", "m"], [])]:
        found = completed(test, *words)
        test.check(found == expected, f"{words}: {found}")
    for shell in ("zsh", "fish"):
        test.check("__complete" in test.need("tenon", "completion", shell),
                   shell)

    pages = test.work / "pages"
    test.need("tenon", "__manual", pages)
    test.need("tenon-compile", "__manual", pages)
    names = {path.stem for path in pages.iterdir()}
    test.check(names == {"tenon"} | {f"tenon-{c}" for c in commands},
               f"a page for each command: {names}")
    for path in sorted(pages.iterdir()):
        text = path.read_text()
        command = path.stem.removeprefix("tenon").removeprefix("-")
        shown = test.need("tenon", *[w for w in [command] if w], "--help")
        options = re.findall(r"(?<![\w-])--[a-z-]+[a-z]", shown)
        missing = [o for o in options
                   if o.replace("-", "\\-") not in text]
        test.check(options and not missing, f"{path.name}: lacks {missing}")
    test.finish()


if __name__ == "__main__":
    main()
