# SPDX-License-Identifier: BSD-2-Clause
"""The Ceed API one to one, with names as in the field's standard package: `import ritz.ceed as libceed`.

A Ceed makes all other objects (ceed.Vector(n), ceed.Operator(qf), ...); it is a ritz.Context, too, so that
meshes, spaces and solvers of ritz can live on it. Methods have the names of the C functions; what these
compute, layouts and errors are those of ceed/ceed.h. Errors are exceptions of ritz (ritz/_core.py). Array
arguments are anything that NumPy takes, of the right number of entries, checked here. No geometry, spaces or
solvers: those are the other modules.
"""
from .._core import SCALAR as SCALAR
from .._core import AccessError as AccessError
from .._core import ConvergenceError as ConvergenceError
from .._core import DimensionError as DimensionError
from .._core import Error as Error
from .._core import FailedError as FailedError
from .._core import IncompatibleError as IncompatibleError
from .._core import IncompleteError as IncompleteError
from .._core import UnsupportedError as UnsupportedError
from .arrays import DeviceArray as DeviceArray
from .basis import Basis as Basis
from .basis import TransposeBasis as TransposeBasis
from .constants import *
from .context import Ceed as Ceed
from .library import *
from .operator import CompositeOperator as CompositeOperator
from .operator import Operator as Operator
from .operator import OperatorField as OperatorField
from .qcontext import ContextFieldLabel as ContextFieldLabel
from .qcontext import QFunctionContext as QFunctionContext
from .qfunction import QFunction as QFunction
from .qfunction import QFunctionField as QFunctionField
from .restriction import ElemRestriction as ElemRestriction
from .restriction import TransposeElemRestriction as TransposeElemRestriction
from .vector import Vector as Vector
