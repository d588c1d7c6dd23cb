/* Failures that no wait ends, as PostgreSQL and etcd tell them. */
#include <check.h>
#include <string.h>

#include "lmdb-schema/store/etcd_refusal.h"
#include "lmdb-schema/store/pg_refusal.h"
#include "tests/support/run.h"

#define AT "connection to server at \"192.0.2.21\", port 5432 failed: "

/* As libpq 15 says it; `refusal` is NULL where the server is away. */
static const struct connecting {
	const char *text, *why, *refusal, *todo;
} connectings[] = {
    {AT "FATAL:  28P01: password authentication failed for user \"grid\"\n"
	"LOCATION:  auth_failed, auth.c:331\n",
	"password authentication failed for user \"grid\"", "refuses the user",
	"password_file"},
    /* In the server's language. */
    {AT "DÉTAIL FATAL:  3D000: la base de données « x » n'existe pas\n",
	"la base de données « x » n'existe pas", "has no such database",
	"CREATE DATABASE"},
    {AT "FATAL:  28000: no pg_hba.conf entry for host \"192.0.2.11\", user "
	"\"grid\", database \"grid\", SSL encryption\n",
	NULL, "refuses the user", "pg_hba.conf"},
    {AT "FATAL:  42501: permission denied for database \"grid\"\n", NULL,
	"does not let the user do this", "GRANT"},
    {AT "fe_sendauth: no password supplied\n", NULL, "refuses the user",
	"password_file"},
    {AT "SSL error: certificate verify failed\n",
	"SSL error: certificate verify failed", "cannot be reached by TLS",
	"sslrootcert"},
    {AT "server certificate for \"a\" does not match host name \"b\"\n", NULL,
	"cannot be reached by TLS", "sslrootcert"},
    {AT "root certificate file \"/x.pem\" does not exist\nEither provide\n",
	"root certificate file \"/x.pem\" does not exist",
	"cannot be reached by TLS", "sslrootcert"},
    {AT "server does not support SSL, but SSL was required\n", NULL,
	"cannot be reached by TLS", "sslmode"},
    {AT "Connection refused\n\tIs the server running on that host?\n",
	"Connection refused", NULL, NULL},
    {AT "FATAL:  57P03: the database system is starting up\n",
	"the database system is starting up", NULL, NULL},
    {AT "SSL SYSCALL error: EOF detected\n", NULL, NULL, NULL},
    {AT "FATAL:  28", NULL, NULL, NULL},
    {"could not translate host name \"x\" to address: failed: y\n",
	"could not translate host name \"x\" to address: failed: y", NULL,
	NULL},
    {"", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

START_TEST(a_connection_that_is_refused_is_no_network_that_is_away)
{
	const struct connecting *of = &connectings[_i];
	struct engine_trouble trouble;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = pg_refused_connection(&fault, of->text);
	ck_assert_int_eq(err, of->refusal == NULL ? ERR_AWAY : ERR_DENIED);
	if (of->why != NULL)
		ck_assert_str_eq(fault.message, of->why);
	ck_assert_int_eq(pg_refusal(&trouble, &fault), of->refusal != NULL);
	ck_assert_str_eq(
	    trouble.refusal, of->refusal == NULL ? "" : of->refusal);
	if (of->refusal == NULL)
		return;
	ck_assert_str_eq(trouble.why, fault.message);
	ck_assert_msg(
	    strstr(trouble.todo, of->todo) != NULL, "%s", trouble.todo);
}
END_TEST

static const struct answer {
	const char *text, *user, *refusal, *todo;
	bool writes;
} answers[] = {
    {"etcdserver: authentication failed, invalid user ID or password", "grid",
	"refuses the user grid", "gridctl-hooks", false},
    {"etcdserver: authentication is not enabled", "grid",
	"has no users enabled", "etcdctl auth enable", false},
    {"etcdserver: user name is empty", "", "asks for a user",
	"set user and password_file", false},
    {"etcdserver: permission denied", "grid", "does not let the user grid read",
	"readwrite of all keys that begin with shop", false},
    {"etcdserver: permission denied", "grid",
	"does not let the user grid write",
	"'etcdctl role grant-permission ROLE readwrite shop --prefix'", true},
    {"etcdserver: no leader", "grid", "", "", false},
    {"", "grid", "", "", false},
};

START_TEST(an_answer_of_etcd_about_its_users_is_a_refusal)
{
	const struct answer *of = &answers[_i];
	struct engine_trouble trouble;

	ck_assert_int_eq(
	    etcd_refusal(&trouble, of->text, of->user, "shop", of->writes),
	    of->refusal[0] != '\0');
	ck_assert_int_eq(trouble.of_rights, of->writes);
	ck_assert_str_eq(trouble.refusal, of->refusal);
	ck_assert_msg(
	    strstr(trouble.todo, of->todo) != NULL, "%s", trouble.todo);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("refusal");
	TCase *tc = tcase_create("refusal");

	tcase_add_loop_test(tc,
	    a_connection_that_is_refused_is_no_network_that_is_away, 0,
	    sizeof(connectings) / sizeof(connectings[0]));
	tcase_add_loop_test(tc, an_answer_of_etcd_about_its_users_is_a_refusal,
	    0, sizeof(answers) / sizeof(answers[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
