// Keys: the same everywhere, and none of them decides anything by itself.
"use strict";
(() => {
  let going = 0;
  const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]");
  const rows = () => [...document.querySelectorAll("main a.row")];

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    all[Math.min(Math.max(at + step, 0), all.length - 1)].focus();
  }

  function jump(step) {
    const hunks = [...document.querySelectorAll(".diff tr.hunk")];
    const at = hunks.indexOf(document.activeElement);
    hunks[Math.min(Math.max(at + step, 0), hunks.length - 1)]?.focus();
  }

  const acts = {
    j: () => move(1), k: () => move(-1), "]": () => jump(1), "[": () => jump(-1),
    "/": () => document.querySelector("main [type=search]")?.focus(),
    e: () => document.getElementById("edit")?.click(),
    n: () => document.getElementById("note")?.focus(),
    "?": () => document.getElementById("keys-help")?.showModal(),
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { if (isTyping(event.target)) event.target.blur(); return; }
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (going && Date.now() - going < 1500) {
      going = 0;
      const link = document.querySelector(`nav [data-go="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (event.key === "g") { going = Date.now(); return; }
    const act = acts[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  document.getElementById("log-out")?.addEventListener("click", async () => {
    await brasstag.send("/api/logout", {}).catch(() => undefined);
    location.href = "/login";
  });

  document.getElementById("room-choice")?.addEventListener("change", ({ target }) => {
    location.href = `/rooms/${encodeURIComponent(target.value)}/tasks`;
  });
})();
