//! `packaging/build` says that it cannot make a package before it spends minutes on it. The commands that it runs are played by
//! the test, so that nothing is installed or built.

#[path = "../../examples/papers/documents.rs"]
mod documents;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use boardbridge::driver::{identity::Medium, registry::MAKES, usb::UsbSign};

/// What the commands of a system do; each also notes that it was run.
const PLAYED: [(&str, &str); 7] = [
    ("dpkg", "echo amd64"),
    ("getconf", "echo glibc $NATIVE"),
    (
        "dpkg-query",
        "case $* in *Version*) echo $CROSS-8cross1 ;; *) echo installed ;; esac",
    ),
    ("apt-get", "exit 1"),
    ("cargo", "exit 1"),
    ("rustc", "echo host: x86_64-unknown-linux-gnu"),
    ("rustup", "exit 1"),
];

/// Runs it on a system with these C libraries. Returns the commands that were run too.
fn build(arguments: &[&str], native: &str, cross: &str) -> (Output, String) {
    let folder = tempfile::tempdir().unwrap();
    let (bin, notes) = (folder.path().join("bin"), folder.path().join("notes"));
    fs::create_dir(&bin).unwrap();
    for (name, does) in PLAYED {
        let file = bin.join(name);
        let text = format!("#!/bin/sh\necho {name} >> {}\n{does}\n", notes.display());
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/build");
    let output = Command::new(script)
        .args(arguments)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", folder.path())
        .env_remove("CARGO_HOME")
        .env("NATIVE", native)
        .env("CROSS", cross)
        .output()
        .unwrap();
    (output, fs::read_to_string(notes).unwrap_or_default())
}

#[test]
fn a_c_library_that_is_too_new_is_told_before_anything_is_compiled() {
    for (arguments, native, cross, named) in [
        (&["amd64"][..], "2.41", "2.36", "amd64 is 2.41"),
        (&["arm64"], "2.36", "2.41", "arm64 is 2.41"),
        (
            &["windows", "amd64", "arm64"],
            "2.36",
            "2.100",
            "arm64 is 2.100",
        ),
    ] {
        let (output, run) = build(arguments, native, cross);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(named), "{said}");
        assert!(
            said.contains("packaging/build --in-root bookworm"),
            "{said}"
        );
        assert!(!run.contains("cargo") && !run.contains("rust"), "{run}");
    }
}

#[test]
fn a_c_library_that_is_old_enough_is_built_with() {
    for native in ["2.31", "2.36"] {
        let (output, run) = build(&["amd64", "armhf"], native, native);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("C library"), "{said}");
        // The played Rust fails.
        assert!(
            run.contains("cargo") || run.contains("rustup"),
            "{run}{said}"
        );
    }
}

#[test]
fn what_cannot_be_built_is_told_before_anything_is_installed() {
    for (arguments, told) in [
        (&["riscv64"][..], "choose among amd64"),
        (&["--in-root"], "--in-root bookworm"),
        (&["--in-root", "arm64"], "--in-root bookworm"),
        (&["--in-root", "bookworm", "riscv64"], "choose among amd64"),
    ] {
        let (output, run) = build(arguments, "2.36", "2.36");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert!(said.contains(told), "{said}");
        assert_eq!(run, "", "{arguments:?}");
    }
}

/// What the build in the root has left is root's.
#[test]
fn an_ordinary_user_builds_in_a_root_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in [
        "bin",
        "packaging",
        "target/in-root/bookworm/target/packages",
    ] {
        fs::create_dir_all(at(path)).unwrap();
    }
    fs::write(at("target/in-root/bookworm/made"), "").unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/build");
    fs::copy(source, at("packaging/build")).unwrap();
    for (name, does) in [
        ("id", "echo 1000"),
        ("dpkg-query", "echo installed"),
        ("apt-get", "exit 1"),
        ("sudo", "echo \"$@\" >> \"$NOTES\""),
        ("rm", "exit 1"),
    ] {
        let file = at("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new(at("packaging/build"))
        .args(["--in-root", "bookworm", "amd64"])
        .env("PATH", format!("{}:/usr/bin:/bin", at("bin").display()))
        .env("NOTES", at("notes"))
        .env("SOURCE_DATE_EPOCH", "0")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let notes = fs::read_to_string(at("notes")).unwrap();
    let removes = |line: &str| {
        line.starts_with("rm -rf ") && line.ends_with("in-root/bookworm/target/packages")
    };
    assert!(notes.lines().any(removes), "{notes}");
}

/// The links of a page, without those to other machines.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let files = targets.filter_map(|target| target.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains(':'))
}

#[test]
fn every_link_of_an_installed_page_leads_to_an_installed_file() {
    let folder = tempfile::tempdir().unwrap();
    documents::write(Path::new(env!("CARGO_MANIFEST_DIR")), folder.path()).unwrap();
    // What the packages have beside it.
    for file in ["changelog.gz", "copyright"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let mut folders = vec![folder.path().to_owned()];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let page = entry.unwrap().path();
            if page.is_dir() {
                folders.push(page);
            } else if page.extension().is_some_and(|ending| ending == "md") {
                let text = fs::read_to_string(&page).unwrap();
                for link in links(&text).filter(|link| *link != "/etc/boardbridge/boardbridge.toml")
                {
                    let file = page.parent().unwrap().join(link);
                    assert!(file.exists(), "{}: {link}", page.display());
                    found += 1;
                }
            }
        }
    }
    assert!(found > 100, "{found} links");
    let read = |page: &str| fs::read_to_string(folder.path().join(page)).unwrap();
    let readme = read("README.md");
    for text in [
        "[Changes](changelog.gz)",
        "[GPL-3.0-or-later](copyright)",
        "[Reporting a weakness](SECURITY.md)",
        "[a driver](",
    ] {
        assert_eq!(readme.contains(text), text != "[a driver](", "{text}");
    }
    assert!(readme.contains("needs a driver."), "the text stays");
}

/// The values that a line of udev rules matches this key with.
fn matches<'a>(line: &'a str, key: &str) -> Option<Vec<&'a str>> {
    let mut parts = line.split(", ");
    let values = parts.find_map(|part| part.strip_prefix(key)?.strip_prefix("==\""))?;
    Some(values.strip_suffix('"')?.split('|').collect())
}

/// What `ModemManager` writes to a port that it does not know ends in a board.
#[test]
fn whatever_a_board_is_known_by_on_usb_has_its_udev_rule() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/deb/60-boardbridge.rules");
    let rules = fs::read_to_string(rules).unwrap();
    let numbered = |wanted: &str, vendor: u16, product: u16| {
        let (vendor, product) = (format!("{vendor:04x}"), format!("{product:04x}"));
        rules.lines().any(|line| {
            let has = |key, value: &str| matches(line, key).map(|all| all.contains(&value));
            line.contains(wanted)
                && has("ATTRS{idVendor}", &vendor) == Some(true)
                && has("ATTRS{idProduct}", &product).unwrap_or(!line.contains("manufacturer"))
        })
    };
    let ignored = "ENV{ID_MM_DEVICE_IGNORE}=\"1\"";
    let mut signs = 0;
    for make in MAKES {
        let wanted = if make.media.contains(&Medium::Hid) {
            "TAG+=\"uaccess\""
        } else {
            ignored
        };
        for sign in make.usb.iter().copied().flatten() {
            signs += 1;
            match sign {
                UsbSign::Own(vendor, products) | UsbSign::Adapter(vendor, products) => {
                    for product in [products.start(), products.end()] {
                        let has = numbered(wanted, *vendor, *product);
                        assert!(has, "{sign:x?} of {}", make.kind);
                    }
                }
                UsbSign::Named(name) => {
                    let pattern = format!("*{name}*");
                    let mut ignoring = rules.lines().filter(|line| line.contains(ignored));
                    assert!(
                        ignoring.any(|line| matches(line, "ATTRS{product}")
                            .is_some_and(|names| names.contains(&pattern.as_str()))),
                        "{name}"
                    );
                }
            }
        }
    }
    assert!(signs > 10, "{signs}");
}
