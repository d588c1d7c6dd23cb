/* A delivery's manifest, and the same bytes as a marker without a list. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/gridctl/night/manifest.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span text = span_make(data, len);
	struct manifest manifest;
	struct fault fault;
	bool merge;
	enum err err;

	fault_clear(&fault);
	err = manifest_read(&manifest, text, &fault);
	FUZZ_CHECK(err == ERR_OK || fault_is_set(&fault));
	FUZZ_CHECK(manifest.count <= MANIFEST_FILES_MAX);
	for (unsigned i = 0; i < manifest.count; i++) {
		const char *name = manifest.files[i].name;

		FUZZ_CHECK(name[0] != '\0' && name[0] != '.');
		FUZZ_CHECK(strchr(name, '/') == NULL);
		FUZZ_CHECK(
		    manifest_find(&manifest, name) == &manifest.files[i]);
	}
	fault_clear(&fault);
	err = manifest_mode(&merge, text, &fault);
	FUZZ_CHECK(err == ERR_OK || fault_is_set(&fault));
	return 0;
}
