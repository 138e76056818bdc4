"""llama.cpp's server, as xllamacpp has it: FILE THREADS SEQUENCES CONTEXT.

Prints where it listens, and serves until its standard input ends.
"""

import sys

import xllamacpp


def main():
    file, threads, sequences, context = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.cpuparams.n_threads = int(threads)
    params.cpuparams_batch.n_threads = int(threads)
    params.n_parallel = int(sequences)
    params.n_ctx = int(sequences) * int(context)  # It is divided by sequences.
    params.n_gpu_layers = 0
    params.port = 0
    server = xllamacpp.Server(params)
    print("version", xllamacpp.__version__)
    print("system", xllamacpp.get_system_info())
    print("address", server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
