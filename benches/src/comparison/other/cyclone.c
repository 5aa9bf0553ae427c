// Cyclone DDS: a listener on its receive thread. Without arguments it prints its version. PLUGINS is the folder of its security
// plugins, which is not on the path of the loader.

#include "Load.h"
#include "dds/dds.h"
#include "dds/version.h"
#include "role.h"

#define DOMAIN_ID 63
// The benchmark of Cyclone DDS has these settings for large samples. With the default sizes, a round trip of 1 MiB takes longer.
#define SETTINGS "<General><MaxMessageSize>65500B</MaxMessageSize><FragmentSize>4000B</FragmentSize></General>"

#define LIBRARY(name, function) \
  "<Library path='" PLUGINS "/libdds_security_" name ".so' initFunction='init_" function "' finalizeFunction='finalize_" function "'/>"
// Cyclone DDS replaces the name of the variable.
#define IN_ENCLAVE(name) "file:${ENCLAVE}/" name
#define SECURITY \
  "<Security><Authentication>" LIBRARY("auth", "authentication") \
  "<IdentityCertificate>" IN_ENCLAVE("cert.pem") "</IdentityCertificate>" \
  "<IdentityCA>" IN_ENCLAVE("identity_ca.cert.pem") "</IdentityCA>" \
  "<PrivateKey>" IN_ENCLAVE("key.pem") "</PrivateKey></Authentication>" \
  "<Cryptographic>" LIBRARY("crypto", "crypto") "</Cryptographic>" \
  "<AccessControl>" LIBRARY("ac", "access_control") \
  "<PermissionsCA>" IN_ENCLAVE("permissions_ca.cert.pem") "</PermissionsCA>" \
  "<Governance>" IN_ENCLAVE("governance.p7s") "</Governance>" \
  "<Permissions>" IN_ENCLAVE("permissions.p7s") "</Permissions></AccessControl></Security>"

static dds_entity_t writer;
// The main thread writes `first`. The callback writes `reply`.
static Load first, reply;
static __thread int in_callback;

static dds_entity_t check(dds_entity_t entity, const char *what) {
  if (entity < 0)
    fail(what);
  return entity;
}

static void write_sample(uint64_t number) {
  Load *sample = in_callback ? &reply : &first;
  sample->number = number;
  check(dds_write(writer, sample), "write");
}

static void on_data(dds_entity_t reader, void *unused) {
  (void)unused;
  in_callback = 1;
  for (;;) {
    void *samples[16] = {NULL};
    dds_sample_info_t infos[16];
    int32_t taken = check(dds_take(reader, samples, infos, 16, 16), "take");
    if (taken == 0)
      break;
    uint64_t numbers[16];
    for (int32_t i = 0; i < taken; i++)
      numbers[i] = ((Load *)samples[i])->number;
    check(dds_return_loan(reader, samples, taken), "return of the loan");
    for (int32_t i = 0; i < taken; i++)
      if (infos[i].valid_data)
        arrived(numbers[i]);
  }
  in_callback = 0;
}

static void fill(Load *sample) {
  uint32_t len = (uint32_t)sample_size - 8;
  sample->bytes._buffer = malloc(len);
  sample->bytes._length = sample->bytes._maximum = len;
  sample->bytes._release = false;
  if (sample->bytes._buffer == NULL)
    fail("memory");
  memset(sample->bytes._buffer, 0x5a, len);
}

static void open_link(void) {
  fill(&first);
  fill(&reply);
  check(dds_create_domain(DOMAIN_ID, enclave != NULL ? SETTINGS SECURITY : SETTINGS), "domain");
  dds_entity_t participant = check(dds_create_participant(DOMAIN_ID, NULL, NULL), "participant");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, best_effort ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
  dds_qset_history(qos, keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST, 1);
  dds_entity_t topic = check(dds_create_topic(participant, &Load_desc, writes_topic, NULL, NULL), "topic");
  writer = check(dds_create_writer(participant, topic, qos, NULL), "writer");
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_lset_data_available(listener, on_data);
  topic = check(dds_create_topic(participant, &Load_desc, reads_topic, NULL, NULL), "topic");
  check(dds_create_reader(participant, topic, qos, listener), "reader");
}

int main(int argc, char **argv) {
  if (argc == 1) {
    puts(DDS_VERSION);
    return 0;
  }
  run(argc, argv);
  return 0;
}
