# A thin layer of names over CMake presets and scripts; run `make` for the list. Every target can be called
# from a fresh clone: it installs what is missing first (scripts/setup.sh).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 360
ifneq ($(MFPG_SHARED),) # the folder of reference data; the tests run in folders of their own
export MFPG_SHARED := $(shell realpath -m -- "$(MFPG_SHARED)")
endif
export CTEST_PARALLEL_LEVEL ?= $(shell nproc)
build = cmake --preset $(1) --log-level=NOTICE && cmake --build --preset $(1)
SOURCES = find $(wildcard include src reproduction cli tests bench fuzz examples) -name '*.[ch]' -print0

help: ## list the targets
	@echo 'usage: make TARGET'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-18s%s\n", $$1, $$2}' Makefile

setup: ## install what is missing to build and test (apt; nothing where nothing is missing)
	@scripts/setup.sh

build: setup ## set-up and release build: build/release/mfpg
	@$(call build,release)

mpi: ## set-up and release build of mfpg-mpi, for an MPI launcher: build/mpi/mfpg-mpi
	@scripts/setup.sh --mpi
	@$(call build,mpi)

demo: build ## set-up, build, and the four cells side by side
	@build/release/mfpg bench

test: build ## set-up, build, and every test
	@ctest --preset release
	@sed -n 's/^SKIPPED: /skipped tests: /p' build/release/Testing/Temporary/LastTest.log | sort -u

test-long: build ## the same tests with twenty times the repetitions, and the numbers of the long studies
	@MFPG_TEST_SCALE=20 ctest --preset release --timeout 3000
	@MFPG_TEST_SCALE=20 $(MAKE) --no-print-directory test-mpi
	@scripts/setup.sh --python
	@scripts/check_numbers.py --long

test-sanitizers: ## every test under the address and undefined-behaviour sanitizers
	@scripts/setup.sh --ci
	@$(call build,asan-ubsan)
	@ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan-ubsan

test-fresh: ## every test on a minimal Debian 12 made for it, with make and git, then with Python 3 (root; minutes)
	@scripts/setup.sh --ci
	@scripts/test_fresh_system.sh

test-clang: ## every test built by clang, and again under its thread sanitizer
	@scripts/setup.sh --ci
	@$(call build,clang)
	@ctest --preset clang
	@$(call build,tsan)
	@ctest --preset tsan

fuzz: ## look for inputs that break a reader, FUZZ_SECONDS (default 360) a fuzz target, under sanitizers
	@scripts/setup.sh --ci
	@$(call build,fuzz)
	@scripts/fuzz.sh $(FUZZ_SECONDS)

check-numbers: build ## fail where a number in README.md or docs/ differs from what the program prints
	@scripts/setup.sh --python
	@scripts/check_numbers.py

check-pages: build ## do what the pages say: links, README's picture, tutorials, and the worked example, which builds a program of its own
	@scripts/setup.sh --python
	@scripts/check_links.py
	@scripts/draw_frontier.py --check
	@scripts/run_page.py docs/tutorials/researcher.md docs/tutorials/operator.md docs/paper.md
	@scripts/run_page.py --copy docs/adding.md

bench-perf: ## the performance suite: one JSON line a work, its floor measured beside it (quick: MFPG_BENCH_CLIENTS=1e6)
	@scripts/setup.sh --ci
	@cmake --preset gcc --log-level=NOTICE
	@cmake --build --preset gcc --target bench-perf

bench-peers: ## the same works by comparable software from PyPI, and the ratios (needs the reference data and several GB)
	@scripts/setup.sh --ci
	@cmake --preset gcc --log-level=NOTICE
	@cmake --build --preset gcc
	@python3 bench/compare.py

install: setup ## install program, library, headers and examples below PREFIX (default /usr/local)
	@cmake --preset release --log-level=NOTICE -DCMAKE_INSTALL_PREFIX="$$(realpath -m -- "$(PREFIX)")"
	@cmake --build --preset release
	@cmake --install build/release

docs: ## reference of the public headers: build/reference/html (what is wrong in a comment fails)
	@scripts/setup.sh --docs
	@mkdir -p build
	@doxygen docs/Doxyfile

deb: setup ## Debian packages of program, library and development files: build/packages
	@$(call build,deb)
	@cpack --config build/deb/CPackConfig.cmake -B build/packages >build/packages.log || { cat build/packages.log >&2; exit 1; }
	@ls build/packages/*.deb

format: ## rewrite the C files in the house format
	@scripts/setup.sh --ci
	@$(SOURCES) | xargs -0 clang-format -i

lint: check-format check-includes warnings ## format, include directions, and both compilers with warnings as errors

check-format: ## fail where a C file is not in the house format
	@scripts/setup.sh --ci
	@$(SOURCES) | xargs -0 clang-format --dry-run -Werror

check-includes: ## fail where an #include runs against the order of the folders
	@scripts/setup.sh --python
	@scripts/check_includes.py
	@scripts/check_kinds.py
	@scripts/check_house.py

warnings: ## build with gcc and with clang, warnings are errors
	@scripts/setup.sh --ci
	@$(call build,gcc)
	@$(call build,clang)

test-mpi: ## runs under an MPI launcher with 1, 2 and 4 ranks, against the bytes of mfpg
	@scripts/setup.sh --ci
	@$(call build,gcc)
	@ctest --preset gcc -R '^mpi\.'

python: build ## the Python package, installed into a virtual environment of its own (build/python/venv) and tested there
	@scripts/setup.sh --pip
	@python3 -m venv build/python/venv
	@build/python/venv/bin/pip install -q --disable-pip-version-check 'scikit-build-core>=0.10' 'cffi>=1.17'
	@build/python/venv/bin/pip install -q --disable-pip-version-check --no-build-isolation -Cbuild-dir=build/python/wheel '.[test]'
	@build/python/venv/bin/pytest -q

flower: python ## make python, and mfpg.flower with the real Flower (pip, about 300 MB)
	@$(MAKE) --no-print-directory test-flower

test-flower: # after make python
	@build/python/venv/bin/pip install -q --disable-pip-version-check 'flwr>=1.42,<2'
	@FLWR_TELEMETRY_ENABLED=0 build/python/venv/bin/pytest -q python/tests/flower

figures: build ## the paper's five figures, and its certificates under attack, as SVG, PNG and PDF, with their CSV files and gnuplot scripts: build/figures
	@scripts/setup.sh --figures
	@build/release/mfpg bench --suite figures,attack --out build/figures

test-report: build ## pages of mfpg report in a headless browser
	@scripts/setup.sh --ci
	@python3 tests/scripts/test_report.py build/release/mfpg

clean: ## remove everything that was built
	@rm -rf build

.PHONY: docs deb help setup build mpi demo test test-report figures test-mpi test-long test-sanitizers test-fresh test-clang fuzz check-numbers check-pages install format lint check-format check-includes warnings bench-perf bench-peers python flower test-flower clean
