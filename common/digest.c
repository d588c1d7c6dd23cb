/*
 * EVP_sha256() looks its implementation up at each use, under a lock;
 * EVP_MD_fetch() looks it up once. A context takes three allocations, so each
 * thread keeps its own; OpenSSL wipes the hashed state when it returns the
 * digest.
 */
#include "common/digest.h"

#include <assert.h>
#include <endian.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hex.h"
#include "common/library.h"
#include "common/log.h"
#include "common/num.h"

#define SCRYPT_N 65536
#define SCRYPT_R 8
#define SCRYPT_P 1
#define SCRYPT_MEMORY (UINT64_C(160) << 20)
#define SALT_LEN 16
#define HASH_LEN 32

/* The functions in use, each without its "EVP_". */
#define FUNCTIONS(F) \
	F(DigestFinal_ex) \
	F(DigestInit_ex) \
	F(DigestUpdate) \
	F(MD_CTX_free) \
	F(MD_CTX_new) \
	F(MD_fetch) \
	F(PBE_scrypt)

static struct {
#define MEMBER(name) __typeof__(EVP_##name) *(name);
	FUNCTIONS(MEMBER)
#undef MEMBER
} crypto;

static EVP_MD *sha256; /* NULL: not loaded, and `missing` says why */
static struct fault missing;
static pthread_key_t context_key; /* holds each thread's EVP_MD_CTX */
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
free_context(void *context)
{
	crypto.MD_CTX_free(context);
}

static void
prepare(void)
{
#define FUNCTION(name) {"EVP_" #name, &crypto.name},
	static const struct library_function wanted[] = {
	    FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	/* As in the headers that this file was compiled with. */
	static const char *const names[] = {"libcrypto.so.3", NULL};
	const struct library library = {names, "libssl3", wanted};

	fault_clear(&missing);
	if (library_load(&library, &missing) != ERR_OK)
		return;
	sha256 = crypto.MD_fetch(NULL, "SHA256", NULL);
	has_key = pthread_key_create(&context_key, free_context) == 0;
	if (sha256 == NULL)
		fault_set(&missing, names[0], "has no SHA-256");
}

enum err
digest_load(struct fault *fault)
{
	pthread_once(&once, prepare);
	if (sha256 != NULL)
		return ERR_OK;
	*fault = missing;
	return ERR_NOT_FOUND;
}

/* A wrong or missing hash must never be compared with anything. */
static void
need(void)
{
	struct fault fault;

	if (digest_load(&fault) == ERR_OK)
		return;
	log_error("%s %s", fault.place, fault.message);
	exit(EXIT_FAILURE);
}

/* The thread's context, created on first use. */
static EVP_MD_CTX *
own_context(void)
{
	EVP_MD_CTX *context = pthread_getspecific(context_key);

	if (context == NULL) {
		context = crypto.MD_CTX_new();
		if (context != NULL &&
		    pthread_setspecific(context_key, context) != 0) {
			crypto.MD_CTX_free(context);
			context = NULL;
		}
	}
	return context;
}

void
digest_sha256(uint8_t out[DIGEST_SHA256_LEN], struct span data)
{
	EVP_MD_CTX *context;
	unsigned len = 0;
	bool done;

	need();
	assert(has_key);
	context = own_context();
	assert(context != NULL);
	done = crypto.DigestInit_ex(context, sha256, NULL) == 1 &&
	    crypto.DigestUpdate(context, data.ptr, data.len) == 1 &&
	    crypto.DigestFinal_ex(context, out, &len) == 1;
	assert(done && len == DIGEST_SHA256_LEN);
}

struct digest_parts {
	EVP_MD_CTX *context;
	bool failed; /* for want of memory */
};

static void
parts_begin(struct digest_parts *parts)
{
	parts->failed = crypto.DigestInit_ex(parts->context, sha256, NULL) != 1;
}

enum err
digest_parts_new(struct digest_parts **out)
{
	struct digest_parts *parts = calloc(1, sizeof(*parts));

	*out = NULL;
	need();
	if (parts == NULL)
		goto out;
	parts->context = crypto.MD_CTX_new();
	if (parts->context == NULL)
		goto out;
	parts_begin(parts);
	*out = parts;
	return ERR_OK;
out:
	free(parts);
	return ERR_NO_MEMORY;
}

void
digest_parts_add(struct digest_parts *parts, struct span part)
{
	uint64_t len = htole64(part.len);

	assert(parts != NULL);
	digest_parts_more(parts, span_make((const char *)&len, sizeof(len)));
	digest_parts_more(parts, part);
}

void
digest_parts_more(struct digest_parts *parts, struct span bytes)
{
	if (crypto.DigestUpdate(parts->context, bytes.ptr, bytes.len) != 1)
		parts->failed = true;
}

enum err
digest_parts_end(struct digest_parts *parts, uint8_t out[DIGEST_SHA256_LEN])
{
	bool failed;

	assert(parts != NULL);
	failed = parts->failed ||
	    crypto.DigestFinal_ex(parts->context, out, NULL) != 1;
	parts_begin(parts);
	return failed ? ERR_NO_MEMORY : ERR_OK;
}

void
digest_parts_free(struct digest_parts *parts)
{
	if (parts == NULL)
		return;
	crypto.MD_CTX_free(parts->context);
	free(parts);
}

static enum err
scrypt(uint8_t hash[HASH_LEN], const uint8_t salt[SALT_LEN],
    struct span password, const int64_t cost[3])
{
	need();
	if (crypto.PBE_scrypt(password.len == 0 ? "" : password.ptr,
		password.len, salt, SALT_LEN, (uint64_t)cost[0],
		(uint64_t)cost[1], (uint64_t)cost[2], SCRYPT_MEMORY, hash,
		HASH_LEN) == 1)
		return ERR_OK;
	log_error("password hash failed: N=%lld r=%lld p=%lld",
	    (long long)cost[0], (long long)cost[1], (long long)cost[2]);
	return ERR_NO_MEMORY;
}

enum err
digest_password_make(char stored[DIGEST_PASSWORD_MAX], struct span password)
{
	static const int64_t cost[3] = {SCRYPT_N, SCRYPT_R, SCRYPT_P};
	uint8_t salt[SALT_LEN];
	uint8_t hash[HASH_LEN];
	char salt_text[2 * SALT_LEN + 1];
	char hash_text[2 * HASH_LEN + 1];
	enum err err = digest_random(salt, sizeof(salt));

	stored[0] = '\0';
	if (err == ERR_OK)
		err = scrypt(hash, salt, password, cost);
	if (err != ERR_OK)
		return err;
	hex_text(salt_text, salt, sizeof(salt));
	hex_text(hash_text, hash, sizeof(hash));
	snprintf(stored, DIGEST_PASSWORD_MAX, "scrypt$%d$%d$%d$%s$%s", SCRYPT_N,
	    SCRYPT_R, SCRYPT_P, salt_text, hash_text);
	return ERR_OK;
}

struct stored {
	int64_t cost[3]; /* N, r, p */
	uint8_t salt[SALT_LEN];
	uint8_t hash[HASH_LEN];
};

/* The ceilings keep a tampered record from costing hours of hashing. */
static bool
parse_stored(struct stored *out, struct span text)
{
	static const int64_t most[3] = {1 << 17, 8, 4};
	struct span piece;

	if (!span_cut(&piece, &text, '$') || !span_eq(piece, SPAN("scrypt")))
		return false;
	for (int i = 0; i < 3; i++)
		if (!span_cut(&piece, &text, '$') ||
		    !num_int(&out->cost[i], piece, 1, most[i]))
			return false;
	return span_cut(&piece, &text, '$') &&
	    hex_bytes(out->salt, sizeof(out->salt), piece) &&
	    span_cut(&piece, &text, '$') &&
	    hex_bytes(out->hash, sizeof(out->hash), piece) && text.ptr == NULL;
}

bool
digest_password_ok(struct span stored)
{
	struct stored parsed;

	return parse_stored(&parsed, stored);
}

bool
digest_password_check(const char *stored, struct span password)
{
	static const struct stored nobody = {
	    {SCRYPT_N, SCRYPT_R, SCRYPT_P}, {0}, {0}};
	struct stored parsed = nobody;
	uint8_t hash[HASH_LEN];
	bool known = stored != NULL && parse_stored(&parsed, span_of(stored));

	if (stored != NULL && !known)
		log_error("a stored password is damaged");
	if (!known)
		parsed = nobody;
	if (scrypt(hash, parsed.salt, password, parsed.cost) != ERR_OK)
		return false;
	return digest_equal(hash, parsed.hash, sizeof(hash)) && known;
}
