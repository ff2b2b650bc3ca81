//! The report descriptor of a HID device, as far as it tells the device's interfaces apart.
//!
//! Source: Device Class Definition for HID 1.11, section 6.2.2.

/// The first byte of an item, without its two bits for the length of its data.
const KIND: u8 = !3;
/// Global item: usage page.
const USAGE_PAGE: u8 = 0x04;
/// Main item: a collection begins.
const COLLECTION: u8 = 0xa0;
/// Main item: a collection ends.
const END_COLLECTION: u8 = 0xc0;
/// A long item: its second byte is the length of its data.
const LONG: u8 = 0xfe;

/// The usage pages of the collections that are in no other. A descriptor that is cut ends there.
pub fn usage_pages(descriptor: &[u8]) -> Vec<u16> {
    let (mut pages, mut page, mut depth) = (Vec::new(), 0, 0_usize);
    let mut rest = descriptor;
    while let Some((&head, after)) = rest.split_first() {
        let (length, after) = match (head, after.split_first()) {
            (LONG, Some((&length, after))) => (usize::from(length) + 1, after),
            (LONG, None) => break,
            // Two bits: 0, 1, 2, or 4 bytes.
            (head, _) => ([0, 1, 2, 4][usize::from(head & 3)], after),
        };
        let Some((data, after)) = after.split_at_checked(length) else {
            break;
        };
        rest = after;
        match head & KIND {
            _ if head == LONG => {}
            USAGE_PAGE => {
                let byte = |at: usize| u16::from(data.get(at).copied().unwrap_or(0));
                page = byte(0) | byte(1) << 8;
            }
            COLLECTION => {
                if depth == 0 && !pages.contains(&page) {
                    pages.push(page);
                }
                depth += 1;
            }
            END_COLLECTION => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_outermost_collections() {
        let vendor = [0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x85, 0x01, 0xc0];
        assert_eq!(usage_pages(&vendor), [0xff00]);
        // HID 1.11, appendix E.10: a mouse, with a page inside its collections.
        let mouse = [
            0x05, 0x01, 0x09, 0x02, 0xa1, 0x01, 0x09, 0x01, 0xa1, 0x00, 0x05, 0x09, 0xc0, 0xc0,
        ];
        assert_eq!(usage_pages(&mouse), [0x0001]);
        let both = [&mouse[..], &vendor[..]].concat();
        assert_eq!(usage_pages(&both), [0x0001, 0xff00]);
        let long = [&[LONG, 2, 0xf0, 0xa1, 0xa1][..], &vendor[..]].concat();
        assert_eq!(usage_pages(&long), [0xff00]);
    }

    #[test]
    fn a_descriptor_that_is_cut_or_garbage_ends_where_it_cannot_be_read() {
        for garbage in [&[][..], &[LONG], &[LONG, 200, 0], &[0x06, 0x00], &[0xa1]] {
            assert_eq!(usage_pages(garbage), [0_u16; 0], "{garbage:?}");
        }
        assert_eq!(usage_pages(&[0xc0, 0xc0, 0xa1, 1]), [0]);
    }
}
