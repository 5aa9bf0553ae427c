//! Messages of the Foxglove WebSocket protocol, version 1.
//!
//! JSON in text messages, and little-endian values in binary ones. A sample has the opcode 1, the subscription (`u32`),
//! the reception in nanoseconds (`u64`) and the payload. A sample of a client has the opcode 1, the channel (`u32`) and
//! the payload. The time has the opcode 2 and nanoseconds (`u64`).

use serde::Deserialize;
use serde_json::{Value, json};
use tungstenite::Message;

/// Subprotocols of WebSocket, in the order of preference. The messages of both are the same here.
pub(crate) const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

const SAMPLE_OPCODE: u8 = 1;
const TIME_OPCODE: u8 = 2;
/// Most subscriptions or channels in one message of a client.
const ITEMS_MAX: usize = 4096;

/// A request of a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientMessage {
    Subscribe(Vec<Subscription>),
    Unsubscribe(Vec<u32>),
    Advertise(Vec<ClientChannel>),
    Unadvertise(Vec<u32>),
    Sample {
        channel: u32,
        payload: Vec<u8>,
    },
    /// A message that this server does not support.
    Unsupported(String),
}

/// A subscription to a channel of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subscription {
    pub(crate) id: u32,
    pub(crate) channel_id: u32,
}

/// A topic that a client wants to publish.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientChannel {
    pub(crate) id: u32,
    pub(crate) topic: String,
    pub(crate) encoding: String,
    pub(crate) schema_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMessage {
    op: String,
    #[serde(default)]
    subscriptions: Vec<Subscription>,
    #[serde(default)]
    subscription_ids: Vec<u32>,
    #[serde(default)]
    channels: Vec<ClientChannel>,
    #[serde(default)]
    channel_ids: Vec<u32>,
}

impl ClientMessage {
    /// Parses a text message.
    ///
    /// # Errors
    /// The reason as text.
    pub(crate) fn parse_text(text: &str) -> Result<Self, String> {
        let raw: RawMessage = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let len = raw.subscriptions.len() + raw.subscription_ids.len() + raw.channels.len() + raw.channel_ids.len();
        if len > ITEMS_MAX {
            return Err(format!("the message has {len} items, at most {ITEMS_MAX} are accepted"));
        }
        Ok(match raw.op.as_str() {
            "subscribe" => Self::Subscribe(raw.subscriptions),
            "unsubscribe" => Self::Unsubscribe(raw.subscription_ids),
            "advertise" => Self::Advertise(raw.channels),
            "unadvertise" => Self::Unadvertise(raw.channel_ids),
            _ => Self::Unsupported(raw.op),
        })
    }

    /// Parses a binary message.
    ///
    /// # Errors
    /// The reason as text.
    pub(crate) fn parse_binary(bytes: &[u8]) -> Result<Self, String> {
        let Some((opcode, rest)) = bytes.split_first() else { return Err("the message is empty".to_owned()) };
        if *opcode != SAMPLE_OPCODE {
            return Ok(Self::Unsupported(format!("opcode {opcode}")));
        }
        match rest.split_first_chunk() {
            Some((channel, payload)) => {
                Ok(Self::Sample { channel: u32::from_le_bytes(*channel), payload: payload.to_vec() })
            }
            None => Err("the message has no channel".to_owned()),
        }
    }
}

/// The first message of the server.
pub(crate) fn server_info(session: &str, accepts_samples: bool) -> Message {
    let mut capabilities = vec!["time"];
    if accepts_samples {
        capabilities.push("clientPublish");
    }
    text(&json!({
        "op": "serverInfo",
        "name": "dds serve",
        "capabilities": capabilities,
        "supportedEncodings": ["cdr", "json"],
        "metadata": {},
        "sessionId": session,
    }))
}

/// Announces channels.
pub(crate) fn advertise(channels: &[Value]) -> Message {
    text(&json!({ "op": "advertise", "channels": channels }))
}

/// Withdraws channels.
pub(crate) fn unadvertise(channels: &[u32]) -> Message {
    text(&json!({ "op": "unadvertise", "channelIds": channels }))
}

/// Warns the user of a client.
pub(crate) fn warning(message: &str) -> Message {
    text(&json!({ "op": "status", "level": 1, "message": message }))
}

/// A sample for a subscription.
pub(crate) fn sample(subscription: u32, time: u64, payload: &[u8]) -> Message {
    let mut bytes = Vec::with_capacity(13 + payload.len());
    bytes.push(SAMPLE_OPCODE);
    bytes.extend_from_slice(&subscription.to_le_bytes());
    bytes.extend_from_slice(&time.to_le_bytes());
    bytes.extend_from_slice(payload);
    Message::binary(bytes)
}

/// The present time.
pub(crate) fn time(nanoseconds: u64) -> Message {
    let mut bytes = vec![TIME_OPCODE];
    bytes.extend_from_slice(&nanoseconds.to_le_bytes());
    Message::binary(bytes)
}

fn text(value: &Value) -> Message {
    Message::text(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{ClientMessage, Subscription};

    #[test]
    fn requests_of_clients_are_understood() {
        let subscribe = r#"{"op":"subscribe","subscriptions":[{"id":7,"channelId":3}]}"#;
        let expected = ClientMessage::Subscribe(vec![Subscription { id: 7, channel_id: 3 }]);
        assert_eq!(ClientMessage::parse_text(subscribe), Ok(expected));
        let other = ClientMessage::Unsupported("getParameters".to_owned());
        assert_eq!(ClientMessage::parse_text(r#"{"op":"getParameters","parameterNames":[]}"#), Ok(other));
        let sample = ClientMessage::Sample { channel: 2, payload: vec![9] };
        assert_eq!(ClientMessage::parse_binary(&[1, 2, 0, 0, 0, 9]), Ok(sample));
    }

    #[test]
    fn damaged_requests_are_errors() {
        for text in ["", "[]", "{}", r#"{"op":1}"#, r#"{"op":"subscribe","subscriptions":[{"id":-1}]}"#] {
            assert!(ClientMessage::parse_text(text).is_err(), "{text}");
        }
        let ids = vec!["1"; 5000].join(",");
        assert!(ClientMessage::parse_text(&format!(r#"{{"op":"unsubscribe","subscriptionIds":[{ids}]}}"#)).is_err());
        assert!(ClientMessage::parse_binary(&[]).is_err());
        assert!(ClientMessage::parse_binary(&[1, 2, 0]).is_err());
    }
}
