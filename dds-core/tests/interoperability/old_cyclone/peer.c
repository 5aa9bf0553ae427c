// A Cyclone DDS process in C.
//
//     peer [durable] [partition=NAME]
//
// Every 50 ms it writes a sample of each type of `Small.idl` to a topic with the type's name, until
// its standard input ends. It writes each sample of the topic "Questions" to the topic "Answers". Prints its version first, and
// "alive" at the end. With "durable", the endpoints of questions and answers are TRANSIENT_LOCAL.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include "Small.h"
#include "dds/dds.h"
#include "dds/version.h"

// The exit handlers of OpenSSL would free locks that the threads of Cyclone DDS still use.
static void end(int status) {
  fflush(stdout);
  _exit(status);
}

static dds_entity_t check(dds_entity_t entity, const char *what) {
  if (entity < 0) {
    printf("error: %s: %s\n", what, dds_strretcode(-entity));
    end(1);
  }
  return entity;
}

static dds_entity_t topic_of(dds_entity_t publisher, const dds_topic_descriptor_t *type, const char *name) {
  return check(dds_create_topic(dds_get_participant(publisher), type, name, NULL, NULL), name);
}

static dds_entity_t writer_of(dds_entity_t publisher, const dds_topic_descriptor_t *type, const char *name) {
  return check(dds_create_writer(publisher, topic_of(publisher, type, name), NULL, NULL), name);
}

static dds_qos_t *in_partition(const char *name) {
  dds_qos_t *qos = dds_create_qos();
  if (name) dds_qset_partition1(qos, name);
  return qos;
}

static dds_qos_t *reliable(int durable) {
  dds_qos_t *qos = dds_create_qos();
  if (durable) {
    dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
    dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_ALL, 0, -1, -1, -1);
  }
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  return qos;
}

static void answer(dds_entity_t questions, dds_entity_t answers) {
  void *taken[1] = {NULL};
  dds_sample_info_t info[1];
  while (check(dds_take(questions, taken, info, 1, 1), "take") > 0) {
    if (info[0].valid_data) check(dds_write(answers, taken[0]), "answer");
    check(dds_return_loan(questions, taken, 1), "loan");
  }
}

static int input_has_ended(void) {
  struct timeval pause = {0, 50000};
  fd_set input;
  FD_ZERO(&input);
  FD_SET(0, &input);
  return select(1, &input, NULL, NULL, &pause) > 0 && getchar() == EOF;
}

int main(int argc, char **argv) {
  uint8_t bytes[] = {0, 127, 255};
  int durable = 0;
  const char *partition = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "durable") == 0) durable = 1;
    if (strncmp(argv[i], "partition=", 10) == 0) partition = argv[i] + 10;
  }
  dds_entity_t participant = check(dds_create_participant(0, NULL, NULL), "participant");
  dds_qos_t *qos = in_partition(partition);
  dds_entity_t publisher = check(dds_create_publisher(participant, qos, NULL), "publisher");
  dds_entity_t subscriber = check(dds_create_subscriber(participant, qos, NULL), "subscriber");
  dds_delete_qos(qos);
  dds_entity_t of_bytes = writer_of(publisher, &Bytes_desc, "Bytes");
  dds_entity_t of_octets = writer_of(publisher, &Octets_desc, "Octets");
  dds_entity_t of_signed = writer_of(publisher, &Signed_desc, "Signed");
  qos = reliable(durable);
  dds_entity_t questions = check(dds_create_reader(subscriber, topic_of(publisher, &Octets_desc, "Questions"), qos, NULL), "reader");
  dds_entity_t answers = check(dds_create_writer(publisher, topic_of(publisher, &Octets_desc, "Answers"), qos, NULL), "writer");
  dds_delete_qos(qos);
  printf("%s\n", DDS_VERSION);
  fflush(stdout);
  for (int32_t number = 0; !input_has_ended(); number++) {
    Bytes some = {.data = {._buffer = bytes, ._length = 3, ._maximum = 3}, .number = number};
    Octets same = {.data = {._buffer = bytes, ._length = 3, ._maximum = 3}, .number = number};
    Signed small = {.value = -7, .number = number};
    check(dds_write(of_bytes, &some), "write");
    check(dds_write(of_octets, &same), "write");
    check(dds_write(of_signed, &small), "write");
    answer(questions, answers);
  }
  printf("alive\n");
  end(0);
}
