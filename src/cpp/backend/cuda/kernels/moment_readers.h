// The kernels that read and set the state of blocks whose state is moments: those of all states, with access to it.
#pragma once

#include "copy_run.h"
#include "moment_access.h"

#include "fields.h"
#include "point_samples.h"
#include "reductions.h"
#include "statistics.h"
