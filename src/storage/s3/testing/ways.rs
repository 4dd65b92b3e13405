//! The ways of a server: its faults, and what it supports.

/// The fault of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// The connection fails before the server gets the request.
    Before,
    /// The server executes the request, but the response is lost.
    After,
    /// A proxy responds instead of the server.
    Status(u16, &'static str),
    /// The server executes the request, but a proxy responds with this status.
    Executed(u16, &'static str),
    /// Half of the body arrives, but `Content-Length` announces all of it.
    Cut,
    /// Half of the body arrives without any sign of it.
    CutSilently,
    /// One bit of the body is flipped.
    Corrupt,
    /// No response ever arrives.
    Hang,
    /// The server executes the request, but no response ever arrives.
    ExecutedHang,
}

/// How the server handles `Range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    Honoured,
    /// The whole object is returned.
    Ignored,
    /// The part is returned without `Content-Range`, as in a page whose bucket does not expose it.
    Unnamed,
    /// The object is stored compressed, and the host decompresses the response.
    Packed,
}

/// How the server handles copies within the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Under the conditions of both objects.
    Honoured,
    /// The object at the new key is replaced whatever it is.
    TargetIgnored,
    /// The object is copied whatever it has become.
    SourceIgnored,
    /// Without any condition, as most servers do.
    Ignored,
    Unsupported,
}
