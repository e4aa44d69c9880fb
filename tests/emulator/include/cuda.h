// Everything that kernel text may use without including anything.
#pragma once
#include "cuda_language.h"
#include "emulator_api.h"
#include "cuda_shared.h"
#include "cuda_collectives.h"
#include "cuda_atomics.h"
#include "cuda_math.h"
#include "cuda_half.h"
#include "launcher.h"
