//! Files in object storage that speaks S3.

pub mod sign;
pub mod xml;
