import type { Duplex } from "node:stream";

/** Time that a client gets to close its side of a connection. */
const LINGER_MS = 1_000;

/** Destroys a socket whose write side has ended, unless the client closes it first. */
export function closeLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Replies to a request whose connection Node no longer serves, such as an upgrade, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: string, text = ""): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  closeLater(socket);
}
