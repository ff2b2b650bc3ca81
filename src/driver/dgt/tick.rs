//! What comes of the clock beside a DGT board. Source: `PROTOCOL.md`.

/// What came of a clock in a message about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// No clock is connected.
    Absent,
    /// The clock has taken, or refused, this command.
    Acknowledged {
        /// Which one.
        command: u8,
        /// Whether it was understood.
        good: bool,
        /// What it answers, to the question for its version.
        answer: u8,
    },
    /// The clock is in a mode in which it cannot be set.
    WrongMode,
    /// The clock is ready, or its mode was changed.
    Ready,
    /// This button was pressed.
    Button(Button),
    /// Its times.
    Times {
        /// Whether the right side of its lever is up.
        right_high: bool,
    },
    /// Nothing at all: such messages occur.
    Nothing,
}

/// The buttons that mean something to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Back.
    Back,
    /// OK.
    Ok,
    /// Another one.
    Other,
}

impl Tick {
    /// Whether the clock says something of its own accord, or as an answer: it may repeat that.
    pub fn is_said(self) -> bool {
        matches!(
            self,
            Self::Acknowledged { .. } | Self::WrongMode | Self::Ready | Self::Button(_)
        )
    }
}

/// Reads the data of a message about the clock. `None`: it is not whole.
pub fn read(data: &[u8]) -> Option<Tick> {
    let &[b3, b4, b5, b6, b7, b8, status] = data else {
        return None;
    };
    if data.iter().all(|byte| *byte == 0) {
        return Some(Tick::Nothing);
    }
    if b3 & 0x0f != 0x0a && b6 & 0x0f != 0x0a {
        return Some(if status & 0x20 != 0 {
            Tick::Absent
        } else {
            Tick::Times {
                right_high: status & 0x02 != 0,
            }
        });
    }
    // Bit 7 of each byte travels in the flags of the hours.
    let [ack0, ack1, ack2, ack3] = [
        b4 & 0x7f | b6 << 3 & 0x80,
        b5 & 0x7f | b6 << 2 & 0x80,
        b7 & 0x7f | b3 << 3 & 0x80,
        b8 & 0x7f | b3 << 2 & 0x80,
    ];
    Some(match ack1 {
        command @ ..=0x7f => Tick::Acknowledged {
            command,
            good: ack0 == 0x10,
            answer: ack2,
        },
        0x81 | 0x8a => Tick::Ready,
        0x88 => Tick::Button(match ack3 {
            0x31 => Button::Back,
            0x35 => Button::Ok,
            _ => Button::Other,
        }),
        0x90 => Tick::WrongMode,
        _ => Tick::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the maker's header, put together by its rules.
    #[test]
    fn acknowledgements_and_buttons_are_told_from_times() {
        let times = [0x01, 0x05, 0x30, 0x00, 0x59, 0x59, 0x11];
        assert_eq!(read(&times), Some(Tick::Times { right_high: false }));
        let pressed = [0x01, 0x05, 0x30, 0x00, 0x59, 0x59, 0x0b];
        assert_eq!(read(&pressed), Some(Tick::Times { right_high: true }));
        assert_eq!(read(&[0, 0, 0, 0, 0, 0, 0x20]), Some(Tick::Absent));
        // ack0 10, ack1 09, ack2 22, ack3 00.
        let version = Tick::Acknowledged {
            command: 9,
            good: true,
            answer: 0x22,
        };
        assert_eq!(read(&[0x0a, 0x10, 0x09, 0x0a, 0x22, 0, 0]), Some(version));
        // ack1 88: its bit 7 is bit 5 of the sixth byte. ack3 35 is OK, 31 Back, 33 Run.
        for (code, button) in [
            (0x35, Button::Ok),
            (0x31, Button::Back),
            (0x33, Button::Other),
        ] {
            let pressed = [0x0a, 0x10, 0x08, 0x2a, 0, code, 0];
            assert_eq!(read(&pressed), Some(Tick::Button(button)));
        }
        // ack1 90, 8A, 81.
        let said = |ack1: u8| read(&[0x0a, 0x10, ack1, 0x2a, 0, 0, 0]);
        assert_eq!(said(0x10), Some(Tick::WrongMode));
        assert_eq!(said(0x0a), Some(Tick::Ready));
        assert_eq!(said(0x01), Some(Tick::Ready));
        assert_eq!(read(&[0; 7]), Some(Tick::Nothing));
        assert_eq!(read(&[0; 6]), None);
    }
}
