# Each target installs what it needs: Python packages into .venv, Debian packages when run as root (else it prints the command).
.PHONY: elsewhere quickstart chat chat-check chat-divergence fine-tune bench-llm test check messages docs release-check private newest numpy-suites wheels wheels-cuda aarch64 audit-others emulator-triton emulator-tilelang emulator-torch emulator-numba cuda-census ptx-census bench bench-author exhaustive exhaustive-math differential rehearsal golden flips seeds damaged-gguf fuzz cases soak lint format zoo freethreaded windows clean

quickstart: ## build the wheels, install them into a fresh environment, embed sentences with NumPy, PyTorch and JAX
	scripts/quickstart

chat: ## a conversation with SmolLM2-135M-Instruct, or MODEL=x.gguf, in HOST=numpy|torch|torch-compile|jax|c|hf: builds the wheels, installs them into a fresh environment; ASK="one question"
	scripts/chat $(if $(HOST),--host $(HOST)) $(if $(MODEL),--model $(abspath $(MODEL))) $(if $(ASK),"$(ASK)")

chat-check: ## the chat's model, in HOST=..., against its float64 reference, 64 prompts x 64 tokens; in NumPy also 8 answers at once, one to a prompt of 2,048 tokens; needs what `make test` installed
	.venv/bin/python examples/chat/check.py 64 64 $(if $(HOST),--host $(HOST)) $(if $(MODEL),--model $(abspath $(MODEL)))
	$(if $(filter-out numpy,$(HOST)),,.venv/bin/python examples/chat/check_batch.py $(if $(MODEL),--model $(abspath $(MODEL))))

chat-divergence: ## KL divergence of the chat's model and of ik-llama-cpp-python from the float64 reference, 64 prompts x 64 tokens; needs IK_LLAMA_PYTHON, which scripts/llama-bench prints
	.venv/bin/python tests/bench/llm/divergence.py 64 64

fine-tune: ## trains the chat's model for 50 steps, plain and patched, in f32 and bf16: losses, time, memory; needs what `make test` installed
	.venv/bin/python examples/chat/fine_tune.py $(if $(MODEL),--model $(abspath $(MODEL)))

bench-llm: ## tokens per second, single operations and a patched model beside their peers, ONLY="model busy"; needs what `make test` installed
	.venv/bin/python tests/bench/llm $(if $(ONLY),--only $(ONLY))

test: ## what each change has to pass: lint, C++ suites plain and sanitized, fuzzers, wheels, Python suites, examples, docs; release-check has the rest
	scripts/test

elsewhere: ## `make test` as an ordinary user, in a folder whose path has a space and an umlaut, with a home elsewhere; needs root
	scripts/elsewhere

check: ## the daily loop on build/dev, minutes: lint, C++ and Python suites without the long ones; builds no wheel
	scripts/check

messages: ## every text that a user may read, into build/messages.txt, by file and line
	scripts/messages

docs: ## the site, in build/docs/html, opened in headless Chromium; a page per op where `make wheels` has built the wheel
	scripts/docs

private: ## the suites that reach hooks into torch and JAX, without the hooks (docs/private.md); on build/dev
	scripts/private --all

freethreaded: ## the runtime's wheel for a free-threaded Python, the NumPy suites there with the GIL off, 1,000,000 calls from 8 threads; PARTS="tests tsan bench": also under ThreadSanitizer, and what calls cost. Builds CPython 3.13 unless KERNPACK_FREETHREADED_PYTHON is one
	scripts/freethreaded $(PARTS)

newest: ## the newest torch, JAX, NumPy and apache-tvm-ffi on each Python, in fresh environments: suites with hooks and without, call figures, the table of docs/versions.md; PYTHONS="3.12"; needs `make wheels`
	scripts/newest $(PYTHONS)

windows: ## the wheels of the runtime and the kernels for Windows, by zig: a C program, a test program and Windows' own Python with NumPy and torch use them under Wine, and the suites of tests/windows/suites.txt run there; needs what `make test` built
	scripts/windows
	scripts/windows-python tests

numpy-suites: ## the wheels on CPython 3.14 and 3.15, from Debian's packages where the machine hasn't them, with the newest NumPy: the tests that need no framework; PYTHONS="3.15"; needs `make wheels`
	scripts/numpy-suites $(PYTHONS)

release-check: ## before a release: the wheels for aarch64; the wheels of dist/ in fresh environments, with pip and uv; and whole what `make test` does in part: sanitizers, the site in Chromium, aarch64, the suites without hooks, the suites with every wheel, the oldest JAX; needs what `make test` built and installed
	scripts/whole

wheels: ## every wheel, into dist/
	scripts/wheels

wheels-cuda: ## kernpack-kernels-cuda into dist/cuda, for every architecture, and the table of registers and spills; needs nvcc and `make wheels`
	scripts/wheels-cuda

aarch64: ## the kernels of dist/aarch64, and the quickstart's NumPy part, on an emulated processor; needs `make wheels` and what `make test` installed
	scripts/aarch64 --quickstart

audit-others: ## `kernpack check`, `kernpack inspect` and `kernpack slim` on ten well-known wheels of others, downloaded and pinned by hash; needs what `make test` installed
	scripts/audit-others

emulator-torch: ## stock torch with CUDA, its compiler and Liger's operators, downloaded (3 GB), on the emulated CUDA device; needs `make wheels`
	scripts/emulator-torch

emulator-numba: ## numba-cuda and cuda.core, downloaded, on the emulated CUDA device; needs `make wheels`
	scripts/emulator-numba

emulator-triton: ## kernels from Triton's compiler, downloaded, on the emulated CUDA device: no false alarm; needs what `make test` installed
	scripts/emulator-triton

emulator-tilelang: ## a kernel from TileLang, downloaded, as a function of a wheel, on the emulated CUDA device; needs what `make test` installed
	scripts/emulator-tilelang

cuda-census: ## which functions of CUDA other programs ask for: docs/cuda-functions.md; downloads 1.1 GB
	scripts/cuda-census

ptx-census: ## which PTX instructions kernels have, and whether the emulated device runs them: docs/ptx-census.md; needs what `make test` installed
	scripts/ptx-census

bench: ## the figures against the peers: a table, JSON and a picture of each topic in build/bench/
	scripts/bench

bench-author: ## how long an author waits, the table of docs/command.md; KERNELS=1 adds `kernpack test kernpack_kernels`; needs what `make test` installed
	.venv/bin/python tests/bench/author.py $(if $(KERNELS),--kernels)

exhaustive: exhaustive-math ## GELU and the IR's math functions on every f32; needs what `make test` built and installed
	.venv/bin/python tests/python/kernels/exhaustive.py none
	.venv/bin/python tests/python/kernels/exhaustive.py tanh

exhaustive-math: ## the IR's math functions on every f32, a quarter of an hour; needs what `make test` built
	KERNPACK_MATH_STEP=1 build/dev/tests/cpp/kernpack_cpp_tests --gtest_filter='*IrMath.StaysWithinItsError/*'

flips: ## 2,000 flipped bits in an installed module, 60,000 loads and pickles of one; needs what `make test` built
	KERNPACK_FLIPS=2000 KERNPACK_LOADS=60000 .venv/bin/python -m pytest -q tests/abi/test_corruption.py tests/abi/test_identity.py tests/python/core/test_loading_leaves_nothing.py

differential: ## generators against the interpreter on ROUNDS=50 times 200 random functions and 40 random schedules; needs what `make test` built
	KERNPACK_DIFFERENTIAL_ROUNDS=$(or $(ROUNDS),50) ctest --test-dir build/dev -R '[dD]ifferential' -j2 --timeout 86400

rehearsal: ## ABI 1.1 and 2.0 made out of today's sources, met with each other; writes the table of docs/evolution.md; needs what `make test` installed
	PYTHONPATH=tests/abi .venv/bin/python -m rehearsal

golden: ## remakes the golden binaries of tests/abi/golden; needs what `make test` built and installed
	.venv/bin/python tests/abi/golden/make.py

seeds: ## remakes the module that module_fuzz begins with, in the ABI's layout of today
	gcc -std=c99 -Os -shared -fPIC -fvisibility=hidden -nostdlib -s -Wl,-z,noseparate-code -Iffi/include tests/abi/fake/module.c -o tests/fuzz/seeds/module_fuzz/small.so

damaged-gguf: ## CASES=20000 damaged models, read by `make chat` in Python and in C; needs what `make test` installed
	KERNPACK_DAMAGED_GGUF=$(or $(CASES),20000) .venv/bin/python -m pytest -q tests/python/examples/test_damaged_gguf.py

fuzz: ## every fuzz target, SECONDS=60 each
	scripts/fuzz $(or $(SECONDS),60)

cases: ## what `kernpack test` finds in our own kernels, with SEEDS=100: nothing; needs what `make test` installed
	KERNPACK_CASE_SEEDS=$(or $(SEEDS),100) .venv/bin/python -m pytest -q -n 2 tests/python/casetest/test_no_false_alarms.py

soak: ## the C++ and Python suites again and again, ROUNDS=10, then `make cases` with SEEDS=100
	scripts/soak $(or $(ROUNDS),10) $(or $(SEEDS),100)

zoo: ## 149 tiny models of transformers, patched and plain, in forward and backward passes, generation, compile, export; ONLY="llama t5"; needs what `make test` installed
	JOBS=$(or $(JOBS),2) .venv/bin/python tests/python/zoo/zoo.py $(ONLY)

lint: ## formatting, style and types; warns where a subsystem has grown
	scripts/lint

format: ## rewrite to the house style
	scripts/format

clean: ## remove everything that was built; the environments stay
	rm -rf build dist
