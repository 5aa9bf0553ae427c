//! Nodes in the simulator of `dds-core`, over a network that loses datagrams.

use dds_core::Sample;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::{Conditions, Simulation};
use dds_core::writer::WriteOptions;
use dds_ros2::msgs::std_msgs::msg::Int32;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use dds_ros2::{Context, Duration, Node, QosProfile};
use futures_util::future::join;

/// Simulated time. Only a failing test reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// No pulse may be replaced by a later one before it is repaired.
const PULSES: QosProfile = QosProfile::DEFAULT.keep_all();

fn node(simulation: &Simulation, host: &'static str) -> Node {
    let context = Context::builder().ignore_environment().build_by(|builder| simulation.build(host, builder)).unwrap();
    context.node(host).unwrap()
}

/// The node under test counts the pulses of a wheel.
async fn count_pulses(node: &Node, pulses: usize) -> dds_ros2::Result<i32> {
    let subscription = node.subscription_with::<Int32>("pulses", PULSES)?;
    let total = node.publisher::<Int32>("total")?;
    let mut sum = 0;
    for _ in 0..pulses {
        sum += subscription.next_message().await?.data;
        total.publish(&Int32 { data: sum })?;
    }
    Ok(sum)
}

fn lossy(seed: u64) -> Simulation {
    let simulation = Simulation::new(Simulation::seed_or(seed));
    simulation.set_network(Conditions { loss: 0.2, ..Conditions::ethernet() });
    simulation
}

#[test]
fn simulated_node_gets_each_message_over_a_lossy_network() {
    let simulation = lossy(1);
    let (wheel, counter) = (node(&simulation, "wheel"), node(&simulation, "counter"));
    let pulses = wheel.publisher_with::<Int32>("pulses", PULSES).unwrap();
    let drive = async {
        pulses.wait_for_subscribers(1).await.unwrap();
        for data in 1..=100 {
            pulses.publish(&Int32 { data }).unwrap();
            wheel.clock().sleep(Duration::from_millis(10)).await.unwrap();
        }
    };
    let both = join(drive, count_pulses(&counter, 100));
    let ((), sum) = simulation.block_on(LIMIT, both).expect("the messages arrive");
    assert_eq!(sum.unwrap(), 5050);
}

#[test]
fn simulated_server_answers_each_call_over_a_lossy_network() {
    let simulation = lossy(2);
    let (light, console) = (node(&simulation, "light"), node(&simulation, "console"));
    let service = light.service::<SetBool>("switch").unwrap();
    let client = console.client::<SetBool>("switch").unwrap();
    let serve = async {
        for _ in 0..50 {
            service
                .next_request()
                .await
                .unwrap()
                .answer(|request| SetBoolResponse { success: request.data, message: String::new() });
        }
    };
    let call = async {
        for number in 0..50 {
            let data = number % 3 == 0;
            assert_eq!(client.call(SetBoolRequest { data }).await.unwrap().success, data);
        }
    };
    simulation.block_on(LIMIT, join(serve, call)).expect("the replies arrive");
}

/// Servers of other vendors answer also before they know the reader of the reply.
#[test]
fn simulated_call_waits_until_its_server_knows_the_client() {
    for seed in 0..20 {
        let simulation = lossy(seed);
        let console = node(&simulation, "console");
        let client = console.client::<SetBool>("switch").unwrap();
        let light = simulation.participant("light", 0).unwrap();
        let replies = light.writer_builder::<SetBoolResponse>("rr/switchReply");
        let replies = replies.qos(DataWriterQos::default().reliable().keep_all()).build().unwrap();
        let answer = move |request: Sample<SetBoolRequest>| {
            let options = WriteOptions::new().related_sample(request.info.sample_identity());
            let response = SetBoolResponse { success: request.data.unwrap().data, message: String::new() };
            replies.write_with(&response, options).unwrap();
        };
        let requests = light.reader_builder::<SetBoolRequest>("rq/switchRequest");
        let requests = requests.qos(DataReaderQos::default().reliable().keep_all()).delivery(Delivery::Inline);
        let _requests = requests.on_sample(answer).build().unwrap();
        let response = simulation.block_on(LIMIT, client.call(SetBoolRequest { data: true }));
        assert!(response.expect("the reply arrives").unwrap().success);
    }
}

#[test]
fn simulated_node_sets_parameters_of_another_one() {
    let simulation = lossy(3);
    let (drive, tuner) = (node(&simulation, "drive"), node(&simulation, "tuner"));
    let speed = drive.parameter("speed", 1.0).range(0.0..=3.0).declare().unwrap();
    let remote = tuner.parameters_of("/drive").unwrap().within(Duration::from_secs(3600));
    // A thread of the node answers, for which simulated time does not wait. So this gives it real time.
    let mut set = std::pin::pin!(remote.set("speed", 2.5));
    let reply = (0..3000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        simulation.block_on(Duration::from_millis(100), set.as_mut())
    });
    reply.expect("the reply arrives").unwrap();
    assert_eq!(speed.get(), 2.5);
    tuner.context().graph().wait_for_node("/drive").block().unwrap();
}
