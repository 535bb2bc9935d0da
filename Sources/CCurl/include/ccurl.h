// libcurl for Swift, which cannot call functions of a variable number of arguments; loaded when the first
// request is made, for it brings thirty libraries along, and most processes make none.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>

/// Before all others. 0 where libcurl is there; else `ccurl_load_error` says what is missing.
int ccurl_load(void);
const char *ccurl_load_error(void);

CURL *ccurl_init(void);
void ccurl_cleanup(CURL *handle);
CURLcode ccurl_pause(CURL *handle, int how);
const char *ccurl_words(CURLcode code);
struct curl_slist *ccurl_append(struct curl_slist *list, const char *line);
void ccurl_free_list(struct curl_slist *list);

CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value);
CURLcode ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value);
CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value);

typedef size_t (*ccurl_move)(char *bytes, size_t size, size_t count, void *context);

/// CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION or CURLOPT_HEADERFUNCTION.
CURLcode ccurl_set_move(CURL *handle, CURLoption option, ccurl_move move);
CURLcode ccurl_set_seek(CURL *handle, curl_seek_callback seek);
CURLcode ccurl_set_connected(CURL *handle, curl_sockopt_callback connected);

CURLM *ccurl_multi_init(void);
CURLMcode ccurl_multi_keep(CURLM *multi, long connections);
CURLMcode ccurl_multi_add(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *handle);
CURLMcode ccurl_multi_perform(CURLM *multi);
/// Returns when there is something to do, after `milliseconds`, or when somebody wakes it.
CURLMcode ccurl_multi_rest(CURLM *multi, int milliseconds);
CURLMcode ccurl_multi_wakeup(CURLM *multi);
/// A transfer that is over, with its result; NULL when there is none.
CURL *ccurl_multi_take_ended(CURLM *multi, CURLcode *result);

#endif
