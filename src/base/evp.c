/* SHA-512 and BLAKE2b through libcrypto's EVP interface; one implementation behind both headers. */
#include "base/blake2b.h"
#include "base/sha512.h"
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

static struct status refused(const char *name)
{
    return status_hint(status_error(STATUS_UNSUPPORTED, "cannot compute a %s digest with libcrypto", name),
                       "check the memory left and the OpenSSL configuration (it must offer %s)", name);
}

static struct status begin(void **context, const EVP_MD *algorithm, const char *name)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    *context = NULL;
    if (!c || EVP_DigestInit_ex(c, algorithm, NULL) != 1) {
        EVP_MD_CTX_free(c);
        return refused(name);
    }
    *context = c;
    return status_ok();
}

static struct status add(void *context, const void *data, size_t size, const char *name)
{
    CHECK(context);
    return size == 0 || EVP_DigestUpdate(context, data, size) == 1 ? status_ok() : refused(name);
}

static void abandon(void **context)
{
    EVP_MD_CTX_free(*context);
    *context = NULL;
}

static struct status end(void **context, uint8_t *out, const char *name)
{
    CHECK(*context);
    struct status s = EVP_DigestFinal_ex(*context, out, NULL) == 1 ? status_ok() : refused(name);
    abandon(context);
    return s;
}

static struct status once(uint8_t *out, const void *data, size_t size, const EVP_MD *algorithm,
                          const char *name)
{
    void *context;
    TRY(begin(&context, algorithm, name));
    struct status s = add(context, data, size, name);
    if (status_failed(&s))
        abandon(&context);
    else
        s = end(&context, out, name);
    return s;
}

struct status sha512_begin(struct sha512 *h)
{
    return begin(&h->context, EVP_sha512(), "SHA-512");
}

struct status sha512_add(struct sha512 *h, const void *data, size_t size)
{
    return add(h->context, data, size, "SHA-512");
}

struct status sha512_end(struct sha512 *h, uint8_t out[64])
{
    return end(&h->context, out, "SHA-512");
}

void sha512_abandon(struct sha512 *h)
{
    abandon(&h->context);
}

struct status sha512(uint8_t out[64], const void *data, size_t size)
{
    return once(out, data, size, EVP_sha512(), "SHA-512");
}

struct status blake2b_begin(struct blake2b *h)
{
    return begin(&h->context, EVP_blake2b512(), "BLAKE2b");
}

struct status blake2b_add(struct blake2b *h, const void *data, size_t size)
{
    return add(h->context, data, size, "BLAKE2b");
}

struct status blake2b_end(struct blake2b *h, uint8_t out[64])
{
    return end(&h->context, out, "BLAKE2b");
}

void blake2b_abandon(struct blake2b *h)
{
    abandon(&h->context);
}

struct status blake2b(uint8_t out[64], const void *data, size_t size)
{
    return once(out, data, size, EVP_blake2b512(), "BLAKE2b");
}

struct status blake2b_keyed(uint8_t *out, size_t out_size, const uint8_t *key, size_t key_size,
                            const void *data, size_t size)
{
    CHECK(out_size >= 1 && out_size <= 64 && key_size >= 1 && key_size <= 64);
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
    EVP_MAC_CTX *c = mac ? EVP_MAC_CTX_new(mac) : NULL;
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &out_size),
                               OSSL_PARAM_construct_end()};
    bool ok = c && EVP_MAC_init(c, key, key_size, parameters) == 1 &&
              (size == 0 || EVP_MAC_update(c, data, size) == 1) && EVP_MAC_final(c, out, NULL, out_size) == 1;
    EVP_MAC_CTX_free(c);
    EVP_MAC_free(mac);
    return ok ? status_ok() : refused("keyed BLAKE2b");
}
