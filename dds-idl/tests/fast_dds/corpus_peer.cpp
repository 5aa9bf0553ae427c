// Reads values of types with the dynamic types of Fast DDS 3, and writes them again.
//
// A line of standard input is `type` with a description of a type (see `description.rs`), or `value VERSION PAYLOAD`. The
// value is that of the last type, in hexadecimal. An answer is `ok` and the hash of the type or a payload, or `error` and the
// reason.

#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/xtypes/dynamic_types/DynamicPubSubType.hpp>
#include <fastdds/dds/xtypes/dynamic_types/DynamicType.hpp>
#include <fastdds/dds/xtypes/dynamic_types/DynamicTypeBuilder.hpp>
#include <fastdds/dds/xtypes/dynamic_types/DynamicTypeBuilderFactory.hpp>
#include <fastdds/dds/xtypes/dynamic_types/MemberDescriptor.hpp>
#include <fastdds/dds/xtypes/dynamic_types/TypeDescriptor.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastdds::rtps::SerializedPayload_t;
using Type = traits<DynamicType>::ref_type;
using Builder = traits<DynamicTypeBuilder>::ref_type;

static std::unique_ptr<DynamicPubSubType> current;

static std::string hex(const unsigned char* bytes, size_t len) {
    std::string text;
    char pair[3];
    for (size_t at = 0; at < len; ++at) {
        snprintf(pair, sizeof pair, "%02x", bytes[at]);
        text += pair;
    }
    return text;
}

// Builds the types of a description.
class Reader {
public:
    explicit Reader(std::istream& words) : words_(words) {}

    Type type() {
        std::string kind = word();
        if (kind == "primitive") return factory_->get_primitive_type(static_cast<TypeKind>(number()));
        if (kind == "string") return built(factory_->create_string_type(bound()));
        if (kind == "wstring") return built(factory_->create_wstring_type(bound()));
        if (kind == "sequence") {
            uint32_t most = bound();
            return built(factory_->create_sequence_type(type(), most));
        }
        if (kind == "array") {
            BoundSeq bounds(number());
            for (auto& length : bounds) length = number();
            return built(factory_->create_array_type(type(), bounds));
        }
        if (kind == "map") {
            uint32_t most = bound();
            Type key = type();
            return built(factory_->create_map_type(key, type(), most));
        }
        if (kind == "known") return known_.at(number());
        Type found = named(kind);
        known_.push_back(found);
        return found;
    }

private:
    Type named(const std::string& kind) {
        auto descriptor = traits<TypeDescriptor>::make_shared();
        descriptor->name(word());
        if (kind == "alias") {
            descriptor->kind(TK_ALIAS);
            descriptor->base_type(type());
            return built(factory_->create_type(descriptor));
        }
        std::string extensibility = word();
        descriptor->extensibility_kind(extensibility == "mutable"      ? ExtensibilityKind::MUTABLE
                                       : extensibility == "appendable" ? ExtensibilityKind::APPENDABLE
                                                                       : ExtensibilityKind::FINAL);
        if (kind == "enum") return enumeration(descriptor);
        if (kind == "bitmask") return bitmask(descriptor);
        if (kind == "union") {
            descriptor->kind(TK_UNION);
            descriptor->discriminator_type(type());
        } else {
            descriptor->kind(TK_STRUCTURE);
            if (number() != 0) descriptor->base_type(type());
        }
        Builder builder = factory_->create_type(descriptor);
        for (uint32_t left = number(); left > 0; --left) add(builder, member(kind == "union"));
        return built(builder);
    }

    traits<MemberDescriptor>::ref_type member(bool is_case) {
        auto found = traits<MemberDescriptor>::make_shared();
        found->name(word());
        found->id(number());
        if (is_case) {
            found->is_default_label(number() != 0);
            UnionCaseLabelSeq labels(number());
            for (auto& label : labels) words_ >> label;
            found->label(labels);
        } else {
            found->is_key(number() != 0);
            found->is_optional(number() != 0);
            found->is_must_understand(number() != 0);
        }
        found->type(type());
        return found;
    }

    Type enumeration(traits<TypeDescriptor>::ref_type descriptor) {
        descriptor->kind(TK_ENUM);
        Builder builder = factory_->create_type(descriptor);
        uint32_t bits = number();
        Type integer = factory_->get_primitive_type(bits <= 8 ? TK_INT8 : bits <= 16 ? TK_INT16 : TK_INT32);
        for (uint32_t left = number(); left > 0; --left) {
            auto literal = traits<MemberDescriptor>::make_shared();
            literal->name(word());
            literal->default_value(word());
            literal->type(integer);
            add(builder, literal);
        }
        return built(builder);
    }

    Type bitmask(traits<TypeDescriptor>::ref_type descriptor) {
        descriptor->kind(TK_BITMASK);
        descriptor->element_type(factory_->get_primitive_type(TK_BOOLEAN));
        descriptor->bound({number()});
        Builder builder = factory_->create_type(descriptor);
        for (uint32_t left = number(); left > 0; --left) {
            auto flag = traits<MemberDescriptor>::make_shared();
            flag->name(word());
            flag->id(number());
            flag->type(factory_->get_primitive_type(TK_BOOLEAN));
            add(builder, flag);
        }
        return built(builder);
    }

    void add(Builder builder, traits<MemberDescriptor>::ref_type member) {
        if (builder->add_member(member) != RETCODE_OK) throw std::runtime_error("refuses " + std::string(member->name().c_str()));
    }

    Type built(Builder builder) {
        Type found = builder ? builder->build() : nullptr;
        if (!found) throw std::runtime_error("builds no type");
        return found;
    }

    std::string word() {
        std::string found;
        if (!(words_ >> found)) throw std::runtime_error("short description");
        return found;
    }

    uint32_t number() { return static_cast<uint32_t>(std::stoul(word())); }

    uint32_t bound() {
        uint32_t most = number();
        return most == 0 ? static_cast<uint32_t>(LENGTH_UNLIMITED) : most;
    }

    std::istream& words_;
    std::vector<Type> known_;
    DynamicTypeBuilderFactory::_ref_type factory_ = DynamicTypeBuilderFactory::get_instance();
};

static std::string type(std::istream& words) {
    current.reset();
    Type built = Reader(words).type();
    xtypes::TypeIdentifierPair ids;
    auto& registry = DomainParticipantFactory::get_instance()->type_object_registry();
    if (registry.register_typeobject_w_dynamic_type(built, ids) != RETCODE_OK) return "error: no TypeObject";
    current.reset(new DynamicPubSubType(built));
    for (const auto* id : {&ids.type_identifier1(), &ids.type_identifier2()}) {
        if (id->_d() == xtypes::EK_COMPLETE) return "ok " + hex(id->equivalence_hash().data(), 14);
    }
    return "ok";
}

static std::string value(std::istream& words) {
    std::string version, text;
    words >> version >> text;
    if (!current) return "error: no type";
    SerializedPayload_t in(static_cast<uint32_t>(text.size() / 2));
    for (size_t at = 0; at + 1 < text.size(); at += 2) {
        in.data[in.length++] = static_cast<unsigned char>(std::stoi(text.substr(at, 2), nullptr, 16));
    }
    void* data = current->create_data();
    auto representation = version == "1" ? XCDR_DATA_REPRESENTATION : XCDR2_DATA_REPRESENTATION;
    std::string answer = "error: it is not read";
    if (current->deserialize(in, data)) {
        SerializedPayload_t out(current->calculate_serialized_size(data, representation) + 4);
        answer = "error: it is not written";
        if (current->serialize(data, out, representation)) answer = "ok " + hex(out.data, out.length);
    }
    current->delete_data(data);
    return answer;
}

int main() {
    // Its errors would mix with the answers.
    Log::ClearConsumers();
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string what, answer;
        words >> what;
        try {
            answer = what == "type" ? type(words) : value(words);
        } catch (const std::exception& error) {
            answer = std::string("error: ") + error.what();
        }
        std::cout << answer << std::endl;
    }
    return 0;
}
