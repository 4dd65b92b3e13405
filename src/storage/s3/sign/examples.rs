//! AWS's published signature examples, and the signatures computed here.

use super::*;

/// The result of one example.
pub struct Outcome {
    /// The example's name.
    pub name: &'static str,
    /// The computed signature.
    pub made: String,
    /// The published signature.
    pub published: &'static str,
}

struct Example {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    query: &'static [(&'static str, &'static str)],
    headers: &'static [(&'static str, &'static str)],
    body: &'static [u8],
    published: &'static str,
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn keys(id: &str, secret: &str) -> Keys {
    Keys::new(Credentials {
        access_key_id: id.to_owned(),
        secret_access_key: secret.to_owned(),
        session_token: None,
        expires: None,
    })
}

fn last_part(authorization: &str) -> String {
    authorization
        .rsplit("Signature=")
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn header_examples(
    examples: &[Example],
    credentials: &Keys,
    domain: Domain<'_>,
    time: &str,
    with_digest: bool,
) -> Vec<Outcome> {
    let time = Time::parse(time).unwrap_or_default();
    examples
        .iter()
        .map(|example| {
            let digest = sha256_hex(example.body);
            let mut headers = owned(example.headers);
            headers.push(("x-amz-date".to_owned(), stamp(time)));
            if with_digest {
                headers.push(("x-amz-content-sha256".to_owned(), digest.clone()));
            }
            let query = owned(example.query);
            let parts = Parts {
                method: example.method,
                path: example.path,
                query: &query,
                headers: &headers,
            };
            Outcome {
                name: example.name,
                made: last_part(&authorization(parts, &digest, time, domain, credentials)),
                published: example.published,
            }
        })
        .collect()
}

/// The examples of the S3 documentation, and the applicable ones of the general test suite.
pub fn all() -> Vec<Outcome> {
    let s3_keys = keys(
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    );
    let s3 = Domain {
        region: "us-east-1",
        service: "s3",
    };
    const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");
    let mut all = header_examples(
        &[
            Example {
                name: "GET of a range",
                method: "GET",
                path: "/test.txt",
                query: &[],
                headers: &[HOST, ("range", "bytes=0-9")],
                body: b"",
                published: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            },
            Example {
                name: "PUT",
                method: "PUT",
                path: "/test%24file.text",
                query: &[],
                headers: &[
                    HOST,
                    ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ],
                body: b"Welcome to Amazon S3.",
                published: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            },
            Example {
                name: "GET of a bucket's lifecycle",
                method: "GET",
                path: "/",
                query: &[("lifecycle", "")],
                headers: &[HOST],
                body: b"",
                published: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            },
            Example {
                name: "GET of a listing",
                method: "GET",
                path: "/",
                query: &[("max-keys", "2"), ("prefix", "J")],
                headers: &[HOST],
                body: b"",
                published: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            },
        ],
        &s3_keys,
        s3,
        "2013-05-24T00:00:00Z",
        true,
    );
    let headers = owned(&[HOST]);
    let query = presigned_query(
        Parts {
            method: "GET",
            path: "/test.txt",
            query: &[],
            headers: &headers,
        },
        86_400,
        Time::parse("2013-05-24T00:00:00Z").unwrap_or_default(),
        s3,
        &s3_keys,
    );
    all.push(Outcome {
        name: "presigned GET",
        made: last_part(&query),
        published: "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
    });
    all.extend(suite());
    all
}

fn suite() -> Vec<Outcome> {
    const HOST: (&str, &str) = ("host", "example.amazonaws.com");
    let get = |name, path, query, published| Example {
        name,
        method: "GET",
        path,
        query,
        headers: &[HOST],
        body: b"",
        published,
    };
    header_examples(
        &[
            get(
                "get-vanilla",
                "/",
                &[],
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            get(
                "get-vanilla-query-order-key-case",
                "/",
                &[("Param2", "value2"), ("Param1", "value1")],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            get(
                "get-vanilla-query-unreserved",
                "/",
                &[(
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                )],
                "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
            ),
            get(
                "get-utf8",
                "/%E1%88%B4",
                &[],
                "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
            ),
            Example {
                name: "post-x-www-form-urlencoded",
                method: "POST",
                path: "/",
                query: &[],
                headers: &[HOST, ("content-type", "application/x-www-form-urlencoded")],
                body: b"Param1=value1",
                published: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            },
            Example {
                name: "post-vanilla",
                method: "POST",
                path: "/",
                query: &[],
                headers: &[HOST],
                body: b"",
                published: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            },
        ],
        &keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        Domain {
            region: "us-east-1",
            service: "service",
        },
        "2015-08-30T12:36:00Z",
        false,
    )
}
