// Hears of changes of the machine's addresses and routes (rtnetlink(7)). In C, because the addresses of
// these sockets are no types of Swift's Glibc module.
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A descriptor that can be read when something has changed; -1 where there is none.
static inline int netlink_open(void) {
    struct sockaddr_nl address;
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

/// Reads all that there is. What was lost for want of room was a change too.
static inline void netlink_drain(int descriptor) {
    char bytes[16384];
    while (recv(descriptor, bytes, sizeof bytes, 0) > 0 || errno == ENOBUFS || errno == EINTR) {
        errno = 0;
    }
}
