//! The process, the host and the version of a participant, from the properties that it announces.
//!
//! Each vendor has its own names. A property is information only, and a participant may announce anything.

use dds_core::builtin::ParticipantBuiltinTopicData;
use std::path::Path;

/// Names of the properties with the host: of this project and RTI Connext, of Cyclone DDS, and of Fast DDS.
const HOST_NAMES: [&str; 3] = ["dds.sys_info.hostname", "__Hostname", "fastdds.physical_data.host"];
/// The same for the number of the process.
const ID_NAMES: [&str; 3] = ["dds.sys_info.process_id", "__Pid", "fastdds.physical_data.process"];
/// Names of the properties with the program. Fast DDS has none: the number of its process
/// may be that of another PID namespace, so this host cannot tell the program.
const PROGRAM_NAMES: [&str; 2] = ["dds.sys_info.executable_filepath", "__ProcessName"];

/// The process of a participant. Empty values are unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessFacts {
    pub(crate) host: String,
    pub(crate) program: String,
    pub(crate) id: String,
}

impl ProcessFacts {
    /// Reads the properties of a participant.
    pub(crate) fn of(participant: &ParticipantBuiltinTopicData) -> Self {
        Self::of_properties(&participant.properties)
    }

    fn of_properties(properties: &[(String, String)]) -> Self {
        let value = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| properties.iter().find(|(known, _)| known == name));
            found.next().map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let program = value(&PROGRAM_NAMES);
        let name = Path::new(&program).file_name().map(|name| name.to_string_lossy().into_owned());
        // Fast DDS 2 adds its own number of the host after a colon.
        let host = value(&HOST_NAMES);
        let host = host.split(':').next().unwrap_or_default().to_owned();
        Self { host, program: name.unwrap_or(program), id: value(&ID_NAMES) }
    }

    /// Returns the program and the number of its process: `robot (4711)`.
    pub(crate) fn process(&self) -> String {
        match (self.program.as_str(), self.id.as_str()) {
            (program, "") => program.to_owned(),
            ("", id) => id.to_owned(),
            (program, id) => format!("{program} ({id})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessFacts;

    fn facts(properties: &[(&str, &str)]) -> [String; 2] {
        let properties: Vec<_> =
            properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let facts = ProcessFacts::of_properties(&properties);
        [facts.host.clone(), facts.process()]
    }

    #[test]
    fn properties_of_each_vendor_name_host_and_process() {
        let own = [
            ("team", "red"),
            ("dds.sys_info.hostname", "arm"),
            ("dds.sys_info.process_id", "7"),
            ("dds.sys_info.executable_filepath", "/opt/robot/planner"),
        ];
        assert_eq!(facts(&own), ["arm", "planner (7)"]);
        let cyclone = [("__Hostname", "vm"), ("__Pid", "21976"), ("__ProcessName", "python")];
        assert_eq!(facts(&cyclone), ["vm", "python (21976)"]);
        let fast =
            [("fastdds.physical_data.host", "vm:107806561077755904"), ("fastdds.physical_data.process", "21978")];
        assert_eq!(facts(&fast), ["vm", "21978"]);
        assert_eq!(facts(&[]), ["", ""]);
    }
}
