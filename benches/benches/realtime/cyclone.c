// The loop of the bench `realtime` with Cyclone DDS, in C to exclude costs of a language binding:
//
//     cyclone --loop in_process|udp SAMPLES HOGS
//
// After the last sample it prints a line per sample with two durations in ns: the write, and the time from before the write
// until the receiving thread had taken the sample. The second is `-` for a lost sample. Priorities, period and QoS equal those
// of control_loop.rs and ours.rs, which have the reasons.
//
// Cyclone DDS uses no socket within a domain. For `udp`, the writer and the readers are in two domains with the same domain id
// on the wire.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "Tick.h"
#include "dds/dds.h"

#define WARM_UP 1000
#define PERIOD_NS 1000000
#define KEPT 1000
#define DEPTH 16
#define HOGS_MAX 64
#define THREADS_PRIORITY 60
#define READER_PRIORITY 70
#define WRITER_PRIORITY 80

static uint64_t total;
static uint64_t *write_took, *received_after;
static dds_entity_t writer, observed, received;
static atomic_bool over;

static void check(int32_t code, const char *what) {
  if (code < 0) {
    fprintf(stderr, "error: %s: %s\n", what, dds_strretcode(-code));
    exit(1);
  }
}

static void check_system(int code, const char *what) {
  if (code != 0) {
    fprintf(stderr, "error: %s: %s\n", what, strerror(code));
    exit(1);
  }
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static pthread_t start(void *(*run)(void *), int policy, int priority) {
  pthread_t thread;
  pthread_attr_t attributes;
  struct sched_param parameters = {.sched_priority = priority};
  check_system(pthread_attr_init(&attributes), "attributes");
  check_system(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), "explicit scheduling");
  check_system(pthread_attr_setschedpolicy(&attributes, policy), "policy");
  check_system(pthread_attr_setschedparam(&attributes, &parameters), "priority");
  check_system(pthread_create(&thread, &attributes, run, NULL), "thread");
  return thread;
}

// Keeps a core busy without sleeping or locking.
static void *hog(void *unused) {
  while (!atomic_load_explicit(&over, memory_order_relaxed))
    continue;
  return unused;
}

// Reads the whole history of its reader in a loop, and every byte of it.
static void *observe(void *unused) {
  static Tick ticks[KEPT];
  static void *samples[KEPT];
  static dds_sample_info_t infos[KEPT];
  volatile uint64_t seen = 0;
  for (int i = 0; i < KEPT; i++)
    samples[i] = &ticks[i];
  while (!atomic_load_explicit(&over, memory_order_relaxed)) {
    int32_t count = dds_read(observed, samples, infos, KEPT, KEPT);
    check(count, "read");
    for (int32_t i = 0; i < count; i++)
      for (size_t at = 0; at < sizeof(ticks[i].rest); at++)
        seen += ticks[i].rest[at];
  }
  return unused;
}

static void *receive(void *unused) {
  dds_entity_t waitset = dds_create_waitset(dds_get_participant(received));
  dds_entity_t readable = dds_create_readcondition(received, DDS_ANY_STATE);
  check(dds_waitset_attach(waitset, readable, 0), "attach");
  for (;;) {
    Tick tick;
    void *samples[1] = {&tick};
    dds_sample_info_t info;
    int32_t taken = dds_take(received, samples, &info, 1, 1);
    check(taken, "take");
    if (taken == 0) {
      dds_return_t triggered = dds_waitset_wait(waitset, NULL, 0, DDS_SECS(1));
      check(triggered, "wait");
      if (triggered == 0)
        return unused;
      continue;
    }
    if (info.valid_data)
      received_after[tick.number] = now() - tick.sent;
    if (tick.number + 1 == total)
      return unused;
  }
}

static void *write_all(void *unused) {
  uint64_t next = now();
  for (uint64_t number = 0; number < total; number++) {
    next += PERIOD_NS;
    struct timespec until = {.tv_sec = (time_t)(next / 1000000000), .tv_nsec = (long)(next % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
      continue;
    Tick tick = {.number = number, .sent = now()};
    check(dds_write(writer, &tick), "write");
    write_took[number] = now() - tick.sent;
  }
  return unused;
}

static void make_entities(int udp) {
  dds_domainid_t domains[2] = {0, 0};
  if (udp) {
    const char *one_on_the_wire = "<Discovery><ExternalDomainId>0</ExternalDomainId></Discovery>";
    for (dds_domainid_t id = 0; id < 2; id++)
      check(dds_create_domain(domains[id] = id + 1, one_on_the_wire), "domain");
  }
  dds_entity_t writing = dds_create_participant(domains[0], NULL, NULL);
  check(writing, "participant");
  dds_entity_t reading = udp ? dds_create_participant(domains[1], NULL, NULL) : writing;
  check(reading, "participant");
  dds_entity_t topic = dds_create_topic(writing, &Tick_desc, "realtime", NULL, NULL);
  check(topic, "topic");
  dds_entity_t reading_topic = udp ? dds_create_topic(reading, &Tick_desc, "realtime", NULL, NULL) : topic;
  check(reading_topic, "topic");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
  writer = dds_create_writer(writing, topic, qos, NULL);
  check(writer, "writer");
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, DEPTH);
  received = dds_create_reader(reading, reading_topic, qos, NULL);
  check(received, "reader");
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, KEPT);
  observed = dds_create_reader(reading, reading_topic, qos, NULL);
  check(observed, "reader");
  dds_publication_matched_status_t matched = {0};
  for (int tenths = 0; matched.current_count < 2 && tenths < 100; tenths++) {
    dds_sleepfor(DDS_MSECS(100));
    check(dds_get_publication_matched_status(writer, &matched), "status");
  }
  if (matched.current_count < 2) {
    fprintf(stderr, "error: writer and readers have not met within 10 s; is there multicast?\n");
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 5 || strcmp(argv[1], "--loop") != 0)
    return 2;
  total = strtoull(argv[3], NULL, 10) + WARM_UP;
  long hogs = strtol(argv[4], NULL, 10);
  write_took = calloc(total, sizeof *write_took);
  received_after = calloc(total, sizeof *received_after);
  if (write_took == NULL || received_after == NULL || hogs < 0 || hogs > HOGS_MAX)
    return 1;
  check_system(mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno, "mlockall");
  // The threads of the library inherit this.
  struct sched_param parameters = {.sched_priority = THREADS_PRIORITY};
  check_system(sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? 0 : errno, "SCHED_FIFO");
  make_entities(strcmp(argv[2], "udp") == 0);
  pthread_t busy[1 + HOGS_MAX];
  busy[0] = start(observe, SCHED_OTHER, 0);
  for (long i = 0; i < hogs; i++)
    busy[1 + i] = start(hog, SCHED_OTHER, 0);
  pthread_t receiving = start(receive, SCHED_FIFO, READER_PRIORITY), writing = start(write_all, SCHED_FIFO, WRITER_PRIORITY);
  pthread_join(writing, NULL);
  pthread_join(receiving, NULL);
  atomic_store(&over, true);
  for (long i = 0; i < 1 + hogs; i++)
    pthread_join(busy[i], NULL);
  for (uint64_t i = WARM_UP; i < total; i++)
    if (received_after[i] != 0)
      printf("%llu %llu\n", (unsigned long long)write_took[i], (unsigned long long)received_after[i]);
    else
      printf("%llu -\n", (unsigned long long)write_took[i]);
  return 0;
}
