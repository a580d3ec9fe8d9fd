// Notifications of this browser: it is asked for a subscription, and an ordinary form carries the answer.
"use strict";

(() => {
  const REASONS = {
    NotAllowedError: "Your browser does not allow notifications of this site. Allow them in its settings for this site, then try again.",
    AbortError: "The push service of your browser could not be reached. Please try again later.",
  };
  const SILENT = "You have not allowed notifications. Press the button again and choose to allow them.";

  const decode = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));

  const isSame = (first, second) =>
    first.length === second.length && first.every((byte, place) => byte === second[place]);

  // Not navigator.serviceWorker.ready, which waits for a worker of this page: ours controls none.
  const start = async (path) => {
    const registration = await navigator.serviceWorker.register(path);
    const worker = registration.installing || registration.waiting || registration.active;
    if (worker.state !== "activated") {
      await new Promise((resolve, reject) => {
        worker.addEventListener("statechange", () => {
          if (worker.state === "activated") resolve();
          if (worker.state === "redundant") reject(new Error("redundant"));
        });
      });
    }
    return registration;
  };

  // A subscription to another key than ours takes no message of us, so it is replaced.
  const subscribe = async (manager, key) => {
    const earlier = await manager.getSubscription();
    const earlierKey = earlier?.options?.applicationServerKey;
    if (earlier && !(earlierKey && isSame(new Uint8Array(earlierKey), key))) await earlier.unsubscribe();
    return manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  };

  const ask = async (form) => {
    if ((await Notification.requestPermission()) !== "granted") {
      throw Object.assign(new Error("refused"), {
        sentence: Notification.permission === "denied" ? REASONS.NotAllowedError : SILENT,
      });
    }
    const registration = await start(form.dataset.worker);
    const subscription = await subscribe(registration.pushManager, decode(form.dataset.key));
    const { endpoint, keys } = subscription.toJSON();
    form.elements.subscription.value = JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
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

  const canPush = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  for (const form of canPush ? document.querySelectorAll("form[data-push]") : []) {
    listen(form);
    form.hidden = false;
    for (const note of document.querySelectorAll("[data-without-push]")) note.hidden = true;
  }

  // A click on the first message brings its code behind the #, where no server sees it.
  const code = /^#(\d{6})$/.exec(location.hash)?.[1];
  const proof = document.querySelector("form[data-push-proof]");
  if (code && proof) {
    history.replaceState(null, "", location.pathname);
    proof.elements.code.value = code;
    proof.submit();
  }
})();
