#define CURL_DISABLE_TYPECHECK
#include "ccurl.h"

#include <dlfcn.h>
#include <stdio.h>

static struct {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *handle);
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_pause)(CURL *handle, int how);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *handle);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *handle);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(
        CURLM *multi, struct curl_waitfd fds[], unsigned int count, int milliseconds, int *ready);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
} library;

static char problem[256];

const char *ccurl_load_error(void) { return problem; }

static int missing(void) {
    const char *words = dlerror();
    snprintf(problem, sizeof problem, "%s", words ? words : "libcurl.so.4 is not that of libcurl");
    return -1;
}

int ccurl_load(void) {
    void *loaded = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return missing();
#define FIND(name) \
    if (!(*(void **)&library.name = dlsym(loaded, "curl_" #name))) return missing()
    FIND(global_init);
    FIND(easy_init);
    FIND(easy_cleanup);
    FIND(easy_setopt);
    FIND(easy_pause);
    FIND(easy_strerror);
    FIND(slist_append);
    FIND(slist_free_all);
    FIND(multi_init);
    FIND(multi_setopt);
    FIND(multi_add_handle);
    FIND(multi_remove_handle);
    FIND(multi_perform);
    FIND(multi_poll);
    FIND(multi_wakeup);
    FIND(multi_info_read);
#undef FIND
    CURLcode code = library.global_init(CURL_GLOBAL_DEFAULT);
    if (code == CURLE_OK) return 0;
    snprintf(problem, sizeof problem, "%s", library.easy_strerror(code));
    return -1;
}

CURL *ccurl_init(void) { return library.easy_init(); }
void ccurl_cleanup(CURL *handle) { library.easy_cleanup(handle); }
CURLcode ccurl_pause(CURL *handle, int how) { return library.easy_pause(handle, how); }
const char *ccurl_words(CURLcode code) { return library.easy_strerror(code); }

struct curl_slist *ccurl_append(struct curl_slist *list, const char *line) {
    return library.slist_append(list, line);
}

void ccurl_free_list(struct curl_slist *list) { library.slist_free_all(list); }

CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode ccurl_set_move(CURL *handle, CURLoption option, ccurl_move move) {
    return library.easy_setopt(handle, option, move);
}

CURLcode ccurl_set_seek(CURL *handle, curl_seek_callback seek) {
    return library.easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek);
}

CURLcode ccurl_set_connected(CURL *handle, curl_sockopt_callback connected) {
    return library.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, connected);
}

CURLM *ccurl_multi_init(void) { return library.multi_init(); }

CURLMcode ccurl_multi_keep(CURLM *multi, long connections) {
    return library.multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections);
}

CURLMcode ccurl_multi_add(CURLM *multi, CURL *handle) {
    return library.multi_add_handle(multi, handle);
}

CURLMcode ccurl_multi_remove(CURLM *multi, CURL *handle) {
    return library.multi_remove_handle(multi, handle);
}

CURLMcode ccurl_multi_perform(CURLM *multi) {
    int running = 0;
    return library.multi_perform(multi, &running);
}

CURLMcode ccurl_multi_rest(CURLM *multi, int milliseconds) {
    return library.multi_poll(multi, NULL, 0, milliseconds, NULL);
}

CURLMcode ccurl_multi_wakeup(CURLM *multi) { return library.multi_wakeup(multi); }

CURL *ccurl_multi_take_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = library.multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
