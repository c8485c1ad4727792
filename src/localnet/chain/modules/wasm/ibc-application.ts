import { unreachable } from "../../../../platform/base/errors.ts";
import { printGoString } from "../../../../platform/base/go-json.ts";
import { collectEvents, type Context, event, type ChainEvent } from "../../runtime/context.ts";
import { ChainPanic, ModuleError, wrapErrors } from "../../runtime/errors.ts";
import * as ics4 from "../ibc/channel/ibc-module.ts";
import { channelCapability, chargeAuthentication, chargeClaim } from "../ibc/host/capability.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";
import type { IbcCalls, ReceiveOutcome } from "./entry-points.ts";
import * as ibcChannels from "./ibc-channels.ts";
import { ErrEmpty, MODULE_NAME } from "./keys.ts";

interface ContractApplicationDeps {
  readonly bech32Prefix: string;
  readonly calls: IbcCalls;
  readonly channels: ibcChannels.ContractChannels;
}

/**
 * Creates the application for a contract's port (wasmd `IBCHandler`). The application calls the contract at each channel or
 * packet step.
 */
export function createContractApplication(address: string, deps: ContractApplicationDeps): ics4.IBCModule {
  const { calls, bech32Prefix } = deps;
  const close = (context: Context, end: ChannelEndpoint, step: "close_init" | "close_confirm"): void => {
    const message = ibcChannels.printStep(step, readChannel(context, end, deps));
    calls.notify(context, address, { entryPoint: "ibc_channel_close", message });
  };
  return {
    moduleName: MODULE_NAME,
    onOpenInit: (context, channel) => {
      const chosen = calls.open(context, address, ibcChannels.printStep("open_init", openingOf(channel)));
      const version = chosen === "" ? channel.version : chosen;
      if (version === "") throw ErrEmpty("version");
      chargeClaim(context, MODULE_NAME, channelCapability(channel));
      return version;
    },
    onOpenTry: (context, channel) => {
      const proposed = [["counterparty_version", printGoString(channel.version)]] as const;
      const chosen = calls.open(
        context,
        address,
        ibcChannels.printStep("open_try", openingOf(channel), proposed),
      );
      chargeAuthentication(context, MODULE_NAME, channelCapability(channel), false);
      chargeClaim(context, MODULE_NAME, channelCapability(channel));
      return chosen === "" ? channel.version : chosen;
    },
    onOpenAck: (context, end, version) => {
      const proposed = [["counterparty_version", printGoString(version)]] as const;
      const message = ibcChannels.printStep("open_ack", readChannel(context, end, deps), proposed);
      calls.notify(context, address, { entryPoint: "ibc_channel_connect", message });
    },
    onOpenConfirm: (context, end) => {
      const message = ibcChannels.printStep("open_confirm", readChannel(context, end, deps));
      calls.notify(context, address, { entryPoint: "ibc_channel_connect", message });
    },
    onCloseInit: (context, end) => close(context, end, "close_init"),
    onCloseConfirm: (context, end) => close(context, end, "close_confirm"),
    onReceive: (context, packet) => receive(context, address, packet, deps),
    onAcknowledge: (context, packet, acknowledgement) => {
      const message = ibcChannels.printAcknowledged(packet, acknowledgement, bech32Prefix);
      wrapErrors("on ack", () => calls.notify(context, address, { entryPoint: "ibc_packet_ack", message }));
    },
    onTimeout: (context, packet) => {
      const message = ibcChannels.printRelayed(packet, bech32Prefix);
      wrapErrors("on timeout", () =>
        calls.notify(context, address, { entryPoint: "ibc_packet_timeout", message }),
      );
    },
  };
}

function openingOf({ connectionHops, ...channel }: ics4.OpeningChannel): ibcChannels.ContractChannel {
  return { ...channel, connectionId: connectionHops[0] ?? "" };
}

/** Reads the channel for a handshake step. Like wasmd, reads the channel twice, the second time for the version. */
function readChannel(
  context: Context,
  end: ChannelEndpoint,
  { channels }: ContractApplicationDeps,
): ibcChannels.ContractChannel {
  channels.channel(context, end);
  const channel = channels.channel(context, end) ?? unreachable("a step of a channel that does not exist");
  return ibcChannels.toContractChannel(end, channel);
}

/**
 * Passes a received packet to a contract. An error acknowledgement contains the contract's own error message. If a message from the
 * contract failed, the acknowledgement contains that error's codespace and code, and the contract's events are dropped.
 */
function receive(
  context: Context,
  address: string,
  packet: ics4.RelayedPacket,
  deps: ContractApplicationDeps,
): ics4.Acknowledgement {
  const events: ChainEvent[] = [];
  let outcome: ReceiveOutcome;
  try {
    outcome = deps.calls.receive(
      collectEvents(context, events),
      address,
      ibcChannels.printRelayed(packet, deps.bech32Prefix),
    );
  } catch (error) {
    if (!(error instanceof ModuleError) || error instanceof ChainPanic) throw error;
    context.emit(packetReceived(address, false, error.message));
    return errorAcknowledgement(error);
  }
  for (const each of events) context.emit(each);
  context.emit(packetReceived(address, outcome.kind === "accepted"));
  return outcome.kind === "accepted"
    ? { success: true, bytes: outcome.acknowledgement ?? new Uint8Array(0) }
    : { success: false, bytes: ics4.encodeReply({ kind: "error", error: outcome.text }) };
}

function errorAcknowledgement({ codespace, code }: ModuleError): ics4.Acknowledgement {
  const error = `ABCI error: ${codespace}/${code}: error handling packet: see events for details`;
  return { success: false, bytes: ics4.encodeReply({ kind: "error", error }) };
}

function packetReceived(address: string, isAccepted: boolean, error?: string): ChainEvent {
  return event("ibc_packet_received", [
    ["module", MODULE_NAME],
    ["_contract_address", address],
    ["success", String(isAccepted)],
    ...(error === undefined ? [] : [["error", error] as const]),
  ]);
}
