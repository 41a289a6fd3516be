/// What editors and readers learn from the registry: a JSON Schema of graph files, and the list of node
/// types.

#include "engine/engine.h"

#include <string.h>

#include "fracture/base/alloc.h"

static void indent(rbli_text *out, int depth)
{
    rbli_text_puts(out, "\n");
    for (int i = 0; i < depth; i++)
        rbli_text_puts(out, "  ");
}

static void member_string(rbli_text *out, const char *name, const char *value)
{
    rbli_text_json_string(out, name);
    rbli_text_puts(out, ": ");
    rbli_text_json_string(out, value ? value : "");
}

static bool is_bounded(const rbl_param_desc *param)
{
    return param->min != 0 || param->max != 0;
}

/* ---- nodes.json ---- */

static void ports_json(rbli_text *out, const rbl_port_desc *ports, bool inputs, int depth)
{
    rbli_text_puts(out, "[");
    for (size_t i = 0; ports && ports[i].name; i++) {
        if (i) rbli_text_puts(out, ",");
        indent(out, depth + 1);
        rbli_text_puts(out, "{");
        member_string(out, "name", ports[i].name);
        rbli_text_puts(out, ", ");
        member_string(out, "kind", rbli_value_kind_word(ports[i].kind));
        if (inputs)
            rbli_text_printf(out, ", \"optional\": %s, \"several\": %s", ports[i].optional ? "true" : "false",
                ports[i].several ? "true" : "false");
        rbli_text_puts(out, ", ");
        member_string(out, "text", ports[i].text);
        rbli_text_puts(out, "}");
    }
    if (ports && ports[0].name) indent(out, depth);
    rbli_text_puts(out, "]");
}

static void params_json(rbli_text *out, const rbl_param_desc *params, int depth)
{
    rbli_text_puts(out, "[");
    for (size_t i = 0; params && params[i].name; i++) {
        const rbl_param_desc *p = &params[i];
        if (i) rbli_text_puts(out, ",");
        indent(out, depth + 1);
        rbli_text_puts(out, "{");
        member_string(out, "name", p->name);
        rbli_text_puts(out, ", ");
        member_string(out, "type", rbl_param_type_text(p->type));
        if (p->list) rbli_text_puts(out, ", \"list\": true");
        if (p->default_json)
            rbli_text_printf(out, ", \"default\": %s", p->default_json);
        else
            rbli_text_puts(out, p->optional ? ", \"optional\": true" : ", \"required\": true");
        if (is_bounded(p)) {
            rbli_text_puts(out, ", \"min\": ");
            rbli_text_json_double(out, p->min);
            rbli_text_puts(out, ", \"max\": ");
            rbli_text_json_double(out, p->max);
        }
        if (p->step != 0) {
            rbli_text_puts(out, ", \"step\": ");
            rbli_text_json_double(out, p->step);
        }
        if (p->unit && *p->unit) {
            rbli_text_puts(out, ", ");
            member_string(out, "unit", p->unit);
        }
        if (p->words) {
            rbli_text_puts(out, ", \"words\": [");
            for (size_t w = 0; p->words[w]; w++) {
                rbli_text_puts(out, w ? ", " : "");
                rbli_text_json_string(out, p->words[w]);
            }
            rbli_text_puts(out, "]");
        }
        rbli_text_puts(out, ", ");
        member_string(out, "text", p->text);
        if (p->type == RBL_PARAM_OBJECT) {
            rbli_text_puts(out, ", \"fields\": ");
            params_json(out, p->fields, depth + 1);
        }
        rbli_text_puts(out, "}");
    }
    if (params && params[0].name) indent(out, depth);
    rbli_text_puts(out, "]");
}

static void node_json(rbli_text *out, const rbl_node_desc *desc, int depth)
{
    rbli_text_puts(out, "{");
    indent(out, depth + 1);
    member_string(out, "type", desc->type);
    rbli_text_printf(out, ", \"version\": %d, \"revision\": %d, ", desc->version, desc->revision);
    member_string(out, "family", desc->family);
    rbli_text_puts(out, ",");
    indent(out, depth + 1);
    member_string(out, "text", desc->text);
    rbli_text_puts(out, ",");
    if (desc->details) {
        indent(out, depth + 1);
        member_string(out, "details", desc->details);
        rbli_text_puts(out, ",");
    }
    indent(out, depth + 1);
    rbli_text_puts(out, "\"inputs\": ");
    ports_json(out, desc->inputs, true, depth + 1);
    rbli_text_puts(out, ",");
    indent(out, depth + 1);
    rbli_text_puts(out, "\"outputs\": ");
    ports_json(out, desc->outputs, false, depth + 1);
    rbli_text_puts(out, ",");
    indent(out, depth + 1);
    rbli_text_puts(out, "\"params\": ");
    params_json(out, desc->params, depth + 1);
    indent(out, depth);
    rbli_text_puts(out, "}");
}

rbl_status rbl_engine_nodes_json(const rbl_engine *engine, const char *type, char **text)
{
    rbli_text out;
    rbli_text_init(&out, engine->allocator);
    if (type) {
        const rbli_node_type *found = rbli_find_type(engine, type, 0);
        if (!found) return RBL_ERR_NOT_FOUND;
        node_json(&out, found->desc, 0);
        rbli_text_puts(&out, "\n");
        return rbli_text_take(&out, text);
    }
    rbli_text_puts(&out, "{\n  ");
    member_string(&out, "rubble", rbl_version_text());
    rbli_text_puts(&out, ",\n  \"nodes\": [");
    for (size_t i = 0; i < engine->type_count; i++) {
        rbli_text_puts(&out, i ? ",\n    " : "\n    ");
        node_json(&out, engine->types[i]->desc, 2);
    }
    rbli_text_puts(&out, engine->type_count ? "\n  ]\n}\n" : "]\n}\n");
    return rbli_text_take(&out, text);
}

/* ---- graph.schema.json ---- */

static void description(rbli_text *out, const char *text, const char *unit)
{
    rbli_text full;
    rbli_text_init(&full, out->allocator);
    rbli_text_puts(&full, text ? text : "");
    if (unit && *unit) rbli_text_printf(&full, " [%s]", unit);
    if (full.failed)
        out->failed = true;
    else
        member_string(out, "description", full.data);
    rbli_text_free(&full);
}

static void bounds(rbli_text *out, const rbl_param_desc *p)
{
    if (p->type == RBL_PARAM_SEED) {
        rbli_text_puts(out, ", \"minimum\": 0, \"maximum\": 4294967295");
    } else if (is_bounded(p)) {
        rbli_text_puts(out, ", \"minimum\": ");
        rbli_text_json_double(out, p->min);
        rbli_text_puts(out, ", \"maximum\": ");
        rbli_text_json_double(out, p->max);
    }
}

static void params_schema(rbli_text *out, const rbl_param_desc *params, int depth);

/// A text; one with words is the name of a file that ends in one of them, or empty where that is the default.
static void string_schema(rbli_text *out, const rbl_param_desc *p)
{
    rbli_text_puts(out, "{\"type\": \"string\"");
    if (p->words) {
        bool empty = p->default_json && strcmp(p->default_json, "\"\"") == 0;
        rbli_text_printf(out, ", \"pattern\": \"%s^[^./\\\\\\\\:][^/\\\\\\\\:]*(", empty ? "^$|" : "");
        for (size_t i = 0; p->words[i]; i++)
            rbli_text_printf(out, "%s[.]%s", i ? "|" : "", p->words[i] + (p->words[i][0] == '.'));
        rbli_text_puts(out, ")$\"");
    }
    rbli_text_puts(out, "}");
}

/// The schema of one value, without variables.
static void plain_schema(rbli_text *out, const rbl_param_desc *p, int depth)
{
    switch (p->type) {
    case RBL_PARAM_BOOL:
        rbli_text_puts(out, "{\"type\": \"boolean\"}");
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        rbli_text_puts(out, "{\"type\": \"integer\"");
        bounds(out, p);
        rbli_text_puts(out, "}");
        break;
    case RBL_PARAM_FLOAT:
        rbli_text_puts(out, "{\"type\": \"number\"");
        bounds(out, p);
        rbli_text_puts(out, "}");
        break;
    case RBL_PARAM_STRING:
        string_schema(out, p);
        break;
    case RBL_PARAM_PATH:
        rbli_text_puts(out, "{\"type\": \"string\"}");
        break;
    case RBL_PARAM_ENUM:
        rbli_text_puts(out, "{\"enum\": [");
        for (size_t i = 0; p->words[i]; i++) {
            rbli_text_puts(out, i ? ", " : "");
            rbli_text_json_string(out, p->words[i]);
        }
        rbli_text_puts(out, "]}");
        break;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        rbli_text_printf(out,
            "{\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {\"anyOf\": [{\"type\": "
            "\"%s\"",
            p->type == RBL_PARAM_VEC3 ? "number" : "integer");
        bounds(out, p);
        rbli_text_puts(out, "}, {\"$ref\": \"#/$defs/reference\"}]}}");
        break;
    case RBL_PARAM_OBJECT:
        params_schema(out, p->fields, depth);
        break;
    }
}

static void value_schema(rbli_text *out, const rbl_param_desc *p, int depth)
{
    if (p->type == RBL_PARAM_OBJECT) {
        plain_schema(out, p, depth);
        return;
    }
    rbli_text_puts(out, "{\"anyOf\": [");
    plain_schema(out, p, depth);
    rbli_text_puts(out, ", {\"$ref\": \"#/$defs/reference\"}]}");
}

static void params_schema(rbli_text *out, const rbl_param_desc *params, int depth)
{
    rbli_text_puts(out, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    indent(out, depth + 1);
    rbli_text_puts(out, "\"//\": true");
    size_t required = 0;
    for (size_t i = 0; params && params[i].name; i++) {
        const rbl_param_desc *p = &params[i];
        required += !p->default_json && !p->optional;
        rbli_text_puts(out, ",");
        indent(out, depth + 1);
        rbli_text_json_string(out, p->name);
        rbli_text_puts(out, ": {");
        description(out, p->text, p->unit);
        if (p->default_json) rbli_text_printf(out, ", \"default\": %s", p->default_json);
        rbli_text_puts(out, ", \"allOf\": [");
        bool names = p->type == RBL_PARAM_STRING && p->words;
        if (p->list)
            rbli_text_printf(
                out, "{\"type\": \"array\", %s\"items\": ", names ? "\"uniqueItems\": true, " : "");
        value_schema(out, p, depth + 1);
        if (p->list) rbli_text_puts(out, "}");
        rbli_text_puts(out, "]}");
    }
    indent(out, depth);
    rbli_text_puts(out, "}");
    if (required) {
        rbli_text_puts(out, ", \"required\": [");
        for (size_t i = 0, written = 0; params && params[i].name; i++) {
            if (params[i].default_json || params[i].optional) continue;
            rbli_text_puts(out, written++ ? ", " : "");
            rbli_text_json_string(out, params[i].name);
        }
        rbli_text_puts(out, "]");
    }
    rbli_text_puts(out, "}");
}

static void inputs_schema(rbli_text *out, const rbl_port_desc *ports, int depth)
{
    rbli_text_puts(out, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    indent(out, depth + 1);
    rbli_text_puts(out, "\"//\": true");
    size_t required = 0;
    for (size_t i = 0; ports && ports[i].name; i++) {
        required += !ports[i].optional;
        rbli_text_puts(out, ",");
        indent(out, depth + 1);
        rbli_text_json_string(out, ports[i].name);
        rbli_text_puts(out, ": {");
        description(out, ports[i].text, rbli_value_kind_word(ports[i].kind));
        rbli_text_printf(out, ", \"$ref\": \"#/$defs/%s\"}", ports[i].several ? "connections" : "connection");
    }
    indent(out, depth);
    rbli_text_puts(out, "}");
    if (required) {
        rbli_text_puts(out, ", \"required\": [");
        for (size_t i = 0, written = 0; ports && ports[i].name; i++) {
            if (ports[i].optional) continue;
            rbli_text_puts(out, written++ ? ", " : "");
            rbli_text_json_string(out, ports[i].name);
        }
        rbli_text_puts(out, "]");
    }
    rbli_text_puts(out, "}");
}

static bool has_required(const rbl_node_desc *desc, bool inputs)
{
    if (inputs) {
        for (size_t i = 0; desc->inputs && desc->inputs[i].name; i++)
            if (!desc->inputs[i].optional) return true;
        return false;
    }
    for (size_t i = 0; desc->params && desc->params[i].name; i++)
        if (!desc->params[i].default_json && !desc->params[i].optional) return true;
    return false;
}

/// The rule of one node type: `if` its name `then` its inputs and parameters.
static void type_schema(rbli_text *out, const rbl_node_desc *desc, bool newest)
{
    rbli_text_puts(out, "{\n        \"if\": {\"properties\": {\"type\": {\"enum\": [");
    if (newest) {
        rbli_text_json_string(out, desc->type);
        rbli_text_puts(out, ", ");
    }
    rbli_text_printf(
        out, "\"%s@%d\"]}}, \"required\": [\"type\"]},\n        \"then\": {", desc->type, desc->version);
    member_string(out, "description", desc->text);
    rbli_text_puts(out, ", \"properties\": {\n          \"in\": ");
    inputs_schema(out, desc->inputs, 5);
    rbli_text_puts(out, ",\n          \"params\": ");
    params_schema(out, desc->params, 5);
    rbli_text_puts(out, "\n        }");
    bool in = has_required(desc, true), params = has_required(desc, false);
    if (in || params)
        rbli_text_printf(out, ", \"required\": [%s%s%s]", in ? "\"in\"" : "", in && params ? ", " : "",
            params ? "\"params\"" : "");
    rbli_text_puts(out, "}\n      }");
}

static void types_schema(rbli_text *out, const rbl_engine *engine)
{
    rbli_text_puts(out, "\"type\": {\"description\": \"What the node does\", \"oneOf\": [");
    for (size_t i = 0; i < engine->type_count; i++) {
        const rbl_node_desc *desc = engine->types[i]->desc;
        bool newest = rbli_find_type(engine, desc->type, 0) == engine->types[i];
        rbli_text_puts(out, i ? ",\n        " : "\n        ");
        if (newest) {
            rbli_text_puts(out, "{\"const\": ");
            rbli_text_json_string(out, desc->type);
            rbli_text_puts(out, ", ");
            member_string(out, "description", desc->text);
            rbli_text_puts(out, "},\n        ");
        }
        rbli_text_printf(out, "{\"const\": \"%s@%d\", ", desc->type, desc->version);
        member_string(out, "description", desc->text);
        rbli_text_puts(out, "}");
    }
    rbli_text_puts(out,
        ",\n        {\"type\": \"string\", \"pattern\": \"^graph:([^#]+#)?[A-Za-z_][A-Za-z0-9_]{0,63}$\",\n"
        "          \"description\": "
        "\"A graph of this file (graph:NAME) or another (graph:FILE#NAME)\"}\n      ]}");
}

#define DECLARATION                                                                                          \
    "      \"default\": {\"description\": \"Its value when nothing else is given\"},\n"                      \
    "      \"min\": {\"type\": \"number\", \"description\": \"The smallest allowed value\"},\n"              \
    "      \"max\": {\"type\": \"number\", \"description\": \"The largest allowed value\"},\n"               \
    "      \"words\": {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\"},\n"           \
    "        \"description\": \"What an enum may be\"},\n"                                                   \
    "      \"text\": {\"type\": \"string\", \"description\": \"What it means\"}},"
#define TYPE_RULE(types, value, others)                                                                      \
    "{\"if\": {\"properties\": {\"type\": {\"enum\": [" types "]}}, \"required\": [\"type\"]},\n"            \
    "        \"then\": {\"properties\": {\"default\": {" value "}, " others "}}}"

rbl_status rbl_engine_schema(const rbl_engine *engine, char **text)
{
    static const char
        head[] =
            "{\n"
            "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
            "  \"title\": \"rubble graph\",\n"
            "  \"type\": \"object\",\n"
            "  \"required\": [\"rubble\"],\n"
            "  \"anyOf\": [{\"required\": [\"nodes\"]}, {\"required\": [\"graphs\"]}],\n"
            "  \"additionalProperties\": false,\n"
            "  \"properties\": {\n"
            "    \"//\": true,\n"
            "    \"$schema\": {\"type\": \"string\"},\n"
            "    \"rubble\": {\"const\": 1, \"description\": \"Version of the graph format\"},\n"
            "    \"vars\": {\"type\": \"object\", \"description\": \"Variables: --set name=value on the "
            "command "
            "line\",\n"
            "      \"propertyNames\": {\"$ref\": \"#/$defs/name\"}, \"properties\": {\"//\": true},\n"
            "      \"additionalProperties\": {\"$ref\": \"#/$defs/variable\"}},\n"
            "    \"graphs\": {\"type\": \"object\", \"description\": \"Graphs that nodes of type graph:NAME "
            "and "
            "ForEach run\",\n"
            "      \"propertyNames\": {\"$ref\": \"#/$defs/name\"}, \"properties\": {\"//\": true},\n"
            "      \"additionalProperties\": {\"$ref\": \"#/$defs/graph\"}},\n"
            "    \"nodes\": {\"$ref\": \"#/$defs/nodes\"}\n"
            "  },\n"
            "  \"$defs\": {\n"
            "    \"nodes\": {\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 100000,\n"
            "      \"description\": \"Nodes by id\",\n"
            "      \"propertyNames\": {\"$ref\": \"#/$defs/name\"}, \"properties\": {\"//\": true},\n"
            "      \"additionalProperties\": {\"$ref\": \"#/$defs/node\"}},\n"
            "    \"graph\": {\"type\": \"object\", \"required\": [\"nodes\", \"outputs\"], "
            "\"additionalProperties\": false,\n"
            "      \"properties\": {\n"
            "      \"//\": true,\n"
            "      \"text\": {\"type\": \"string\", \"description\": \"What the graph does\"},\n"
            "      \"inputs\": {\"type\": \"object\", \"description\": \"What comes in; nodes take it as "
            "\\\"inputs.NAME\\\"\",\n"
            "        \"propertyNames\": {\"$ref\": \"#/$defs/name\"}, \"properties\": {\"//\": true},\n"
            "        \"additionalProperties\": {\"$ref\": \"#/$defs/input\"}},\n"
            "      \"nodes\": {\"$ref\": \"#/$defs/nodes\", \"propertyNames\": {\"not\": {\"const\": "
            "\"inputs\"}}},\n"
            "      \"outputs\": {\"type\": \"object\", \"description\": \"What comes out: \\\"node\\\" or "
            "\\\"node.port\\\" by name\",\n"
            "        \"propertyNames\": {\"$ref\": \"#/$defs/name\"}, \"properties\": {\"//\": true},\n"
            "        \"additionalProperties\": {\"$ref\": \"#/$defs/connection\"}}}},\n"
            "    \"input\": {\"type\": \"object\", \"required\": [\"type\"], \"additionalProperties\": "
            "false, "
            "\"properties\": {\n"
            "      \"//\": true,\n"
            "      \"type\": {\"description\": \"What comes in: a connection (collection, points, box, "
            "selection) or a "
            "parameter\",\n"
            "        \"enum\": [\"collection\", \"points\", \"box\", \"selection\", \"int\", \"float\", "
            "\"bool\", "
            "\"string\",\n"
            "        \"path\", \"seed\", \"enum\", \"vec3\", \"int3\"]},\n" DECLARATION "\n"
            "      \"allOf\": [{\"$ref\": \"#/$defs/declaration\"},\n"
            "        {\"if\": {\"properties\": {\"type\": {\"enum\": [\"collection\", \"points\", \"box\", "
            "\"selection\"]}}},\n"
            "          \"then\": {\"properties\": {\"default\": false, \"min\": false, \"max\": false, "
            "\"words\": "
            "false}}}]},\n"
            "    \"declaration\": {\"allOf\": [\n"
            "      " TYPE_RULE("\"int\"", "\"type\": \"integer\"",
                "\"words\": false") ",\n"
                                    "      " TYPE_RULE("\"seed\"",
                                        "\"type\": \"integer\", \"minimum\": "
                                        "0, \"maximum\": 4294967295",
                                        "\"words\": false") ",\n"
                                                            "     "
                                                            " " TYPE_RULE("\"float\"", "\"type\": \"number\"", "\"words\": false") ",\n"
                                                                                                                                   "      " TYPE_RULE(
                                                                                                                                       "\"bool\"",
                                                                                                                                       "\"type\": \"boolean\"", "\"words\": false, \"min\": false, \"max\": false") ",\n"
                                                                                                                                                                                                                    "      " TYPE_RULE(
                                                                                                                                                                                                                        "\"string\", \"path\"", "\"type\": \"string\"", "\"words\": false, \"min\": false, \"max\": false") ",\n"
                                                                                                                                                                                                                                                                                                                            "      " TYPE_RULE("\"vec3\"", "\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {\"type\": \"number\"}", "\"words\": false") ",\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "      " TYPE_RULE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"int3\"", "\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {\"type\": \"integer\"}", "\"words\": false") ",\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      {\"if\": {\"properties\": {\"type\": {\"const\": \"enum\"}}, \"required\": [\"type\"]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        \"then\": {\"required\": [\"words\"], \"properties\": {\"default\": {\"type\": \"string\"}, \"min\": "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "false, \"max\": false}}}]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"name\": {\"anyOf\": [{\"const\": \"//\"}, {\"pattern\": "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"^[A-Za-z_][A-Za-z0-9_]{0,63}$\"}]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"connection\": {\"type\": \"string\", \"pattern\": "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"^[A-Za-z_][A-Za-z0-9_]{0,63}([.][A-Za-z_][A-Za-z0-9_]{0,63})?$\"},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"connections\": {\"anyOf\": [{\"$ref\": \"#/$defs/connection\"},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/connection\"}}]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"reference\": {\"type\": \"object\", \"oneOf\": [\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      {\"required\": [\"var\"], \"properties\": {\"var\": {\"type\": \"string\", \"description\": "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"A variable of \\\"vars\\\"\"},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        \"//\": true}, \"additionalProperties\": false},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      {\"required\": [\"from\"], \"properties\": {\"from\": {\"$ref\": \"#/$defs/connection\"}, "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"//\": true},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        \"additionalProperties\": false}]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"variable\": {\"type\": \"object\", \"required\": [\"type\"], \"additionalProperties\": false, "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"properties\": {\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"//\": true,\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"type\": {\"enum\": [\"int\", \"float\", \"bool\", \"string\", \"path\", \"seed\", \"enum\", "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\"vec3\", \"int3\"]},\n" DECLARATION
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"allOf\": [{\"$ref\": \"#/$defs/declaration\"}]},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    \"node\": {\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"type\": \"object\", \"required\": [\"type\"], \"additionalProperties\": false,\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"properties\": {\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"//\": true,\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"in\": {\"type\": \"object\", \"description\": \"Connections: \\\"node\\\" or "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "\\\"node.port\\\"\"},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      \"params\": {\"type\": \"object\", \"description\": \"Only what differs from the default\"},\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "      ";
    rbli_text out;
    rbli_text_init(&out, engine->allocator);
    rbli_text_puts(&out, head);
    types_schema(&out, engine);
    rbli_text_puts(&out, "\n      },\n      \"allOf\": [");
    for (size_t i = 0; i < engine->type_count; i++) {
        const rbl_node_desc *desc = engine->types[i]->desc;
        rbli_text_puts(&out, i ? ",\n      " : "\n      ");
        type_schema(&out, desc, rbli_find_type(engine, desc->type, 0) == engine->types[i]);
    }
    rbli_text_puts(&out, "\n      ]\n    }\n  }\n}\n");
    return rbli_text_take(&out, text);
}
