// Shows messages while no page is open. It controls no page: its scope is /static/.
"use strict";

// Only pages of this host; anything else leads to the dashboard.
const findPage = (link) => {
  const url = new URL(typeof link === "string" ? link : "/dashboard", self.location.origin);
  return url.origin === self.location.origin ? url.href : new URL("/dashboard", self.location.origin).href;
};

const readMessage = (data) => {
  try {
    const { id, title, text, link } = data.json();
    return { id: String(id), title: String(title), text: String(text), link };
  } catch {
    return { id: "", title: "New message", text: "Open the dashboard to read it.", link: "/dashboard" };
  }
};

// A message that came twice takes the place of the first, by its tag.
const show = ({ id, title, text, link }) =>
  self.registration.showNotification(title, { body: text, tag: id, icon: "/static/icon.png", data: { link } });

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("push", (event) => event.waitUntil(show(readMessage(event.data))));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(findPage(event.notification.data?.link)));
});
