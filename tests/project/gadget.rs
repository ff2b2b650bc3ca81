//! `systemd/boardbridge-gadget` on a configfs of plain files (`tests/gadget/configfs`). The virtual machine tests the
//! real kernel's (`tests/vm/gadget.sh`).

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

const CONTROLLER: &str = "20980000.usb";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/boardbridge-gadget");

/// A computer made of files.
struct Machine {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
}

impl Machine {
    /// With a USB device controller, like a Pi Zero.
    fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        };
        for folder in [
            "bin",
            "dev",
            "etc",
            "config/usb_gadget",
            "sys/class/udc",
            "sys/module/libcomposite",
            "sys/firmware/devicetree/base",
        ] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gadget/configfs");
        for name in ["mkdir", "rmdir", "ln", "modprobe", "mount"] {
            symlink(&kernel, machine.path("bin").join(name)).unwrap();
        }
        symlink(machine.path("dev"), machine.path("config/dev")).unwrap();
        machine.write(
            &format!("sys/class/udc/{CONTROLLER}/state"),
            "not attached\n",
        );
        machine.write(
            "sys/firmware/devicetree/base/serial-number",
            "00000000deadbeef\0",
        );
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// The exit status and all output.
    fn gadget(&self, word: &str) -> (i32, String) {
        said(&mut self.command(word))
    }

    /// The same for a user who is not root, with the kernel's configfs.
    fn without_sudo(&self, word: &str) -> (i32, String) {
        self.write("bin/id", "#!/bin/sh\necho 1000\n");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path("bin/id"), executable).unwrap();
        said(self.command(word).env_remove("GADGET_CONFIGFS"))
    }

    fn command(&self, word: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .arg(SCRIPT)
            .arg(word)
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path("bin").display()),
            )
            .env("FAKE_ROOT", self.path("config"))
            .env("GADGET_CONFIGFS", self.path("config"))
            .env("GADGET_SYSFS", self.path("sys"))
            .env("GADGET_DEV", self.path("dev"))
            .env("GADGET_ETC", self.path("etc"))
            .env("GADGET_WAIT", "0")
            .envs(self.environment.iter().copied());
        command
    }

    fn succeeds(&self, word: &str) -> String {
        let (status, said) = self.gadget(word);
        assert_eq!(status, 0, "{said}");
        said
    }

    /// Fails, ends its output with all of these words, and leaves nothing behind.
    fn refuses(&self, words: &[&str]) {
        let (status, said) = self.gadget("start");
        assert_eq!(status, 1, "{said}");
        let last = said.lines().last().unwrap();
        for word in words {
            assert!(last.contains(word), "`{word}` is not at the end of: {said}");
        }
        assert!(!self.path("config/usb_gadget/boardbridge").exists());
    }

    fn attribute(&self, name: &str) -> String {
        let file = self.path("config/usb_gadget/boardbridge").join(name);
        fs::read_to_string(file).unwrap().trim_end().to_owned()
    }

    /// Every path of the gadget, with the contents of its files.
    fn tree(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("config/usb_gadget")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push((path.clone(), fs::read_to_string(&path).unwrap_or_default()));
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

fn said(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(said).unwrap(),
    )
}

#[test]
fn the_gadget_is_built_once_and_taken_down_whole() {
    let machine = Machine::new();
    assert!(machine.succeeds("start").contains("ttyGS0 is there"));
    for (name, value) in [
        ("idVendor", "0x1d6b"),
        ("idProduct", "0x0104"),
        ("bDeviceClass", "0xef"),
        ("strings/0x409/manufacturer", "BoardBridge"),
        ("strings/0x409/serialnumber", "00000000deadbeef"),
        ("configs/c.1/MaxPower", "500"),
        ("UDC", CONTROLLER),
    ] {
        assert_eq!(machine.attribute(name), value, "{name}");
    }
    let link = machine.path("config/usb_gadget/boardbridge/configs/c.1/acm.usb0");
    assert!(link.is_symlink() && link.is_dir());
    let built = machine.tree();
    // Nothing but what the kernel has made, and the link: configfs takes no other files.
    assert_eq!(built.len(), 25, "{built:#?}");

    assert!(machine.succeeds("start").contains("already"));
    assert_eq!(machine.tree(), built);

    machine.succeeds("stop");
    assert_eq!(machine.tree(), []);
    assert!(machine.succeeds("stop").contains("not there"));
}

#[test]
fn a_half_built_gadget_is_built_anew() {
    let whole = Machine::new();
    whole.succeeds("start");
    let machine = Machine::new();
    machine.succeeds("start");
    // As an interrupted stop leaves it.
    machine.write("config/usb_gadget/boardbridge/UDC", "\n");
    fs::remove_file(machine.path("config/usb_gadget/boardbridge/configs/c.1/acm.usb0")).unwrap();
    machine.succeeds("start");
    assert_eq!(machine.tree().len(), whole.tree().len());
    assert_eq!(machine.attribute("UDC"), CONTROLLER);
}

#[test]
fn the_state_tells_whether_somebody_is_at_the_other_end() {
    let machine = Machine::new();
    let (status, said) = machine.gadget("status");
    assert!(status == 3 && said.contains("not there"), "{said}");
    machine.succeeds("start");
    assert!(machine.succeeds("status").contains("nothing is connected"));
    machine.write(&format!("sys/class/udc/{CONTROLLER}/state"), "configured\n");
    assert!(machine.succeeds("status").contains("in use"));
}

#[test]
fn a_machine_without_a_number_gets_one_that_does_not_give_its_id_away() {
    let id = "0123456789abcdef0123456789abcdef";
    let machine = Machine::new();
    fs::remove_file(machine.path("sys/firmware/devicetree/base/serial-number")).unwrap();
    machine.write("etc/machine-id", &format!("{id}\n"));
    machine.succeeds("start");
    let number = machine.attribute("strings/0x409/serialnumber");
    assert_eq!(number.len(), 16);
    assert!(!id.contains(&number));
    machine.succeeds("stop");
    machine.succeeds("start");
    assert_eq!(machine.attribute("strings/0x409/serialnumber"), number);
    // Another machine, another number.
    machine.succeeds("stop");
    machine.write("etc/machine-id", "fedcba9876543210fedcba9876543210\n");
    machine.succeeds("start");
    assert_ne!(machine.attribute("strings/0x409/serialnumber"), number);
}

#[test]
fn what_is_missing_is_said_with_the_remedy() {
    let machine = Machine::new();
    fs::remove_dir_all(machine.path("sys/class/udc").join(CONTROLLER)).unwrap();
    machine.refuses(&["dtoverlay=dwc2", "/boot/firmware/config.txt"]);

    let mut machine = Machine::new();
    machine.environment = vec![("GADGET_UDC", "other.usb")];
    machine.refuses(&["no USB device controller other.usb"]);

    let machine = Machine::new();
    fs::remove_dir(machine.path("config/usb_gadget")).unwrap();
    machine.refuses(&["configfs is not mounted"]);
    fs::remove_dir(machine.path("sys/module/libcomposite")).unwrap();
    machine.refuses(&["modprobe libcomposite"]);

    let mut machine = Machine::new();
    machine.environment = vec![("FAKE_MISSING", "acm.usb0")];
    machine.refuses(&["usb_f_acm"]);

    let mut machine = Machine::new();
    machine.environment = vec![("GADGET_VENDOR", "linux")];
    machine.refuses(&["linux", "0x1d6b"]);
}

#[test]
fn a_port_that_another_gadget_has_is_not_taken_from_it() {
    let mut machine = Machine::new();
    machine.environment = vec![("FAKE_BUSY", "yes")];
    machine.refuses(&["is taken by", "g_serial"]);
    machine.write("config/usb_gadget/ethernet/UDC", CONTROLLER);
    machine.refuses(&["is taken by the gadget ethernet"]);
    assert!(machine.path("config/usb_gadget/ethernet/UDC").exists());
}

#[test]
fn a_forgotten_sudo_is_named_and_not_the_kernel() {
    let machine = Machine::new();
    for word in ["start", "stop"] {
        let (status, said) = machine.without_sudo(word);
        let remedy = format!("only root may do this: \"sudo {SCRIPT} {word}\"");
        assert!(status == 1 && said.contains(&remedy), "{said}");
    }
    let (_, said) = machine.without_sudo("status");
    assert!(said.contains("not there"), "{said}");
}

#[test]
fn help_is_no_mistake() {
    let (status, said) = Machine::new().gadget("--help");
    assert!(status == 0 && said.contains("usage"), "{said}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let (status, said) = Machine::new().gadget("fly");
    assert!(status == 2 && said.contains("usage"), "{said}");
}
