import { connect } from "node:net";
import { abortReason, onAbort } from "../../platform/base/abort.ts";
import type { Reached } from "../observation.ts";

/** Opens and closes a TCP connection to "host:port". Rejects when it is not accepted. */
export type Reach = (target: string, signal: AbortSignal) => Promise<Reached>;

/** Reaches targets over TCP. A proxy between this machine and the target is not used. */
export const reachTcp: Reach = (target, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const colon = target.lastIndexOf(":");
    const host = target.slice(0, colon).replaceAll(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(target.slice(colon + 1)) });
    const unwatch = onAbort(signal, (reason) => socket.destroy(reason));
    const end = (): void => {
      unwatch();
      socket.destroy();
    };
    socket.once("connect", () => {
      end();
      resolve({ target });
    });
    socket.once("error", (error) => {
      end();
      reject(error);
    });
  });
