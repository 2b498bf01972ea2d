/* The tables of the journal, and how an older file becomes a present one. */
#ifndef CUZK_ENGINE_JOURNAL_SCHEMA_H
#define CUZK_ENGINE_JOURNAL_SCHEMA_H

#include "base/status.h"

#include <sqlite3.h>

/* A status from what SQLite says of its last call: STATUS_BUSY, STATUS_INVALID (not a database, damaged) or
 * STATUS_IO. */
struct status sqlite_status(sqlite3 *db, const char *path);
MUST_USE struct status sqlite_run(sqlite3 *db, const char *path, const char *sql);
/* Whole, ours, of the present version: made, checked and brought up to date, or refused with the way out. */
MUST_USE struct status schema_ready(sqlite3 *db, const char *path);

#endif
