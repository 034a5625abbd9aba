#include "probe.h"

static void line(const char* what, const char* value) {
  char text[512];
  const int length = snprintf(text, sizeof text, "%s=%s\n", what, value);
  if (length > 0 && write(1, text, (size_t)length) < 0) _exit(90);
}

void say(const char* what, long result) {
  const char* name = result >= 0 ? "ok" : strerrorname_np(errno);
  line(what, name ? name : "unnamed");
}

void say_number(const char* what, long number) {
  char text[32];
  snprintf(text, sizeof text, "%ld", number);
  line(what, text);
}

void say_text(const char* what, const char* text) { line(what, text); }

long count_from(int argc, char** argv, long otherwise) { return argc > 1 ? atol(argv[1]) : otherwise; }

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

long reap_all(void) {
  long reaped = 0;
  while (waitpid(-1, NULL, 0) > 0) ++reaped;
  return reaped;
}
