/* The settings of cluster.conf, and secrets from the unit's credentials. */
#include "lmdb-schema/store/cluster.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct fault fault;

static void
begin(void)
{
	scratch_make();
	unsetenv("CREDENTIALS_DIRECTORY");
	fault_clear(&fault);
}

static void
end(void)
{
	unsetenv("CREDENTIALS_DIRECTORY");
	scratch_remove();
}

static void
write_text(const char *name, const char *text)
{
	scratch_write(name, text, strlen(text));
}

/* "cluster.conf" with this line of the log, and others. */
static void
write_conf_of(const char *log, const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text), "[cluster]\n%s\n%s", log, lines);
	write_text("cluster.conf", text);
}

static void
write_conf(const char *lines)
{
	write_conf_of("etcd = http://127.0.0.1:1", lines);
}

START_TEST(a_credential_comes_before_the_file_of_its_name)
{
	struct cluster_peers peers;
	struct bucket bucket;

	write_conf("secret_file = /nowhere/cluster-secret\n"
		   "key = /nowhere/node.key\n"
		   "bucket = https://s3.example/b\nbucket_key = k\n"
		   "bucket_secret_file = /nowhere/bucket-secret\n");
	ck_assert_int_ne(cluster_peers(&peers, scratch_dir(), &fault), ERR_OK);
	ck_assert_str_eq(fault.place, "/nowhere/cluster-secret");
	write_text("cluster-secret", "0123456789abcdef\n");
	write_text("bucket-secret", "of the bucket\n");
	setenv("CREDENTIALS_DIRECTORY", scratch_dir(), 1);
	ck_assert_int_eq(cluster_peers(&peers, scratch_dir(), &fault), ERR_OK);
	ck_assert_str_eq(peers.token, "Bearer 0123456789abcdef");
	ck_assert_str_eq(peers.key, "/nowhere/node.key");
	ck_assert_int_eq(
	    cluster_bucket(&bucket, scratch_dir(), &fault), ERR_OK);
	ck_assert_str_eq(bucket.secret, "of the bucket");
	write_text("node.key", "");
	ck_assert_int_eq(cluster_peers(&peers, scratch_dir(), &fault), ERR_OK);
	ck_assert_str_eq(peers.key, scratch_path("node.key"));
}
END_TEST

START_TEST(a_node_without_a_bucket_has_none)
{
	struct cluster_sharing sharing;
	struct bucket bucket;

	write_conf("");
	ck_assert_int_eq(
	    cluster_bucket(&bucket, scratch_dir(), &fault), ERR_OK);
	ck_assert_str_eq(bucket.url, "");
	ck_assert_int_eq(
	    cluster_sharing(&sharing, scratch_dir(), &fault), ERR_OK);
	ck_assert(!sharing.bucket);
}
END_TEST

START_TEST(a_secret_that_is_not_there_is_told_with_its_setting)
{
	struct cluster_sharing sharing;

	write_conf("secret_file = /nowhere/cluster-secret\n"
		   "address = http://127.0.0.1\n");
	ck_assert_int_eq(
	    cluster_can_share(&sharing, scratch_dir(), &fault), ERR_NOT_FOUND);
	ck_assert_str_eq(fault.place, "/nowhere/cluster-secret");
	ck_assert_ptr_nonnull(strstr(fault.message, "secret_file of "));
	/* Nodes that give each other nothing need none. */
	write_conf("secret_file = /nowhere/cluster-secret\n");
	ck_assert_int_eq(
	    cluster_can_share(&sharing, scratch_dir(), &fault), ERR_OK);
	ck_assert(!sharing.files);
}
END_TEST

/* libpq may be missing here, which comes behind the settings. */
START_TEST(the_nodes_certificates_have_a_ca_beside_postgresql)
{
	static const char log[] = "postgres = host=127.0.0.1";
	struct cluster_peers peers;
	struct engine *engine;
	enum err err;

	write_text("secret", "0123456789abcdef\n");
	setenv("CREDENTIALS_DIRECTORY", scratch_dir(), 1);
	write_conf_of(log, "ca = /etc/nodes.pem\nsecret_file = secret\n");
	err = cluster_open(&engine, scratch_dir(), 0, &fault);
	ck_assert_msg(
	    err == ERR_OK || err == ERR_NOT_FOUND, "%s", fault.message);
	if (engine != NULL)
		engine->close(engine);
	ck_assert_int_eq(cluster_peers(&peers, scratch_dir(), NULL), ERR_OK);
	ck_assert_str_eq(peers.ca, "/etc/nodes.pem");
	fault_clear(&fault);
	write_conf_of(log, "cert = /etc/node.pem\n");
	ck_assert_int_eq(
	    cluster_open(&engine, scratch_dir(), 0, &fault), ERR_BAD_INPUT);
	ck_assert_msg(
	    strstr(fault.message, "cert, key and user are of etcd") != NULL,
	    "%s", fault.message);
}
END_TEST

static const struct bad {
	const char *lines, *said;
} bads[] = {
    {"bucket = s3.example/b\n", "no address"},
    {"bucket = https://s3.example\n", "no address"},
    {"bucket = https://s3.example/b\n", "bucket_key"},
    {"bucket = https://s3.example/b\nbucket_key = k\n", "bucket_secret_file"},
    {"bucket = https://s3.example/b\nbucket_key = k\n"
     "bucket_secret_file = /nowhere/x\nbucket_region = a/b\n",
	"bucket_region"},
    {"bucket = https://s3.example/b\nbucket_key = k\n"
     "bucket_secret_file = /nowhere/x\n",
	"cannot be read"},
    {"bucket = https://s3.example/b\nbucket_key = k\n"
     "bucket_secret_file = /dev/null\n",
	"at least one"},
};

START_TEST(a_setting_of_the_bucket_that_is_wrong_is_told)
{
	struct bucket bucket;

	write_conf(bads[_i].lines);
	ck_assert_int_ne(
	    cluster_bucket(&bucket, scratch_dir(), &fault), ERR_OK);
	ck_assert_msg(
	    strstr(fault.message, bads[_i].said) != NULL, "%s", fault.message);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("cluster");
	TCase *tc = tcase_create("cluster");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_credential_comes_before_the_file_of_its_name);
	tcase_add_test(tc, a_node_without_a_bucket_has_none);
	tcase_add_test(tc, a_secret_that_is_not_there_is_told_with_its_setting);
	tcase_add_test(tc, the_nodes_certificates_have_a_ca_beside_postgresql);
	tcase_add_loop_test(tc, a_setting_of_the_bucket_that_is_wrong_is_told,
	    0, sizeof(bads) / sizeof(bads[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
