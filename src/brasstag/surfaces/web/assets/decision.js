// The decision page: nothing is decided by one key, by accident, or on something that was not seen.
"use strict";
(() => {
  const page = document.getElementById("decision");
  const approve = document.getElementById("approve");
  const deny = document.getElementById("deny");
  const note = document.getElementById("note");
  const edit = document.getElementById("edit");
  const raw = document.getElementById("raw");
  const rawChoice = document.getElementById("raw-choice");
  const fields = document.getElementById("fields");
  const effects = document.getElementById("effects");
  const editError = document.getElementById("edit-error");
  const verdictError = document.getElementById("verdict-error");
  const name = `draft:${page.dataset.id}`;
  let seen = page.dataset.seen;
  let changed = null;
  let armed = false;
  let previewing = 0;

  rawChoice.addEventListener("change", () => { raw.hidden = !rawChoice.checked; fields.hidden = rawChoice.checked; });
  if (!approve) return;

  // A page that has just come up decides nothing: the person may have been typing elsewhere.
  setTimeout(() => { armed = true; ready(); }, 500);
  const ready = () => { approve.disabled = !armed || !!previewing || !editError.hidden || page.dataset.state !== "open"; deny.disabled = page.dataset.state !== "open"; };

  function given() {
    if (rawChoice.checked) return JSON.parse(raw.value);
    const found = {};
    for (const field of fields.querySelectorAll("textarea")) {
      if (field.dataset.given === "no" && field.value === "") continue;
      found[field.dataset.name] = field.dataset.text === "yes" ? field.value : JSON.parse(field.value);
    }
    return found;
  }

  function fail(text) { editError.textContent = text; editError.hidden = !text; ready(); }

  async function preview() {
    const round = ++previewing;
    ready();
    try {
      const wanted = given();
      const found = await brasstag.send(`${page.dataset.address}/preview`, { arguments: wanted });
      if (round !== previewing) return;
      changed = wanted; seen = found.preview.digest;
      show(found.preview);
      previewing = 0;
      fail("");
    } catch (failure) {
      if (round !== previewing) return;
      previewing = 0;
      fail(failure instanceof SyntaxError ? `This is not JSON: ${failure.message}` : failure.message);
    }
  }

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  function show(found) {
    const parts = [];
    for (const text of found.runs) parts.push(element("section", { class: "card" }, element("h3", {}, "Runs"), element("pre", { class: "command" }, text)));
    for (const text of found.fetches) parts.push(element("section", { class: "card" }, element("h3", {}, "Fetches"), element("pre", { class: "command" }, text)));
    if (found.external) parts.push(element("p", { class: "fact warn" }, "It acts outside of the workspace, where no preview can look."));
    for (const change of found.changes) {
      const head = element("h3", {}, change.sentence);
      const card = element("section", { class: "card change" }, head);
      if (change.diff) {
        head.append(element("span", { class: "counts" }, `+${change.diff.added} −${change.diff.removed}`));
        card.append(table(change.diff));
      }
      parts.push(card);
    }
    effects.replaceChildren(...parts);
  }

  function table(diff) {
    const body = element("tbody");
    for (const row of diff.rows) {
      const text = element("td", { class: "text" });
      for (const piece of row.pieces) text.append(piece.differs ? element("mark", {}, piece.text) : piece.text);
      const sign = row.kind === "added" ? "+" : row.kind === "removed" ? "−" : "";
      body.append(element("tr", { class: row.kind }, element("td", { class: "number" }, String(row.old ?? "")), element("td", { class: "number" }, String(row.new ?? "")), element("td", { class: "sign" }, sign), text));
    }
    const columns = element("colgroup", {}, element("col", { class: "number" }), element("col", { class: "number" }), element("col", { class: "sign" }), element("col"));
    return element("table", { class: "diff" }, columns, body);
  }

  let timer = 0;
  function typed() {
    keep();
    clearTimeout(timer);
    previewing = previewing || 1;
    ready();
    timer = setTimeout(preview, 300);
  }

  function beginEdit() {
    for (const field of [...fields.querySelectorAll("textarea"), raw]) { field.readOnly = false; field.addEventListener("input", typed); }
    edit.disabled = true;
    (rawChoice.checked ? raw : fields.querySelector("textarea"))?.focus();
  }
  edit?.addEventListener("click", beginEdit);

  // What was typed is kept here, so that it survives a server or a browser that ends.
  function keep() {
    const texts = Object.fromEntries([...fields.querySelectorAll("textarea")].map((field) => [field.dataset.name, field.value]));
    localStorage.setItem(name, JSON.stringify({ note: note.value, texts: edit.disabled ? texts : null, raw: edit.disabled && rawChoice.checked ? raw.value : null }));
  }
  note.addEventListener("input", keep);
  try {
    const draft = JSON.parse(localStorage.getItem(name) ?? "null");
    if (draft?.note) note.value = draft.note;
    if (draft?.texts) {
      beginEdit();
      document.activeElement?.blur();
      for (const field of fields.querySelectorAll("textarea")) if (field.dataset.name in draft.texts) field.value = draft.texts[field.dataset.name];
      if (draft.raw !== null) { raw.value = draft.raw; rawChoice.checked = true; rawChoice.dispatchEvent(new Event("change")); }
      preview();
    }
  } catch { localStorage.removeItem(name); }

  async function decide(approved) {
    approve.disabled = deny.disabled = true;
    verdictError.hidden = true;
    const body = { approved, seen, note: note.value };
    if (approved && changed) body.arguments = changed;
    if (!approved) body.seen = page.dataset.seen;
    try {
      await brasstag.send(`${page.dataset.address}/decision`, body);
      localStorage.removeItem(name);
      location.href = "/inbox";
    } catch (failure) {
      verdictError.textContent = failure.message;
      verdictError.hidden = false;
      brasstag.refresh();
      ready();
    }
  }
  approve.addEventListener("click", () => decide(true));
  deny.addEventListener("click", () => decide(false));
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !approve.disabled) { event.preventDefault(); decide(true); }
  });

  // Decided elsewhere, expired, or asked anew: the page says so in place, and takes no more decisions.
  document.addEventListener("brasstag:refreshed", ({ detail }) => {
    const fresh = detail.getElementById("decision");
    if (!fresh) return;
    page.dataset.state = fresh.dataset.state;
    ready();
  });
})();
