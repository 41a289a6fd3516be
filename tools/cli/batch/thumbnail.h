#ifndef RUBBLE_CLI_BATCH_THUMBNAIL_H
#define RUBBLE_CLI_BATCH_THUMBNAIL_H

/// Small pictures of assets for the summary's page.

#include "tools/cli/batch/batch.h"

/// Whether pictures can be drawn here; when not, why is told.
bool batch_thumbnails_possible(void);
/// Draws thumbnail.png in the asset's folder from a file that the run wrote (.rbl, .glb or .obj) and notes it in
/// `result`. One that belongs to the same files stays. A picture that cannot be drawn is no failure of the asset.
void batch_thumbnail_draw(const rbl_run *run, const char *folder, batch_result *result);

#endif
