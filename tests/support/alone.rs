//! A test that runs again in a process of its own.

use std::{
    env,
    path::Path,
    process::{Command, Output},
};

use simulators::bluez::bus_address;

/// The environment variable of libdbus, which reads it once per process.
pub const BUS: &str = "DBUS_SYSTEM_BUS_ADDRESS";
/// Set in the process of its own: the socket of its bus.
const INSIDE: &str = "BOARDBRIDGE_TEST_BUS_SOCKET";

/// Runs `body` in a process whose system bus is at this socket, which `body` has to serve. `module` is the test's
/// `module_path!()`.
pub fn on_a_bus(module: &str, test: &str, body: impl FnOnce(&Path)) {
    if let Ok(socket) = env::var(INSIDE) {
        assert_eq!(env::var(BUS).unwrap(), bus_address(Path::new(&socket)));
        return body(Path::new(&socket));
    }
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("bus");
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(INSIDE, &socket).env(BUS, bus_address(&socket));
    runs(&mut command, module, test);
}

/// Runs this test alone by a command that ends with this program.
pub fn runs(command: &mut Command, module: &str, test: &str) {
    let (_, module) = module.split_once("::").unwrap();
    command.args([&format!("{module}::{test}"), "--exact", "--nocapture"]);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stdout);
    println!("{said}{}", String::from_utf8_lossy(&stderr));
    // A name that no test has is a success too.
    assert!(status.success() && said.contains("1 passed"), "{test}");
}
