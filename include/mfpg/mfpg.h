/** Everything: privacy games in federated learning, from randomness and data to whole experiments. */
#ifndef MFPG_H
#define MFPG_H

#include "accountant.h"
#include "audit_bounds.h"
#include "bench.h"
#include "calibration.h"
#include "config.h"
#include "context.h"
#include "data_check.h"
#include "dataset.h"
#include "experiment.h"
#include "federation.h"
#include "filter.h"
#include "game.h"
#include "hidden_state.h"
#include "loss_table.h"
#include "mechanism.h"
#include "model.h"
#include "names.h"
#include "pde.h"
#include "population.h"
#include "private_action.h"
#include "privatise.h"
#include "random.h"
#include "release.h"
#include "report.h"
#include "solution.h"
#include "status.h"
#include "study.h"
#include "transport.h"

#endif
