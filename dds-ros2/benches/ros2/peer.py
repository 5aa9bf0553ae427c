"""Nodes of rclpy for the bench `ros2`: `peer.py ping`, `pong`, `crowd COUNT` or `observe COUNT`."""

import os
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import SetBool

NODES_OF_A_CONTEXT = 5


def say(text):
    print(text, flush=True)


def pong(node):
    texts = node.create_publisher(String, "text_back", 10)
    images = node.create_publisher(Image, "image_back", 10)
    kept = [
        node.create_subscription(String, "text", texts.publish, 10),
        node.create_subscription(Image, "image", images.publish, 10),
        node.create_service(SetBool, "flip", lambda request, response: response),
    ]
    return kept


class Ping:
    def __init__(self, node, executor):
        self.executor, self.is_back = executor, False
        self.publishers, self.messages, self.kept = {}, {}, []
        text = String(data="x" * 32)
        image = Image(height=1024, width=1024, step=1024, encoding="mono8", data=bytes(1 << 20))
        for name, message in [("text", text), ("image", image)]:
            self.messages[name] = message
            self.publishers[name] = node.create_publisher(type(message), name, 10)
            self.kept.append(node.create_subscription(type(message), name + "_back", self.arrive, 10))
        self.client = node.create_client(SetBool, "flip")
        self.client.wait_for_service()
        while any(one.get_subscription_count() == 0 for one in self.publishers.values()):
            time.sleep(0.01)
        while any(node.count_publishers(name + "_back") == 0 for name in self.publishers):
            time.sleep(0.01)
        # The publishers on the other side may not know the own subscriptions yet.
        time.sleep(0.5)

    def arrive(self, _):
        self.is_back = True

    def round_trip(self, work):
        self.is_back = False
        if work == "call":
            self.client.call_async(SetBool.Request(data=True)).add_done_callback(self.arrive)
        else:
            self.publishers[work].publish(self.messages[work])
        while not self.is_back:
            self.executor.spin_once()

    def serve(self):
        for line in sys.stdin:
            work, count = line.split()
            times = []
            for _ in range(int(count)):
                start = time.perf_counter_ns()
                self.round_trip(work)
                times.append(str(time.perf_counter_ns() - start))
            say(" ".join(times))


def start_nodes(count):
    executors, nodes = [], []
    for number in range(count):
        if number % NODES_OF_A_CONTEXT == 0:
            context = rclpy.Context()
            rclpy.init(context=context)
            executors.append(SingleThreadedExecutor(context=context))
            threading.Thread(target=executors[-1].spin, daemon=True).start()
        nodes.append(rclpy.create_node(f"python_{number}", context=context))
        executors[-1].add_node(nodes[-1])
    return executors, nodes


def main():
    role = sys.argv[1]
    if role == "crowd":
        kept = start_nodes(int(sys.argv[2]))
        say("ready")
        sys.stdin.read()
        return kept
    rclpy.init()
    start = time.perf_counter()
    node = rclpy.create_node(role)
    if role == "observe":
        count = int(sys.argv[2])
        while len(node.get_node_names()) < count + 1:
            time.sleep(0.01)
        say(str(time.perf_counter() - start))
        return None
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    if role == "pong":
        kept = pong(node)
        threading.Thread(target=executor.spin, daemon=True).start()
        say("ready")
        sys.stdin.read()
        return kept
    ping = Ping(node, executor)
    say("ready")
    return ping.serve()


kept = main()
sys.stdout.flush()
# The destructors of a spinning executor abort the process.
os._exit(0)
