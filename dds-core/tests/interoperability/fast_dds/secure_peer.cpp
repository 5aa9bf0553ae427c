// A Fast DDS process with an identity, for the tests in secure_fast_dds.rs.
//
//     secure_peer ENCLAVE   Writes each sample of the topic "Questions" to the topic "Answers", until its standard input ends.
//                           ENCLAVE is the folder of its certificate and its signed documents. Prints "ready" first, and
//                           "alive" at the end.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/select.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include "LoadPubSubTypes.h"

using namespace eprosima::fastdds::dds;

static void say(const std::string& line) {
  printf("%s\n", line.c_str());
  fflush(stdout);
}

template <class Entity>
static Entity* check(Entity* entity, const std::string& what) {
  if (!entity) {
    say("error: " + what);
    exit(1);
  }
  return entity;
}

static DomainParticipantQos with_identity(const std::string& enclave) {
  DomainParticipantQos qos;
  auto add = [&](const std::string& name, const std::string& value) { qos.properties().properties().emplace_back("dds.sec." + name, value); };
  auto file = [&](const std::string& name, const std::string& value) { add(name, "file://" + enclave + "/" + value); };
  add("auth.plugin", "builtin.PKI-DH");
  file("auth.builtin.PKI-DH.identity_ca", "identity_ca.cert.pem");
  file("auth.builtin.PKI-DH.identity_certificate", "cert.pem");
  file("auth.builtin.PKI-DH.private_key", "key.pem");
  add("access.plugin", "builtin.Access-Permissions");
  file("access.builtin.Access-Permissions.permissions_ca", "permissions_ca.cert.pem");
  file("access.builtin.Access-Permissions.governance", "governance.p7s");
  file("access.builtin.Access-Permissions.permissions", "permissions.p7s");
  add("crypto.plugin", "builtin.AES-GCM-GMAC");
  return qos;
}

template <class Qos>
static Qos reliable(Qos qos) {
  qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = VOLATILE_DURABILITY_QOS;
  qos.history().kind = KEEP_ALL_HISTORY_QOS;
  // A private network may lack shared memory.
  qos.data_sharing().off();
  return qos;
}

static bool input_has_ended() {
  struct timeval pause = {0, 20000};
  fd_set input;
  FD_ZERO(&input);
  FD_SET(0, &input);
  return select(1, &input, nullptr, nullptr, &pause) > 0 && getchar() == EOF;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  DomainParticipantFactory* factory = DomainParticipantFactory::get_instance();
  DomainParticipant* participant = check(factory->create_participant(0, with_identity(argv[1])), "participant");
  TypeSupport type(new OctetsPubSubType());
  type.register_type(participant, "Octets");
  Topic* topic = check(participant->create_topic("Questions", "Octets", TOPIC_QOS_DEFAULT), "topic");
  DataReader* questions = check(participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, reliable(DATAREADER_QOS_DEFAULT)), "reader");
  topic = check(participant->create_topic("Answers", "Octets", TOPIC_QOS_DEFAULT), "topic");
  DataWriterQos qos = reliable(DATAWRITER_QOS_DEFAULT);
  qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
  DataWriter* answers = check(participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos), "writer");
  say("ready");
  Octets sample;
  SampleInfo info;
  PublicationMatchedStatus matched;
  while (!input_has_ended()) {
    answers->get_publication_matched_status(matched);
    // A volatile writer keeps no answer for a reader that matches later.
    while (matched.current_count > 0 && questions->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data && !answers->write(&sample)) say("error: write");
  }
  participant->delete_contained_entities();
  factory->delete_participant(participant);
  say("alive");
  return 0;
}
