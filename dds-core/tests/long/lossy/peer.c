// A Cyclone DDS process for the lossy tests, in C to exclude costs of a language binding.
//
//     peer pub COUNT LEN    Waits for standard input, writes COUNT samples with LEN octets each, and waits for all acknowledgments.
//     peer sub COUNT LEN    Takes the samples, and checks the number, the length and the octets of each.
//
// Prints "ready" after the match, then "done" or an error. QoS: RELIABLE, KEEP_ALL, VOLATILE.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "Load.h"
#include "dds/dds.h"

#define BATCH 64

static void check(int32_t code, const char *what) {
  if (code < 0) {
    printf("error: %s: %s\n", what, dds_strretcode(-code));
    exit(1);
  }
}

static void say(const char *word) {
  printf("%s\n", word);
  fflush(stdout);
}

static uint8_t octet(uint32_t number, uint32_t index) {
  return (uint8_t)((number + index) % 251);
}

static void wait_for_peer(dds_entity_t participant, dds_entity_t entity, uint32_t status) {
  dds_entity_t waitset = dds_create_waitset(participant);
  check(dds_set_status_mask(entity, status), "status mask");
  check(dds_waitset_attach(waitset, entity, 0), "attach");
  check(dds_waitset_wait(waitset, NULL, 0, DDS_INFINITY), "wait");
  check(dds_delete(waitset), "delete");
}

static void publish(dds_entity_t participant, dds_entity_t topic, dds_qos_t *qos, uint32_t count, uint32_t len) {
  dds_entity_t writer = dds_create_writer(participant, topic, qos, NULL);
  check(writer, "writer");
  wait_for_peer(participant, writer, DDS_PUBLICATION_MATCHED_STATUS);
  say("ready");
  if (getchar() == EOF)
    exit(1);
  // Sample i is a window into this, at offset i modulo 251.
  uint8_t *octets = malloc(len + 251);
  for (uint32_t i = 0; i < len + 251; i++)
    octets[i] = octet(0, i);
  for (uint32_t number = 0; number < count; number++) {
    Load sample = {.number = number};
    sample.bytes._buffer = octets + number % 251;
    sample.bytes._length = sample.bytes._maximum = len;
    check(dds_write(writer, &sample), "write");
  }
  check(dds_wait_for_acks(writer, DDS_INFINITY), "wait for acks");
}

static uint32_t look_at(const Load *sample, uint32_t expected, uint32_t len) {
  int same = sample->number == expected && sample->bytes._length == len;
  for (uint32_t i = 0; same && i < len; i++)
    same = sample->bytes._buffer[i] == octet(expected, i);
  if (!same) {
    printf("error: %u of %u octets instead of %u\n", sample->number, sample->bytes._length, expected);
    exit(1);
  }
  return expected + 1;
}

static void subscribe(dds_entity_t participant, dds_entity_t topic, dds_qos_t *qos, uint32_t count, uint32_t len) {
  dds_entity_t reader = dds_create_reader(participant, topic, qos, NULL);
  check(reader, "reader");
  wait_for_peer(participant, reader, DDS_SUBSCRIPTION_MATCHED_STATUS);
  say("ready");
  dds_entity_t waitset = dds_create_waitset(participant);
  dds_entity_t readable = dds_create_readcondition(reader, DDS_ANY_STATE);
  check(dds_waitset_attach(waitset, readable, 0), "attach");
  uint32_t expected = 0;
  while (expected < count) {
    void *samples[BATCH] = {NULL};
    dds_sample_info_t infos[BATCH];
    check(dds_waitset_wait(waitset, NULL, 0, DDS_INFINITY), "wait");
    int32_t taken = dds_take(reader, samples, infos, BATCH, BATCH);
    check(taken, "take");
    for (int32_t i = 0; i < taken; i++)
      if (infos[i].valid_data)
        expected = look_at(samples[i], expected, len);
    if (taken > 0)
      check(dds_return_loan(reader, samples, taken), "return loan");
  }
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10), len = (uint32_t)strtoul(argv[3], NULL, 10);
  dds_entity_t participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
  check(participant, "participant");
  dds_entity_t topic = dds_create_topic(participant, &Load_desc, "lossy", NULL, NULL);
  check(topic, "topic");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  if (strcmp(argv[1], "pub") == 0)
    publish(participant, topic, qos, count, len);
  else
    subscribe(participant, topic, qos, count, len);
  say("done");
  // The peer may still need an answer.
  (void)getchar();
  (void)getchar();
  check(dds_delete(participant), "delete");
  return 0;
}
