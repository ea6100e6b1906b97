# SPDX-License-Identifier: BSD-2-Clause
"""Resources that tests run on, and a fixed sequence of random numbers."""
from __future__ import annotations

import os
from typing import Iterator

import numpy as np
import pytest

import ritz

RESOURCES = os.environ.get("RITZ_TEST_BACKENDS", "/cpu/self/ref,/cpu/self/gen").split(",")


@pytest.fixture(params=RESOURCES)
def ctx(request: pytest.FixtureRequest) -> Iterator[ritz.Context]:
    """A context that objects of the test belong to."""
    with ritz.device(request.param) as context:
        yield context


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261129)
