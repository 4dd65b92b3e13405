//! Files in object storage that speaks S3.

pub mod answer;
pub mod cache;
pub mod errors;
pub mod permits;
pub mod request;
pub mod sign;
pub mod xml;
