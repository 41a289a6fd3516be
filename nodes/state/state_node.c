/// What nodes that write attributes of chosen bones share.

#include "nodes/state/state_node.h"

const rbl_port_desc rbli_state_inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones change"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones to change; all bones when not connected"},
    {0},
};
