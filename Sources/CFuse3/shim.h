#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
