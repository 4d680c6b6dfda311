# Everyday commands. `make demo` for a first look, `make test` before a commit, `make check` before a merge.
PROGRAM := build/release/assay
JOBS ?= $(shell nproc)
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

.PHONY: demo build dev test check lint format clean

# Installs what is missing, builds, and answers six example requests with the model in demo/.
demo:
	@tools/setup.sh build
	@$(MAKE) --no-print-directory build
	@echo
	@tools/demo.sh $(PROGRAM)

build:
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

dev:
	@tools/setup.sh dev
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)

# The fast suite.
test: dev
	@ctest --preset dev -L fast -j $(JOBS) --progress | tail -n 30

# Everything: lint, fast and slow suites at every CPU level, sanitizers.
check:
	@tools/check.sh

lint:
	@tools/setup.sh dev
	@tools/lint.sh

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

clean:
	@rm -rf build
