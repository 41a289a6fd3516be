#ifndef RUBBLE_NODES_STATE_NODE_H
#define RUBBLE_NODES_STATE_NODE_H

/// What nodes that write attributes of chosen bones share.

#include "engine/value.h"
#include "rubble/node.h"

/// `collection`, and `selection` (optional: all bones), ended by an entry without a name.
extern const rbl_port_desc rbli_state_inputs[];

#endif
