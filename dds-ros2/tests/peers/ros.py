"""A node of ROS 2 for the tests: it reads commands as JSON lines, and prints events as JSON lines."""

import importlib
import json
import os
import sys
import threading
import time

import rclpy
import samples
from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rcl_interfaces.msg import Log, LoggerLevel, ParameterEvent
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels
from rclpy.action import (
    ActionClient,
    ActionServer,
    CancelResponse,
    GoalResponse,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import QoSDurabilityPolicy, QoSPolicyKind, QoSProfile, qos_profile_sensor_data, qos_profile_system_default
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.service_introspection import ServiceIntrospectionState
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci
from type_description_interfaces.srv import GetTypeDescription

PROFILES = {
    "default": QoSProfile(depth=10),
    "sensor_data": qos_profile_sensor_data,
    "latched": QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL),
}


REPORTING = threading.Lock()


def report(event, **data):
    # Callbacks report on another thread, and `print` writes a line and its end separately: without the lock, two lines
    # become one that is no JSON.
    with REPORTING:
        print(json.dumps({"event": event, **data}), flush=True)


def names(pairs):
    return {name: types for name, types in pairs}


class Peer:
    def __init__(self, name, namespace):
        self.node = rclpy.create_node(
            name,
            namespace=namespace,
            enable_logger_service=True,
            automatically_declare_parameters_from_overrides="--params-file" in sys.argv,
        )
        self.publishers = {}
        self.clients = {}
        self.kept = []
        self.remotes = {}

    def publish(self, topic, text, profile="default"):
        if topic not in self.publishers:
            self.publishers[topic] = self.node.create_publisher(String, topic, PROFILES[profile])
        self.publishers[topic].publish(String(data=text))

    def subscribe(self, topic, profile="default"):
        heard = lambda message: report("heard", topic=topic, text=message.data)
        self.kept.append(self.node.create_subscription(String, topic, heard, PROFILES[profile]))
        report("subscribed")

    def watch_qos(self, topic):
        """Publishes and subscribes with a deadline of 0.2 s, and reports the events."""
        seen = lambda side, name: lambda event: report(f"{side}_{name}", count=event.total_count)
        callbacks = lambda side: {name: seen(side, name) for name in ("deadline", "incompatible_qos", "matched")}
        qos = QoSProfile(depth=10, deadline=Duration(nanoseconds=200_000_000))
        subscribed = SubscriptionEventCallbacks(**callbacks("subscription"))
        published = PublisherEventCallbacks(**callbacks("publisher"))
        ignore = lambda message: None
        self.kept.append(self.node.create_subscription(String, topic, ignore, qos, event_callbacks=subscribed))
        self.publishers[topic] = self.node.create_publisher(String, topic + "_back", qos, event_callbacks=published)
        report("watch_qos")

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

    def introspect(self, service):
        clock, contents = self.node.get_clock(), ServiceIntrospectionState.CONTENTS
        for one in [*self.node.services, *self.node.clients]:
            if one.srv_name == service:
                one.configure_introspection(clock, qos_profile_system_default, contents)
        report("introspecting")

    def hear_calls(self, service):
        heard = lambda event: report(
            "call_event",
            kind=event.info.event_type,
            client=[int(byte) for byte in event.info.client_gid],
            number=event.info.sequence_number,
            request=[one.data for one in event.request],
            response=[one.message for one in event.response],
        )
        self.kept.append(self.node.create_subscription(SetBool.Event, service + "/_service_event", heard, 10))
        report("hearing_calls")

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

    def actions(self, name, namespace):
        report(
            "actions",
            all=names(get_action_names_and_types(self.node)),
            servers=names(get_action_server_names_and_types_by_node(self.node, name, namespace)),
            clients=names(get_action_client_names_and_types_by_node(self.node, name, namespace)),
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


    def send_goal(self, action, order, cancel):
        if action not in self.clients:
            self.clients[action] = ActionClient(self.node, Fibonacci, action)
            self.clients[action + "/cancel"] = self.node.create_client(CancelGoal, action + "/_action/cancel_goal")
            self.seen, self.last = set(), None
            self.kept.append(
                self.node.create_subscription(
                    GoalStatusArray, action + "/_action/status", self.see, PROFILES["latched"]
                )
            )
        client = self.clients[action]
        if not client.wait_for_server(timeout_sec=20):
            report("unavailable")
            return
        feedback = []
        heard = lambda message: feedback.append(list(message.feedback.sequence))

        def accepted(future):
            handle = future.result()
            if not handle.accepted:
                report("goal_done", accepted=False)
                return

            def done(future):
                answer = future.result()
                report(
                    "goal_done",
                    accepted=True,
                    status=answer.status,
                    sequence=list(answer.result.sequence),
                    feedback=feedback,
                )

            handle.get_result_async().add_done_callback(done)
            if cancel:
                self.cancel(action, cancel, handle)

        client.send_goal_async(Fibonacci.Goal(order=order), heard).add_done_callback(accepted)

    def cancel(self, action, cancel, handle):
        info = GoalInfo()
        if cancel == "one":
            info.goal_id = handle.goal_id
        if cancel == "until":
            info.stamp = handle.stamp
        done = lambda future: report(
            "canceled", code=future.result().return_code, count=len(future.result().goals_canceling)
        )
        request = CancelGoal.Request(goal_info=info)
        self.clients[action + "/cancel"].call_async(request).add_done_callback(done)

    def see(self, message):
        self.last = [status.status for status in message.status_list]
        self.seen.update(self.last)

    def goal_status(self):
        report("goal_status", seen=sorted(self.seen), last=self.last)

    def serve_action(self, action):
        def execute(goal):
            sequence = [0, 1]
            while len(sequence) <= goal.request.order:
                if goal.is_cancel_requested:
                    goal.canceled()
                    return Fibonacci.Result(sequence=sequence)
                sequence.append((sequence[-1] + sequence[-2]) % 1000000)
                goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
                time.sleep(0.1)
            goal.succeed()
            return Fibonacci.Result(sequence=sequence)

        decide = lambda goal: GoalResponse.ACCEPT if goal.order >= 0 else GoalResponse.REJECT
        server = ActionServer(
            self.node,
            Fibonacci,
            action,
            execute,
            goal_callback=decide,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self.kept.append(server)

    def declare(self, name, value):
        self.node.declare_parameter(name, value)
        report("declared")

    def overridden_endpoints(self, topic):
        """Creates a publisher and a subscription whose QoS parameters may override."""
        kinds = [kind for kind in QoSPolicyKind if kind.name not in ("INVALID", "AVOID_ROS_NAMESPACE_CONVENTIONS")]
        readers = [kind for kind in kinds if kind.name != "LIFESPAN"]
        publishing, subscribing = (QoSOverridingOptions(policy_kinds=kinds) for kinds in (kinds, readers))
        self.kept.append(self.node.create_publisher(String, topic, 10, qos_overriding_options=publishing))
        subscription = self.node.create_subscription(String, topic, print, 10, qos_overriding_options=subscribing)
        self.kept.append(subscription)
        names = [name for name in self.node._parameters if name.startswith("qos_overrides.")]
        report("overridden_endpoints", values={name: self.node.get_parameter(name).value for name in names})

    def parameter(self, name):
        report("parameter", value=self.node.get_parameter(name).value)

    def watch_parameters(self):
        changed = lambda event: report(
            "parameter_event",
            node=event.node,
            new=[parameter.name for parameter in event.new_parameters],
            changed=[parameter.name for parameter in event.changed_parameters],
        )
        self.kept.append(self.node.create_subscription(ParameterEvent, "/parameter_events", changed, 10))
        report("watching")

    def remote(self, node):
        if node not in self.remotes:
            self.remotes[node] = AsyncParameterClient(self.node, node)
        client = self.remotes[node]
        if not client.wait_for_services(timeout_sec=20):
            report("unavailable")
        return client

    def describe(self, node, name, hash):
        client = self.node.create_client(GetTypeDescription, node + "/get_type_description")
        if not client.wait_for_service(timeout_sec=20):
            report("unavailable")
            return
        self.kept.append(client)

        def done(future):
            answer = future.result()
            fields = lambda one: [[f.name, f.type.type_id, f.type.nested_type_name] for f in one.fields]
            description = answer.type_description
            report(
                "described_type",
                successful=answer.successful,
                reason=answer.failure_reason,
                fields=fields(description.type_description),
                nested={one.type_name: fields(one) for one in description.referenced_type_descriptions},
            )

        request = GetTypeDescription.Request(type_name=name, type_hash=hash)
        client.call_async(request).add_done_callback(done)

    def ask_service(self, kind, name, request, then):
        if name not in self.clients:
            self.clients[name] = self.node.create_client(kind, name)
        if not self.clients[name].wait_for_service(timeout_sec=20):
            report("unavailable")
            return
        self.clients[name].call_async(request).add_done_callback(lambda future: then(future.result()))

    def exchange(self, type):
        package, kind, name = type.split("/")
        message = samples.fill(getattr(importlib.import_module(f"{package}.{kind}"), name))
        profile = PROFILES["latched"]

        def heard(back):
            report("exchanged", type=type, is_same=back == message, text=samples.text(message))
            self.node.destroy_publisher(publisher)
            self.node.destroy_subscription(subscription)

        # The layer below refuses a topic that still has an endpoint of another type.
        subscription = self.node.create_subscription(message.__class__, f"back/{type}", heard, profile)
        publisher = self.node.create_publisher(message.__class__, f"there/{type}", profile)
        publisher.publish(message)

    def start_pair(self, serve, call, value, server_first, pause):
        """Starts a server and a client in a participant of their own, in any order. The client calls once."""
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node("pair", context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        threading.Thread(target=executor.spin, daemon=True).start()

        def answer(request, response):
            response.success = not request.data
            return response

        starts = [lambda: node.create_service(SetBool, serve, answer), lambda: node.create_client(SetBool, call)]
        if not server_first:
            starts.reverse()
        started = [starts[0]()]
        time.sleep(pause)
        started.append(starts[1]())
        client = started[1] if server_first else started[0]
        is_ready = client.wait_for_service(timeout_sec=30)
        answered = threading.Event()
        future = client.call_async(SetBool.Request(data=value))
        future.add_done_callback(lambda future: answered.set())
        is_answered = answered.wait(30)
        report("pair_answered", ready=is_ready, success=future.result().success if is_answered else None)
        self.pair = (context, node, executor)

    def stop_pair(self):
        context, node, executor = self.pair
        executor.shutdown(timeout_sec=5)
        node.destroy_node()
        context.try_shutdown()
        report("pair_stopped")

    def watch_lifecycle(self, node):
        self.goals, self.sizes = [], {}
        heard = lambda event: self.goals.append(event.goal_state.label)
        self.kept.append(self.node.create_subscription(TransitionEvent, node + "/transition_event", heard, 10))

        def graph(answer):
            self.sizes["transitions"] = len(answer.available_transitions)
            report("watching_lifecycle")

        def states(answer):
            self.sizes["states"] = len(answer.available_states)
            request = GetAvailableTransitions.Request()
            threading.Thread(
                target=self.ask_service,
                args=(GetAvailableTransitions, node + "/get_transition_graph", request, graph),
            ).start()

        self.ask_service(GetAvailableStates, node + "/get_available_states", GetAvailableStates.Request(), states)

    def change_state(self, node, label):
        def state(success, answer):
            report("changed_state", success=success, state=answer.current_state.label)

        def changed(answer):
            then = lambda current: state(answer.success, current)
            threading.Thread(
                target=self.ask_service, args=(GetState, node + "/get_state", GetState.Request(), then)
            ).start()

        request = ChangeState.Request(transition=Transition(label=label))
        self.ask_service(ChangeState, node + "/change_state", request, changed)

    def start_lifecycle(self, name):
        node = LifecycleNode(name)
        self.executor.add_node(node)
        self.kept.append(node)
        report("start_lifecycle")

    def lifecycle_events(self):
        report("lifecycle_events", goals=self.goals, **self.sizes)

    def hear_logs(self):
        heard = lambda log: report("log", level=log.level, name=log.name, text=log.msg)
        qos = QoSProfile(depth=1000, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.kept.append(self.node.create_subscription(Log, "/rosout", heard, qos))
        report("hearing")

    def log(self, text):
        self.node.get_logger().warning(text)

    def logger_levels(self, node, names):
        done = lambda answer: report("logger_levels", levels={one.name: one.level for one in answer.levels})
        request = GetLoggerLevels.Request(names=names)
        self.ask_service(GetLoggerLevels, node + "/get_logger_levels", request, done)

    def set_logger_level(self, node, name, level):
        done = lambda answer: report("set_logger_level", successful=[one.successful for one in answer.results])
        request = SetLoggerLevels.Request(levels=[LoggerLevel(name=name, level=level)])
        self.ask_service(SetLoggerLevels, node + "/set_logger_levels", request, done)

    def clock(self, seconds):
        if "/clock" not in self.publishers:
            self.publishers["/clock"] = self.node.create_publisher(Clock, "/clock", 10)
        self.publishers["/clock"].publish(Clock(clock=Time(sec=seconds)))
        report("clock")

    def list_parameters(self, node, prefixes):
        done = lambda future: report("listed", names=list(future.result().result.names))
        self.remote(node).list_parameters(prefixes, 0).add_done_callback(done)

    def get_parameter_types(self, node, names):
        done = lambda future: report("got_types", types=list(future.result().types))
        self.remote(node).get_parameter_types(names).add_done_callback(done)

    def get_parameters(self, node, names):
        done = lambda future: report("got", values=[parameter_value_to_python(v) for v in future.result().values])
        self.remote(node).get_parameters(names).add_done_callback(done)

    def set_parameters(self, node, values, atomically=False):
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        if atomically:
            done = lambda future: report("set", results=[[future.result().result.successful, future.result().result.reason]])
            self.remote(node).set_parameters_atomically(parameters).add_done_callback(done)
        else:
            done = lambda future: report("set", results=[[one.successful, one.reason] for one in future.result().results])
            self.remote(node).set_parameters(parameters).add_done_callback(done)

    def describe_parameters(self, node, names):
        done = lambda future: report(
            "described",
            descriptors=[
                {
                    "type": one.type,
                    "description": one.description,
                    "read_only": one.read_only,
                    "range": [[r.from_value, r.to_value] for r in one.floating_point_range],
                }
                for one in future.result().descriptors
            ],
        )
        self.remote(node).describe_parameters(names).add_done_callback(done)


def main():
    rclpy.init()
    peer = Peer(sys.argv[1], sys.argv[2])
    # Calls of clients race with their replies in an executor with threads, so only an action server has one.
    executor = MultiThreadedExecutor(8) if "TEST_THREADS" in os.environ else SingleThreadedExecutor()
    executor.add_node(peer.node)
    peer.executor = executor

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
