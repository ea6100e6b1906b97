# SPDX-License-Identifier: BSD-2-Clause
# Short names for what cmake does: make demo | check | install PREFIX=... | bench | format | format-check | clean.
# Everything is built in build/; other kinds of builds are the presets of CMakePresets.json.

MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
TESTS ?= # make check TESTS="test-vector test-mesh": these alone
OPTIONS ?= # for cmake: make install OPTIONS=-DRITZ_CEED_COMPAT=ON
export RITZ_TEST_LEVEL ?= quick
space := $(subst ,, )
jobs := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: all demo check install bench format format-check clean build products
all: products

# With tests and benchmarks, and what is installed alone.
build:
	@tools/install-deps
	@cmake --preset default
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

check:
	@tools/install-deps
	@cmake --preset default -DRITZ_TESTS_ONLY="$(subst $(space),;,$(strip $(TESTS)))"
	@cmake --build --preset default -j$(jobs) $(if $(TESTS),--target $(TESTS))
	@ctest --preset default --output-on-failure -j2 $(if $(TESTS),--tests-regex '^($(subst $(space),|,$(TESTS)))$$'); \
	  status=$$?; tools/report-skips; exit $$status

bench: products
	@build/ritz bench

install:
	@tools/install-deps
	@cmake --preset default -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))" $(OPTIONS)
	@cmake --build --preset default -j$(jobs) --target products
	@cmake --install build

format:
	@tools/check-format --fix

format-check:
	@tools/check-format

clean:
	@rm -rf build
