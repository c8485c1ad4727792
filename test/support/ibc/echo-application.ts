import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import type { IBCModule } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import { event } from "../../../src/localnet/chain/runtime/context.ts";
import { unregisteredError } from "../../../src/localnet/chain/runtime/errors.ts";

/** Version of the channels of the echo application. */
export const ECHO_VERSION = "echo-1";

/**
 * Creates an application that acknowledges each packet with its data. It refuses "refuse", acknowledges "later" not at all, and
 * throws for "throw". Its calls are in `calls`, those of a refused packet too.
 */
export function createEchoApplication(): IBCModule & { readonly calls: string[] } {
  const calls: string[] = [];
  const version = (wanted: string): string => {
    if (wanted !== "" && wanted !== ECHO_VERSION) throw unregisteredError(`unknown version ${wanted}`);
    return ECHO_VERSION;
  };
  return {
    calls,
    moduleName: "echo",
    onOpenInit: (_context, channel) => version(channel.version),
    onOpenTry: (_context, channel) => version(channel.version),
    onOpenAck: (_context, channel, remote) => calls.push(`open-ack ${channel.channelId} ${remote}`),
    onOpenConfirm: (_context, channel) => calls.push(`open-confirm ${channel.channelId}`),
    onCloseInit: (_context, channel) => calls.push(`close-init ${channel.channelId}`),
    onCloseConfirm: (_context, channel) => calls.push(`close-confirm ${channel.channelId}`),
    onReceive: (context, { data, sequence }) => {
      const text = fromUtf8(data);
      calls.push(`receive ${sequence} ${text}`);
      if (text === "throw") throw unregisteredError("the application failed");
      context.emit(event("echo", [["data", text]]));
      context.store("ibc").set(utf8(`echo/${sequence}`), data);
      return text === "later" ? undefined : { success: text !== "refuse", bytes: data };
    },
    onAcknowledge: (_context, { sequence }, acknowledgement) =>
      calls.push(`acknowledge ${sequence} ${fromUtf8(acknowledgement)}`),
    onTimeout: (_context, { sequence }) => calls.push(`timeout ${sequence}`),
  };
}
