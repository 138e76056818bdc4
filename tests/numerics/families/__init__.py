"""The families: one module per group, found by being here.

A module enters its families in reference.FAMILIES and lists their fixtures as
FIXTURES.
"""

import importlib
import pkgutil

FIXTURES = []
for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    FIXTURES += importlib.import_module(f"{__name__}.{module}").FIXTURES
