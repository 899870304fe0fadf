/* Files that are either complete or absent under their final name: written under another name, synced, and
 * renamed. */
#ifndef MFPG_BASE_FILE_H
#define MFPG_BASE_FILE_H

#include <stdio.h>

#include "mfpg/context.h"

typedef struct mfpg_file {
    FILE *stream;    /* write here */
    char *path;      /* the final name */
    char *temporary; /* path with ".part"; NULL if a device or a pipe is written to directly */
} mfpg_file;

/* Opens path.part for writing. If the path is a symbolic link, its target is replaced, not the link. A
 * device or a pipe is written to directly; a folder or a socket is refused. Errors name the path and the
 * system's reason. */
mfpg_status mfpg_file_create(mfpg_context *ctx, const char *path, mfpg_file *out);

/* Does the same for a file of a folder. */
mfpg_status mfpg_file_create_in(mfpg_context *ctx, const char *folder, const char *name, mfpg_file *out);

/* Does the same for a file that only its owner may read (mode 0600), even if the temporary file existed
 * before. */
mfpg_status mfpg_file_create_private(mfpg_context *ctx, const char *path, mfpg_file *out);

/* Flushes, syncs and renames to the final name, and frees; a failure removes the temporary file. */
mfpg_status mfpg_file_commit(mfpg_context *ctx, mfpg_file *file);

/* Removes the temporary file and frees; it may be called after commit and on a zeroed struct. */
void mfpg_file_abandon(mfpg_file *file);

/* Writes a file of a folder in NumPy's format 1.0; the numbers begin at a multiple of 64. type: "<f4" or
 * "<f8", the type of values, in C order; rank 1 to 3. */
mfpg_status mfpg_file_write_npy(mfpg_context *ctx, const char *folder, const char *name, const char *type,
    const void *values, const ptrdiff_t *shape, int rank);

/* Opens a regular file or a pipe for reading; MFPG_ERR_INPUT with the reason for anything else. If a pipe
 * has no writer yet, or no bytes, the call waits. A signal whose handler does not restart calls ends the
 * wait with MFPG_ERR_INTERRUPTED. */
mfpg_status mfpg_file_open(mfpg_context *ctx, const char *path, FILE **out);

/* Sets the status and the message for a read that the system failed with that errno. */
mfpg_status mfpg_file_fail_read(mfpg_context *ctx, const char *path, int code);

/* Reads the whole file as one block with a closing 0 (free it), at most limit bytes; it opens files as
 * mfpg_file_open does. */
mfpg_status mfpg_file_read(mfpg_context *ctx, const char *path, size_t limit, char **text, size_t *length);

/* Returns directory + "/" + name, or name alone if it is absolute or directory is NULL or ""; NULL if memory
 * runs out. */
char *mfpg_path_join(const char *directory, const char *name);

/* Syncs the folder of a path, because a new name is on disk only when its folder is. A folder that cannot be
 * synced (on some network file systems) is skipped. */
mfpg_status mfpg_path_sync_folder(mfpg_context *ctx, const char *path);

/* Makes a folder and its parents. */
mfpg_status mfpg_folder_create(mfpg_context *ctx, const char *path);

/* Encodes a grey picture as a PNG file (ISO/IEC 15948; png.c): width x height pixels, row-major, 0 is black;
 * free *bytes. MFPG_ERR_DOMAIN for sides below 1 or above 2^15. */
mfpg_status mfpg_png_grey(mfpg_context *ctx, ptrdiff_t width, ptrdiff_t height, const unsigned char *pixel,
    unsigned char **bytes, size_t *size);

/* ---- files of the source tree that are embedded in the program (cmake/embed.cmake) ---- */

typedef struct mfpg_embedded {
    const char *name;  /* without its folder; NULL marks the end of the list */
    const char *bytes; /* with a closing 0 */
    size_t size;
} mfpg_embedded;

extern const mfpg_embedded mfpg_embedded_files[];

/* Returns the embedded file of that name; if the name does not exist, the program has a bug. */
const mfpg_embedded *mfpg_embedded_find(const char *name);

/* Writes a copy of that file into a folder, completely or not at all. */
mfpg_status mfpg_embedded_write(mfpg_context *ctx, const char *folder, const char *name);

#endif
