//! Configuration of the proxy that a local endpoint keeps for a discovered one.

use super::event::{DiscoveredReader, DiscoveredWriter};
use crate::qos::{Durability, History};
use crate::reader::WriterProxyConfig;
use crate::types::VendorId;
use crate::writer::ReaderProxyConfig;

impl DiscoveredReader {
    /// Returns the configuration of its reader proxy in a local writer.
    #[must_use]
    pub fn proxy(&self) -> ReaderProxyConfig {
        ReaderProxyConfig {
            reliable: self.data.qos.reliability.is_reliable(),
            wants_history: self.data.qos.durability > Durability::Volatile,
            asks_for_history: self.vendor == VendorId::OURS || self.data.qos.durability <= Durability::TransientLocal,
            multicast: self.route.multicast.to_vec(),
            content_filter: self.data.content_filter.clone(),
            expects_inline_qos: self.data.expects_inline_qos,
            // On the same host datagrams may be longer than a network frame.
            same_host: self.route.same_host,
            vendor: self.vendor,
            ..ReaderProxyConfig::new(self.data.endpoint.guid, self.route.unicast.to_vec())
        }
    }
}

impl DiscoveredWriter {
    /// Returns the configuration of its writer proxy in a local reader.
    #[must_use]
    pub fn proxy(&self) -> WriterProxyConfig {
        let known = WriterProxyConfig::of_vendor(self.data.endpoint.guid, self.vendor);
        // A volatile writer of Cyclone DDS keeps a change until all readers have acknowledged it, and answers other
        // requests with a GAP (`handle_acknack`). A writer that keeps its history would send it to a volatile reader
        // on request.
        let keeps_nothing = self.vendor == VendorId::CYCLONE && self.data.qos.durability == Durability::Volatile;
        WriterProxyConfig {
            reliable: self.data.qos.reliability.is_reliable(),
            separates_history: known.separates_history || keeps_nothing,
            keeps_last: self.keeps_last(),
            lifespan: self.data.qos.lifespan,
            ownership_strength: self.data.qos.ownership_strength,
            // The offered lease applies, not the requested one: LIVELINESS_LOST concerns the writer's commitment
            // (DDS 1.4, 2.2.4.1), and Cyclone DDS does the same.
            liveliness: self.data.qos.liveliness,
            publisher: self.data.endpoint.group,
            reports_group_progress: self.vendor == VendorId::OURS,
            unicast: self.route.unicast.to_vec(),
            multicast: self.route.multicast.to_vec(),
            ..known
        }
    }

    /// Whether the writer is known to replace samples.
    ///
    /// Many vendors never announce HISTORY, and their writers may well keep all samples.
    fn keeps_last(&self) -> bool {
        let omits_defaults = self.vendor == VendorId::OURS || self.vendor == VendorId::CYCLONE;
        let is_known = omits_defaults || !self.data.endpoint.omits_history;
        is_known && matches!(self.data.qos.history, History::KeepLast { .. })
    }
}

#[cfg(test)]
mod tests {
    use crate::discovery::data::{EndpointData, PublicationData, SubscriptionData};
    use crate::discovery::{Discovered, Route};
    use crate::qos::{DataReaderQos, DataWriterQos};
    use crate::types::{Duration, Guid, Locator, VendorId};

    fn discovered<T>(data: T) -> Discovered<T> {
        let unicast = [Locator::udp_v4([127, 0, 0, 1].into(), 7411)].into_iter().collect();
        Discovered {
            data,
            route: Route { unicast, same_host: true, ..Route::default() },
            vendor: VendorId::CYCLONE,
            is_local: false,
        }
    }

    #[test]
    fn proxies_copy_the_policies_of_delivery() {
        let endpoint = EndpointData::new(Guid::UNKNOWN, "Square", "ShapeType");
        let qos = DataReaderQos::default().reliable().transient_local();
        let reader = discovered(SubscriptionData::new(endpoint.clone(), qos)).proxy();
        assert!(reader.reliable && reader.wants_history && reader.same_host && !reader.expects_inline_qos);
        assert_eq!(reader.unicast.len(), 1);
        let qos = DataWriterQos::default().best_effort().lifespan(Duration::from_secs(1));
        let writer = discovered(PublicationData::new(endpoint.clone(), qos.clone(), true)).proxy();
        assert!(!writer.reliable && writer.separates_history);
        let keeping = discovered(PublicationData::new(endpoint, qos.transient_local(), true)).proxy();
        assert!(!keeping.separates_history && keeping.keeps_last);
        assert_eq!(writer.lifespan, Duration::from_secs(1));
        assert_eq!(writer.unicast.len(), 1);
    }

    /// With DDS Security, a GUID does not show the vendor.
    #[test]
    fn vendor_of_proxies_is_the_announced_one() {
        let endpoint = EndpointData::new(Guid::UNKNOWN, "Square", "ShapeType");
        let writer = |vendor| {
            let data = PublicationData::new(endpoint.clone(), DataWriterQos::default().transient_local(), true);
            Discovered { vendor, ..discovered(data) }.proxy()
        };
        let (ours, fast_dds, rti) = (writer(VendorId::OURS), writer(VendorId::EPROSIMA), writer(VendorId::RTI));
        assert_eq!([ours.vendor, fast_dds.vendor, rti.vendor], [VendorId::OURS, VendorId::EPROSIMA, VendorId::RTI]);
        assert!(ours.separates_history && ours.names_first_relevant);
        assert!(fast_dds.separates_history && !fast_dds.names_first_relevant);
        assert!(!rti.separates_history && !rti.names_first_relevant);
        let reader = discovered(SubscriptionData::new(endpoint, DataReaderQos::default())).proxy();
        assert_eq!(reader.vendor, VendorId::CYCLONE);
    }

    /// The loss of a sample is an alarm unless the writer has replaced the sample.
    #[test]
    fn absent_history_counts_as_keep_last_only_for_vendors_that_omit_defaults() {
        let keeps_last = |vendor, omits_history, qos: DataWriterQos| {
            let endpoint = EndpointData { omits_history, ..EndpointData::new(Guid::UNKNOWN, "Square", "ShapeType") };
            let writer = Discovered { vendor, ..discovered(PublicationData::new(endpoint, qos, true)) };
            writer.proxy().keeps_last
        };
        for vendor in [VendorId::OURS, VendorId::CYCLONE, VendorId::EPROSIMA, VendorId::RTI] {
            let omits_defaults = [VendorId::OURS, VendorId::CYCLONE].contains(&vendor);
            assert_eq!(keeps_last(vendor, true, DataWriterQos::default()), omits_defaults, "{vendor:?}");
            assert!(keeps_last(vendor, false, DataWriterQos::default()), "{vendor:?}");
            assert!(!keeps_last(vendor, false, DataWriterQos::default().keep_all()), "{vendor:?}");
        }
    }
}
