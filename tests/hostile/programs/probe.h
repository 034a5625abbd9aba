/* What every hostile program speaks: one line per thing tried, "NAME=ok", "NAME=EPERM" or "NAME=17", written at once.
 * A program is one function `int probe_NAME(int argc, char** argv)` in a file of its own; hostile.c lists them.
 * Each is bounded by a count as well as by the jail's limits, because it also runs outside once, as its control. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* "ok" when result >= 0, else the name of errno. */
void say(const char* what, long result);
void say_number(const char* what, long number);
void say_text(const char* what, const char* text);

/* The first argument as a number, or `otherwise`. */
long count_from(int argc, char** argv, long otherwise);
double seconds_now(void);
/* Reaps every child that there is; how many. */
long reap_all(void);
