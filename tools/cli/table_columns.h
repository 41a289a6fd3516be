#ifndef RUBBLE_CLI_TABLE_COLUMNS_H
#define RUBBLE_CLI_TABLE_COLUMNS_H

/// Columns of `rubble table`: attributes of a group, and of what its elements point to ("parent.name").

#include "tools/cli/cli.h"

enum { TABLE_MOST_COLUMNS = 64, TABLE_NAME = 130 };

typedef struct table_column {
    char name[TABLE_NAME];
    rbl_attribute_view view;
    const int32_t *through;        /* element of the group → element of the view; NULL: the same */
    const char *group, *attribute; /* of the view */
} table_column;

/// Finds an attribute of `group`: "volume", or through an index "geometry.face_count"; "index" is the number
/// of the element. What is wrong is told with `option` and the nearest name. @return exit code
int table_find_column(const rbl_collection *collection, const char *group, const char *name,
    const char *option, table_column *out);
/// The columns that are shown when none is asked for. @return how many
size_t table_default_columns(
    const rbl_collection *collection, const char *group, table_column out[TABLE_MOST_COLUMNS]);
/// Every attribute that can be shown. @return how many
size_t table_all_columns(
    const rbl_collection *collection, const char *group, table_column out[TABLE_MOST_COLUMNS]);

/// Components of an element: 1 for numbers and texts.
size_t table_component_count(const table_column *column);
bool table_is_text(const table_column *column);
/// False when there is no element, as for the parent of a root.
bool table_has(const table_column *column, size_t row);
double table_number(const table_column *column, size_t row, size_t component);
const char *table_text(const rbl_collection *collection, const table_column *column, size_t row);
/// One component: with all digits that matter where `exact`, else with 6.
void table_format(const table_column *column, size_t row, size_t component, bool exact, char out[64]);

#endif
