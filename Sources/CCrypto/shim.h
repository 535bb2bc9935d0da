#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

// Macros of OpenSSL, which Swift does not see.

static inline int CCrypto_set_min_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

static inline void CCrypto_refuse_renegotiation(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

static inline void CCrypto_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline void CCrypto_release_idle_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// An empty memory BIO asks for more, and does not report the end.
static inline BIO *CCrypto_new_memory(void) {
    BIO *memory = BIO_new(BIO_s_mem());
    if (memory) BIO_set_mem_eof_return(memory, -1);
    return memory;
}
