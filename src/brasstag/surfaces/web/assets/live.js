// Keeps a page up to date: parts that an event is about are fetched again. What a person types in, or has the focus in, stays.
"use strict";
(() => {
  const body = document.body;
  const shown = document.getElementById("live");
  const listeners = [];
  let after = body.dataset.place;
  let timer = 0;

  brasstag.onEvent = (listener) => listeners.push(listener);

  function say(state) {
    if (!shown) return;
    shown.className = `live ${state}`;
    shown.querySelector(".word").textContent = state === "on" ? "Live" : "Not connected; trying again";
  }

  const isBusy = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  const isDirty = (part) => [...part.querySelectorAll("input, textarea")].some((field) => field.value !== field.defaultValue);

  function merge(old, fresh) {
    if (old.outerHTML === fresh.outerHTML) return;
    const keyed = [...fresh.children].every((child) => child.dataset.key) && fresh.children.length > 0;
    const focus = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    const within = old.contains(document.activeElement);
    old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
    for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    if (within && focus) old.querySelector(`[data-key="${CSS.escape(focus)}"] a`)?.focus({ preventScroll: true });
    void keyed;
  }

  async function refresh() {
    timer = 0;
    try {
      const fresh = await brasstag.page(location.href);
      after = fresh.body.dataset.place || after;
      for (const part of document.querySelectorAll("[data-part]")) {
        const other = part.id && fresh.getElementById(part.id);
        if (other && !isBusy(part) && !isDirty(part)) merge(part, other);
      }
      document.dispatchEvent(new CustomEvent("brasstag:refreshed", { detail: fresh }));
    } catch { say("off"); }
  }

  brasstag.refresh = () => { if (!timer) timer = setTimeout(refresh, 120); };

  function take({ state, event, reload }) {
    if (state) say(state);
    if (reload) location.reload();
    if (!event) return;
    for (const listener of listeners) listener(event);
    const wanted = [...document.querySelectorAll("[data-live]")].some((part) => part.dataset.live.split(" ").includes(event.topic));
    if (wanted || event.topic !== "output") brasstag.refresh();
  }

  function connect() {
    if (self.SharedWorker) {
      const worker = new SharedWorker(brasstag.scriptAddress(body.dataset.worker), "brasstag");
      worker.port.onmessage = ({ data }) => take(data);
      worker.port.postMessage({ place: after });
      addEventListener("pagehide", () => worker.port.postMessage({ leave: true }));
      return;
    }
    const source = new EventSource(`/api/events?after=${encodeURIComponent(after)}`);
    source.onopen = () => take({ state: "on" });
    source.onerror = () => take({ state: "off" });
    source.addEventListener("event", ({ data }) => take({ event: JSON.parse(data) }));
    source.addEventListener("reload", () => take({ reload: true }));
  }

  setInterval(() => {
    const now = Date.now();
    for (const time of document.querySelectorAll("time[datetime]")) {
      const seconds = Math.max(0, (now - Date.parse(time.dateTime)) / 1000);
      const steps = [[60, "s"], [60, "min"], [24, "h"], [7, "d"], [Infinity, "w"]];
      let amount = seconds;
      for (const [size, unit] of steps) {
        if (amount < size) { time.textContent = `${Math.floor(amount)} ${unit}`; break; }
        amount /= size;
      }
    }
  }, 5000);

  connect();
})();
