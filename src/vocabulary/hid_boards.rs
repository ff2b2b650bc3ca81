//! What the boards of one make are on USB, as HID devices.

/// The boards of one make that are HID devices on USB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HidBoards {
    /// What to call one.
    pub title: &'static str,
    /// Their vendor's number.
    pub vendor: u16,
    /// The high bytes of their product numbers: each is a family.
    pub families: &'static [u8],
    /// The usage page of the interface that they speak on; their others have another.
    pub usage_page: u16,
}

impl HidBoards {
    /// Whether a device with these numbers is one of them.
    pub fn has(&self, vendor: u16, product: u16) -> bool {
        vendor == self.vendor && self.families.contains(&product.to_be_bytes()[0])
    }
}
