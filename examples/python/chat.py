#!/usr/bin/env python3
"""A conversation with a model, answered as it is written.

    chat.py MODEL [--system TEXT]

MODEL is an artifact, a Hugging Face directory or a GGUF file. Ctrl-C stops an
answer, Ctrl-D ends the conversation.
"""

import argparse

import tenon


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--system", help="what the model is told before")
    parser.add_argument("--max-new-tokens", type=int, default=512)
    arguments = parser.parse_args()
    messages = []
    if arguments.system:
        messages.append({"role": "system", "content": arguments.system})
    with tenon.load(arguments.model) as model:
        while True:
            try:
                question = input("> ")
            except EOFError:
                return
            messages.append({"role": "user", "content": question})
            answer = ""
            try:
                request = model.chat_stream(
                    messages, max_new_tokens=arguments.max_new_tokens)
            except tenon.InvalidArgument as problem:  # As when it is too long.
                print(problem)
                messages.pop()
                continue
            try:
                for chunk in request:
                    print(chunk.text, end="", flush=True)
                    answer += chunk.text
            except KeyboardInterrupt:
                request.cancel()
            print()
            messages.append({"role": "assistant", "content": answer})


if __name__ == "__main__":
    main()
