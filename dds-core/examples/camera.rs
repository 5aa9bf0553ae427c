//! A camera of 2.7 MB per image: written as a loan, read as a view, with dropped images counted.
//!
//! The viewer needs longer for an image than the camera. It gets the newest one, and `losses` counts the others.
//! Two participants exchange the images as two processes do: on Linux through shared memory.

#![allow(clippy::disallowed_methods, reason = "an example uses the clock and the threads of the standard library")]

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DdsType, DomainParticipant, Scope};
use std::time::Duration;

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;
const IMAGES: u32 = 30;

/// `view` generates `ImageView`, which borrows the pixels from the received bytes.
#[derive(DdsType, Default)]
#[dds(view = ImageView)]
struct Image {
    number: u32,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = DomainParticipant::builder(0).scope(Scope::Host).name("camera");
    let (camera, viewer) = (builder.clone().build()?, builder.name("viewer").build()?);
    // Reliable, because one lost fragment costs a whole image. KEEP_LAST 1, because only the newest matters.
    let qos = DataReaderQos::default().reliable().keep_last(1);
    let reader = viewer.reader_builder::<Image>("camera/image").qos(qos).build()?;
    let qos = DataWriterQos::default().reliable().keep_last(1);
    let writer = camera.writer_builder::<Image>("camera/image").qos(qos).build()?;
    writer.wait_for_readers(1).block()?;

    let capture = std::thread::spawn(move || {
        for number in 1..=IMAGES {
            let mut image = writer.loan()?; // the memory of an earlier image
            (image.number, image.width, image.height) = (number, WIDTH, HEIGHT);
            image.pixels.resize((WIDTH * HEIGHT * 3) as usize, 0);
            image.pixels.fill(number as u8);
            image.write()?;
            std::thread::sleep(Duration::from_millis(33));
        }
        writer.acknowledged().block_for(Duration::from_secs(10))?;
        Ok::<(), dds_core::Error>(())
    });

    let (mut seen, mut last) = (0, 0);
    while last < IMAGES {
        reader.readable().block_for(Duration::from_secs(10))?;
        for sample in &reader.take()? {
            let Some(image) = sample.view::<ImageView<'_>>().transpose()? else { continue };
            let (center, size) = (image.pixels[image.pixels.len() / 2], image.pixels.len());
            println!("image {}: {}x{}, {size} bytes, center {center}", image.number, image.width, image.height);
            (seen, last) = (seen + 1, image.number);
        }
        std::thread::sleep(Duration::from_millis(100)); // the work for one image
    }
    capture.join().expect("the camera thread does not panic")?;
    println!("{seen} of {IMAGES} images seen");
    println!("{}", reader.losses());
    Ok(())
}
