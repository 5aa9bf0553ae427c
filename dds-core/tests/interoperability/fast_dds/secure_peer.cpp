// A Fast DDS process with an identity, for the tests in secure_fast_dds.rs.
//
//     secure_peer ENCLAVE [durable] [partition=NAME] [keysize=BITS]
//
// Writes each sample of the topic "Questions" to the topic "Answers", until its standard input ends. ENCLAVE is the folder of
// its certificate and its signed documents. Prints "ready" first, and "alive" at the end. With "durable", both endpoints are
// TRANSIENT_LOCAL. Keys have 256 bits, or those of "keysize". A line of the standard input is "count", for the
// number of answers, or the name of a partition, into which the writer moves.

#include <cstdio>
#include <cstdlib>
#include <cstring>
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
#include "identity.hpp"

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

// Participants, writers and readers have keys of their own.
template <class Qos> static void set_keysize(Qos& qos, const std::string& bits) {
  if (!bits.empty()) qos.properties().properties().emplace_back("dds.sec.crypto.keysize", bits);
}

static DomainParticipantQos with_identity(const std::string& enclave, const std::string& keysize) {
  DomainParticipantQos qos;
  add_identity(qos, enclave);
  set_keysize(qos, keysize);
  return qos;
}

template <class Qos>
static Qos reliable(Qos qos, bool durable) {
  qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = durable ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
  qos.history().kind = KEEP_ALL_HISTORY_QOS;
  // A private network may lack shared memory.
  qos.data_sharing().off();
  return qos;
}

template <class Qos>
static Qos in_partition(Qos qos, const std::string& name) {
  qos.partition().clear();
  if (!name.empty()) qos.partition().push_back(name.c_str());
  return qos;
}

// Returns false at the end of the input. Waits a moment for a line.
static bool read_line(std::string& line) {
  struct timeval pause = {0, 20000};
  fd_set input;
  FD_ZERO(&input);
  FD_SET(0, &input);
  line.clear();
  if (select(1, &input, nullptr, nullptr, &pause) <= 0) return true;
  char text[100];
  if (!fgets(text, sizeof text, stdin)) return false;
  text[strcspn(text, "\n")] = 0;
  line = text;
  return true;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bool durable = false;
  std::string partition, keysize, line;
  for (int i = 2; i < argc; i++) {
    std::string option = argv[i];
    if (option == "durable") durable = true;
    if (option.rfind("partition=", 0) == 0) partition = option.substr(10);
    if (option.rfind("keysize=", 0) == 0) keysize = option.substr(8);
  }
  DomainParticipantFactory* factory = DomainParticipantFactory::get_instance();
  DomainParticipant* participant = check(factory->create_participant(0, with_identity(argv[1], keysize)), "participant");
  TypeSupport type(new OctetsPubSubType());
  type.register_type(participant, "Octets");
  Topic* topic = check(participant->create_topic("Questions", "Octets", TOPIC_QOS_DEFAULT), "topic");
  Subscriber* subscriber = participant->create_subscriber(in_partition(SUBSCRIBER_QOS_DEFAULT, partition));
  DataReaderQos of_reader = reliable(DATAREADER_QOS_DEFAULT, durable);
  set_keysize(of_reader, keysize);
  DataReader* questions = check(subscriber->create_datareader(topic, of_reader), "reader");
  topic = check(participant->create_topic("Answers", "Octets", TOPIC_QOS_DEFAULT), "topic");
  DataWriterQos qos = reliable(DATAWRITER_QOS_DEFAULT, durable);
  qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
  set_keysize(qos, keysize);
  Publisher* publisher = participant->create_publisher(in_partition(PUBLISHER_QOS_DEFAULT, partition));
  DataWriter* answers = check(publisher->create_datawriter(topic, qos), "writer");
  say("ready");
  Octets sample;
  SampleInfo info;
  PublicationMatchedStatus matched;
  unsigned written = 0;
  while (read_line(line)) {
    if (line == "count") say(std::to_string(written));
    else if (!line.empty() && publisher->set_qos(in_partition(publisher->get_qos(), line)) != ReturnCode_t::RETCODE_OK) say("error: partition");
    answers->get_publication_matched_status(matched);
    // A volatile writer keeps no answer for a reader that matches later.
    while ((durable || matched.current_count > 0) && questions->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) answers->write(&sample) ? (void)written++ : say("error: write");
  }
  participant->delete_contained_entities();
  factory->delete_participant(participant);
  say("alive");
  return 0;
}
