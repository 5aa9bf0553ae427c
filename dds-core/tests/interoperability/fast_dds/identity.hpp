// The properties that give a participant of Fast DDS an identity. The benches use them, too.

#ifndef IDENTITY_HPP
#define IDENTITY_HPP

#include <string>
#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

// Adds the certificate and the signed documents in the folder `enclave`.
static void add_identity(eprosima::fastdds::dds::DomainParticipantQos& qos, const std::string& enclave) {
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
}

#endif
