//! A camera that publishes only while it is active. `ros2 lifecycle set /camera activate` does the same from outside.

use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::{LifecycleCallbacks, LifecycleNode, LifecycleTransition, TransitionResult};

struct Camera;

impl LifecycleCallbacks for Camera {
    fn on_configure(&mut self, _node: &LifecycleNode) -> TransitionResult {
        println!("opens the device");
        TransitionResult::Success
    }

    fn on_cleanup(&mut self, _node: &LifecycleNode) -> TransitionResult {
        println!("closes the device");
        TransitionResult::Success
    }
}

fn main() -> dds_ros2::Result<()> {
    let node = LifecycleNode::new(&dds_ros2::Context::from_env()?.node("camera")?, Camera)?;
    let frames = node.publisher::<Text>("frames")?;
    for transition in [LifecycleTransition::Configure, LifecycleTransition::Activate] {
        node.change_state(transition)?;
    }
    frames.publish(&Text { data: "frame 1".into() })?;
    for transition in [LifecycleTransition::Deactivate, LifecycleTransition::Cleanup] {
        node.change_state(transition)?;
    }
    println!("{:?}", node.state());
    Ok(())
}
