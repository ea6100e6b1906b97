// SPDX-License-Identifier: BSD-2-Clause
// A library that has names and sizes of a libceed.so of the Ceed API 0.12-development (double precision) and
// nothing behind them: functions end the program. tests/test-dropin.sh links program.c to it and runs it with
// Ritz instead. Includes no header of ours: the sizes are those that the declarations of the standard imply.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Data: a program that is not position independent keeps copies of these sizes ----

const void *const CEED_REQUEST_IMMEDIATE = "mock", *const CEED_REQUEST_ORDERED = "mock";
const void *const CEED_VECTOR_ACTIVE = "mock", *const CEED_VECTOR_NONE = "mock";
const void *const CEED_ELEMRESTRICTION_NONE = "mock", *const CEED_BASIS_NONE = "mock";
const void *const CEED_QFUNCTION_NONE = "mock";
const int32_t CEED_STRIDES_BACKEND[3] = {7, 7, 7};

// Tables indexed by enumerators: one more entry than the largest value.
static const char *const error_types[9] = {"mock", "mock", "mock", "mock", "mock",
                                           "mock", "mock", "mock", "mock"};
const char *const *CeedErrorTypes = &error_types[3]; // codes run from -3 to 5
const char *const CeedMemTypes[2] = {"mock", "mock"};
const char *const CeedCopyModes[3] = {"mock", "mock", "mock"};
const char *const CeedTransposeModes[2] = {"mock", "mock"};
const char *const CeedEvalModes[17] = {"mock"};
const char *const CeedQuadModes[2] = {"mock", "mock"};
const char *const CeedElemTopologies[196615] = {"mock"};
const char *const CeedContextFieldTypes[4] = {"mock"};
const char *const CeedFESpaces[4] = {"mock"};

// ---- Functions that program.c calls ----

#define MOCK(name)                                                                                           \
  int name(void);                                                                                            \
  int name(void) {                                                                                           \
    fprintf(stderr, "mock: %s\n", #name);                                                                    \
    exit(9);                                                                                                 \
  }

MOCK(CeedBasisCreateTensorH1Lagrange)
MOCK(CeedBasisDestroy)
MOCK(CeedDestroy)
MOCK(CeedElemRestrictionCreate)
MOCK(CeedElemRestrictionCreateStrided)
MOCK(CeedElemRestrictionDestroy)
MOCK(CeedErrorImpl)
MOCK(CeedErrorReturn)
MOCK(CeedErrorStore)
MOCK(CeedGetErrorMessage)
MOCK(CeedInit)
MOCK(CeedOperatorApply)
MOCK(CeedOperatorCreate)
MOCK(CeedOperatorDestroy)
MOCK(CeedOperatorSetField)
MOCK(CeedQFunctionAddInput)
MOCK(CeedQFunctionAddOutput)
MOCK(CeedQFunctionCreateInterior)
MOCK(CeedQFunctionDestroy)
MOCK(CeedRequestWait)
MOCK(CeedSetErrorHandler)
MOCK(CeedVectorCreate)
MOCK(CeedVectorDestroy)
MOCK(CeedVectorGetArrayRead)
MOCK(CeedVectorGetLength)
MOCK(CeedVectorRestoreArrayRead)
MOCK(CeedVectorSetArray)
MOCK(CeedVectorSetValue)
