#include "tests/support/run.h"

#include <stdlib.h>

#include "common/log.h"

/*
 * Read by the address sanitizer, where it is linked in: an allocation that is
 * too large fails, as it does without it, instead of ending the program.
 */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int
main(void)
{
	SRunner *runner;
	int failed;

	log_open("test", LOG_ERROR_);
	runner = srunner_create(test_suite());
	if (&run_forks != NULL && run_forks)
		srunner_set_fork_status(runner, CK_FORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
