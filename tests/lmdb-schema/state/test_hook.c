/* tests/lmdb-schema/state/test_hook.c: lmdb-schema/state/hook.h, hook_at.h */
#include "lmdb-schema/state/hook.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lmdb-schema/state/hook_at.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/run.h"

#define SECRET SPAN("twenty-four bytes of key")

static struct state_view *view;

static void
look(void)
{
	state_view_close(view);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
}

static void
make(void)
{
	states_make();
	view = NULL;
}

static void
unmake(void)
{
	state_view_close(view);
	states_remove();
}

static struct hook
hook_of(const char *name, unsigned events)
{
	return (struct hook){.name = span_of(name),
	    .url = SPAN("http://127.0.0.1:1/"),
	    .events = events,
	    .secret = SECRET};
}

static enum err
add(const char *name, unsigned events)
{
	struct hook hook = hook_of(name, events);

	return hook_add(states, &hook, "operator");
}

static struct hook_at
at_of(const char *name)
{
	struct hook_at at;

	look();
	ck_assert_int_eq(hook_at_get(&at, view, span_of(name)), ERR_OK);
	return at;
}

static struct hook_waiting
waiting(const char *name)
{
	struct hook_at at = at_of(name);
	struct hook_waiting count;
	struct hook hook;

	ck_assert_int_eq(hook_get(&hook, view, span_of(name)), ERR_OK);
	ck_assert_int_eq(hook_count(&count, view, &hook, &at), ERR_OK);
	return count;
}

START_TEST(event_names_are_read)
{
	unsigned events = 0;

	ck_assert(hook_events(&events, SPAN("proposed")));
	ck_assert_uint_eq(events, HOOK_PROPOSED);
	ck_assert(hook_events(&events,
	    SPAN("proposed,saved,cancelled,imported,computed,failed")));
	ck_assert_uint_eq(events, (1u << HOOK_EVENTS) - 1);
	ck_assert(!hook_events(&events, SPAN("")));
	ck_assert(!hook_events(&events, SPAN("proposed,")));
	ck_assert(!hook_events(&events, SPAN("proposed, saved")));
	ck_assert(!hook_events(&events, SPAN("arrived")));
}
END_TEST

START_TEST(names_that_are_no_word_are_refused)
{
	ck_assert(hook_name_ok(SPAN("erp-1.test_A")));
	ck_assert(!hook_name_ok(SPAN("")));
	ck_assert(!hook_name_ok(SPAN("a b")));
	ck_assert(!hook_name_ok(SPAN("a/b")));
	ck_assert(!hook_name_ok(span_make("a\0b", 3)));
}
END_TEST

START_TEST(a_hook_is_kept_as_it_was_given)
{
	struct hook hook = hook_of("erp", HOOK_SAVED | HOOK_FAILED);
	struct hook got;

	hook.suppliers = SPAN("S\nT\n");
	ck_assert_int_eq(hook_add(states, &hook, "operator"), ERR_OK);
	ck_assert_int_eq(hook_add(states, &hook, "operator"), ERR_EXISTS);
	look();
	ck_assert_int_eq(hook_get(&got, view, SPAN("erp")), ERR_OK);
	ck_assert(span_eq(got.url, hook.url));
	ck_assert(span_eq(got.suppliers, hook.suppliers));
	ck_assert(span_eq(got.secret, SECRET));
	ck_assert_uint_eq(got.events, HOOK_SAVED | HOOK_FAILED);
	ck_assert_uint_eq(got.id, 1);
	ck_assert_int_gt(got.created_ms, 0);
	ck_assert_int_eq(hook_get(&got, view, SPAN("er")), ERR_NOT_FOUND);
	ck_assert_int_eq(hook_get(&got, view, SPAN("erp2")), ERR_NOT_FOUND);
}
END_TEST

START_TEST(what_was_before_a_hook_is_not_its_own)
{
	states_propose("key", "1", 'B');
	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	ck_assert_uint_eq(at_of("erp").read, states_audit_last());
	ck_assert_uint_eq(waiting("erp").count, 0);
	states_propose("key", "2", 'B');
	states_propose("key", "2", 'C');
	states_decide(PROPOSAL_SAVE, "2", '-');
	ck_assert_uint_eq(waiting("erp").count, 2);
	ck_assert_int_gt(waiting("erp").oldest_ms, 0);
}
END_TEST

START_TEST(decisions_are_the_events_that_they_are)
{
	states_propose("key", "1", 'B');
	states_propose("key", "2", 'B');
	ck_assert_int_eq(add("saves", HOOK_SAVED), ERR_OK);
	ck_assert_int_eq(add("cancels", HOOK_CANCELLED), ERR_OK);
	states_decide(PROPOSAL_SAVE, "1", '-');
	states_decide(PROPOSAL_CANCEL, "2", '-');
	ck_assert_uint_eq(waiting("saves").count, 1);
	ck_assert_uint_eq(waiting("cancels").count, 1);
}
END_TEST

START_TEST(other_suppliers_are_left_out)
{
	struct hook hook = hook_of("erp", HOOK_PROPOSED | HOOK_COMPUTED);

	hook.suppliers = SPAN("T\nU\n");
	ck_assert_int_eq(hook_add(states, &hook, "operator"), ERR_OK);
	states_propose("key", "1", 'B');
	ck_assert_int_eq(
	    hook_note(states, HOOK_COMPUTED, "gridapi", SPAN("S"), SPAN("1")),
	    ERR_OK);
	ck_assert_uint_eq(waiting("erp").count, 0);
	ck_assert_int_eq(
	    hook_note(states, HOOK_COMPUTED, "gridapi", SPAN("U"), SPAN("1")),
	    ERR_OK);
	ck_assert_uint_eq(waiting("erp").count, 1);
}
END_TEST

START_TEST(what_no_hook_wants_is_not_noted)
{
	uint64_t last;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	last = states_audit_last();
	ck_assert_int_eq(
	    hook_note(states, HOOK_FAILED, "gridctl", SPAN("S"), SPAN("why")),
	    ERR_OK);
	ck_assert_uint_eq(states_audit_last(), last);
	ck_assert_int_eq(add("all", HOOK_FAILED), ERR_OK);
	ck_assert_int_eq(
	    hook_note(states, HOOK_FAILED, "gridctl", SPAN("S"), SPAN("why")),
	    ERR_OK);
	ck_assert_uint_eq(states_audit_last(), last + 2);
	ck_assert_uint_eq(waiting("all").count, 1);
	ck_assert_uint_eq(waiting("erp").count, 0);
}
END_TEST

START_TEST(a_removed_hook_is_gone_with_all_of_it)
{
	struct hook_lost lost = {.number = 7, .when_ms = 1, .tries = 3};
	struct hook_at at;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	at = at_of("erp");
	ck_assert_int_eq(
	    hook_at_save(states, SPAN("erp"), &at, &lost, 1, NULL), ERR_OK);
	ck_assert_uint_eq(waiting("erp").lost, 1);
	ck_assert_int_eq(hook_remove(states, SPAN("erp"), "operator"), ERR_OK);
	ck_assert_int_eq(
	    hook_remove(states, SPAN("erp"), "operator"), ERR_NOT_FOUND);
	look();
	ck_assert_int_eq(hook_at_get(&at, view, SPAN("erp")), ERR_NOT_FOUND);
	/* A later one of the name is another one. */
	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	ck_assert_uint_eq(waiting("erp").lost, 0);
	at = at_of("erp");
	ck_assert_uint_eq(at.id, 2);
	at.id = 1;
	ck_assert_int_eq(hook_at_save(states, SPAN("erp"), &at, NULL, 0, NULL),
	    ERR_NOT_FOUND);
}
END_TEST

/* The lock says that an event is under way. */
START_TEST(removing_waits_for_what_is_under_way)
{
	int lock, status, pipe_fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	ck_assert_int_eq(store_lock_hook(&lock, states, 1, true), ERR_OK);
	ck_assert_int_eq(pipe(pipe_fds), 0);
	states_close();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(lock); /* the parent has it, too */
		states_open();
		if (hook_remove(states, SPAN("erp"), "operator") != ERR_OK)
			_exit(1);
		_exit(write(pipe_fds[1], "x", 1) == 1 ? 0 : 1);
	}
	close(pipe_fds[1]);
	states_open();
	/* The record goes at once; the call goes on. */
	for (;;) {
		struct hook hook;

		look();
		if (hook_get(&hook, view, SPAN("erp")) == ERR_NOT_FOUND)
			break;
		usleep(1000);
	}
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	close(lock);
	ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(pipe_fds[0]);
}
END_TEST

START_TEST(a_place_is_read_as_it_was_stored)
{
	struct hook_at at, got;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	at = at_of("erp");
	at.read = 99;
	at.delivered = 5;
	at.repeated = 6;
	at.given_up = 7;
	at.success_ms = 8;
	at.failure_ms = 9;
	at.stopped_ms = 10;
	snprintf(at.error, sizeof(at.error), "503");
	for (unsigned i = 0; i < HOOK_LANES; i++) {
		snprintf(at.lanes[i].supplier, sizeof(at.lanes[i].supplier),
		    "S%u", i);
		at.lanes[i].number = 10 + i;
		at.lanes[i].behind = 50 + i;
		at.lanes[i].tries = i;
		at.lanes[i].first_ms = 1000 + i;
		at.lanes[i].due_ms = 2000 + i;
	}
	at.lane_count = HOOK_LANES;
	ck_assert_int_eq(
	    hook_at_save(states, SPAN("erp"), &at, NULL, 0, NULL), ERR_OK);
	got = at_of("erp");
	ck_assert_mem_eq(&got, &at, sizeof(at));
}
END_TEST

START_TEST(a_hook_is_fine_when_nothing_waits_for_another_try)
{
	struct hook hook = hook_of("erp", HOOK_PROPOSED);
	struct hook_at at = {
	    .lane_count = 2, .lanes = {{.number = 1}, {.number = 2}}};

	ck_assert_int_eq(hook_state_of(&hook, &at), HOOK_NEW);
	ck_assert_int_eq(hook_next_ms(&at), 0);
	at.success_ms = 5;
	ck_assert_int_eq(hook_state_of(&hook, &at), HOOK_FINE);
	at.failure_ms = 4;
	at.lanes[1].tries = 1;
	at.lanes[1].due_ms = 70;
	ck_assert_int_eq(hook_state_of(&hook, &at), HOOK_CATCHING_UP);
	ck_assert_int_eq(hook_next_ms(&at), 70);
	at.failure_ms = 6;
	at.lanes[0].tries = 3;
	at.lanes[0].due_ms = 60;
	ck_assert_int_eq(hook_state_of(&hook, &at), HOOK_FAILING);
	ck_assert_int_eq(hook_next_ms(&at), 60);
	at.stopped_ms = 1;
	ck_assert_int_eq(hook_state_of(&hook, &at), HOOK_STOPPED);
}
END_TEST

/* S waits in its lane, the entry behind with it; T's is under way. */
START_TEST(what_waits_in_lanes_is_counted)
{
	struct hook_at at;
	struct hook hook;
	uint64_t next;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	states_propose("key", "1", 'B'); /* 2: delivered */
	states_propose("key", "2", 'B'); /* 3: in the lane */
	states_propose("key", "3", 'B'); /* 4: behind it */
	states_propose("key", "4", 'B'); /* 5: not read */
	at = at_of("erp");
	ck_assert_uint_eq(at.read, 1);
	at.read = 4;
	at.lane_count = 1;
	snprintf(at.lanes[0].supplier, sizeof(at.lanes[0].supplier), "S");
	at.lanes[0].number = 3;
	at.lanes[0].behind = 4;
	ck_assert_int_eq(
	    hook_at_save(states, SPAN("erp"), &at, NULL, 0, NULL), ERR_OK);
	ck_assert_uint_eq(waiting("erp").count, 3);
	ck_assert_int_eq(hook_get(&hook, view, SPAN("erp")), ERR_OK);
	ck_assert_int_eq(
	    hook_next_of(&next, view, &hook, SPAN("S"), 3, 4), ERR_OK);
	ck_assert_uint_eq(next, 4);
	ck_assert_int_eq(
	    hook_next_of(&next, view, &hook, SPAN("S"), 4, 4), ERR_OK);
	ck_assert_uint_eq(next, 0);
	ck_assert_int_eq(
	    hook_next_of(&next, view, &hook, SPAN("T"), 1, 5), ERR_OK);
	ck_assert_uint_eq(next, 0);
}
END_TEST

static enum err
add_lost(void *context, const struct hook_lost *lost)
{
	size_t len = strlen(context);

	snprintf((char *)context + len, 64 - len, "%llu%s ",
	    (unsigned long long)lost->number, lost->again ? "!" : "");
	return ERR_OK;
}

START_TEST(what_was_given_up_is_marked_and_a_stop_is_over)
{
	struct hook_lost lost[3] = {{.number = 300, .when_ms = 1, .tries = 9},
	    {.number = 5, .when_ms = 1, .tries = 9},
	    {.number = 70000, .when_ms = 1, .tries = 9}};
	struct hook_at at;
	struct hook hook;
	char text[64] = "";
	uint64_t count;

	ck_assert_int_eq(add("erp", HOOK_PROPOSED), ERR_OK);
	at = at_of("erp");
	ck_assert_int_eq(hook_get(&hook, view, SPAN("erp")), ERR_OK);
	at.stopped_ms = hook.created_ms + 1;
	ck_assert(hook_is_stopped(&hook, &at));
	ck_assert_int_eq(
	    hook_at_save(states, SPAN("erp"), &at, lost, 3, NULL), ERR_OK);
	usleep(2000); /* the clock counts milliseconds */
	ck_assert_int_eq(hook_resend(&count, states, SPAN("erp")), ERR_OK);
	ck_assert_uint_eq(count, 3);
	lost[0].tries = 0; /* it has arrived */
	ck_assert_int_eq(
	    hook_at_save(states, SPAN("erp"), &at, lost, 1, NULL), ERR_OK);
	look();
	ck_assert_int_eq(
	    hook_lost_each(view, SPAN("erp"), add_lost, text), ERR_OK);
	ck_assert_str_eq(text, "5! 70000! ");
	ck_assert_int_eq(hook_get(&hook, view, SPAN("erp")), ERR_OK);
	ck_assert(!hook_is_stopped(&hook, &at));
	ck_assert(span_eq(hook.secret, SECRET));
	ck_assert_int_eq(hook_resend(&count, states, SPAN("erp")), ERR_OK);
	ck_assert_uint_eq(count, 0);
	ck_assert_int_eq(
	    hook_resend(&count, states, SPAN("other")), ERR_NOT_FOUND);
}
END_TEST

START_TEST(there_is_a_most_of_hooks)
{
	char name[16];

	for (unsigned i = 0; i < HOOK_COUNT_MAX; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		ck_assert_int_eq(add(name, HOOK_PROPOSED), ERR_OK);
	}
	ck_assert_int_eq(add("more", HOOK_PROPOSED), ERR_TOO_LARGE);
	ck_assert_int_eq(hook_remove(states, SPAN("h3"), "operator"), ERR_OK);
	ck_assert_int_eq(add("more", HOOK_PROPOSED), ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hook");
	TCase *tc = tcase_create("hook");

	tcase_add_checked_fixture(tc, make, unmake);
	tcase_add_test(tc, event_names_are_read);
	tcase_add_test(tc, names_that_are_no_word_are_refused);
	tcase_add_test(tc, a_hook_is_kept_as_it_was_given);
	tcase_add_test(tc, what_was_before_a_hook_is_not_its_own);
	tcase_add_test(tc, decisions_are_the_events_that_they_are);
	tcase_add_test(tc, other_suppliers_are_left_out);
	tcase_add_test(tc, what_no_hook_wants_is_not_noted);
	tcase_add_test(tc, a_removed_hook_is_gone_with_all_of_it);
	tcase_add_test(tc, removing_waits_for_what_is_under_way);
	tcase_add_test(tc, a_place_is_read_as_it_was_stored);
	tcase_add_test(tc, a_hook_is_fine_when_nothing_waits_for_another_try);
	tcase_add_test(tc, what_waits_in_lanes_is_counted);
	tcase_add_test(tc, what_was_given_up_is_marked_and_a_stop_is_over);
	tcase_add_test(tc, there_is_a_most_of_hooks);
	suite_add_tcase(suite, tc);
	return suite;
}
