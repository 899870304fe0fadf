#include "file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"

static mfpg_status fail_system(mfpg_context *ctx, const char *what, const char *path, int code) {
    mfpg_status status = code == ENOMEM ? MFPG_ERR_MEMORY : MFPG_ERR_IO;
    return mfpg_fail(ctx, status, "%s: cannot %s: %s", path, what, strerror(code));
}

mfpg_status mfpg_file_fail_read(mfpg_context *ctx, const char *path, int code) {
    if (code == EINTR)
        return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "%s: interrupted while waiting for it", path);
    return fail_system(ctx, "read", path, code);
}

static void forget(mfpg_file *file) {
    free(file->path);
    free(file->temporary);
    *file = (mfpg_file){0};
}

/* Opens a new file that no other process may open; NULL with errno on failure. */
static FILE *open_private(const char *path) {
    unlink(path); /* with whatever rights it was made */
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (descriptor >= 0 && !stream) {
        int code = errno;
        close(descriptor);
        unlink(path);
        errno = code;
    }
    return stream;
}

/* Returns the file to which a symbolic link leads, so that it is replaced instead of the link; or the path
 * itself. */
static char *final_path(const char *path) {
    struct stat info;
    char *target = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
    char *copy = mfpg_text_copy(target ? target : path, strlen(target ? target : path));
    free(target);
    return copy;
}

static mfpg_status create(mfpg_context *ctx, const char *path, int is_private, mfpg_file *out) {
    struct stat info;
    /* A device or a pipe is written to directly, because a rename would replace it by a file. */
    int through = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    if (through && (is_private || S_ISDIR(info.st_mode) || S_ISSOCK(info.st_mode)))
        return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: it exists and is not a file", path);
    mfpg_file file = {.path = through ? mfpg_text_copy(path, strlen(path)) : final_path(path)};
    if (file.path && !through) file.temporary = mfpg_alloc((ptrdiff_t)strlen(file.path) + 6, 1);
    if (!file.path || (!through && !file.temporary)) {
        forget(&file);
        return mfpg_fail_memory(ctx);
    }
    if (file.temporary) strcat(strcpy(file.temporary, file.path), ".part");
    file.stream = is_private ? open_private(file.temporary) : fopen(through ? path : file.temporary, "wb");
    if (!file.stream) {
        int code = errno;
        forget(&file);
        return fail_system(ctx, "write", path, code);
    }
    *out = file;
    return MFPG_OK;
}

mfpg_status mfpg_file_create(mfpg_context *ctx, const char *path, mfpg_file *out) {
    return create(ctx, path, 0, out);
}

mfpg_status mfpg_file_create_in(mfpg_context *ctx, const char *folder, const char *name, mfpg_file *out) {
    char *path = mfpg_path_join(folder, name);
    mfpg_status status = path ? mfpg_file_create(ctx, path, out) : mfpg_fail_memory(ctx);
    free(path);
    return status;
}

mfpg_status mfpg_file_create_private(mfpg_context *ctx, const char *path, mfpg_file *out) {
    return create(ctx, path, 1, out);
}

mfpg_status mfpg_file_commit(mfpg_context *ctx, mfpg_file *file) {
    int code = 0;
    if (ferror(file->stream) || fflush(file->stream) != 0 ||
        (file->temporary && fsync(fileno(file->stream)) != 0))
        code = errno ? errno : EIO;
    if (fclose(file->stream) != 0 && !code) code = errno;
    file->stream = NULL;
    if (!code && file->temporary && rename(file->temporary, file->path) != 0) code = errno;
    mfpg_status status = MFPG_OK;
    if (code) {
        if (file->temporary) unlink(file->temporary);
        status = fail_system(ctx, "write", file->path, code);
    }
    forget(file);
    return status;
}

mfpg_status mfpg_file_write_npy(mfpg_context *ctx, const char *folder, const char *name, const char *type,
    const void *values, const ptrdiff_t *shape, int rank) {
    enum { PREAMBLE = 10, HEADER = 118 }; /* 128 bytes, enough for three sizes of 19 digits */
    char header[HEADER + 1];
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    size_t count = 1;
    int used = snprintf(header, HEADER, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < rank; i++) {
        count *= (size_t)shape[i];
        used += snprintf(header + used, (size_t)(HEADER - used), "%s%td%s", i ? " " : "", shape[i],
            i + 1 < rank || rank == 1 ? "," : "");
    }
    used += snprintf(header + used, (size_t)(HEADER - used), "), }");
    memset(header + used, ' ', (size_t)(HEADER - used));
    header[HEADER - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, PREAMBLE, file.stream);
    fwrite(header, 1, HEADER, file.stream);
    fwrite(values, (size_t)(type[2] - '0'), count, file.stream);
    return mfpg_file_commit(ctx, &file);
}

void mfpg_file_abandon(mfpg_file *file) {
    if (file->stream) {
        fclose(file->stream);
        if (file->temporary) unlink(file->temporary);
    }
    forget(file);
}

static mfpg_status read_stream(
    mfpg_context *ctx, FILE *stream, const char *path, size_t limit, char **text, size_t *length) {
    size_t room = 0, used = 0, got = 1;
    char *block = NULL;
    mfpg_status status = MFPG_OK;
    while (status == MFPG_OK && got > 0) {
        if (room - used < 2) {
            room = room ? 2 * room : (size_t)1 << 16;
            char *larger = mfpg_resize(block, (ptrdiff_t)room, 1);
            if (!larger) {
                free(block);
                return mfpg_fail_memory(ctx);
            }
            block = larger;
        }
        got = fread(block + used, 1, room - used - 1, stream);
        used += got;
        if (used > limit)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: larger than the limit of %zu bytes", path, limit);
        else if (ferror(stream))
            status = mfpg_file_fail_read(ctx, path, errno);
    }
    if (status != MFPG_OK) {
        free(block);
        return status;
    }
    block[used] = 0;
    *text = block;
    *length = used;
    return MFPG_OK;
}

mfpg_status mfpg_file_open(mfpg_context *ctx, const char *path, FILE **out) {
    struct stat info;
    if (stat(path, &info) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: is not a file", path);
    FILE *stream = fopen(path, "rb");
    if (!stream && errno == EINTR) return mfpg_file_fail_read(ctx, path, errno);
    if (!stream) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", path, strerror(errno));
    *out = stream;
    return MFPG_OK;
}

mfpg_status mfpg_file_read(mfpg_context *ctx, const char *path, size_t limit, char **text, size_t *length) {
    FILE *stream = NULL;
    mfpg_status status = mfpg_file_open(ctx, path, &stream);
    if (status != MFPG_OK) return status;
    status = read_stream(ctx, stream, path, limit, text, length);
    fclose(stream);
    return status;
}

char *mfpg_path_join(const char *directory, const char *name) {
    if (name[0] == '/' || !directory || !directory[0]) return mfpg_text_copy(name, strlen(name));
    size_t head = strlen(directory);
    while (head > 1 && directory[head - 1] == '/') head--;
    if (head == 1 && directory[0] == '.') return mfpg_text_copy(name, strlen(name));
    char *joined = mfpg_alloc((ptrdiff_t)(head + strlen(name)) + 2, 1);
    if (!joined) return NULL;
    memcpy(joined, directory, head);
    if (directory[head - 1] != '/') joined[head++] = '/';
    strcpy(joined + head, name);
    return joined;
}

mfpg_status mfpg_path_sync_folder(mfpg_context *ctx, const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    char *folder = mfpg_text_copy(slash ? path : ".", length);
    if (!folder) return mfpg_fail_memory(ctx);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
    return MFPG_OK;
}

mfpg_status mfpg_folder_create(mfpg_context *ctx, const char *path) {
    char *partial = mfpg_text_copy(path, strlen(path));
    if (!partial) return mfpg_fail_memory(ctx);
    int code = 0;
    for (char *at = partial + 1; !code; at++) {
        if (*at != '/' && *at != 0) continue;
        char kept = *at;
        *at = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) code = errno;
        *at = kept;
        if (kept == 0) break;
    }
    struct stat info;
    if (!code && stat(partial, &info) == 0 && !S_ISDIR(info.st_mode)) code = ENOTDIR;
    free(partial);
    return code ? fail_system(ctx, "make the folder", path, code) : MFPG_OK;
}

mfpg_status mfpg_file_write(
    mfpg_context *ctx, const char *folder, const char *name, const void *bytes, size_t size) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    fwrite(bytes, 1, size, file.stream); /* an error is kept in the stream, and commit detects it */
    return mfpg_file_commit(ctx, &file);
}

const mfpg_embedded *mfpg_embedded_find(const char *name) {
    const mfpg_embedded *file = mfpg_embedded_files;
    while (file->name && strcmp(file->name, name) != 0) file++;
    assert(file->name);
    return file;
}

mfpg_status mfpg_embedded_write(mfpg_context *ctx, const char *folder, const char *name) {
    const mfpg_embedded *file = mfpg_embedded_find(name);
    return mfpg_file_write(ctx, folder, name, file->bytes, file->size);
}
