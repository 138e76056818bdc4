"""How lit runs the tests of the dialects, the passes and the tools.

`lit build/tests/Passes` runs those of one folder; the build folder's
lit.site.cfg.py has named the paths (as `config.tenon_*`) before this is read.
"""

import os
import shutil
import sys

import lit.formats

config.name = "tenon"
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "fixtures", "fuzz", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tenon_build, "tests")
config.test_format = lit.formats.ShTest(execute_external=False)

tools = os.path.join(config.tenon_build, "bin")
# FileCheck, not and split-file are LLVM's.
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools, os.environ["PATH"]]
)
# A variable ends with its CHECK-LABEL, so that functions cannot mix.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input=fail"
# Nothing goes to the user's folder.
config.environment["TENON_CACHE_DIR"] = os.path.join(
    config.test_exec_root, "model-cache")
for name in (
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LSAN_OPTIONS",
    "OMP_WAIT_POLICY",
    "ONEDNN_MAX_CPU_ISA",
):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Longer names first: lit replaces them in order, wherever they occur.
config.substitutions += [
    ("%tenon-compile", os.path.join(tools, "tenon-compile")),
    ("%tenon-opt", os.path.join(tools, "tenon-opt")),
    ("%tenon", os.path.join(tools, "tenon")),
    ("%python", sys.executable),
    ("%tests", config.test_source_root),
    ("%examples", os.path.join(config.tenon_source, "examples")),
    ("%docs", os.path.join(config.tenon_source, "docs")),
    ("%scripts", os.path.join(config.tenon_source, "scripts")),
    ("%build", config.tenon_build),
]

# Not everywhere: scripts/setup --dev installs it.
if shutil.which("chromium"):
    config.available_features.add("chromium")
if config.tenon_sanitize:
    config.available_features.add("sanitizers")
