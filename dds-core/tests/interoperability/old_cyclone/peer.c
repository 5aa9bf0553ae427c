// A Cyclone DDS process in C. Every 50 ms it writes a sample of each type of `Small.idl` to a topic with the type's name, until
// its standard input ends. It writes each sample of the topic "Questions" to the topic "Answers". Prints its version first, and
// "alive" at the end.

#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include "Small.h"
#include "dds/dds.h"
#include "dds/version.h"

static dds_entity_t check(dds_entity_t entity, const char *what) {
  if (entity < 0) {
    printf("error: %s: %s\n", what, dds_strretcode(-entity));
    exit(1);
  }
  return entity;
}

static dds_entity_t writer_of(dds_entity_t participant, const dds_topic_descriptor_t *type, const char *name) {
  return check(dds_create_writer(participant, check(dds_create_topic(participant, type, name, NULL, NULL), name), NULL, NULL), name);
}

static dds_qos_t *reliable(void) {
  dds_qos_t *qos = dds_create_qos();
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

int main(void) {
  uint8_t bytes[] = {0, 127, 255};
  dds_entity_t participant = check(dds_create_participant(0, NULL, NULL), "participant");
  dds_entity_t of_bytes = writer_of(participant, &Bytes_desc, "Bytes");
  dds_entity_t of_octets = writer_of(participant, &Octets_desc, "Octets");
  dds_entity_t of_signed = writer_of(participant, &Signed_desc, "Signed");
  dds_qos_t *qos = reliable();
  dds_entity_t topic = check(dds_create_topic(participant, &Octets_desc, "Questions", NULL, NULL), "topic");
  dds_entity_t questions = check(dds_create_reader(participant, topic, qos, NULL), "reader");
  topic = check(dds_create_topic(participant, &Octets_desc, "Answers", NULL, NULL), "topic");
  dds_entity_t answers = check(dds_create_writer(participant, topic, qos, NULL), "writer");
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
  return 0;
}
