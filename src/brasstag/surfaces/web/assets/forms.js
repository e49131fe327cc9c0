// Forms that send JSON: empty fields are left out, numbers stay numbers, and a draft is kept until it was sent.
"use strict";
for (const form of document.querySelectorAll("form[data-action]")) {
  const error = form.querySelector(".error");
  const name = `draft:${form.dataset.action}`;
  const fields = () => [...form.elements].filter((field) => field.name);

  try {
    const draft = JSON.parse(localStorage.getItem(name) ?? "{}");
    for (const field of fields()) if (field.name in draft) field.value = draft[field.name];
  } catch { localStorage.removeItem(name); }

  form.addEventListener("input", () => {
    localStorage.setItem(name, JSON.stringify(Object.fromEntries(fields().map((field) => [field.name, field.value]))));
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = fields().filter((field) => field.value !== "").map((field) => [field.name, field.type === "number" ? Number(field.value) : field.value]);
    const buttons = [...form.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    error.hidden = true;
    try {
      const found = await brasstag.send(form.dataset.action, Object.fromEntries(given));
      localStorage.removeItem(name);
      form.reset();
      if (form.dataset.then) location.href = form.dataset.then.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(found[key]));
      else brasstag.refresh();
    } catch (failure) {
      error.textContent = failure.message;
      error.hidden = false;
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  });
}
