/** What a program built on the library shares with it: failing and warning, loops over independent tasks, and
 *  tables on disk. The suites and studies of reproduction/ are such a program. */
#ifndef MFPG_PROGRAM_H
#define MFPG_PROGRAM_H

#include <stddef.h>

#include "context.h"

/** Stores the message, cut at 1023 bytes, and returns the status, so that one can write `return
 *  mfpg_fail(...)`. ctx may be NULL; the message is then lost. */
mfpg_status mfpg_fail(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Prefixes the message that a failed call has left: "WHERE: MESSAGE". Returns the status. */
mfpg_status mfpg_fail_in(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Fails with MFPG_ERR_MEMORY and the library's standard message for it. */
mfpg_status mfpg_fail_memory(mfpg_context *ctx);

/** Passes one line to the context's warn function, if it has one. */
void mfpg_warn(mfpg_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** One task: index in [0, count), worker in [0, mfpg_context_threads). A task writes only to slots of its own
 *  index and to workspaces of its own worker, so that the order of tasks cannot change a result. ctx is the
 *  task's own context: its messages are used, and a loop started on it runs in this thread alone. */
typedef mfpg_status (*mfpg_task)(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg);

/** Runs the tasks on mfpg_context_threads(ctx) threads. If some fail, the lowest failing index determines
 *  status and message, whatever the schedule; tasks with a larger index may not have run. */
mfpg_status mfpg_tasks_run(mfpg_context *ctx, ptrdiff_t count, mfpg_task task, void *arg);

/** Returns the smallest number with that many decimals that is not below value; promises are printed in this
 *  way. Infinity is returned unchanged. */
double mfpg_number_up(double value, int decimals);

/** A CSV file (RFC 4180) that is being written. */
typedef struct mfpg_table_file mfpg_table_file;

/** Begins the file FOLDER/NAME (folder NULL: name is its path) with a row of column names ("a,b,c"). The file
 *  is written completely or not at all: it appears under its name when it is closed.
 *  @param[out] out  finish it with mfpg_table_file_close; set only on success
 *  @return MFPG_OK, MFPG_ERR_IO with the path, MFPG_ERR_MEMORY. */
mfpg_status mfpg_table_file_open(
    mfpg_context *ctx, const char *folder, const char *name, const char *columns, mfpg_table_file **out);

/** Appends a row. kinds has one letter for each cell that follows: t for const char * (NULL: an empty cell),
 *  i for int64_t and n for double (shortest decimal that reads back; NAN: an empty cell, infinity: inf). */
void mfpg_table_file_row(mfpg_table_file *file, const char *kinds, ...);

/** Finishes the file and frees it, also on failure.
 *  @return MFPG_OK, or MFPG_ERR_IO with the path; the file is then as it was before. */
mfpg_status mfpg_table_file_close(mfpg_context *ctx, mfpg_table_file *file);

/** Creates a folder and its parents if they do not exist. MFPG_ERR_IO with the path, MFPG_ERR_MEMORY. */
mfpg_status mfpg_folder_create(mfpg_context *ctx, const char *path);

/** Writes size bytes as the file FOLDER/NAME, completely or not at all. MFPG_ERR_IO with the path,
 *  MFPG_ERR_MEMORY. */
mfpg_status mfpg_file_write(
    mfpg_context *ctx, const char *folder, const char *name, const void *bytes, size_t size);

#endif
