// A Fast DDS process for the tests in main.rs.
//
//     peer pub COUNT LEN QOS   Writes COUNT samples with LEN octets each to three instances in turn, when a reader matches. With
//                              "history" it writes at once and then waits for a line on standard input. Then it disposes
//                              instance 1 and unregisters instance 2.
//     peer sub COUNT LEN QOS   Takes the samples, checks each, and waits for the end of instance 1. Fast DDS 2.9 returns no sample
//                              for an instance that is only unregistered.
//
// QOS is "reliable", "history" (also transient-local) or "best-effort". Prints "done", or an error.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
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

static const int INSTANCES = 3;

static void say(const std::string& line) {
  printf("%s\n", line.c_str());
  fflush(stdout);
}

static void fail(const std::string& what) {
  say("error: " + what);
  exit(1);
}

static void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

static uint8_t octet(uint32_t number, uint32_t index) {
  return static_cast<uint8_t>(number + index);
}

template <class Qos>
static Qos with(Qos qos, const std::string& kind) {
  qos.reliability().kind = kind == "best-effort" ? BEST_EFFORT_RELIABILITY_QOS : RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = kind == "history" ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
  qos.history().kind = KEEP_ALL_HISTORY_QOS;
  qos.resource_limits().max_samples = 30000;
  qos.resource_limits().max_instances = 10;
  qos.resource_limits().max_samples_per_instance = 2000;
  return qos;
}

static void publish(DomainParticipant* participant, Topic* topic, uint32_t count, uint32_t len, const std::string& kind) {
  DataWriterQos qos = with(DATAWRITER_QOS_DEFAULT, kind);
  qos.reliability().max_blocking_time = {20, 0};
  qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
  // Otherwise an unregister also disposes the instance.
  qos.writer_data_lifecycle().autodispose_unregistered_instances = false;
  DataWriter* writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos);
  if (!writer) fail("writer");
  PublicationMatchedStatus matched;
  while (kind != "history" && (writer->get_publication_matched_status(matched), matched.current_count == 0)) pause(10);
  Load sample;
  sample.text("hello");
  sample.bytes().resize(len);
  for (uint32_t number = 0; number < count; number++) {
    sample.id(number % INSTANCES);
    sample.number(number);
    for (uint32_t at = 0; at < len; at++) sample.bytes()[at] = octet(number, at);
    if (!writer->write(&sample)) fail("write " + std::to_string(number));
    if (kind == "best-effort") pause(2);
  }
  say("written");
  if (getchar() == EOF) exit(1);
  sample.id(1);
  if (writer->dispose(&sample, writer->lookup_instance(&sample)) != ReturnCode_t::RETCODE_OK) fail("dispose");
  sample.id(2);
  if (writer->unregister_instance(&sample, writer->lookup_instance(&sample)) != ReturnCode_t::RETCODE_OK) fail("unregister");
  if (kind != "best-effort" && writer->wait_for_acknowledgments({20, 0}) != ReturnCode_t::RETCODE_OK) fail("acknowledgments");
}

static void subscribe(DomainParticipant* participant, Topic* topic, uint32_t count, uint32_t len, const std::string& kind) {
  DataReader* reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, with(DATAREADER_QOS_DEFAULT, kind));
  if (!reader) fail("reader");
  std::set<uint32_t> numbers;
  uint32_t next[INSTANCES] = {0, 1, 2};
  bool ended = false;
  bool complete = kind != "best-effort";
  while (!ended || (complete && numbers.size() < count)) {
    reader->wait_for_unread_message({0, 100000000});
    Load sample;
    SampleInfo info;
    while (reader->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) {
        ended |= info.instance_state == NOT_ALIVE_DISPOSED_INSTANCE_STATE;
        continue;
      }
      uint32_t number = sample.number(), id = sample.id();
      if (id != number % INSTANCES || sample.text() != "hello" || sample.bytes().size() != len) fail("sample " + std::to_string(number));
      for (uint32_t at = 0; at < len; at++)
        if (sample.bytes()[at] != octet(number, at)) fail("octet " + std::to_string(at) + " of " + std::to_string(number));
      // Fast DDS returns one instance after the other.
      if (complete ? number != next[id] : number < next[id]) fail(std::to_string(number) + " instead of " + std::to_string(next[id]));
      next[id] = number + INSTANCES;
      numbers.insert(number);
    }
  }
  say("got " + std::to_string(numbers.size()));
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  uint32_t count = strtoul(argv[2], nullptr, 10), len = strtoul(argv[3], nullptr, 10);
  DomainParticipant* participant = DomainParticipantFactory::get_instance()->create_participant(0, PARTICIPANT_QOS_DEFAULT);
  if (!participant) fail("participant");
  TypeSupport type(new LoadPubSubType());
  type.register_type(participant, "Load");
  Topic* topic = participant->create_topic("load", "Load", TOPIC_QOS_DEFAULT);
  (!strcmp(argv[1], "pub") ? publish : subscribe)(participant, topic, count, len, argv[4]);
  say("done");
  // Until the peer closes standard input.
  while (getchar() != EOF) {
  }
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
  return 0;
}
