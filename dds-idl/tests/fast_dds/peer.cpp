// Reads values of `values.idl` with the generated code of Fast DDS, and writes them again.
//
// Each value is preceded by the number of its type and its length, both as 32 bits of this machine. An answer is preceded
// by its length, or by 0xffffffff if Fast DDS does not accept the value.

#include "valuesPubSubTypes.h"
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

using eprosima::fastdds::dds::TopicDataType;
using eprosima::fastrtps::rtps::SerializedPayload_t;

static bool read_all(void* to, size_t len) { return len == 0 || fread(to, len, 1, stdin) == 1; }

int main() {
    // In the order of the test.
    std::vector<std::unique_ptr<TopicDataType>> types;
    types.emplace_back(new values::PrimitivesPubSubType());
    types.emplace_back(new values::TextsPubSubType());
    types.emplace_back(new values::CollectionsPubSubType());
    types.emplace_back(new values::MapsPubSubType());
    types.emplace_back(new values::UnionsPubSubType());
    types.emplace_back(new values::BasePubSubType());
    types.emplace_back(new values::DerivedPubSubType());
    types.emplace_back(new values::inner::DeepPubSubType());
    uint32_t head[2];
    while (read_all(head, sizeof head)) {
        TopicDataType& type = *types.at(head[0]);
        SerializedPayload_t in(head[1]);
        in.length = head[1];
        if (!read_all(in.data, head[1])) return 1;
        void* value = type.createData();
        uint32_t len = 0xffffffff;
        if (type.deserialize(&in, value)) {
            SerializedPayload_t out(type.getSerializedSizeProvider(value)());
            if (!type.serialize(value, &out)) return 2;
            len = out.length;
            fwrite(&len, sizeof len, 1, stdout);
            fwrite(out.data, len, 1, stdout);
        } else {
            fwrite(&len, sizeof len, 1, stdout);
        }
        fflush(stdout);
        type.deleteData(value);
    }
    return 0;
}
