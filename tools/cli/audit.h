#ifndef RUBBLE_CLI_AUDIT_H
#define RUBBLE_CLI_AUDIT_H

/// What a lead artist would send back: faults and risks of a finished collection.

#include "tools/cli/asset.h"
#include "tools/cli/engine_cost.h"
#include "tools/cli/summary.h"

enum { AUDIT_MOST = 20, AUDIT_NAMES = 3 };

typedef struct cli_concern {
    const char *code; /* "sliver_pieces" */
    bool warning;     /* else a note */
    size_t count;
    char text[240];                 /* "3 pieces are …" */
    const char *names[AUDIT_NAMES]; /* of the first bones or materials concerned, then NULL */
} cli_concern;

typedef struct cli_audit {
    cli_concern concerns[AUDIT_MOST];
    size_t count, warnings;
} cli_audit;

/// @param finished  no mesh that is still to be broken: hulls and contacts are missed
/// @return RBL_OK · RBL_ERR_NO_MEMORY. Names are borrowed from the collection.
rbl_status cli_audit_collection(bool finished, const cli_asset *asset, const cli_summary *summary,
    const cli_engine_cost *cost, cli_audit *out);

#endif
