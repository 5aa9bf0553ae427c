// The roles of src/comparison/role.rs, equal for the programs of all libraries: PROGRAM ROLE SIZE MILLIS.
//
// With BEST_EFFORT in the environment, samples are best effort. ENCLAVE is a folder with an identity and signed documents.
//
// A program defines `open_link` and `write_sample`, calls `arrived` for each sample from its callback, and calls `run`.

#ifndef ROLE_H
#define ROLE_H

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP_NS 200000000ull
#define SETTLE_MS 300
#define BETWEEN_FIRST_MS 100
#define LIMIT_MS 15000
#define TRIPS_MAX 2000000

enum role { ECHO, ROUNDTRIP, SINK, SOURCE };

static enum role role;
static size_t sample_size;
static int keep_all, best_effort;
static const char *enclave;
static const char *writes_topic, *reads_topic;

static uint64_t *trips;
static size_t trip_count;
static uint64_t expected, sent_at, start_at, end_at, measured_ns;
static uint64_t count, newest;
static int matched, finished;

static void open_link(void);
static void write_sample(uint64_t number);

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  // The exit handlers of OpenSSL would free locks that the threads of a library still use.
  _exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pause_ms(unsigned milliseconds) {
  usleep(milliseconds * 1000);
}

static void trip_arrived(uint64_t number) {
  if (number != __atomic_load_n(&expected, __ATOMIC_ACQUIRE))
    return;
  if (number == 0) {
    __atomic_store_n(&matched, 1, __ATOMIC_RELEASE);
    return;
  }
  uint64_t arrival = now();
  if (arrival >= start_at && trip_count < TRIPS_MAX)
    trips[trip_count++] = arrival - sent_at;
  if (arrival >= end_at) {
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    return;
  }
  expected = number + 1;
  sent_at = now();
  write_sample(number + 1);
}

// A program calls this from its callback.
static void arrived(uint64_t number) {
  switch (role) {
  case ECHO:
    write_sample(number);
    break;
  case ROUNDTRIP:
    trip_arrived(number);
    break;
  case SINK:
    if (number > 0) {
      __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
      __atomic_store_n(&newest, number, __ATOMIC_RELAXED);
    } else if (!matched) {
      matched = 1;
      puts("matched");
      fflush(stdout);
    }
    break;
  case SOURCE:
    break;
  }
}

static void run_roundtrip(void) {
  for (int waited = 0; !__atomic_load_n(&matched, __ATOMIC_ACQUIRE); waited += BETWEEN_FIRST_MS) {
    if (waited >= LIMIT_MS)
      fail("no match within 15 s; is there multicast?");
    write_sample(0);
    pause_ms(BETWEEN_FIRST_MS);
  }
  pause_ms(SETTLE_MS);
  sent_at = now();
  start_at = sent_at + WARM_UP_NS;
  end_at = start_at + measured_ns;
  __atomic_store_n(&expected, 1, __ATOMIC_RELEASE);
  write_sample(1);
  for (uint64_t waited = 0; !__atomic_load_n(&finished, __ATOMIC_ACQUIRE); waited += 50) {
    if (waited >= LIMIT_MS + measured_ns / 1000000)
      fail("a reply has not arrived");
    pause_ms(50);
  }
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void run(int argc, char **argv) {
  static const char *const names[] = {"echo", "roundtrip", "sink", "source"};
  int known = 0;
  for (int i = 0; argc == 4 && i < 4; i++)
    if (strcmp(argv[1], names[i]) == 0) {
      role = (enum role)i;
      known = 1;
    }
  if (!known)
    fail("expected a role, a size and milliseconds");
  sample_size = strtoull(argv[2], NULL, 10);
  measured_ns = strtoull(argv[3], NULL, 10) * 1000000;
  keep_all = role == SINK || role == SOURCE;
  best_effort = getenv("BEST_EFFORT") != NULL;
  enclave = getenv("ENCLAVE");
  int there = role == ROUNDTRIP || role == SOURCE;
  writes_topic = there ? "there" : "back";
  reads_topic = there ? "back" : "there";
  trips = (uint64_t *)malloc(TRIPS_MAX * sizeof *trips);
  if (trips == NULL)
    fail("memory");
  open_link();
  char line[64];
  if (role == ROUNDTRIP) {
    run_roundtrip();
    qsort(trips, trip_count, sizeof *trips, compare);
    unsigned long long p50 = trip_count ? trips[trip_count * 50 / 100] : 0, p99 = trip_count ? trips[trip_count * 99 / 100] : 0;
    printf("%zu %llu %llu\n", trip_count, p50, p99);
    fflush(stdout);
    // The end of the process closes all entities.
    _exit(0);
  }
  if (role == SOURCE) {
    struct pollfd input = {.fd = 0, .events = POLLIN, .revents = 0};
    while (poll(&input, 1, BETWEEN_FIRST_MS) == 0)
      write_sample(0);
    for (uint64_t number = 1;; number++)
      write_sample(number);
  }
  while (fgets(line, sizeof line, stdin) != NULL)
    if (role == SINK) {
      unsigned long long seen = __atomic_load_n(&count, __ATOMIC_RELAXED), last = __atomic_load_n(&newest, __ATOMIC_RELAXED);
      printf("%llu %llu %llu\n", seen, last, (unsigned long long)now());
      fflush(stdout);
    }
  _exit(0);
}

#endif
