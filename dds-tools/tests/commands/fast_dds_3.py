"""A node of ROS 2 Kilted on Fast DDS 3: fast_dds_3.py publish|subscribe. `dds` does not know the type of its topic."""

import sys
import time

import rclpy
from test_msgs.msg import Nested

rclpy.init()
node = rclpy.create_node("lab")
if sys.argv[1] == "publish":
    publisher = node.create_publisher(Nested, "nested", 10)
    number = 0
    while True:
        sample = Nested()
        sample.basic_types_value.int32_value = number
        publisher.publish(sample)
        if number == 0:
            print("ready", flush=True)
        number += 1
        time.sleep(0.02)
node.create_subscription(Nested, "nested", lambda it: print(it.basic_types_value.int32_value, flush=True), 10)
print("ready", flush=True)
rclpy.spin(node)
