"""A node of ROS 2 for the tests: it reads commands as JSON lines, and prints events as JSON lines."""

import json
import os
import sys
import threading

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, qos_profile_sensor_data
from std_msgs.msg import String
from std_srvs.srv import SetBool

PROFILES = {
    "default": QoSProfile(depth=10),
    "sensor_data": qos_profile_sensor_data,
    "latched": QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL),
}


def report(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def names(pairs):
    return {name: types for name, types in pairs}


class Peer:
    def __init__(self, name, namespace):
        self.node = rclpy.create_node(name, namespace=namespace)
        self.publishers = {}
        self.clients = {}
        self.kept = []

    def publish(self, topic, text, profile="default"):
        if topic not in self.publishers:
            self.publishers[topic] = self.node.create_publisher(String, topic, PROFILES[profile])
        self.publishers[topic].publish(String(data=text))

    def subscribe(self, topic, profile="default"):
        heard = lambda message: report("heard", topic=topic, text=message.data)
        self.kept.append(self.node.create_subscription(String, topic, heard, PROFILES[profile]))
        report("subscribed")

    def serve(self, service):
        def answer(request, response):
            response.success = not request.data
            response.message = f"not {request.data}"
            return response

        self.kept.append(self.node.create_service(SetBool, service, answer))
        report("serving")

    def call(self, service, values):
        if service not in self.clients:
            self.clients[service] = self.node.create_client(SetBool, service)
        client = self.clients[service]
        if not client.wait_for_service(timeout_sec=20):
            report("unavailable")
            return
        for value in values:
            done = lambda future, value=value: report(
                "answered", asked=value, success=future.result().success, message=future.result().message
            )
            client.call_async(SetBool.Request(data=value)).add_done_callback(done)

    def ready(self, service):
        if service not in self.clients:
            self.clients[service] = self.node.create_client(SetBool, service)
        report("ready", is_ready=self.clients[service].service_is_ready())

    def graph(self):
        report(
            "graph",
            nodes=sorted(f"{space.rstrip('/')}/{name}" for name, space in self.node.get_node_names_and_namespaces()),
            topics=names(self.node.get_topic_names_and_types()),
            services=names(self.node.get_service_names_and_types()),
        )

    def node_info(self, name, namespace):
        report(
            "node_info",
            publishers=names(self.node.get_publisher_names_and_types_by_node(name, namespace)),
            subscriptions=names(self.node.get_subscriber_names_and_types_by_node(name, namespace)),
            services=names(self.node.get_service_names_and_types_by_node(name, namespace)),
            clients=names(self.node.get_client_names_and_types_by_node(name, namespace)),
        )

    def topic_info(self, topic):
        endpoints = self.node.get_publishers_info_by_topic(topic) + self.node.get_subscriptions_info_by_topic(topic)
        describe = lambda info: {
            "node": f"{info.node_namespace.rstrip('/')}/{info.node_name}",
            "type": info.topic_type,
            "hash": str(info.topic_type_hash),
            "gid": list(info.endpoint_gid),
            "kind": info.endpoint_type.name,
            "reliability": info.qos_profile.reliability.name,
            "durability": info.qos_profile.durability.name,
        }
        report("topic_info", endpoints=[describe(info) for info in endpoints])


def main():
    rclpy.init()
    peer = Peer(sys.argv[1], sys.argv[2])
    executor = SingleThreadedExecutor()
    executor.add_node(peer.node)

    def spin():
        try:
            executor.spin()
        except (ExternalShutdownException, RuntimeError):
            pass

    threading.Thread(target=spin, daemon=True).start()
    report("started")
    for line in sys.stdin:
        command = json.loads(line)
        getattr(peer, command.pop("command"))(**command)
    executor.shutdown(timeout_sec=5)
    peer.node.destroy_node()
    rclpy.try_shutdown()
    # The destructors of a spinning executor abort the process.
    sys.stdout.flush()
    os._exit(0)


main()
