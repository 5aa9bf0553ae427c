#!/bin/sh
# Makes the files of this folder with the command `openssl` (3.0). Run it in an empty folder.
set -eu
days=20000
request() { # name, key options, further options of `req`
    name=$1 key=$2; shift 2
    openssl req -newkey $key -nodes -keyout "$name.key.pem" "$@"
}
for kind in ec rsa; do
    case $kind in ec) key="ec -pkeyopt ec_paramgen_curve:prime256v1" ;; rsa) key="rsa:2048" ;; esac
    request "$kind.ca" "$key" -x509 -days $days -subj "/C=DE/O=Plant/CN=$kind CA" -out "$kind.ca.pem"
    request "$kind.robot" "$key" -subj "/C=DE/O=Plant, North/CN=robot 7/emailAddress=robot@plant.example" -out "$kind.csr"
    # Without extensions, `openssl x509 -req` issues version 1.
    openssl x509 -req -in "$kind.csr" -CA "$kind.ca.pem" -CAkey "$kind.ca.key.pem" -CAcreateserial -days $days -out "$kind.robot.pem"
    sign() { # output, options
        out=$1; shift
        openssl smime -sign -text -in ../documents/governance.xml -out "$out" -signer "$kind.ca.pem" -inkey "$kind.ca.key.pem" "$@"
    }
    sign "$kind.p7s"
    sign "$kind.noattr.p7s" -noattr
    sign "$kind.crlf.p7s" -crlfeol
    sign "$kind.nocerts.p7s" -nocerts -md sha256
    openssl cms -sign -text -in ../documents/governance.xml -out "$kind.keyid.p7s" -signer "$kind.ca.pem" -inkey "$kind.ca.key.pem" -keyid
done
openssl cms -sign -text -in ../documents/governance.xml -out rsa.pss.p7s -signer rsa.ca.pem -inkey rsa.ca.key.pem -keyopt rsa_padding_mode:pss
openssl smime -sign -text -md sha512 -in ../documents/governance.xml -out rsa.sha512.p7s -signer rsa.ca.pem -inkey
openssl smime -sign -text -md sha1 -in ../documents/governance.xml -out rsa.sha1.p7s -signer rsa.ca.pem -inkey
openssl smime -sign -text -nodetach -in ../documents/governance.xml -out ec.opaque.p7s -signer ec.ca.pem -inkey ec.ca.key.pem
# A list that revokes the robot.
mkdir -p revoked && : >index.txt && echo 01 >crlnumber
cat >ca.cnf <<'C'
[ca]
default_ca = c
[c]
database = index.txt
crlnumber = crlnumber
default_md = sha256
default_crl_days = 20000
C
openssl ca -config ca.cnf -keyfile ec.ca.key.pem -cert ec.ca.pem -revoke ec.robot.pem
openssl ca -config ca.cnf -keyfile ec.ca.key.pem -cert ec.ca.pem -gencrl -out ec.crl.pem
openssl ecparam -name prime256v1 -genkey -out sec1.key.pem
# Other forms of keys, and keys that are refused.
openssl rsa -in rsa.robot.key.pem -traditional -out rsa1.key.pem
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.key.pem
openssl ecparam -name secp384r1 -genkey -noout -out p384.sec1.key.pem
# By default, `openssl` signs with SHA-256, also with this curve.
openssl req -x509 -new -key p384.key.pem -days $days -subj "/CN=P-384 CA" -out p384.ca.pem
openssl genrsa -out rsa.short.key.pem 1024
openssl genrsa -out rsa4096.key.pem 4096
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -out p521.key.pem
openssl genpkey -algorithm ed25519 -out ed25519.key.pem
rm -rf revoked index.txt* crlnumber* ca.cnf ./*.csr ./*.srl ec.ca.key.pem rsa.ca.key.pem
# Encrypted keys: two that are supported, an old encryption, and one with too much work.
encrypt() { # name, options
    name=$1; shift
    openssl pkcs8 -topk8 -in ec.robot.key.pem -passout 'pass:open sesame' -out "ec.robot.$name.key.pem" "$@"
}
encrypt pbkdf2 -v2 aes-256-cbc -iter 20
encrypt scrypt -v2 aes-128-cbc -scrypt -scrypt_N 16 -scrypt_r 8 -scrypt_p 1
encrypt des3 -v2 des3 -iter 20
encrypt endless -v2 aes-256-cbc -iter 16777216
