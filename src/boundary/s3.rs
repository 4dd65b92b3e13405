//! `S3Backend`, `R2Backend` and `presignS3`.

use std::time::Duration;

use crate::boundary::Host;
use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::error::Result;
use crate::core::time::Time;
use crate::files::WriteMode;
use crate::storage::s3::bucket::{Bucket, Location};
use crate::storage::s3::client::Retry;
use crate::storage::s3::sign::Credentials;
use crate::storage::s3::{S3Options, Trust};

words! { Trust { Probe = "probe", Standard = "trust", Nothing = "ignore" } }

options! {
    /// Where a bucket is.
    pub struct S3Place {
        endpoint: Option<String>,
        region: String [wanted "the region of the bucket, such as \"us-east-1\", or \"auto\" for R2"],
        bucket: String,
        force_path_style: Option<bool>,
    }
}

options! {
    /// How failed requests are repeated; what is left out has the default of the client.
    pub struct S3RetryGiven {
        attempts: Option<usize> [least 1],
        base_ms: Option<Duration>,
        max_ms: Option<Duration>,
        timeout_ms: Option<Duration>,
    }
}

options! {
    /// How a bucket is used.
    pub struct BucketUse {
        prefix: String = "",
        write_mode: WriteMode = "create",
        concurrency: Option<usize> [least 1],
        cache_bytes: Option<usize> [own],
        retry: S3RetryGiven [own],
    }
}

options! {
    /// Keys that sign requests; `expiration` is in milliseconds.
    pub struct S3Keys {
        access_key_id: String,
        secret_access_key: String,
        session_token: Option<String>,
        expiration: Option<f64>,
    }
}

options! {
    /// Options of a bucket over HTTP. One of `credentials`, `keys_by` and `sign` is there.
    pub struct S3Given {
        place: S3Place [own],
        usage: BucketUse [own],
        conditions: Trust = "probe",
        credentials: Option<S3Keys> [own],
        keys_by: Option<Host> [own],
        sign: Option<Host>,
        on_warning: Option<Host>,
        send: Host [own],
    }
}

options! {
    /// Options of a bucket behind the binding of a Worker.
    pub struct R2Given {
        usage: BucketUse [own],
        bucket: Host [own],
    }
}

options! {
    /// A query parameter or a header.
    pub struct Pair {
        name: String,
        value: String,
    }
}

options! {
    /// A request whose URL is signed.
    pub struct PresignGiven {
        place: S3Place [own],
        credentials: S3Keys [own],
        method: String [own],
        key: String [own],
        query: Vec<Pair> [own],
        headers: Vec<Pair> [own],
        seconds: usize [own],
    }
}

impl S3Place {
    /// The bucket, with all keys below `prefix`.
    pub fn bucket(&self, prefix: &str) -> Result<Bucket> {
        Bucket::new(&Location {
            endpoint: self.endpoint.as_deref(),
            region: &self.region,
            bucket: &self.bucket,
            prefix,
            path_style: self.force_path_style,
        })
    }
}

impl BucketUse {
    /// The options of the storage.
    pub fn options(&self, trust: Trust) -> S3Options {
        let default = S3Options::default();
        let Retry {
            attempts,
            base,
            longest,
            limit,
        } = default.retry;
        let given = &self.retry;
        S3Options {
            concurrency: self.concurrency,
            cache_bytes: self.cache_bytes.unwrap_or(default.cache_bytes),
            retry: Retry {
                // An integer cast would wrap around.
                attempts: given
                    .attempts
                    .map_or(attempts, |given| u32::try_from(given).unwrap_or(u32::MAX)),
                base: given.base_ms.unwrap_or(base),
                longest: given.max_ms.unwrap_or(longest),
                limit: given.timeout_ms.unwrap_or(limit),
            },
            trust,
        }
    }
}

impl S3Keys {
    /// The keys as the signer takes them.
    pub fn credentials(self) -> Credentials {
        Credentials {
            access_key_id: self.access_key_id,
            secret_access_key: self.secret_access_key,
            session_token: self.session_token.filter(|token| !token.is_empty()),
            expires: self.expiration.map(Time::from_millis),
        }
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        S3Place::printed(),
        S3RetryGiven::printed(),
        BucketUse::printed(),
        S3Keys::printed(),
        S3Given::printed(),
        R2Given::printed(),
        Pair::printed(),
        PresignGiven::printed(),
    ]
}
