//! Three nodes: a camera, a filter that inverts each image, and a viewer. Run it beside `rviz2`, or a camera of ROS.

use dds_ros2::msgs::sensor_msgs::msg::Image;
use dds_ros2::{Context, QosProfile, Result};

/// Room for a few images, so that a busy node skips old ones.
const IMAGES: QosProfile = QosProfile::SENSOR_DATA;

fn image(brightness: u8) -> Image {
    let (width, height) = (640, 480);
    let data = vec![brightness; (width * height) as usize];
    Image { width, height, encoding: "mono8".into(), step: width, data, ..Image::default() }
}

fn main() -> Result<()> {
    let context = Context::from_env()?;
    let filter = context.node("invert")?;
    let (input, output) = (
        filter.subscription_with::<Image>("image_raw", IMAGES)?,
        filter.publisher_with::<Image>("image_inverted", IMAGES)?,
    );
    let viewer = context.node("viewer")?.subscription_with::<Image>("image_inverted", IMAGES)?;
    let camera = context.node("camera")?.publisher_with::<Image>("image_raw", IMAGES)?;
    // The threads end when the program does.
    std::thread::spawn(move || {
        for mut image in input.iter() {
            for pixel in &mut image.data {
                *pixel = u8::MAX - *pixel;
            }
            if output.publish(&image).is_err() {
                break;
            }
        }
    });
    camera.wait_for_subscribers(1).block()?;
    viewer.wait_for_publishers(1).block()?;
    for brightness in [0, 100, 200] {
        camera.publish(&image(brightness))?;
        let seen = viewer.next_message().block()?;
        println!("{}x{} pixels of brightness {}", seen.width, seen.height, seen.data[0]);
    }
    Ok(())
}
