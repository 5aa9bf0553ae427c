// Fast DDS: a listener on its receive thread. Without arguments it prints its version. With FAST_DDS_UDP in the environment it
// uses UDP only; otherwise also shared memory, its default.

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/config.h>
#include "../../../../dds-core/tests/interoperability/fast_dds/identity.hpp"
#include "LoadPubSubTypes.h"
#include "role.h"

using namespace eprosima::fastdds::dds;

static const uint32_t DOMAIN_ID = 63;
// Fast DDS must send larger samples in fragments, which only its own thread does.
static const size_t FRAGMENTED = 60000, KEPT_BYTES_MAX = 64 << 20;
// The defaults hold no sample of 1 MiB, and its documentation says to raise them for large samples.
static const uint32_t SOCKET_BUFFER = 4 << 20, SHARED_MEMORY = 16 << 20;

static DataWriter *writer;
// The main thread writes `first`. The callback writes `reply`.
static Load first, reply;
static thread_local bool in_callback;

static void write_sample(uint64_t number) {
  Load &sample = in_callback ? reply : first;
  sample.number(number);
  if (!writer->write(&sample)) fail("write");
}

class Listener : public DataReaderListener {
  Load taken;

  void on_data_available(DataReader *reader) override {
    in_callback = true;
    SampleInfo info;
    while (reader->take_next_sample(&taken, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) arrived(taken.number());
    in_callback = false;
  }
};

template <class Qos>
static Qos with(Qos qos) {
  qos.reliability().kind = best_effort ? BEST_EFFORT_RELIABILITY_QOS : RELIABLE_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = {10, 0};
  qos.durability().kind = VOLATILE_DURABILITY_QOS;
  qos.history().kind = keep_all ? KEEP_ALL_HISTORY_QOS : KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 1;
  // Its limit of 5000 samples would take gigabytes.
  if (keep_all && sample_size > FRAGMENTED) {
    qos.resource_limits().max_samples = qos.resource_limits().max_samples_per_instance = KEPT_BYTES_MAX / sample_size;
    qos.resource_limits().allocated_samples = 0;
  }
  // The size of a sequence without a bound is not known before.
  qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  return qos;
}

static void open_link(void) {
  first.bytes().assign(sample_size - 8, 0x5a);
  reply.bytes().assign(sample_size - 8, 0x5a);
  DomainParticipantQos participant_qos = PARTICIPANT_QOS_DEFAULT;
  if (enclave) add_identity(participant_qos, enclave);
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->sendBufferSize = udp->receiveBufferSize = SOCKET_BUFFER;
  participant_qos.transport().use_builtin_transports = false;
  participant_qos.transport().user_transports.push_back(udp);
  if (!getenv("FAST_DDS_UDP")) {
    auto shared_memory = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
    shared_memory->segment_size(SHARED_MEMORY);
    participant_qos.transport().user_transports.push_back(shared_memory);
  }
  DomainParticipant *participant = DomainParticipantFactory::get_instance()->create_participant(DOMAIN_ID, participant_qos);
  if (!participant) fail("participant");
  TypeSupport type(new LoadPubSubType());
  type.register_type(participant, "Load");
  DataWriterQos writes = with(DATAWRITER_QOS_DEFAULT);
  if (sample_size > FRAGMENTED) writes.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
  Topic *topic = participant->create_topic(writes_topic, "Load", TOPIC_QOS_DEFAULT);
  writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, writes);
  if (!writer) fail("writer");
  topic = participant->create_topic(reads_topic, "Load", TOPIC_QOS_DEFAULT);
  DataReader *reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)
                           ->create_datareader(topic, with(DATAREADER_QOS_DEFAULT), new Listener(), StatusMask::data_available());
  if (!reader) fail("reader");
}

int main(int argc, char **argv) {
  if (argc == 1) {
    puts(FASTRTPS_VERSION_STR);
    return 0;
  }
  run(argc, argv);
  return 0;
}
