//! Participants with certificates, governance and permissions, in a network that loses datagrams.

use crate::keystore::{Keystore, Kinds};
use crate::simulated::{Random, World};
use crate::support::Notes;
use dds_core::driver::Socket;
use dds_core::error::CreateErrorKind;
use dds_core::matching::Obstacle;
use dds_core::qos::{DataReaderQos, DomainParticipantQos, Preset, PublisherQos, SubscriberQos};
use dds_core::security::{SecurityEvent, SecuritySeverity};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration};
use dds_security::pki::KeyAlgorithm;
use pkcs8::pkcs5::pbes2;
use pkcs8::{LineEnding, PrivateKeyInfo, SecretDocument};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const PATIENCE: Duration = Duration::from_secs(60);
/// Held by each test: `tracing` may miss a line that another thread writes for the first time at the same instant.
static TURN: Mutex<()> = Mutex::new(());

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Parcel {
    #[dds(key)]
    number: u32,
    bytes: Vec<u8>,
}

fn parcel(number: u32, len: usize) -> Parcel {
    Parcel { number, bytes: vec![number as u8; len] }
}

const NONE: Kinds = Kinds::NONE;

fn builder() -> DomainParticipantBuilder {
    DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO)
}

fn build(simulation: &Simulation, keystore: &Keystore, name: &str) -> DomainParticipant {
    simulation.build(name, builder().credentials(keystore.credentials(name))).unwrap()
}

fn endpoints(one: &DomainParticipant, other: &DomainParticipant) -> (DataWriter<Parcel>, DataReader<Parcel>) {
    let writer = one.writer_builder("parcels").qos(Preset::Event.writer()).build().unwrap();
    let reader = other.reader_builder("parcels").qos(Preset::Event.reader()).build().unwrap();
    (writer, reader)
}

/// Writes samples of many lengths, and asserts that they arrive once, in order and unchanged.
fn pass(writer: &DataWriter<Parcel>, reader: &DataReader<Parcel>) {
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let lens = [0, 1, 100, 1_000, 40_000, 300_000, 10, 10, 10, 70_000, 5];
    let written: Vec<_> = (0..).zip(lens).map(|(number, len)| parcel(number, len)).collect();
    written.iter().for_each(|sample| writer.write(sample).unwrap());
    for number in 100..400 {
        writer.write(&parcel(number, 20)).unwrap();
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    let received: Vec<Parcel> = reader.take().unwrap().into_data().collect();
    let missing = (0..11).chain(100..400).filter(|number| received.iter().all(|sample| sample.number != *number));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<u32>::new());
    assert_eq!(received[..written.len()], written);
}

const SIGN_ORIGIN: &str = "SIGN_WITH_ORIGIN_AUTHENTICATION";
const ENCRYPT_ORIGIN: &str = "ENCRYPT_WITH_ORIGIN_AUTHENTICATION";

#[test]
fn samples_pass_with_each_kind_of_protection() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = [
        NONE,
        Kinds { rtps: "SIGN", ..NONE },
        Kinds { rtps: "ENCRYPT", ..NONE },
        Kinds { metadata: "SIGN", ..NONE },
        Kinds { metadata: "ENCRYPT", discovery: "SIGN", liveliness: "SIGN", ..NONE },
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", ..NONE },
        Kinds { data: "SIGN", ..NONE },
        Kinds { data: "ENCRYPT", ..NONE },
        Kinds { metadata: "SIGN", data: "ENCRYPT", ..NONE },
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "ENCRYPT" },
        Kinds { rtps: SIGN_ORIGIN, ..NONE },
        Kinds { rtps: ENCRYPT_ORIGIN, ..NONE },
        Kinds { discovery: SIGN_ORIGIN, liveliness: ENCRYPT_ORIGIN, metadata: SIGN_ORIGIN, ..NONE },
        Kinds { metadata: ENCRYPT_ORIGIN, data: "ENCRYPT", ..NONE },
        Kinds {
            rtps: SIGN_ORIGIN,
            discovery: ENCRYPT_ORIGIN,
            liveliness: SIGN_ORIGIN,
            metadata: ENCRYPT_ORIGIN,
            data: "SIGN",
        },
    ];
    for (seed, kinds) in (0..).zip(kinds) {
        let keystore = Keystore::with(kinds);
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions { loss: 0.1, ..Conditions::default() });
        let legible = Arc::new(AtomicU64::new(0));
        let (counted, hides_topic) =
            (Arc::clone(&legible), kinds.discovery.starts_with("ENCRYPT") || kinds.rtps.starts_with("ENCRYPT"));
        simulation.intercept(move |passing| {
            let names_topic = passing.bytes.windows(7).any(|part| part == b"parcels");
            counted.fetch_add(u64::from(names_topic), Ordering::Relaxed);
            true
        });
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        for (one, other) in [(&robot, &station), (&station, &robot)] {
            // They end with the round, so that the next reader has one writer.
            let (writer, reader) = endpoints(one, other);
            pass(&writer, &reader);
        }
        assert_eq!(legible.load(Ordering::Relaxed) == 0, hides_topic, "{kinds:?}");
        assert_eq!(robot.discovered_participants().len(), 1);
    }
}

#[test]
fn outsiders_see_and_change_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = Kinds { rtps: "ENCRYPT", metadata: "SIGN", ..NONE };
    let (keystore, other_fleet) = (Keystore::with(kinds), Keystore::with(kinds));
    let simulation = Simulation::new(7);
    let ((), lines) = Notes::of_warnings().take(|| {
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        let outsiders = [
            simulation.build("plain", builder()).unwrap(),
            simulation.build("other", builder().credentials(other_fleet.credentials("robot"))).unwrap(),
        ];
        let (writer, reader) = endpoints(&robot, &station);
        let theirs: Vec<_> = outsiders.iter().map(|outsider| endpoints(outsider, outsider)).collect();
        pass(&writer, &reader);
        for (of_outsider, its_reader) in &theirs {
            of_outsider.write(&parcel(9, 9)).unwrap();
            assert_eq!(its_reader.take().unwrap().len(), 1, "only its own sample");
        }
        simulation.run_for(Duration::from_secs(5));
        assert!(reader.take().unwrap().is_empty());
        for (_, its_reader) in &theirs {
            assert_eq!(its_reader.matched_publications().len(), 1);
        }
        assert_eq!((robot.discovered_participants().len(), station.discovered_participants().len()), (1, 1));
    });
    for part in ["it announces no identity", "the handshake failed"] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
    }
}

#[test]
fn unauthenticated_participants_use_unprotected_topics_only() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::new(&["robot"], NONE, |text| {
        let open = "<topic_rule><topic_expression>open*</topic_expression>\
            <enable_discovery_protection>false</enable_discovery_protection>\
            <enable_liveliness_protection>false</enable_liveliness_protection>\
            <enable_read_access_control>false</enable_read_access_control>\
            <enable_write_access_control>false</enable_write_access_control>\
            <metadata_protection_kind>NONE</metadata_protection_kind>\
            <data_protection_kind>NONE</data_protection_kind></topic_rule>";
        let text = text.replace("<topic_access_rules>", &format!("<topic_access_rules>{open}"));
        // A reader of the other topics is announced too, so that a report can name the refusal.
        let text = text.replace("<enable_discovery_protection>true", "<enable_discovery_protection>false");
        text.replace("participants>false", "participants>true")
    });
    let simulation = Simulation::new(9);
    let robot = build(&simulation, &keystore, "robot");
    let guest = simulation.build("guest", builder()).unwrap();
    let (closed, _reader) = endpoints(&robot, &guest);
    let writer = robot.writer_builder::<Parcel>("open parcels").qos(Preset::Event.writer()).build().unwrap();
    let reader = guest.reader_builder::<Parcel>("open parcels").qos(Preset::Event.reader()).build().unwrap();
    pass(&writer, &reader);
    let reports = closed.explain_matches();
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    assert!(reason.contains("has no identity"), "{reason}");
}

#[test]
fn permissions_of_both_sides_decide() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { rtps: "SIGN", metadata: "ENCRYPT", ..NONE });
    keystore.edit_permissions("station", |text| {
        let all = "<publish>\n          <topics>\n            <topic>*</topic>";
        assert!(text.contains(all), "{text}");
        text.replace(all, &all.replace('*', "orders*"))
    });
    let simulation = Simulation::new(11);
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    // Its own permissions do not allow it.
    let refused = station.writer_builder::<Parcel>("parcels").build().unwrap_err();
    let CreateErrorKind::Security { message } = refused.kind() else { panic!("{refused}") };
    assert!(message.contains("permissions.p7s") && message.contains("writing topic \"parcels\""), "{message}");
    // The allowed topics work.
    let (writer, reader) = endpoints(&robot, &station);
    pass(&writer, &reader);
    assert_eq!(robot.explain_protection(), None);
    let orders = station.writer_builder::<Parcel>("orders").qos(Preset::Event.writer()).build().unwrap();
    let of_robot = robot.reader_builder::<Parcel>("orders").qos(Preset::Event.reader()).build().unwrap();
    pass(&orders, &of_robot);
}

#[test]
fn identities_of_all_algorithms_pass_samples() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = Kinds { rtps: "SIGN", discovery: "ENCRYPT", metadata: "ENCRYPT", ..NONE };
    let algorithms = [KeyAlgorithm::EcP384, KeyAlgorithm::EcP256, KeyAlgorithm::Rsa2048];
    for (of_authority, of_robot, of_station) in [(0, 0, 0), (0, 1, 2), (2, 2, 0)] {
        let mut keystore = Keystore::with_keys(algorithms[of_authority], &[], kinds, |text| text);
        keystore.add("robot", algorithms[of_robot]);
        keystore.add("station", algorithms[of_station]);
        let simulation = Simulation::new(28);
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        let (writer, reader) = endpoints(&robot, &station);
        pass(&writer, &reader);
    }
}

/// No participant of this library announces ciphers of an endpoint, so the announcement is changed on its way.
#[test]
fn endpoint_that_requires_an_unknown_cipher_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: "SIGN", ..NONE });
    let simulation = Simulation::new(29);
    simulation.intercept(|passing| {
        // The redundant PARTICIPANT_GUID behind an ENDPOINT_GUID becomes the parameter with the ciphers. Its value may
        // be longer.
        let is_endpoint = |part: &[u8]| part[..4] == [0x5a, 0, 16, 0] && part[20..24] == [0x50, 0, 16, 0];
        for at in 0..passing.bytes.len().saturating_sub(28) {
            if is_endpoint(&passing.bytes[at..at + 28]) {
                passing.bytes[at + 20..at + 22].copy_from_slice(&[0x13, 0x10]);
                passing.bytes[at + 24..at + 28].copy_from_slice(&(1_u32 << 7).to_le_bytes());
            }
        }
        true
    });
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    let (writer, _reader) = endpoints(&robot, &station);
    simulation.run_for(Duration::from_secs(10));
    assert_eq!(writer.matched_subscriptions().len(), 0);
    let reports = writer.explain_matches();
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    assert!(reason.contains("it requires algorithm 7 for ciphers of the endpoint"), "{reason}");
}

/// Discovery announces the tags, so peers decide about them as well.
#[test]
fn data_tags_decide_about_own_and_remote_endpoints() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: "SIGN", ..NONE });
    let simulation = Simulation::new(12);
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    let tagged = |value: &str| {
        let builder = robot.writer_builder::<Parcel>("parcels").qos(Preset::Event.writer());
        builder.data_tag("level", value).build()
    };
    let message = tagged("secret").unwrap_err().to_string();
    assert!(
        message.contains("permissions.p7s") && message.contains("with data tags \"level\"=\"secret\""),
        "{message}"
    );
    let allow = |text: String| {
        let end = "</partitions>\n        </publish>";
        assert!(text.contains(end), "{text}");
        let tag = |value| format!("<tag><name>level</name><value>{value}</value></tag>");
        let tags = format!("</partitions><data_tags>{}{}</data_tags></publish>", tag("secret"), tag("open"));
        text.replace(end, &tags)
    };
    drop(robot);
    keystore.edit_permissions("robot", allow);
    let robot = build(&simulation, &keystore, "robot");
    let writer = |value: &str| {
        let builder = robot.writer_builder::<Parcel>("parcels").qos(Preset::Event.writer());
        builder.data_tag("level", value).build().unwrap()
    };
    let reader = station.reader_builder("parcels").qos(Preset::Event.reader()).build().unwrap();
    pass(&writer("open"), &reader);
    let message = robot.writer_builder::<Parcel>("parcels").data_tag("level", "x".repeat(257)).build().unwrap_err();
    assert!(message.to_string().contains("at most 256 bytes"), "{message}");
    let deny = |text: String| {
        text.replace(
            "<allow_rule>",
            "<deny_rule><domains><id>0</id></domains><publish><topics>\
        <topic>*</topic></topics><data_tags><tag><name>level</name><value>secret</value></tag></data_tags></publish>\
        </deny_rule><allow_rule>",
        )
    };
    keystore.edit_permissions("robot", deny);
    let refused = simulation.build("third", builder().credentials(keystore.credentials("robot"))).unwrap();
    let builder = refused.writer_builder::<Parcel>("parcels").data_tag("level", "secret");
    assert!(builder.build().unwrap_err().to_string().contains("is denied by the rule at line "));
}

/// The events that a station publishes about others.
#[test]
fn security_events_are_published() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::new(&["robot", "station", "thief"], Kinds { metadata: "ENCRYPT", ..NONE }, |text| text);
    end_permissions(&keystore, "thief");
    keystore.edit_permissions("robot", |text| text.replace("<topic>*<", "<topic>[!p]*<"));
    let simulation = Simulation::new(14);
    let build_with = |severity| {
        let credentials = keystore.credentials("station").publish_events(severity);
        simulation.build("station", builder().name("gate").credentials(credentials)).unwrap()
    };
    let station = build_with(SecuritySeverity::Informational);
    let [robot, thief] = ["robot", "thief"].map(|name| build(&simulation, &keystore, name));
    let reader = station.reader_builder::<Parcel>("parcels").build().unwrap();
    let qos = DataReaderQos::default().reliable().transient_local().keep_all();
    let events = robot.reader_builder::<SecurityEvent>(SecurityEvent::TOPIC).qos(qos.clone()).build().unwrap();
    let writer = thief.writer_builder::<Parcel>("parcels").build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let refused = robot.reader_builder::<Parcel>("parcels").build();
    assert!(refused.is_err(), "the own permissions");
    let unknown = simulation.build("stranger", builder()).unwrap();
    simulation.run_for(Duration::from_secs(130));
    let found: Vec<SecurityEvent> = events.take().unwrap().into_data().collect();
    let ids: Vec<&str> = found.iter().map(|event| event.msgid.as_str()).collect();
    for id in ["participant_admitted", "refused", "participant_expelled", "keys_changed"] {
        assert!(ids.contains(&id), "{id}: {found:#?}");
    }
    let expelled = found.iter().find(|event| event.msgid == "participant_expelled").unwrap();
    assert_eq!(
        (expelled.facility, expelled.severity, expelled.appname.as_str()),
        (10, SecuritySeverity::Warning, "gate")
    );
    assert!(expelled.message.contains("CN=thief") && expelled.message.contains("have ended"), "{expelled:?}");
    // 2026-01-01T12:02:01Z.
    assert!((1_767_268_921..1_767_268_930).contains(&expelled.timestamp.sec), "{expelled:?}");
    let properties = &expelled.structured_data["DDS"];
    assert_eq!((properties[0].name.as_str(), properties[0].value.clone()), ("guid", station.guid().to_string()));
    assert_eq!((properties[1].name.as_str(), properties[1].value.as_str()), ("domain_id", "0"));
    drop((station, unknown, thief, reader));
    // A higher level leaves out admissions, and the topic needs a permission of its writer.
    let station = build_with(SecuritySeverity::Error);
    let events = robot.reader_builder::<SecurityEvent>(SecurityEvent::TOPIC).qos(qos).build().unwrap();
    events.wait_for_writers(1).block_for(PATIENCE).unwrap();
    simulation.run_for(Duration::from_secs(5));
    assert_eq!(events.take().unwrap().into_data().next(), None);
    drop(station);
    keystore.edit_permissions("station", |text| text.replace("<topic>*<", "<topic>p*<"));
    let credentials = keystore.credentials("station").publish_events(SecuritySeverity::Error);
    let error = simulation.build("station", builder().credentials(credentials)).unwrap_err();
    assert!(error.to_string().contains("writing topic \"DDS:Security:LogTopicV2\""), "{error}");
}

#[test]
fn faulty_or_unsupported_files_fail_at_creation() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let simulation = Simulation::new(13);
    let refused = |keystore: &Keystore, domain: u32| {
        let builder = DomainParticipant::builder(domain).ignore_environment();
        let error = simulation.build("robot", builder.credentials(keystore.credentials("robot"))).unwrap_err();
        let CreateErrorKind::Security { message } = error.kind() else { panic!("{error}") };
        message.to_string()
    };
    let sound = Keystore::with(NONE);
    assert!(refused(&sound, 5).contains("no rule for domain 5"));
    let path = sound.enclave("robot").join("governance.p7s");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("<rtps_protection_kind>NONE", "<rtps_protection_kind>SIGN")).unwrap();
    let message = refused(&sound, 0);
    assert!(message.contains("governance.p7s"), "{message}");
}

/// Names the first files of an identity by properties. All are six.
fn by_properties(folder: &Path, count: usize) -> DomainParticipantBuilder {
    let files = [
        ("auth.identity_ca", "identity_ca.cert.pem"),
        ("auth.identity_certificate", "cert.pem"),
        ("auth.private_key", "key.pem"),
        ("access.permissions_ca", "permissions_ca.cert.pem"),
        ("access.governance", "governance.p7s"),
        ("access.permissions", "permissions.p7s"),
    ];
    files[..count].iter().fold(builder(), |builder, (name, file)| {
        builder.property(format!("dds.sec.{name}"), format!("file:{}", folder.join(file).display()))
    })
}

#[test]
fn properties_take_the_place_of_the_folder() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { rtps: "ENCRYPT", ..NONE });
    let folder = keystore.enclave("robot");
    let with = |count: usize| by_properties(&folder, count);
    let simulation = Simulation::new(15);
    let error = simulation.build("robot", with(5)).unwrap_err();
    assert!(error.to_string().contains("dds.sec.access.permissions is missing"), "{error}");
    let leveled = |level: &str| {
        let builder = with(6).property("dds.sec.log.plugin", "builtin.DDS_LogTopic");
        builder.property("dds.sec.log.builtin.DDS_LogTopic.logging_level", level)
    };
    let error = simulation.build("robot", leveled("LOUD")).unwrap_err();
    assert!(error.to_string().contains("must be a level such as WARNING_LEVEL"), "{error}");
    let (robot, lines) = Notes::of_infos().take(|| simulation.build("robot", leveled("ERROR_LEVEL")).unwrap());
    // The log names the certificate after the participant has taken the files.
    let named = |line: &String| line.contains("credentials = ") && line.contains("cert.pem (code)");
    assert!(lines.iter().any(named), "{lines:#?}");
    let station = build(&simulation, &keystore, "station");
    let (writer, reader) = endpoints(&robot, &station);
    pass(&writer, &reader);
    let events = station.reader_builder::<SecurityEvent>(SecurityEvent::TOPIC).build().unwrap();
    events.wait_for_writers(1).block_for(PATIENCE).unwrap();
}

/// Encrypts the private key of an identity, as `openssl pkcs8 -topk8` does.
fn encrypt_key(folder: &Path, password: &str) {
    let path = folder.join("key.pem");
    let (_, key) = SecretDocument::from_pem(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let parameters = pbes2::Parameters::pbkdf2_sha256_aes256cbc(20, b"salt", &[7; 16]).unwrap();
    let key = PrivateKeyInfo::try_from(key.as_bytes()).unwrap().encrypt_with_params(parameters, password).unwrap();
    std::fs::write(&path, key.to_pem("ENCRYPTED PRIVATE KEY", LineEnding::LF).unwrap()).unwrap();
}

#[test]
fn encrypted_key_needs_its_password() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { rtps: "ENCRYPT", ..NONE });
    let folder = keystore.enclave("robot");
    encrypt_key(&folder, "open sesame");
    let simulation = Simulation::new(34);
    let refused = |builder: DomainParticipantBuilder, reason: &str| {
        let error = simulation.build("robot", builder).unwrap_err().to_string();
        assert!(error.contains("key.pem: ") && error.contains(reason), "{error}");
        assert!(!error.contains("sesame"), "{error}");
    };
    refused(builder().credentials(keystore.credentials("robot")), "give its password");
    refused(builder().credentials(keystore.credentials("robot").password("sesame, open")), "does not decrypt");
    let with_property = |password| by_properties(&folder, 6).property("dds.sec.auth.password", password);
    refused(with_property("sesame, open"), "does not decrypt");
    let in_token = by_properties(&folder, 6).property("dds.sec.auth.private_key", "pkcs11:token=robot");
    let error = simulation.build("robot", in_token.property("dds.sec.auth.password", "1")).unwrap_err().to_string();
    assert!(error.contains("takes no password"), "{error}");
    let credentials = keystore.credentials("robot").password("open sesame");
    assert!(!format!("{credentials:?}").contains("sesame"));
    let station = build(&simulation, &keystore, "station");
    for opened in [builder().credentials(credentials), with_property("open sesame")] {
        let robot = simulation.build("robot", opened).unwrap();
        let (writer, reader) = endpoints(&robot, &station);
        pass(&writer, &reader);
    }
}

/// As Fast DDS and ROS 2 name the file.
#[test]
fn property_names_the_file_of_revoked_certificates() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::new(&["robot", "station", "thief"], Kinds { rtps: "SIGN", ..NONE }, |text| text);
    keystore.revoke("thief");
    let folder = keystore.enclave("robot");
    let lists = folder.join("lists.pem");
    std::fs::rename(folder.join("crl.pem"), &lists).unwrap();
    let with = |crl: Option<&str>| {
        let name = "dds.sec.auth.builtin.PKI-DH.identity_crl";
        crl.into_iter().fold(by_properties(&folder, 6), |builder, crl| builder.property(name, crl))
    };
    let simulation = Simulation::new(33);
    let thief = simulation.build("thief", builder().credentials(thief_credentials(&keystore))).unwrap();
    let value = format!("file://{}", lists.display());
    let robot = simulation.build("robot", with(Some(&value))).unwrap();
    let unaware = simulation.build("unaware", with(None)).unwrap();
    simulation.run_for(Duration::from_secs(10));
    assert_eq!((robot.discovered_participants().len(), unaware.discovered_participants().len()), (1, 2));
    let error = unaware.reload_revocations().unwrap_err().to_string();
    assert!(error.contains("set dds.sec.auth.identity_crl"), "{error}");
    robot.reload_revocations().unwrap();
    std::fs::write(&lists, "no list").unwrap();
    let error = robot.reload_revocations().unwrap_err().to_string();
    assert!(error.contains("lists.pem"), "{error}");
    let error = simulation.build("late", with(Some("file:/no/lists.pem"))).unwrap_err().to_string();
    assert!(error.contains("identity_crl: /no/lists.pem"), "{error}");
    drop(thief);
}

/// Those of a revoked identity, which does not know that.
fn thief_credentials(keystore: &Keystore) -> dds_core::security::Credentials {
    std::fs::remove_file(keystore.enclave("thief").join("crl.pem")).unwrap();
    keystore.credentials("thief")
}

#[test]
fn credentials_in_code_override_properties_and_read_no_file_of_theirs() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { rtps: "ENCRYPT", ..NONE });
    let simulation = Simulation::new(16);
    let with_property = |builder: DomainParticipantBuilder| {
        builder.property("dds.sec.auth.private_key", "file:/no/such/key.pem").credentials(keystore.credentials("robot"))
    };
    simulation.build("robot", with_property(builder())).unwrap();
}

/// The other side has not finished the handshake, so it would refuse endpoints that it learns of.
#[test]
fn changed_announcement_admits_no_participant_before_its_keys_arrive() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(NONE);
    let simulation = Simulation::new(23);
    let (is_cut, of_station) = (Arc::new(AtomicU64::new(1)), simulation.host("station").address());
    let cut = Arc::clone(&is_cut);
    simulation.intercept(move |passing| {
        // Nothing else is protected.
        let has_keys = passing.bytes.windows(4).any(|part| part[0] == 0x31 && part[2..] == [20, 0]);
        cut.load(Ordering::Relaxed) == 0 || passing.from != of_station || !has_keys
    });
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    let is_seen = || !station.discovered_participants().is_empty();
    assert!(simulation.run_until(PATIENCE, is_seen), "the station has the keys of the robot");
    for change in 1..=3 {
        station.set_qos(DomainParticipantQos::default().user_data(vec![change])).unwrap();
        simulation.run_for(Duration::from_secs(2));
        assert!(robot.discovered_participants().is_empty());
    }
    is_cut.store(0, Ordering::Relaxed);
    let (writer, reader) = endpoints(&robot, &station);
    pass(&writer, &reader);
}

#[test]
fn participant_whose_permissions_begin_later_is_admitted_then() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: "SIGN", ..NONE });
    let simulation = Simulation::new(25);
    // The clock of the station is a minute ahead of that of the robot.
    simulation.host("station").step_clock(60_000_000_000);
    keystore.edit_permissions("station", |text| {
        let (before, behind) = text.split_once("<not_before>").unwrap();
        let (_, behind) = behind.split_once("</not_before>").unwrap();
        format!("{before}<not_before>2026-01-01T12:00:30</not_before>{behind}")
    });
    let ((), lines) = Notes::of_warnings().take(|| {
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        simulation.run_for(Duration::from_secs(10));
        assert!(robot.discovered_participants().is_empty());
        let (writer, reader) = endpoints(&robot, &station);
        pass(&writer, &reader);
    });
    assert!(lines.iter().any(|line| line.contains("has not begun")), "{lines:#?}");
}

#[test]
fn own_permissions_count_after_a_change_of_the_partition() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::new(&["robot", "station", "observer"], Kinds { metadata: "SIGN", ..NONE }, |text| text);
    keystore.edit_permissions("robot", |text| text.replace("<partition>*<", "<partition>day<"));
    let simulation = Simulation::new(27);
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    let publisher = robot.publisher(PublisherQos::default().partition(["day"])).unwrap();
    let writer = publisher.writer_builder::<Parcel>("parcels").qos(Preset::Event.writer()).build().unwrap();
    let subscriber = station.subscriber(SubscriberQos::default().partition(["*"])).unwrap();
    let reader = subscriber.reader_builder::<Parcel>("parcels").qos(Preset::Event.reader()).build().unwrap();
    pass(&writer, &reader);
    let observer = build(&simulation, &keystore, "observer");
    assert!(simulation.run_until(PATIENCE, || observer.explain("parcels").len() == 1));
    assert!(observer.explain("parcels")[0].is_match());
    publisher.set_qos(PublisherQos::default().partition(["night"])).unwrap();
    simulation.run_for(Duration::from_secs(1));
    assert!(writer.matched_subscriptions().is_empty());
    let reports = writer.explain_matches();
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    assert!(reason.contains("permissions.p7s") && reason.contains("denied by"), "{reason}");
    // Another participant knows the permissions of both, and says the same.
    let reports = observer.explain("parcels");
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    let expected = "DDS Security refuses the writer: the permissions of its participant do not allow it: writing topic";
    assert!(reason.starts_with(expected), "{reason}");
}

#[test]
fn three_participants_restart_and_meet_again() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "NONE" };
    restart(kinds);
    // Each receiver of the writer has a MAC of its own.
    restart(Kinds { rtps: SIGN_ORIGIN, discovery: SIGN_ORIGIN, metadata: ENCRYPT_ORIGIN, ..kinds });
}

/// Two participants with a reader of the same writer leave and come back, three times.
fn restart(kinds: Kinds) {
    let keystore = Keystore::new(&["robot", "station", "camera"], kinds, |text| text);
    let simulation = Simulation::new(17);
    simulation.set_network(Conditions { loss: 0.2, ..Conditions::default() });
    let robot = build(&simulation, &keystore, "robot");
    let writer = robot.writer_builder::<Parcel>("parcels").qos(Preset::Event.writer()).build().unwrap();
    let mut others = [build(&simulation, &keystore, "station"), build(&simulation, &keystore, "camera")];
    for round in 0..3 {
        let read = |other: &DomainParticipant| other.reader_builder("parcels").qos(Preset::Event.reader()).build();
        let readers: Vec<DataReader<Parcel>> = others.iter().map(|other| read(other).unwrap()).collect();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        let written: Vec<_> = (0..20).map(|number| parcel(number, 500)).collect();
        written.iter().for_each(|sample| writer.write(sample).unwrap());
        writer.acknowledged().block_for(PATIENCE).unwrap();
        for reader in &readers {
            assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), written, "round {round}");
        }
        drop(readers);
        // Both leave, and come back with other GUIDs and other keys.
        let guids = others.each_ref().map(DomainParticipant::guid);
        others = ["station", "camera"].map(|name| build(&simulation, &keystore, name));
        assert!(others.iter().all(|other| !guids.contains(&other.guid())));
        let is_alone = || writer.matched_subscriptions().is_empty();
        assert!(simulation.run_until(PATIENCE, is_alone), "the earlier participants stay");
    }
}

#[test]
fn participant_is_cut_off_when_its_permissions_end() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: "SIGN", ..NONE });
    end_permissions(&keystore, "station");
    let simulation = Simulation::new(19);
    let ((), lines) = Notes::of_warnings().take(|| {
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        let (writer, reader) = endpoints(&robot, &station);
        pass(&writer, &reader);
        simulation.run_for(Duration::from_secs(60));
        assert_eq!(robot.discovered_participants().len(), 1);
        simulation.run_for(Duration::from_secs(90));
        assert!(robot.discovered_participants().is_empty());
        assert!(writer.matched_subscriptions().is_empty());
    });
    assert!(lines.iter().any(|line| line.contains("its permissions have ended")), "{lines:#?}");
}

#[test]
fn participant_is_cut_off_when_its_certificate_ends() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: "SIGN", ..NONE });
    // Two minutes behind the begin of the simulation. Its permissions end later.
    keystore.end_certificate("station", 1_767_268_920);
    let simulation = Simulation::new(23);
    let ((), lines) = Notes::of_warnings().take(|| {
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        let (writer, reader) = endpoints(&robot, &station);
        pass(&writer, &reader);
        simulation.run_for(Duration::from_secs(60));
        assert_eq!(robot.discovered_participants().len(), 1);
        simulation.run_for(Duration::from_secs(90));
        assert!(robot.discovered_participants().is_empty());
        assert!(writer.matched_subscriptions().is_empty());
    });
    assert!(lines.iter().any(|line| line.contains("its certificate or its permissions have ended")), "{lines:#?}");
}

/// Ends the permissions of an identity two minutes behind the begin of the simulation.
fn end_permissions(keystore: &Keystore, name: &str) {
    keystore.edit_permissions(name, |text| {
        let (before, behind) = text.split_once("<not_after>").unwrap();
        let (_, behind) = behind.split_once("</not_after>").unwrap();
        format!("{before}<not_after>2026-01-01T12:02:00</not_after>{behind}")
    });
}

/// Returns the ids of the keys that a datagram names, without that of the exchange of keys.
fn key_ids(datagram: &[u8]) -> impl Iterator<Item = [u8; 4]> + '_ {
    let prefixes = datagram.windows(12).filter(|part| matches!(part, [0x31 | 0x33, _, 20, 0, 0, 0, 0, ..]));
    prefixes.filter_map(|part| part.last_chunk().copied()).filter(|id| *id != [0; 4])
}

#[test]
fn expelled_participant_knows_no_later_key() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = [
        Kinds { rtps: "SIGN", discovery: "ENCRYPT", metadata: "ENCRYPT", ..NONE },
        Kinds { rtps: SIGN_ORIGIN, metadata: ENCRYPT_ORIGIN, data: "ENCRYPT", ..NONE },
    ];
    for ((seed, kinds), ignores) in (0..).zip(kinds).flat_map(|case| [(case, false), (case, true)]) {
        let keystore = Keystore::new(&["robot", "station", "thief"], kinds, |text| text);
        if !ignores {
            end_permissions(&keystore, "thief");
        }
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions { loss: 0.05, ..Conditions::default() });
        let named = Arc::new(Mutex::new(BTreeSet::new()));
        let ((), lines) = Notes::of_warnings().take(|| {
            let [robot, station, thief] = ["robot", "station", "thief"].map(|name| build(&simulation, &keystore, name));
            let (senders, noted) =
                (["robot", "station"].map(|name| simulation.host(name).address()), Arc::clone(&named));
            simulation.intercept(move |passing| {
                if senders.contains(&passing.from) {
                    noted.lock().unwrap().extend(key_ids(&passing.bytes));
                }
                true
            });
            let (writer, reader) = endpoints(&robot, &station);
            let stolen = thief.reader_builder::<Parcel>("parcels").qos(Preset::Event.reader()).build().unwrap();
            writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
            // The station changes its keys only if the thief knows them.
            assert!(simulation.run_until(PATIENCE, || station.discovered_participants().len() == 2));
            pass(&writer, &reader);
            assert!(!stolen.take().unwrap().is_empty());
            let before = std::mem::take(&mut *named.lock().unwrap());
            assert!(before.len() >= 2, "{before:?}");
            if ignores {
                assert!([&robot, &station].iter().all(|other| other.ignore_participant(thief.instance_handle())));
            } else {
                simulation.run_for(Duration::from_secs(125));
            }
            assert_eq!(robot.discovered_participants().len(), 1);
            // Until the last message of the old keys has arrived.
            simulation.run_for(Duration::from_secs(4));
            named.lock().unwrap().clear();
            pass(&writer, &reader);
            let after = named.lock().unwrap().clone();
            assert!(!after.is_empty() && after.is_disjoint(&before), "{kinds:?}: {before:?} {after:?}");
            assert_eq!(stolen.take().unwrap().into_data().next(), None);
        });
        assert_eq!(lines.iter().any(|line| line.contains("have ended")), !ignores, "{lines:#?}");
    }
}

#[test]
fn participant_is_cut_off_when_its_certificate_is_revoked() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::new(&["robot", "station", "thief"], Kinds { metadata: "ENCRYPT", ..NONE }, |text| text);
    let simulation = Simulation::new(20);
    let plain = simulation.build("plain", builder().domain_tag("other")).unwrap();
    assert!(plain.reload_revocations().unwrap_err().to_string().contains("has no credentials"));
    let ((), lines) = Notes::of_warnings().take(|| {
        let [robot, station, thief] = ["robot", "station", "thief"].map(|name| build(&simulation, &keystore, name));
        let (writer, reader) = endpoints(&robot, &station);
        let stolen = thief.reader_builder::<Parcel>("parcels").qos(Preset::Event.reader()).build().unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        let all = [&robot, &station, &thief];
        all.iter().for_each(|participant| participant.reload_revocations().unwrap());
        pass(&writer, &reader);
        assert!(!stolen.take().unwrap().is_empty());
        // A faulty file changes nothing.
        let path = keystore.enclave("robot").join("crl.pem");
        std::fs::write(&path, "no list").unwrap();
        assert!(robot.reload_revocations().unwrap_err().to_string().contains("crl.pem"));
        assert_eq!(robot.discovered_participants().len(), 2);
        std::fs::remove_file(&path).unwrap();
        keystore.revoke("thief");
        assert_eq!(robot.discovered_participants().len(), 2, "the files are read on demand");
        [&robot, &station].iter().for_each(|participant| participant.reload_revocations().unwrap());
        assert_eq!((robot.discovered_participants().len(), station.discovered_participants().len()), (1, 1));
        let refused = thief.reload_revocations().unwrap_err().to_string();
        assert!(refused.contains("the authority has revoked the certificate"), "{refused}");
        pass(&writer, &reader);
        simulation.run_for(Duration::from_secs(60));
        assert_eq!(stolen.take().unwrap().into_data().next(), None);
        assert_eq!(robot.discovered_participants().len(), 1);
    });
    let reason = "identity `CN=thief`: the authority has revoked the certificate";
    assert!(lines.iter().any(|line| line.contains(reason)), "{lines:#?}");
}

/// A list may lack the latest revocations after the time of its next update. Its certificates stay revoked.
#[test]
fn old_list_of_revoked_certificates_is_reported() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (keystore, simulation) = (Keystore::with(Kinds { rtps: "SIGN", ..NONE }), Simulation::new(29));
    let unix = simulation.now().as_unix_nanos() / 1_000_000_000;
    let is_old = |line: &&String| line.contains("the list of revoked certificates is old, so it may lack");
    let reports = |next_update: i64| {
        keystore.write_list("robot", next_update);
        let ((), lines) = Notes::of_warnings().take(|| {
            let [robot, station] = ["robot", "station"].map(|name| build(&simulation, &keystore, name));
            let (writer, reader) = endpoints(&robot, &station);
            pass(&writer, &reader);
            robot.reload_revocations().unwrap();
            simulation.run_for(Duration::from_secs(1));
        });
        lines.iter().filter(is_old).count()
    };
    assert_eq!(reports(unix - 1), 2, "at the start, and when the file is read again");
    assert_eq!(reports(unix + 86_400), 0);
}

/// A sender adds MACs for 32 receivers. Each of these is another host, and they know only the sender.
#[test]
fn receiver_takes_the_place_of_one_that_leaves() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let keystore = Keystore::with(Kinds { metadata: SIGN_ORIGIN, ..NONE });
    let simulation = Simulation::with_interference(7, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let robot = build(&simulation, &keystore, "robot");
    let sender = simulation.host("robot").address();
    simulation.intercept(move |passing| passing.from == sender || passing.to.ip() == sender);
    let writer = robot.writer_builder("parcels").qos(Preset::Event.writer()).build().unwrap();
    let mut stations: Vec<_> = (0..33)
        .map(|number| {
            let credentials = builder().credentials(keystore.credentials("station"));
            let station = simulation.build(&format!("station {number}"), credentials).unwrap();
            let reader = station.reader_builder::<Parcel>("parcels").qos(Preset::Event.reader()).build().unwrap();
            (station, reader)
        })
        .collect();
    let are_matched = |count| simulation.run_until(PATIENCE, || writer.matched_subscriptions().len() == count);
    assert!(are_matched(32));
    simulation.run_for(Duration::from_secs(5));
    assert!(are_matched(32), "the last one finds no place");
    let matched = |(_, reader): &(_, DataReader<Parcel>)| !reader.matched_publications().is_empty();
    let is_out = stations.iter().position(|station| !matched(station)).unwrap();
    let last = stations.swap_remove(is_out);
    drop(stations.pop());
    assert!(simulation.run_until(PATIENCE, || matched(&last)), "the place that became free stays empty");
    writer.write(&parcel(1, 100)).unwrap();
    assert!(simulation.run_until(PATIENCE, || last.1.take().unwrap().into_data().next() == Some(parcel(1, 100))));
}

/// Seeds of the worlds with an outsider. `DDS_SIM_OUTSIDERS` is their number: `.ci/run outsiders` tries 10 000.
fn worlds_of_outsiders() -> std::ops::Range<u64> {
    let count = std::env::var("DDS_SIM_OUTSIDERS").map(|text| text.parse().expect("a number of worlds"));
    0..count.unwrap_or(12)
}

/// An outsider repeats, cuts, splices, renames and reflects all that it has recorded, also of an earlier session.
#[test]
fn outsider_forges_no_sample_from_recorded_datagrams() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let kinds = [
        Kinds { rtps: "SIGN", ..NONE },
        Kinds { rtps: "ENCRYPT", discovery: "SIGN", metadata: "ENCRYPT", ..NONE },
        Kinds { discovery: "ENCRYPT", liveliness: "SIGN", metadata: "SIGN", ..NONE },
        Kinds { rtps: "SIGN", data: "ENCRYPT", ..NONE },
        Kinds { rtps: ENCRYPT_ORIGIN, ..NONE },
        Kinds { discovery: "ENCRYPT", metadata: SIGN_ORIGIN, data: "SIGN", ..NONE },
    ];
    let keystores = kinds.map(Keystore::with);
    for seed in worlds_of_outsiders() {
        let of_seed = seed as usize % kinds.len();
        let case = format!("seed {seed}, {:?}", kinds[of_seed]);
        let (world, mut random, mut recorded) = (World::new(seed), Random(seed + 1), Vec::new());
        for _session in 0..2 {
            let sides = ["robot", "station"].map(|name| {
                let node = world.node();
                node.record();
                (node.build(builder().credentials(keystores[of_seed].credentials(name))), node)
            });
            let (writer, reader) = endpoints(&sides[0].0, &sides[1].0);
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            exchange(&world, &writer, &reader, 0..10, &case);
            for (_, node) in &sides {
                recorded.extend(node.recorded());
            }
            let prefixes = sides.each_ref().map(|(participant, _)| participant.guid().prefix.0);
            for _ in 0..250 {
                let bytes = forge(&mut random, &recorded, &prefixes);
                let socket = if random.once_in(2) { Socket::UserUnicast } else { Socket::MetatrafficUnicast };
                random.one_of(&sides).1.feed(&bytes, socket);
            }
            assert!(reader.take().unwrap().is_empty(), "{case}: a forged sample");
            exchange(&world, &writer, &reader, 10..20, &case);
        }
    }
}

/// Writes samples, and asserts that they arrive once, in order and unchanged.
fn exchange(
    world: &World,
    writer: &DataWriter<Parcel>,
    reader: &DataReader<Parcel>,
    numbers: std::ops::Range<u32>,
    case: &str,
) {
    let written: Vec<_> = numbers.map(|number| parcel(number, number as usize * 37 % 500)).collect();
    written.iter().for_each(|sample| writer.write(sample).unwrap());
    let mut arrived = Vec::new();
    let is_done = || {
        arrived.extend(reader.take().unwrap().into_data());
        arrived.len() >= written.len()
    };
    assert!(world.pass_until(PATIENCE, is_done), "{case}: reliable samples do not arrive");
    assert_eq!(arrived, written, "{case}");
}

/// Returns a datagram that an outsider makes of those that it has recorded. `prefixes`: of both participants.
fn forge(random: &mut Random, recorded: &[Vec<u8>], prefixes: &[[u8; 12]; 2]) -> Vec<u8> {
    let mut bytes = random.one_of(recorded).clone();
    match random.below(7) {
        0 => {}
        1 => bytes.truncate(random.below(bytes.len())),
        2 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        // The header of one datagram with the content of another.
        3 => {
            let other = random.one_of(recorded);
            bytes.truncate(20 + random.below(60));
            bytes.extend_from_slice(&other[other.len().min(40)..]);
        }
        // A message in the name of a participant that has not sent it.
        4 => bytes[8..20].copy_from_slice(&prefixes[random.below(2)]),
        // The signed submessages without their protection.
        5 => bytes = stripped(&bytes),
        // A plain submessage behind the protected ones.
        _ => bytes.extend_from_slice(&[0x0e, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    }
    bytes
}

/// A message without the submessages of DDS Security. Signed submessages stay, in the name of the sender.
fn stripped(bytes: &[u8]) -> Vec<u8> {
    let mut left = bytes[..20.min(bytes.len())].to_vec();
    let mut rest = bytes.get(20..).unwrap_or_default();
    while let Some([id, flags, one, other]) = rest.first_chunk::<4>().copied() {
        let len = if flags & 1 == 1 { u16::from_le_bytes([one, other]) } else { u16::from_be_bytes([one, other]) };
        let len = if len == 0 { rest.len() } else { (4 + usize::from(len)).min(rest.len()) };
        let (submessage, next) = rest.split_at(len);
        if !(0x30..=0x34).contains(&id) {
            left.extend_from_slice(submessage);
        }
        rest = next;
    }
    left
}
