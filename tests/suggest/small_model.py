"""A small language model behind the server of llama.cpp, on loopback: prints where, then waits.

python tests/suggest/small_model.py MODEL.gguf
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.warmup = False
params.cpuparams.n_threads = 1  # threads that wait for each other are slow on shared cores
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()  # until whoever started it has gone
