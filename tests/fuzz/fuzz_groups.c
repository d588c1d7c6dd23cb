/* Two lines of settings, buyers and managers, then the groups of a person. */
#include <stdio.h>

#include "fcgi/outside.h"
#include "fcgi/settings.h"
#include "tests/fuzz/fuzz.h"

/* As a setting has them: text of at most so many bytes. */
static void
take_line(char line[ACCESS_SUPPLIERS_MAX + 1], struct span *rest)
{
	struct span text = span_sub(*rest, 0, span_find(*rest, '\n'));

	*rest = span_from(*rest, text.len + 1);
	text = span_sub(text, 0, ACCESS_SUPPLIERS_MAX);
	snprintf(line, ACCESS_SUPPLIERS_MAX + 1, "%.*s", SPAN_ARG(text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char buyers[ACCESS_SUPPLIERS_MAX + 1], nobody[] = "";
	char managers[ACCESS_SUPPLIERS_MAX + 1];
	char suppliers[ACCESS_SUPPLIERS_MAX + 1];
	const struct api_settings settings = {.outside = true,
	    .outside_administrators = nobody,
	    .outside_managers = managers,
	    .outside_buyers = buyers};
	struct span groups = span_make(data, len), code;
	struct rights rights;

	take_line(buyers, &groups);
	take_line(managers, &groups);
	if (outside_rights(&rights, suppliers, &settings, groups) != ERR_OK)
		return 0;
	FUZZ_CHECK(rights_ok(&rights) && rights.role != ROLE_ADMINISTRATOR);
	if (rights.suppliers.len == 0)
		return 0;
	FUZZ_CHECK(rights.role == ROLE_BUYER);
	FUZZ_CHECK(rights.suppliers.ptr[rights.suppliers.len - 1] == '\n');
	code = span_sub(rights.suppliers, 0, span_find(rights.suppliers, '\n'));
	FUZZ_CHECK(code.len > 0 && rights_decide(&rights, code));
	return 0;
}
