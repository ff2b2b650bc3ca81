/* For LD_PRELOAD: each sync adds one byte to the file that SYNCS names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void count(void) {
  const char *name = getenv("SYNCS");
  int file = name ? open(name, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  /* A sync that is not counted fails the test: nothing can be said here. */
  if (file >= 0) {
    ssize_t written = write(file, "s", 1);
    (void)written;
    close(file);
  }
}

int fsync(int file) {
  count();
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  count();
  return (int)syscall(SYS_fdatasync, file);
}

int syncfs(int file) {
  count();
  return (int)syscall(SYS_syncfs, file);
}

void sync(void) {
  count();
  syscall(SYS_sync);
}
