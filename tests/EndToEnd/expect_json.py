"""Checks values in a JSON file.

expect_json.py FILE KEY.KEY=VALUE...
"""

import json
import sys

wrong = 0
with open(sys.argv[1]) as file:
    inspected = json.load(file)
for expectation in sys.argv[2:]:
    path, _, expected = expectation.partition("=")
    value = inspected
    for key in path.split("."):
        value = value[int(key) if key.isdigit() else key]
    if json.dumps(value) != expected:
        wrong += 1
        print(f"{path} is {json.dumps(value)}, expected {expected}")
sys.exit(1 if wrong else 0)
