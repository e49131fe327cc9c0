// HTML of this server, made into nodes. The policy is the only way to do so, and takes nothing but answers of this origin.
"use strict";
(() => {
  const policy = self.trustedTypes
    ? trustedTypes.createPolicy("brasstag", { createHTML: (text) => text, createScriptURL: (address) => {
        const found = new URL(address, location.href);
        if (found.origin !== location.origin) throw new TypeError("a script of another origin");
        return found.href;
      } })
    : { createHTML: (text) => text, createScriptURL: (address) => address };

  window.brasstag = {
    scriptAddress: (address) => policy.createScriptURL(address),

    // Fetch a page of this origin again, as a document that is not shown.
    async page(address) {
      const answer = await fetch(address, { headers: { accept: "text/html" }, credentials: "same-origin", redirect: "error" });
      if (!answer.ok) throw new Error(`${answer.status}`);
      return new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
    },

    // Send JSON; an error of the server is thrown with its code and message.
    async send(address, body) {
      const answer = await fetch(address, { method: "POST", credentials: "same-origin", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      const found = await answer.json().catch(() => ({}));
      if (!answer.ok) throw Object.assign(new Error(found.error?.message ?? `The server answered ${answer.status}.`), { code: found.error?.code ?? "", status: answer.status });
      return found;
    },
  };
})();
