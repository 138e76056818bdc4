// RUN: %tenon-opt %s --export-entries -split-input-file -verify-diagnostics

// expected-error@below {{is an entry: expected it to have a body}}
func.func private @step(!transformer.batch) attributes {transformer.role = "step", transformer.output = "logits"}
