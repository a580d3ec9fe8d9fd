// Passkeys: the browser is asked to make one or to sign with one, and an ordinary form carries its answer.
"use strict";

(() => {
  const decode = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  const encode = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const REASONS = {
    NotAllowedError: "Nothing was chosen, or it took too long. Please try again.",
    InvalidStateError: "This device has a passkey for this account already.",
  };

  const prepare = (options) => {
    const describe = (credential) => ({ ...credential, id: decode(credential.id) });
    options.challenge = decode(options.challenge);
    if (options.user) options.user.id = decode(options.user.id);
    if (options.allowCredentials) options.allowCredentials = options.allowCredentials.map(describe);
    if (options.excludeCredentials) options.excludeCredentials = options.excludeCredentials.map(describe);
    return options;
  };

  const serialize = (credential) => {
    const from = credential.response;
    const response = { clientDataJSON: encode(from.clientDataJSON) };
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (from[name]) response[name] = encode(from[name]);
    }
    if (from.getTransports) response.transports = from.getTransports();
    return JSON.stringify({ id: credential.id, rawId: encode(credential.rawId), type: credential.type, response });
  };

  const ask = async (form) => {
    const fields = new URLSearchParams(new FormData(form));
    fields.set("csrf", form.dataset.csrf);
    const answer = await fetch(form.dataset.options, { method: "POST", body: fields });
    if (answer.redirected) {
      location.assign(answer.url); // the sign-in page, which leads back here
      return;
    }
    const content = await answer.json();
    if (!answer.ok) throw Object.assign(new Error("refused"), { sentence: content.error });
    const publicKey = prepare(content);
    const credential =
      form.dataset.passkey === "create"
        ? await navigator.credentials.create({ publicKey })
        : await navigator.credentials.get({ publicKey });
    form.elements.credential.value = serialize(credential);
    form.submit();
  };

  const listen = (form) => {
    const button = form.querySelector("button");
    const fault = form.querySelector("[data-fault]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      fault.textContent = "";
      try {
        await ask(form);
      } catch (error) {
        fault.textContent = error.sentence || REASONS[error.name] || "That did not work. Please load the page again and try once more.";
      } finally {
        button.disabled = false;
      }
    });
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const { rp } = form.dataset;
    const fits = location.hostname === rp || location.hostname.endsWith("." + rp);
    if (!window.PublicKeyCredential || !fits) continue;
    listen(form);
    form.hidden = false;
    for (const note of document.querySelectorAll("[data-without-passkeys]")) note.hidden = true;
  }
})();
