#include "tests/support/run.h"

#include <stdlib.h>

#include "common/log.h"

int
main(void)
{
	SRunner *runner;
	int failed;

	log_open("test", LOG_ERROR_);
	runner = srunner_create(test_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
