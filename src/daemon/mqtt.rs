//! Boards on a broker: ours are published there, those of other daemons are boards here.

use std::sync::Arc;

use super::{Daemon, part::Part, running::Running};
use crate::front_end::mqtt::{
    server::{self, House},
    settings::MqttConfig,
};

impl Daemon {
    /// A board of another daemon, if this part is one.
    pub(super) fn remote(&self, running: &mut Running) {
        let Part::Remote(name, far) = &running.part else {
            return;
        };
        let bus = self.bus.publications().clone();
        let stop = running.stop.clone();
        let (handle, passes) = self.hub.board(name.clone(), far.clone(), bus, stop);
        running.tasks.spawn(passes);
        running.remote = Some(handle);
    }

    /// Speaks to the broker.
    pub(super) fn mqtt(&self, running: &Running, config: &MqttConfig) {
        let clients = self.clients.clone();
        let house = House {
            config: config.clone(),
            bus: self.bus.own(),
            hub: self.hub.clone(),
            number: Arc::new(move || clients.client()),
            store: self.store.clone(),
        };
        running
            .tasks
            .spawn(server::serve(house, running.stop.clone()));
    }
}
