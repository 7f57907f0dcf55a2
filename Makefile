# Each target installs what it needs: Python packages into .venv, Debian packages when run as root (else it prints the command).
.PHONY: quickstart test wheels bench exhaustive fuzz soak lint format clean

quickstart: ## build the wheels, install them into a fresh environment, embed sentences with NumPy, PyTorch and JAX
	scripts/quickstart

test: ## everything: lint, C++ suites plain and sanitized, fuzzers, wheels, Python suites, examples, docs
	scripts/test

wheels: ## every wheel, into dist/
	scripts/wheels

bench: ## the figures against the peers: a table, JSON and a plot in build/bench/
	scripts/bench

exhaustive: ## GELU on every f32, both forms, against float64; needs the wheels that `make test` installs
	.venv/bin/python tests/python/kernels/exhaustive.py none
	.venv/bin/python tests/python/kernels/exhaustive.py tanh

fuzz: ## every fuzz target, SECONDS=60 each
	scripts/fuzz $(or $(SECONDS),60)

soak: ## the C++ and Python suites again and again, ROUNDS=10
	scripts/soak $(or $(ROUNDS),10)

lint: ## formatting, style and types
	scripts/lint

format: ## rewrite to the house style
	scripts/format

clean: ## remove everything that was built; the environments stay
	rm -rf build dist
