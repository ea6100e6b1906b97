# SPDX-License-Identifier: BSD-2-Clause
# Short names for what cmake does: make demo | check | check-all | install PREFIX=... | bench | docs | format | format-check | clean.
# Everything is built in build/; other kinds of builds are the presets of CMakePresets.json.

MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
TESTS ?= # make check TESTS="test-vector test-mesh": these alone
OPTIONS ?= # for cmake: make install OPTIONS=-DRITZ_CEED_COMPAT=ON
export RITZ_TEST_LEVEL ?= quick
space := $(subst ,, )
jobs := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: all demo check check-all install bench docs format format-check clean build products
all: products

# Everything, with tests and benchmarks; and what is installed alone.
build:
	@tools/install-deps
	@cmake --preset default -DRITZ_TESTS_ONLY=
	@cmake --build --preset default -j$(jobs)

products:
	@tools/install-deps
	@cmake --preset default
	@cmake --build --preset default -j$(jobs) --target products

demo:
	@tools/install-deps --demo
	@cmake --preset default
	@cmake --build --preset default -j$(jobs) --target ritz_program
	@examples/demo.sh

# The tests of RITZ_TESTS_QUICK in CMakeLists.txt, or those of TESTS.
check:
	@tools/install-deps
	@cmake --preset default -DRITZ_TESTS_ONLY="$(if $(TESTS),$(subst $(space),;,$(strip $(TESTS))),quick)"
	@cmake --build --preset default -j$(jobs) --target $(or $(TESTS),tests-quick)
	@ctest --preset default -j2 $(if $(TESTS),--tests-regex '^($(subst $(space),|,$(strip $(TESTS))))$$',--label-regex quick); \
	  status=$$?; tools/report-skips; exit $$status

check-all: build
	@ctest --preset default -j2; status=$$?; tools/report-skips; exit $$status

bench: products
	@build/ritz bench

install:
	@tools/install-deps
	@cmake --preset default -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))" $(OPTIONS)
	@cmake --build --preset default -j$(jobs) --target products
	@cmake --install build

# These pages and a reference as a site, build/docs/html.
docs:
	@tools/install-deps --docs
	@tools/build-docs

format:
	@tools/check-format --fix

format-check:
	@tools/check-format

clean:
	@rm -rf build
