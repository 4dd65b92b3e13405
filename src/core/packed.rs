//! Numbers of the tables that `build.rs` packs.

/// Takes a number: seven bits in each byte, the lowest first. Nothing at the end of the bytes.
pub fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let (mut number, mut shift) = (0u32, 0u32);
    loop {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}
