/* mfpg data check: what it prints, its exit codes, and that the configuration it offers reads the file. */
#include "cli/program.h"

#include <sys/stat.h>

static void test_the_help_says_what_is_wanted(void **state) {
    (void)state;
    REFUSED("data", "'check' and a data file are needed");
    REFUSED("data check", "'check' and a data file are needed");
    REFUSED("data chek a.csv", "unknown verb 'chek'; allowed: check");
    REFUSED("data check a b", "one file at a time");
    REFUSED("data check none.csv", "mfpg data: none.csv: No such file");
}

static void test_a_file_is_explained(void **state) {
    (void)state;
    write_in_folder("a.csv", "ward;age;sex;ill\nn;50;m;yes\nn;?;f;no\ns;52;f;yes\ns;53;f;yes\n");
    expect("data check a.csv", 0);
    assert_string_equal(ran.err, "");
    const char *parts[] = {"file       a.csv\n", "format     csv, separated by semicolons, with a header\n",
        "rows       4\n", "columns    4\n",
        "label      ill, the last column (another: --label COLUMN): 2 classes\n", "majority   0.7500",
        "clients    2 by column ward, of 2 to 2 rows (data.partition.column)\n", "1 ?\n", "2: f, m",
        "50 to 53", "line 3: missing mark \"?\"", "data.missing.rows", "data.categories",
        "A configuration that reads it"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(ran.out, parts[i])) fail_msg("no \"%s\" in:\n%s", parts[i], ran.out);
    remove_from_folder("a.csv");
}

static void test_odd_names_and_pipes_do_no_harm(void **state) {
    (void)state;
    write_in_folder("b\xff"
                    "ad\x01\n.csv",
        "a,y\n1,0\n2,1\n3,0\n");
    expect("data check \"$(printf 'b\\377ad\\001\\012.csv')\"", 0);
    assert_non_null(strstr(ran.out, "file       b\\xffad\\x01\\x0a.csv\n"));
    expect("data check *.csv --json", 0);
    remove_from_folder("b\xff"
                       "ad\x01\n.csv");
    write_in_folder("a.csv", "a,y\n1,0\n2,1\n3,0\n");
    char path[256];
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    REFUSED("data check pipe", "a pipe can be read only once");
    REFUSED("data check --labels pipe a.csv", "pipe: a pipe can be read only once");
    remove_from_folder("pipe");
    remove_from_folder("a.csv");
}

static void test_json_has_the_promised_keys(void **state) {
    (void)state;
    write_in_folder("a.csv", "ward;age;sex;ill\nn;50;m;yes\nn;?;f;no\ns;52;f;yes\ns;53;f;yes\n");
    json_t *object = run_json("data check a.csv --json");
    assert_string_equal(json_string_value(json_object_get(object, "format")), "csv");
    assert_int_equal(json_integer_value(json_object_get(object, "rows")), 4);
    assert_int_equal(json_integer_value(json_object_get(object, "columns")), 4);
    assert_string_equal(json_string_value(json_object_get(object, "separator")), ";");
    assert_true(json_is_true(json_object_get(object, "header")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(object, "classes"), "yes")), 3);
    check_near(json_get_number(object, "majority_rate"), 0.75, 0, 0, "majority rate");
    const json_t *texts = json_object_get(object, "oddities"),
                 *findings = json_object_get(object, "findings");
    const json_t *client = json_array_get(json_object_get(object, "clients"), 0);
    const json_t *column = json_array_get(json_object_get(object, "column_details"), 1);
    assert_true(json_array_size(texts) >= 4);
    assert_int_equal(json_array_size(findings), json_array_size(texts));
    int marks = 0;
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *finding = json_array_get(findings, i);
        assert_true(json_string_length(json_array_get(texts, i)) > 0);
        if (strcmp(json_string_value(json_object_get(finding, "kind")), "missing-mark") != 0) continue;
        marks++;
        assert_int_equal(json_integer_value(json_object_get(finding, "line")), 3);
        assert_string_equal(json_string_value(json_object_get(finding, "setting")), "data.missing.rows");
        assert_non_null(strstr(json_string_value(json_array_get(texts, i)), "line 3: missing mark"));
    }
    assert_int_equal(marks, 1);
    assert_string_equal(json_string_value(json_object_get(client, "column")), "ward");
    assert_int_equal(json_integer_value(json_object_get(client, "clients")), 2);
    assert_string_equal(json_string_value(json_object_get(column, "kind")), "number");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(column, "marks"), "?")), 1);
    json_decref(object);
    remove_from_folder("a.csv");
}

static void test_what_nothing_reads_is_wrong_input(void **state) {
    (void)state;
    write_in_folder("a.csv", "a,b\n1,2\n3\n");
    REFUSED("data check a.csv", "a.csv:3: found 1 field, expected 2");
    REFUSED("data check a.csv --json", "a.csv:3:");
    write_in_folder("a.csv", "MATLAB 5.0 MAT-file, Platform: GLNXA64");
    REFUSED("data check a.csv", "this is a MATLAB file", "numpy.savez");
    write_in_folder("a.csv", "a,b,y\n1,2,0\n");
    REFUSED("data check a.csv --labels a.csv", "a text file has a label column");
    remove_from_folder("a.csv");
}

/* Checks a file and trains for a round with the configuration that is offered: this many rows are used. */
static void expect_configuration_reads(const char *arguments, json_int_t rows) {
    char command[4400], config[256];
    snprintf(command, sizeof command, "data check %s --json", arguments);
    json_t *object = run_json(command);
    snprintf(config, sizeof config, "%s/c.yaml", folder);
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fprintf(file, "seed: 1\nmethod: none\n%strain: {rounds: 1}\n",
        json_string_value(json_object_get(object, "configuration")));
    fclose(file);
    json_decref(object);
    object = run_json("run c.yaml data.test_fraction=0 --threads 1 --out out --json");
    const json_t *clients = json_object_get(object, "clients");
    json_int_t sum = 0;
    for (size_t k = 0; k < json_array_size(clients); k++)
        sum += json_integer_value(json_object_get(json_array_get(clients, k), "rows")) -
               json_integer_value(json_object_get(json_array_get(clients, k), "dropped_rows"));
    if (sum != rows) fail_msg("%s: %lld rows, expected %lld", arguments, (long long)sum, (long long)rows);
    json_decref(object);
    snprintf(command, sizeof command, "rm -r %s/out %s/c.yaml", folder, folder);
    assert_int_equal(system(command), 0);
}

static void test_the_configuration_reads_the_file(void **state) {
    (void)state;
    const struct {
        const char *text;
        json_int_t rows;
    } cases[] = {
        {"age,pulse,ill\n50,70,0\n51,80,1\n52,90,0\n", 3},
        {"50;70;0\r\n51;80;1\r\n52;90;0\r\n", 3},
        {"\xEF\xBB\xBF|c\n25, Private, <=50K.\n38, ?, >50K\n28, it's, >50K.\n30, Private, <=50K\n\n", 3},
        {"ward,age,drug,gap,y\nn,1,none,,2\nn,2,a,,3\ns,-,a,,2\ns,N/A,b,5,3\nn,3,none,,3\ns,4,b,,2\n", 4},
        {"a,'b',\"c \"\"d\"\"\",y\n1,2,x,0.5\n2,3,y,1.5\n3,4,x,2.25\n", 3},
        {"+1 1:1 3:0 \n-1 2:1\n+1 2:.5\n", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_in_folder("a b.csv", cases[i].text);
        expect_configuration_reads("'a b.csv'", cases[i].rows);
    }
    remove_from_folder("a b.csv");
}

/* Rows as in data/README.md, less those with a missing value in a column that is kept. */
static void test_the_configuration_reads_real_files(void **state) {
    (void)state;
    const char *shared = need_shared();
    const struct {
        const char *file;
        json_int_t rows;
    } cases[] = {
        {"heart/processed.cleveland.data", 297}, /* six rows miss ca or thal */
        {"heart/processed.hungarian.data", 261},
        {"heart/processed.va.data", 130},
        {"adult/adult.test", 16281 - 1221},
        {"multilevel/contraception.csv", 1934},
        {"multilevel/exam.csv", 4059},
        {"multilevel/hsb82.csv", 7185},
        {"parkinsons/parkinsons_updrs.data", 5875},
        {"libsvm/heart_scale", 270},
        {"libsvm/a9a.t", 16281},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[4300];
        snprintf(path, sizeof path, "'%s/data/%s'", shared, cases[i].file);
        expect_configuration_reads(path, cases[i].rows);
    }
}

/* A download that was cut is refused with its place, and nothing is fetched instead: the first run needs no network. */
static void test_a_cut_image_file_is_refused_and_no_network_is_needed(void **state) {
    (void)state;
    char path[256], command[4400];
    const unsigned char head[] = {0, 0, 8, 3, 0, 0, 0x27, 0x10, 0, 0};
    snprintf(path, sizeof path, "%s/t10k-images-idx3-ubyte", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    write_in_folder(
        "c.yaml", "data: {format: idx, files: [t10k-images-idx3-ubyte], labels: [t10k-labels]}\n");
    REFUSED("data check t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte: byte 10: the file ends too early");
    REFUSED("run c.yaml", "t10k-images-idx3-ubyte: byte 10: the file ends too early");
    remove_from_folder("t10k-images-idx3-ubyte");
    REFUSED("run c.yaml", "t10k-images-idx3-ubyte: No such file");
    remove_from_folder("c.yaml");
    /* In a name space without any network interface, where the system lets us make one. */
    const char *apart = system("unshare -rn true 2>/dev/null") == 0 ? "unshare -rn" : "";
    snprintf(command, sizeof command,
        "cd %s && %s '%s' run clinics train.rounds=1 --threads 1 --out out >/dev/null 2>&1", folder, apart,
        MFPG_PROGRAM);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s/out", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_the_help_says_what_is_wanted),
        TEST(test_a_file_is_explained),
        TEST(test_odd_names_and_pipes_do_no_harm),
        TEST(test_json_has_the_promised_keys),
        TEST(test_what_nothing_reads_is_wrong_input),
        TEST(test_a_cut_image_file_is_refused_and_no_network_is_needed),
        TEST(test_the_configuration_reads_the_file),
        TEST(test_the_configuration_reads_real_files),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
