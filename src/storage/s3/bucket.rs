//! The location of a bucket, and the mapping between paths and keys or URLs. No I/O, no clock, no
//! credentials.

use super::request::Ask;
use super::sign::{Domain, Keys, Parts, canonical_query, encode_path, presigned_query};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::time::Time;

/// The maximum key length in S3, in bytes.
pub const MAX_KEY: usize = 1024;

/// A bucket and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The service name in error messages: `S3`, or a compatible service.
    pub service: &'static str,
    /// Its name.
    pub name: String,
    /// The region in signatures.
    pub region: String,
    /// The prefix of all keys of this backend: empty, or ending with `/`.
    pub prefix: String,
    /// `http` or `https`.
    pub scheme: String,
    /// The host, with the port if it is not the default of the scheme.
    pub host: String,
    /// The part of the URL path before the key, percent-encoded, starting and ending with `/`.
    pub base: String,
}

/// Options that locate a bucket.
#[derive(Clone, Debug, Default)]
pub struct Location<'a> {
    /// The server; the AWS endpoint of the region by default.
    pub endpoint: Option<&'a str>,
    /// The region.
    pub region: &'a str,
    /// The bucket's name.
    pub bucket: &'a str,
    /// A directory of keys; the backend uses only keys beneath it.
    pub prefix: &'a str,
    /// Whether the bucket is in the path instead of the host name; detected by default.
    pub path_style: Option<bool>,
}

impl Bucket {
    /// Validates a location.
    pub fn new(location: &Location<'_>) -> Result<Bucket> {
        let name = location.bucket;
        let sound = (1..=255).contains(&name.len())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
            && !name.bytes().all(|b| b == b'.');
        if !sound {
            let wanted = "a bucket's name (letters, digits, '-', '.')";
            return Err(Error::option("bucket", wanted, name));
        }
        let region = location.region;
        let sound = !region.is_empty()
            && region.len() <= 64
            && region
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !sound {
            let wanted = "a region's name, such as \"us-east-1\"";
            return Err(Error::option("region", wanted, region));
        }
        let prefix = location.prefix.trim_matches('/');
        if !prefix.is_empty() && VPath::from_stored(&format!("/{prefix}")).is_none() {
            let wanted = "a directory of keys without empty, '.' or '..' segments";
            return Err(Error::option("prefix", wanted, location.prefix));
        }
        let aws = format!("https://s3.{region}.amazonaws.com");
        let endpoint = location.endpoint.unwrap_or(&aws);
        let (scheme, host, base) = split_endpoint(endpoint).ok_or_else(|| {
            let wanted =
                "an address such as \"https://s3.example.com\", without user, query or fragment";
            Error::option("endpoint", wanted, endpoint)
        })?;
        let path_style = location
            .path_style
            .unwrap_or(location.endpoint.is_some() || !fits_host(name));
        let (host, base) = if path_style {
            (host, format!("{base}{}/", encode_path(name)))
        } else {
            (format!("{name}.{host}"), base)
        };
        Ok(Bucket {
            service: "S3",
            name: name.to_owned(),
            region: region.to_owned(),
            prefix: if prefix.is_empty() {
                String::new()
            } else {
                format!("{prefix}/")
            },
            scheme,
            host,
            base,
        })
    }

    /// The percent-encoded path of a key, or of the bucket itself.
    pub fn path(&self, key: Option<&str>) -> String {
        match key {
            Some(key) => format!("{}{}", self.base, encode_path(key)),
            // `/bucket`, or `/` if the host name contains the bucket.
            None if self.base.len() > 1 => {
                self.base.strip_suffix('/').unwrap_or(&self.base).to_owned()
            }
            None => String::from("/"),
        }
    }

    /// The complete URL, without signature parameters.
    pub fn url(&self, ask: &Ask) -> String {
        let path = self.path(ask.key.as_deref());
        let mark = if ask.query.is_empty() { "" } else { "?" };
        let query = canonical_query(&ask.query);
        format!("{}://{}{path}{mark}{query}", self.scheme, self.host)
    }

    /// The presigned URL of a request, valid for `seconds`. The given headers must be sent
    /// unchanged with it.
    #[expect(clippy::too_many_arguments, reason = "a request, in its parts")]
    pub fn presigned(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(String, String)],
        mut headers: Vec<(String, String)>,
        seconds: u32,
        now: Time,
        keys: &Keys,
    ) -> String {
        headers.push(("host".to_owned(), self.host.clone()));
        let path = self.path(key);
        let parts = Parts {
            method,
            path: &path,
            query,
            headers: &headers,
        };
        let domain = Domain {
            region: &self.region,
            service: "s3",
        };
        let query = presigned_query(parts, seconds, now, domain, keys);
        format!("{}://{}{path}?{query}", self.scheme, self.host)
    }

    /// The key of a file.
    pub fn key(&self, path: &VPath) -> Result<String> {
        let key = format!("{}{}", self.prefix, path.as_str().trim_start_matches('/'));
        if key.len() > MAX_KEY {
            return Err(Error::at(
                Kind::InvalidPath,
                "The path '",
                path,
                format!(
                    "' makes a key of {} bytes with this backend's prefix; S3 takes {MAX_KEY}",
                    key.len()
                ),
            ));
        }
        Ok(key)
    }

    /// The prefix of the keys of everything beneath a directory, followed by `more`.
    pub fn key_prefix(&self, dir: &VPath, more: &str) -> String {
        let inside = dir.dir_prefix();
        format!("{}{}{more}", self.prefix, inside.trim_start_matches('/'))
    }

    /// The path of a key; `None` if the key is not a valid path.
    pub fn file_path(&self, key: &str) -> Option<VPath> {
        VPath::from_stored(&format!("/{}", key.strip_prefix(&self.prefix)?))
            .filter(|path| !path.is_root())
    }

    /// The path of a key or common prefix that ends with `/`.
    pub fn dir_path(&self, key: &str) -> Option<VPath> {
        self.file_path(key.strip_suffix('/')?)
    }
}

/// Splits into scheme, host with port, and path that starts and ends with `/`.
fn split_endpoint(text: &str) -> Option<(String, String, String)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let own_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let (host, path) = match rest.split_once('/') {
        Some((host, path)) => (host, path.trim_end_matches('/')),
        None => (rest, ""),
    };
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(own_port).unwrap_or(&host);
    let sound = !host.is_empty()
        && host.bytes().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':' | b'[' | b']')
        });
    let plain = path
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'/'));
    let walks = path.split('/').any(|part| matches!(part, "." | ".."));
    if !sound || !plain || walks {
        return None;
    }
    let base = if path.is_empty() {
        String::from("/")
    } else {
        format!("/{path}/")
    };
    Some((scheme, host.to_owned(), base))
}

/// Whether a bucket name can be one label of a host name, as wildcard certificates require.
fn fits_host(name: &str) -> bool {
    (3..=63).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::path;
    use crate::storage::s3::objects::Query;

    fn location<'a>() -> Location<'a> {
        Location {
            endpoint: None,
            region: "eu-west-1",
            bucket: "files",
            prefix: "",
            path_style: None,
        }
    }

    #[test]
    fn a_bucket_stands_in_the_host_or_in_the_path() {
        let url = |location: &Location<'_>| {
            Bucket::new(location)
                .expect("a bucket")
                .url(&Ask::get("a b/ü+%?#.txt", None))
        };
        let key = "a%20b/%C3%BC%2B%25%3F%23.txt";
        assert_eq!(
            url(&location()),
            format!("https://files.s3.eu-west-1.amazonaws.com/{key}")
        );
        let forced = Location {
            path_style: Some(true),
            ..location()
        };
        assert_eq!(
            url(&forced),
            format!("https://s3.eu-west-1.amazonaws.com/files/{key}")
        );
        let dotted = Location {
            bucket: "my.files",
            ..location()
        };
        assert_eq!(
            url(&dotted),
            format!("https://s3.eu-west-1.amazonaws.com/my.files/{key}")
        );
        let own = Location {
            endpoint: Some("http://LocalHost:9000/store/"),
            ..location()
        };
        assert_eq!(
            url(&own),
            format!("http://localhost:9000/store/files/{key}")
        );
        let port = Location {
            endpoint: Some("https://s3.example.com:443"),
            path_style: Some(false),
            ..location()
        };
        assert_eq!(url(&port), format!("https://files.s3.example.com/{key}"));
    }

    #[test]
    fn a_listing_s_address_is_in_order_and_encoded() {
        let bucket = Bucket::new(&Location {
            endpoint: Some("http://h"),
            prefix: "/team/a b/",
            ..location()
        })
        .expect("a bucket");
        let prefix = bucket.key_prefix(&path("/src"), "ma");
        assert_eq!(
            bucket.url(&Ask::list(Query {
                prefix: &prefix,
                one_level: true,
                token: Some("t/=="),
                after: Some("a"),
            })),
            "http://h/files?continuation-token=t%2F%3D%3D&delimiter=%2F&list-type=2\
             &prefix=team%2Fa%20b%2Fsrc%2Fma"
        );
    }

    #[test]
    fn paths_and_keys_lead_to_each_other() {
        let bucket = Bucket::new(&Location {
            prefix: "team",
            ..location()
        })
        .expect("a bucket");
        let file = path("/a/b.txt");
        assert_eq!(bucket.key(&file).expect("a key"), "team/a/b.txt");
        assert_eq!(bucket.file_path("team/a/b.txt"), Some(file));
        assert_eq!(bucket.dir_path("team/a/"), Some(path("/a")));
        assert_eq!(bucket.key_prefix(&VPath::root(), ""), "team/");
        for key in [
            "team/",
            "team//a",
            "team/a//b",
            "team/a/../b",
            "other/a",
            "team/a\\b",
            "team/a/",
        ] {
            assert_eq!(bucket.file_path(key), None, "{key}");
        }
        let long = path(&format!("/{}", "x".repeat(1020)));
        assert_eq!(
            bucket.key(&long).expect_err("too long").kind(),
            Kind::InvalidPath
        );
        assert!(bucket.key(&path(&format!("/{}", "x".repeat(1019)))).is_ok());
    }

    #[test]
    fn a_wrong_location_is_refused_by_the_option_s_name() {
        for (wrong, option) in [
            (
                Location {
                    bucket: "",
                    ..location()
                },
                "bucket",
            ),
            (
                Location {
                    bucket: "a/b",
                    ..location()
                },
                "bucket",
            ),
            (
                Location {
                    bucket: "..",
                    ..location()
                },
                "bucket",
            ),
            (
                Location {
                    region: "",
                    ..location()
                },
                "region",
            ),
            (
                Location {
                    region: "a/b",
                    ..location()
                },
                "region",
            ),
            (
                Location {
                    prefix: "a/../b",
                    ..location()
                },
                "prefix",
            ),
            (
                Location {
                    prefix: "a//b",
                    ..location()
                },
                "prefix",
            ),
            (
                Location {
                    endpoint: Some("s3.example.com"),
                    ..location()
                },
                "endpoint",
            ),
            (
                Location {
                    endpoint: Some("ftp://h"),
                    ..location()
                },
                "endpoint",
            ),
            (
                Location {
                    endpoint: Some("https://user@h"),
                    ..location()
                },
                "endpoint",
            ),
            (
                Location {
                    endpoint: Some("https://h?x=1"),
                    ..location()
                },
                "endpoint",
            ),
            (
                Location {
                    endpoint: Some("https://h/../x"),
                    ..location()
                },
                "endpoint",
            ),
            (
                Location {
                    endpoint: Some("https://"),
                    ..location()
                },
                "endpoint",
            ),
        ] {
            let error = Bucket::new(&wrong).expect_err(option).to_string();
            let start = format!("option \"{option}\" must be ");
            assert!(error.starts_with(&start), "{wrong:?}: {error}");
        }
    }
}
