import { connect, type Socket } from "node:net";

/** A TCP connection of a test that ignores all rules. */
export interface RawSocket {
  readonly socket: Socket;
  /** Everything received so far, as Latin-1. Empty while the socket is paused. */
  readonly text: () => string;
  /** Resolves when the server has ended or reset the connection. A paused socket must be resumed to see it. */
  readonly closed: Promise<void>;
  readonly isClosed: () => boolean;
}

/** Connects to a port of this machine and resolves when connected. */
export async function openRawSocket(
  port: number,
  { paused = false }: { readonly paused?: boolean } = {},
): Promise<RawSocket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  let isClosed = false;
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    const close = (): void => {
      isClosed = true;
      resolve();
    };
    socket.once("end", close);
    socket.once("close", close);
  });
  if (!paused) socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await Promise.race([new Promise((resolve) => socket.once("connect", resolve)), closed]);
  return { socket, text: () => text, closed, isClosed: () => isClosed };
}

/** Sends bytes to a port and resolves with everything up to the end of the connection. */
export async function rawReply(port: number, bytes: string): Promise<string> {
  const { socket, text, closed } = await openRawSocket(port);
  socket.write(bytes);
  await closed;
  socket.destroy();
  return text();
}
