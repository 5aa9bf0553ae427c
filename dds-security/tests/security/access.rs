//! Governance and permissions, from documents as vendors and ROS 2 write them.

use dds_security::access::{
    AccessAction, AccessReason, AccessRequest, DomainRule, Governance, Permissions, ProtectionKind, SubjectName,
};
use proptest::prelude::*;

const GOVERNANCE: &str = include_str!("../documents/governance.xml");
const PERMISSIONS: &str = include_str!("../documents/permissions.xml");

/// 2026-01-01.
const NOW: i64 = 1_767_225_600;

fn rule(domain_id: u32) -> DomainRule {
    Governance::parse(GOVERNANCE).unwrap().rule_of(domain_id).unwrap().clone()
}

#[test]
fn first_rule_of_a_domain_counts() {
    let secure = rule(3);
    assert!(!secure.allow_unauthenticated_participants && secure.enable_join_access_control);
    assert_eq!(secure.rtps_protection_kind, ProtectionKind::EncryptWithOriginAuthentication);
    assert_eq!(secure.discovery_protection_kind, ProtectionKind::Encrypt);
    assert_eq!(secure.liveliness_protection_kind, ProtectionKind::Sign);
    for domain_id in [0, 12, 100, u32::MAX] {
        assert!(rule(domain_id).allow_unauthenticated_participants, "{domain_id}");
    }
    assert!(Governance::parse(GOVERNANCE).unwrap().rule_of(50).is_none());
}

#[test]
fn first_rule_of_a_topic_counts() {
    let rules = rule(3);
    let scan = rules.rule_of("rt/scan").unwrap();
    assert_eq!(
        (scan.metadata_protection_kind, scan.data_protection_kind),
        (ProtectionKind::Sign, ProtectionKind::Encrypt)
    );
    assert!(scan.enable_read_access_control && !scan.enable_write_access_control);
    assert_eq!(rules.rule_of("other").unwrap().topic_expression.to_string(), "*");
}

fn decide(topic: &str, action: AccessAction, partitions: &[&str], tags: &[(&str, &str)]) -> (bool, String) {
    let permissions = Permissions::parse(PERMISSIONS).unwrap();
    let grant = permissions.grant_for(&SubjectName::new("/C=DE/O=Plant/CN=robot7")).unwrap();
    let access = AccessRequest { action, domain_id: 3, topic, partitions, data_tags: tags };
    let decision = grant.decide(&access, NOW);
    (decision.is_allowed, decision.to_string())
}

#[test]
fn rules_decide_in_their_order() {
    use AccessAction::{Publish, Relay, Subscribe};
    let allowed = |topic, action, partitions: &[&str]| decide(topic, action, partitions, &[]).0;
    assert!(!allowed("rt/cmd_vel", Publish, &[]), "the rule that denies comes first");
    assert!(allowed("rt/cmd_vel", Subscribe, &[]));
    assert!(allowed("rt/scan", Publish, &[]));
    assert!(!allowed("rt/scan", Relay, &[]), "no rule, and the default denies");
    assert!(!allowed("rq/scan", Publish, &[]));
}

#[test]
fn partitions_are_covered_to_allow_and_touched_to_deny() {
    let allowed = |topic, partitions: &[&str]| decide(topic, AccessAction::Publish, partitions, &[]).0;
    assert!(allowed("map", &["floor1"]) && allowed("map", &["floor1", "floor2"]));
    assert!(!allowed("map", &["floor1", "cellar"]), "one partition is outside");
    assert!(!allowed("map", &[]), "the partition without a name is outside");
    assert!(!allowed("map", &["floor1", "floor9"]), "one partition is denied");
    // Without a list, a rule that allows has the partition without a name only.
    assert!(allowed("rt/scan", &[""]) && !allowed("rt/scan", &["floor1"]));
    // Without a list, a rule that denies has all partitions.
    assert!(!allowed("rt/cmd_vel", &["floor1"]));
}

#[test]
fn tags_restrict_endpoints() {
    let allowed = |tags: &[(&str, &str)]| decide("log", AccessAction::Publish, &[], tags).0;
    assert!(allowed(&[]) && allowed(&[("level", "public")]));
    assert!(!allowed(&[("level", "secret")]) && !allowed(&[("level", "public"), ("owner", "x")]));
}

#[test]
fn decision_names_rule_and_grant() {
    let (_, text) = decide("rt/cmd_vel", AccessAction::Publish, &[], &[]);
    assert_eq!(text, "denied by the rule at line 11 of the grant \"robot 7\"");
    let (_, text) = decide("unknown", AccessAction::Publish, &[], &[]);
    assert_eq!(text, "denied by the default of the grant \"robot 7\"");
}

#[test]
fn grant_counts_during_its_validity_only() {
    let permissions = Permissions::parse(PERMISSIONS).unwrap();
    let grant = &permissions.grants[0];
    let access = AccessRequest {
        action: AccessAction::Publish,
        domain_id: 3,
        topic: "rt/scan",
        partitions: &[],
        data_tags: &[],
    };
    assert!(grant.decide(&access, grant.not_before).is_allowed && grant.decide(&access, grant.not_after).is_allowed);
    assert_eq!(grant.decide(&access, grant.not_before - 1).reason, AccessReason::NotYetValid);
    assert_eq!(grant.decide(&access, grant.not_after + 1).reason, AccessReason::Expired);
    assert!(!grant.decide(&AccessRequest { domain_id: 4, ..access }, NOW).is_allowed);
    assert!(permissions.grant_for(&SubjectName::new("CN=robot8,O=Plant,C=DE")).is_none());
}

#[test]
fn faults_are_named_with_their_line() {
    let governance =
        |from: &str, to: &str| Governance::parse(&GOVERNANCE.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(governance("SIGN<", "SING<"), "line 14: `SING` is no kind of protection");
    assert_eq!(governance(">FALSE<", ">no<"), "line 11: `no` is neither true nor false");
    assert_eq!(governance("<id>3</id>", "<id>-3</id>"), "line 8: `-3` is no domain id");
    assert_eq!(governance("<enable_join", "<new/><enable_join"), "line 12: <new> is unknown here");
    let twice = "<rtps_protection_kind>NONE</rtps_protection_kind><rtps_protection_kind>";
    assert_eq!(governance("<rtps_protection_kind>", twice), "line 15: <rtps_protection_kind> occurs twice");
    let permissions =
        |from: &str, to: &str| Permissions::parse(&PERMISSIONS.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(permissions("2020-01-01", "2020-01-32"), "line 7: `2020-01-32T00:00:00` is no date and time");
    assert_eq!(permissions(">DENY<", ">MAYBE<"), "line 68: `MAYBE` is neither ALLOW nor DENY");
    assert_eq!(permissions("CN=robot7,O=Plant,C=DE", "robot7"), "line 5: `robot7` is no subject name");
}

#[test]
fn comment_inside_of_a_text_does_not_cut_it() {
    let commented = PERMISSIONS.replacen("rt/cmd_vel", "rt/<!-- of the base -->cmd_<![CDATA[vel]]>", 1);
    assert_ne!(commented, PERMISSIONS);
    assert_eq!(Permissions::parse(&commented), Permissions::parse(PERMISSIONS));
}

#[test]
fn elements_without_meaning_and_empty_ranges_are_refused() {
    let permissions = |from: &str, to: &str| {
        let document = PERMISSIONS.replacen(from, to, 1);
        assert_ne!(document, PERMISSIONS, "{from}");
        Permissions::parse(&document).unwrap_err().message
    };
    assert_eq!(permissions("rt/cmd_vel", "rt/<b>cmd</b>_vel"), "<b> is unknown here");
    assert_eq!(permissions("<validity>", "<validity><b/>"), "<b> is unknown here");
    assert_eq!(permissions("<tag>", "<tag><b/>"), "<b> is unknown here");
    let governance = |range: &str| {
        let document = GOVERNANCE.replacen("<id>3</id>", &format!("<id_range>{range}</id_range>"), 1);
        Governance::parse(&document).map_err(|error| error.message)
    };
    assert_eq!(governance("<min>3</min><b/>").unwrap_err(), "<b> is unknown here");
    assert_eq!(governance("<min>4</min><max>3</max>").unwrap_err(), "the range from 4 to 3 has no domain id");
    assert!(governance("<min>3</min><max>3</max>").unwrap().rule_of(3).is_some());
}

#[test]
fn large_and_deep_documents_are_refused() {
    assert!(Governance::parse(&" ".repeat(2 << 20)).is_err());
    for deep in ["<a>", "<a>/>", "<a b='/>'>", "<a><!-- </a> -->", "<a><b/>"] {
        let error = Permissions::parse(&deep.repeat(20_000)).unwrap_err();
        assert!(error.message.contains("levels"), "{deep}: {error}");
    }
    assert!(Permissions::parse(&format!("<dds>{}</dds>", "<a/>".repeat(200_000))).is_err());
    let bomb = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><dds>&b;</dds>";
    assert!(Permissions::parse(bomb).is_err());
    assert!(Permissions::parse("").is_err() && Governance::parse("<dds/>").is_err());
}

proptest! {
    #[test]
    fn changed_documents_give_rules_or_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..8),
    ) {
        for document in [GOVERNANCE, PERMISSIONS] {
            let mut characters: Vec<char> = document.chars().collect();
            for (at, c) in &changes {
                let at = at.index(characters.len());
                characters[at] = *c;
            }
            let text: String = characters.into_iter().collect();
            let _ = Governance::parse(&text);
            let _ = Permissions::parse(&text);
        }
    }
}
