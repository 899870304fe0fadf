/* Grey PNG files, read back by the standard's own rules: chunks with checksums, zlib, rows behind a filter's number. */
#include "failing_memory.h"

#include <zlib.h>

#include "base/file.h"

enum { WIDTH = 5, HEIGHT = 3 };

static uint32_t number_at(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The data of the chunk at *at, which moves behind it. */
static const unsigned char *chunk(const unsigned char **at, const char *name, uint32_t *length) {
    const unsigned char *data = *at + 8;
    *length = number_at(*at);
    assert_memory_equal(*at + 4, name, 4);
    assert_int_equal(number_at(data + *length), (uint32_t)crc32(0, *at + 4, *length + 4));
    *at = data + *length + 4;
    return data;
}

static void test_pixels_come_back(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    unsigned char pixel[WIDTH * HEIGHT], rows[HEIGHT * (WIDTH + 1)], *bytes = NULL;
    size_t size = 0;
    uint32_t length;
    uLongf plain = sizeof rows;
    for (int i = 0; i < WIDTH * HEIGHT; i++) pixel[i] = (unsigned char)(17 * i);
    CHECK_OK(ctx, mfpg_png_grey(ctx, WIDTH, HEIGHT, pixel, &bytes, &size));
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    const unsigned char *at = bytes + 8, *header = chunk(&at, "IHDR", &length);
    assert_true(length == 13 && number_at(header) == WIDTH && number_at(header + 4) == HEIGHT);
    assert_memory_equal(header + 8, "\x08\0\0\0\0", 5);
    const unsigned char *packed = chunk(&at, "IDAT", &length);
    assert_int_equal(uncompress(rows, &plain, packed, length), Z_OK);
    assert_int_equal(plain, sizeof rows);
    for (int r = 0; r < HEIGHT; r++) {
        assert_int_equal(rows[r * (WIDTH + 1)], 0);
        assert_memory_equal(rows + r * (WIDTH + 1) + 1, pixel + r * WIDTH, WIDTH);
    }
    chunk(&at, "IEND", &length);
    assert_true(length == 0 && at == bytes + size);
    free(bytes);
    mfpg_context_destroy(ctx);
}

static void test_sides_out_of_range_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    unsigned char pixel = 0, *bytes = NULL;
    size_t size = 0;
    assert_int_equal(mfpg_png_grey(ctx, 0, 1, &pixel, &bytes, &size), MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_png_grey(ctx, 1, 32769, &pixel, &bytes, &size), MFPG_ERR_DOMAIN);
    assert_true(!bytes && size == 0);
    mfpg_context_destroy(ctx);
}

static mfpg_status write_once(void *arg) {
    const unsigned char pixel[4] = {0, 80, 160, 255};
    unsigned char *bytes = NULL;
    size_t size;
    mfpg_status status = mfpg_png_grey(arg, 2, 2, pixel, &bytes, &size);
    assert_true((status == MFPG_OK) == (bytes != NULL));
    free(bytes);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    assert_int_equal(sweep_allocations(write_once, ctx), 2);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_come_back),
        cmocka_unit_test(test_sides_out_of_range_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
