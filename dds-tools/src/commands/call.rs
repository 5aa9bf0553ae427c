//! `dds call`: a request to a service, and its reply.

use super::text::write_json;
use crate::domain_view::{DomainWatch, TopicView};
use crate::error::ToolError;
use crate::json_input::sample_from_text;
use crate::network;
use crate::options::{CallOptions, TypeOptions};
use crate::stop::Stop;
use crate::topic_access::{publisher_qos, reader_qos, subscriber_qos, topic_type, writer_qos};
use dds_core::builtin::VendorId;
use dds_core::cdr::{Encoding, Extensibility};
use dds_core::dynamic::{DynamicData, DynamicType, MemberId};
use dds_core::qos::TopicQos;
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DataWriter, SampleInfo};
use std::io::Write;

/// Bytes of the encapsulation header of a payload.
const ENCAPSULATION_LEN: usize = 4;
/// Bytes of the header of `rmw_cyclonedds`.
const HEADER_LEN: usize = 16;
/// The members of this header, which precede those of the type.
const CLIENT: MemberId = MemberId(0);
const NUMBER: MemberId = MemberId(1);

/// Sends one request, and prints its reply.
///
/// # Errors
/// [`ToolError::NoService`] without a server. [`ToolError::Value`] for a request that does not fit its type.
/// [`ToolError::NothingArrived`] without a match or a reply within the time.
pub fn run(options: &CallOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let (request_topic, reply_topic) = topics_of(&options.service);
    let type_of = |watch: &mut DomainWatch, topic: &str, name: &Option<String>| {
        let (type_file, type_wait) = (options.type_file.clone(), options.type_wait);
        topic_type(&participant, watch, topic, &TypeOptions { type_file, type_name: name.clone(), type_wait }, stop)
    };
    let request_type = type_of(&mut watch, &request_topic, &options.request_type).map_err(|error| match error {
        ToolError::NoTopic { known, .. } => {
            let known = known.iter().filter_map(|topic| service_of(topic)).collect();
            ToolError::NoService { service: options.service.clone(), known }
        }
        error => error,
    })?;
    let reply_type = type_of(&mut watch, &reply_topic, &options.reply_type)?;
    let servers = watch.view().endpoints_of(&request_topic);
    let replies = watch.view().endpoints_of(&reply_topic);
    let has_header = has_header(&options.service, &servers, &watch);
    // A wrong value fails before a server sees the writer.
    let mut request = sample_from_text(&request_type, &options.value)?;
    let (sent_type, received_type) = match has_header {
        true => (headed_type(&request_type)?, headed_type(&reply_type)?),
        false => (request_type, reply_type.clone()),
    };
    if has_header {
        request = with_header(&request, &sent_type)?;
    }
    let publisher = participant.publisher(publisher_qos(&servers))?;
    let subscriber = participant.subscriber(subscriber_qos())?;
    let topic = participant.dynamic_topic(&request_topic, &sent_type, TopicQos::default())?;
    let writer = publisher.writer_builder(&topic).qos(writer_qos(&servers)).build()?;
    let topic = participant.dynamic_topic(&reply_topic, &received_type, TopicQos::default())?;
    let reader = subscriber.reader_builder(&topic).qos(reader_qos(&replies)).match_both_ways().build()?;
    let call = ServiceCall { writer, reader, has_header };
    call.await_server(options, stop)?;
    let reply = call.reply_to(request, options, stop)?;
    let reply = if has_header { without_header(&reply, &reply_type)? } else { reply };
    if options.output.json {
        let line = serde_json::to_value(reply).map_err(|error| ToolError::output(error.into()))?;
        return write_json(output, &line);
    }
    writeln!(output, "{reply}").and_then(|()| output.flush()).map_err(ToolError::output)
}

/// Returns the topics of a service: those of ROS for a name with a leading slash, or else those of DDS-RPC 1.0.
fn topics_of(service: &str) -> (String, String) {
    if service.starts_with('/') {
        return (format!("rq{service}Request"), format!("rr{service}Reply"));
    }
    (format!("{service}_Request"), format!("{service}_Reply"))
}

/// Returns the service whose requests a topic has.
fn service_of(topic: &str) -> Option<String> {
    let of_ros = topic.strip_prefix("rq").filter(|name| name.starts_with('/'));
    let name = match of_ros {
        Some(name) => name.strip_suffix("Request"),
        None => topic.strip_suffix("_Request"),
    };
    name.map(str::to_owned)
}

/// Returns whether requests have the header of `rmw_cyclonedds`. Other servers read the identity of RTPS.
fn has_header(service: &str, servers: &TopicView<'_>, watch: &DomainWatch) -> bool {
    let Some(server) = servers.readers.first() else { return false };
    let vendor = watch.view().participant(server.participant_key).map(|participant| participant.vendor);
    service.starts_with('/') && vendor == Some(VendorId::CYCLONE)
}

/// Returns the type of a message with the header of `rmw_cyclonedds`: the client and the number of the request.
fn headed_type(ty: &DynamicType) -> Result<DynamicType, ToolError> {
    let mut headed = DynamicType::structure(ty.name())
        .extensibility(Extensibility::Final)
        .member(&free_name(ty, "client"), DynamicType::uint64())
        .member(&free_name(ty, "number"), DynamicType::int64());
    for member in ty.members() {
        headed = headed.member(member.name(), member.ty());
    }
    headed.build().map_err(ToolError::value)
}

/// Returns a name that no member of the type has.
fn free_name(ty: &DynamicType, name: &str) -> String {
    let mut name = name.to_owned();
    while ty.member(&name).is_some() {
        name.push('_');
    }
    name
}

/// Returns the request with an empty header. The length of the header keeps the alignment of all members.
fn with_header(request: &DynamicData, headed: &DynamicType) -> Result<DynamicData, ToolError> {
    let mut payload = request.to_payload(Encoding::Xcdr1).map_err(ToolError::value)?;
    payload.splice(ENCAPSULATION_LEN..ENCAPSULATION_LEN, [0; HEADER_LEN]);
    DynamicData::from_payload(headed, &payload).map_err(ToolError::value)
}

/// Returns the reply without its header.
fn without_header(reply: &DynamicData, ty: &DynamicType) -> Result<DynamicData, ToolError> {
    let mut payload = reply.to_payload(Encoding::Xcdr1).map_err(ToolError::value)?;
    payload.drain(ENCAPSULATION_LEN..ENCAPSULATION_LEN + HEADER_LEN);
    DynamicData::from_payload(ty, &payload).map_err(ToolError::value)
}

/// The endpoints of one call.
struct ServiceCall {
    writer: DataWriter<DynamicData>,
    reader: DataReader<DynamicData>,
    has_header: bool,
}

impl ServiceCall {
    /// Waits until a server matches and knows the reader of its reply. A server may answer without that knowledge.
    fn await_server(&self, options: &CallOptions, stop: &Stop) -> Result<(), ToolError> {
        let limit = stop.after(Some(options.within));
        loop {
            let matches_there = self.writer.wait_for_readers(1).block_for(limit.step()).is_ok();
            if matches_there && self.reader.wait_for_writers(1).block_for(limit.step()).is_ok() {
                return Ok(());
            }
            if limit.is_due() {
                return Err(ToolError::NothingArrived {
                    awaited: format!("server of \"{}\"", options.service),
                    next_step: "`dds why` explains which endpoints do not match",
                });
            }
        }
    }

    /// Sends the request, and returns its reply.
    fn reply_to(&self, mut request: DynamicData, options: &CallOptions, stop: &Stop) -> Result<DynamicData, ToolError> {
        let client = self.client();
        if self.has_header {
            request.set(CLIENT, client).map_err(ToolError::value)?;
            request.set(NUMBER, 1).map_err(ToolError::value)?;
        }
        let sent = self.writer.write_identified(&request, WriteOptions::new())?;
        let is_reply = |info: &SampleInfo, reply: &DynamicData| {
            if self.has_header {
                return reply.get::<u64>(CLIENT).is_ok_and(|found| found == client);
            }
            // Servers of Fast DDS name a request by the reader of its reply.
            info.related_sample.is_some_and(|related| {
                let is_own = related.writer == sent.writer || related.writer == self.reader.guid();
                is_own && related.sequence_number == sent.sequence_number
            })
        };
        let limit = stop.after(Some(options.within));
        while !limit.is_due() {
            // A time-out is no failure: the loop looks at the request to stop.
            let _ = self.reader.readable().block_for(limit.step());
            for sample in self.reader.take()? {
                if let Some(reply) = sample.data
                    && is_reply(&sample.info, &reply)
                {
                    return Ok(reply);
                }
            }
        }
        Err(ToolError::NothingArrived {
            awaited: format!("reply of \"{}\"", options.service),
            next_step: "the server received the request; raise --within, or look at its log",
        })
    }

    /// Returns a number that no other client uses.
    fn client(&self) -> u64 {
        let guid = self.writer.guid().to_bytes();
        guid[4..12].iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::{CLIENT, NUMBER, headed_type, topics_of, with_header, without_header};
    use dds_core::cdr::{Encoding, Extensibility};
    use dds_core::dynamic::{DynamicData, DynamicType};

    #[test]
    fn header_is_apart_from_equal_names_of_the_type() {
        let ty = DynamicType::structure("Add_Request_")
            .extensibility(Extensibility::Final)
            .member("number", DynamicType::uint8())
            .member("client", DynamicType::string())
            .member("client_", DynamicType::float64())
            .build()
            .unwrap();
        let mut request = DynamicData::new(&ty);
        request.set("number", 7).unwrap();
        request.set("client", "arm").unwrap();
        request.set("client_", 0.5).unwrap();
        let mut sent = with_header(&request, &headed_type(&ty).unwrap()).unwrap();
        sent.set(CLIENT, 3).unwrap();
        sent.set(NUMBER, 1).unwrap();
        assert_eq!((sent.get::<u8>("number"), sent.get::<&str>("client")), (Ok(7), Ok("arm")));
        let payload = sent.to_payload(Encoding::Xcdr1).unwrap();
        assert_eq!(payload[20..], request.to_payload(Encoding::Xcdr1).unwrap()[4..]);
        assert_eq!(without_header(&sent, &ty).unwrap(), request);
    }

    #[test]
    fn leading_slash_marks_service_of_ros() {
        assert_eq!(topics_of("square"), ("square_Request".to_owned(), "square_Reply".to_owned()));
        assert_eq!(topics_of("/a/sum"), ("rq/a/sumRequest".to_owned(), "rr/a/sumReply".to_owned()));
    }
}
