/** What a program built on the library shares with it: how a call fails and warns, loops over independent tasks, and tables on
 *  disk. The suites and studies of reproduction/ are such a program. */
#ifndef MFPG_PROGRAM_H
#define MFPG_PROGRAM_H

#include <stddef.h>

#include "context.h"

/** Stores the message, cut at 1023 bytes, and returns the status, so that `return mfpg_fail(...)` reads well. ctx may be NULL:
 *  the message is then lost. */
mfpg_status mfpg_fail(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Puts words in front of the message that a failed call has left: "WHERE: MESSAGE". Returns the status. */
mfpg_status mfpg_fail_in(mfpg_context *ctx, mfpg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Fails with MFPG_ERR_MEMORY and the library's one wording of it. */
mfpg_status mfpg_fail_memory(mfpg_context *ctx);

/** Hands one line to the context's warn function, if it has one. */
void mfpg_warn(mfpg_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** One task: index in [0, count), worker in [0, mfpg_context_threads). A task writes only to slots of its own index and to
 *  workspaces of its own worker, so that the order of tasks cannot change a result. ctx is the task's own: its messages count,
 *  and a loop started on it runs in this thread alone. */
typedef mfpg_status (*mfpg_task)(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg);

/** Runs the tasks on mfpg_context_threads(ctx) threads. If any fail, the lowest failing index decides status and message,
 *  whatever the schedule; tasks above it may not have run. */
mfpg_status mfpg_tasks_run(mfpg_context *ctx, ptrdiff_t count, mfpg_task task, void *arg);

/** The smallest number of that many decimals that is not below value: what a promise is printed as. Infinity stays. */
double mfpg_number_up(double value, int decimals);

/** A CSV file (RFC 4180) that is being written. */
typedef struct mfpg_table_file mfpg_table_file;

/** Begins the file FOLDER/NAME (folder NULL: name is its path) with a row of column names ("a,b,c"). It is whole or absent: it appears under its name when it
 *  is closed.
 *  @param[out] out  end it with mfpg_table_file_close; set only on success
 *  @return MFPG_OK, MFPG_ERR_IO with the path, MFPG_ERR_MEMORY. */
mfpg_status mfpg_table_file_open(
    mfpg_context *ctx, const char *folder, const char *name, const char *columns, mfpg_table_file **out);

/** Appends a row, whose cells follow: kinds has one letter a cell, t for const char * (NULL: an empty cell), i for int64_t and n
 *  for double (shortest decimal that reads back; NAN: an empty cell, infinity: inf). */
void mfpg_table_file_row(mfpg_table_file *file, const char *kinds, ...);

/** Ends the file and frees it, whether it succeeds or not.
 *  @return MFPG_OK or MFPG_ERR_IO with the path, and then the file is as it was before. */
mfpg_status mfpg_table_file_close(mfpg_context *ctx, mfpg_table_file *file);

/** Makes a folder and those above it, unless they exist. MFPG_ERR_IO with the path, MFPG_ERR_MEMORY. */
mfpg_status mfpg_folder_create(mfpg_context *ctx, const char *path);

/** Writes size bytes as the file FOLDER/NAME, whole or absent. MFPG_ERR_IO with the path, MFPG_ERR_MEMORY. */
mfpg_status mfpg_file_write(
    mfpg_context *ctx, const char *folder, const char *name, const void *bytes, size_t size);

#endif
