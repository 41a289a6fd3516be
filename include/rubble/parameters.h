#ifndef RUBBLE_PARAMETERS_H
#define RUBBLE_PARAMETERS_H

/// Parameters of a graph's nodes as an editor shows them: range, step, unit and text of each, and its value
/// now.

#include "rubble/rubble.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A parameter that is no object: those stand by their fields.
typedef struct rbl_parameter {
    const char *pointer;        /* for rbl_graph_set_parameter: "/nodes/cut/params/noise/amplitude" */
    const char *name;           /* inside the node: "noise.amplitude" */
    const rbl_param_desc *desc; /* type, min … max (both 0: none), step, unit, words, text, default */
    const char *json;           /* the value now, as JSON text; "" when it was left out or is not known yet */
    const char *variable;       /* the variable that gives the value (set that one instead), "" for none */
    bool connected;             /* another node gives the value: it cannot be set */
} rbl_parameter;

typedef struct rbl_parameters rbl_parameters;

/// Lists the parameters of a node, in the order of its type, as they are now. A list is one parameter, also
/// one of objects. @return RBL_OK · RBL_ERR_NOT_FOUND (no such node) · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_graph_parameters(const rbl_graph *graph, const char *node, rbl_parameters **out);
RBL_API size_t rbl_parameters_count(const rbl_parameters *parameters);
RBL_API const rbl_parameter *rbl_parameters_get(const rbl_parameters *parameters, size_t index);
/// Before the graph.
RBL_API void rbl_parameters_destroy(rbl_parameters *parameters);

/// Type, range, step, unit and text of a variable as the graph file gives them; NULL past the end. Borrowed
/// from the graph.
RBL_API const rbl_param_desc *rbl_graph_variable_desc(const rbl_graph *graph, size_t variable);

#ifdef __cplusplus
}
#endif
#endif
