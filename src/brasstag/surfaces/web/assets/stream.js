// One stream of events for all tabs of this control room: a browser opens only a few connections to one server.
"use strict";
const ports = new Set();
let source = null;
let place = "";
let state = "off";

const tell = (message) => { for (const port of ports) port.postMessage(message); };

function open() {
  source = new EventSource(`/api/events?after=${encodeURIComponent(place)}`);
  source.onopen = () => { state = "on"; tell({ state }); };
  source.onerror = () => {
    state = "off"; tell({ state });
    if (source.readyState === EventSource.CLOSED) { source = null; setTimeout(open, 1000); }
  };
  source.addEventListener("event", (message) => { place = message.lastEventId; tell({ event: JSON.parse(message.data), place }); });
  source.addEventListener("reload", () => { source.close(); source = null; tell({ reload: true }); });
}

const join = (port) => {
  port.onmessage = ({ data }) => {
    if (data.leave) { ports.delete(port); return; }
    ports.add(port);
    if (!source) { place = data.place; open(); }
    port.postMessage({ state, place });
  };
};
if ("onconnect" in self) self.onconnect = ({ ports: [port] }) => join(port);
