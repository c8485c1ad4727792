import { describe, expect, it } from "vitest";
import type { MessageHandler } from "../../../../src/localnet/chain/runtime/context.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { MsgCreateClient, MsgUpgradeClient } from "../../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { findService, type ServiceInfo } from "../../../../src/cosmos/proto/registry.ts";
import { createLinkedChain } from "../../../support/ibc/linked-chain.ts";

// Every method of the services of ibc-go 8.7, by the name of its service. A method that no list names, and one that no handler
// answers, fails.
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  "ibc.core.client.v1.Query": [
    "ClientState",
    "ClientStates",
    "ConsensusState",
    "ConsensusStates",
    "ConsensusStateHeights",
    "ClientStatus",
    "ClientParams",
    "UpgradedClientState",
    "UpgradedConsensusState",
    "VerifyMembership",
  ],
  "ibc.core.connection.v1.Query": [
    "Connection",
    "Connections",
    "ClientConnections",
    "ConnectionClientState",
    "ConnectionConsensusState",
    "ConnectionParams",
  ],
  "ibc.core.channel.v1.Query": [
    "Channel",
    "Channels",
    "ConnectionChannels",
    "ChannelClientState",
    "ChannelConsensusState",
    "PacketCommitment",
    "PacketCommitments",
    "PacketReceipt",
    "PacketAcknowledgement",
    "PacketAcknowledgements",
    "UnreceivedPackets",
    "UnreceivedAcks",
    "NextSequenceReceive",
    "NextSequenceSend",
    "UpgradeError",
    "Upgrade",
    "ChannelParams",
  ],
};

const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  "ibc.core.client.v1.Msg": [
    "CreateClient",
    "UpdateClient",
    "UpgradeClient",
    "SubmitMisbehaviour",
    "RecoverClient",
    "IBCSoftwareUpgrade",
    "UpdateClientParams",
  ],
  "ibc.core.connection.v1.Msg": [
    "ConnectionOpenInit",
    "ConnectionOpenTry",
    "ConnectionOpenAck",
    "ConnectionOpenConfirm",
    "UpdateConnectionParams",
  ],
  "ibc.core.channel.v1.Msg": [
    "ChannelOpenInit",
    "ChannelOpenTry",
    "ChannelOpenAck",
    "ChannelOpenConfirm",
    "ChannelCloseInit",
    "ChannelCloseConfirm",
    "RecvPacket",
    "Timeout",
    "TimeoutOnClose",
    "Acknowledgement",
    "ChannelUpgradeInit",
    "ChannelUpgradeTry",
    "ChannelUpgradeAck",
    "ChannelUpgradeConfirm",
    "ChannelUpgradeOpen",
    "ChannelUpgradeTimeout",
    "ChannelUpgradeCancel",
    "UpdateChannelParams",
    "PruneAcknowledgements",
  ],
};

/** The messages that fail with sdk/37. docs/conformance.md says why. */
const REFUSED = [
  "/ibc.core.client.v1.MsgUpgradeClient",
  "/ibc.core.client.v1.MsgIBCSoftwareUpgrade",
  "/ibc.core.channel.v1.MsgChannelUpgradeInit",
  "/ibc.core.channel.v1.MsgChannelUpgradeTry",
  "/ibc.core.channel.v1.MsgChannelUpgradeAck",
  "/ibc.core.channel.v1.MsgChannelUpgradeConfirm",
  "/ibc.core.channel.v1.MsgChannelUpgradeOpen",
  "/ibc.core.channel.v1.MsgChannelUpgradeTimeout",
  "/ibc.core.channel.v1.MsgChannelUpgradeCancel",
  "/ibc.core.channel.v1.MsgPruneAcknowledgements",
];

const chain = createLinkedChain({ chainId: "local-1" });

function methodsOf(name: string): ServiceInfo["methods"] {
  const service = findService(name);
  if (service === undefined) throw new Error(`no service ${name}`);
  return service.methods;
}

const { "@type": _type, ...newClient } = chain.createClientFor(chain);
const CLIENT_PARTS = MsgCreateClient.decode(messageFromJson("ibc.core.client.v1.MsgCreateClient", newClient));
/** A message that passes the checks before its handler, where an empty one does not. */
const VALID: ReadonlyMap<string, Uint8Array> = new Map([
  [
    "/ibc.core.client.v1.MsgUpgradeClient",
    MsgUpgradeClient.encode({
      ...CLIENT_PARTS,
      clientId: "07-tendermint-0",
      proofUpgradeClient: Uint8Array.of(1),
      proofUpgradeConsensusState: Uint8Array.of(1),
    }).finish(),
  ],
]);

/** Whether a message fails as not implemented. */
function isRefused({ handle, typeUrl }: MessageHandler): boolean {
  try {
    handle(chain.context(), VALID.get(typeUrl) ?? new Uint8Array(0));
    return false;
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    const { codespace, code, message } = error;
    const refused = codespace === "sdk" && code === 37;
    if (refused) expect(message).toBe(`${typeUrl} is not implemented: feature not supported`);
    return refused;
  }
}

describe("the services of IBC", () => {
  it.each(Object.entries({ ...QUERIES, ...MESSAGES }))("%s has its methods", (service, methods) => {
    expect(methodsOf(service).map(({ name }) => name)).toEqual(methods);
  });

  it.each(Object.keys(QUERIES))("%s is answered", (service) => {
    const answered = chain.ibc.queries.map(({ path }) => path);
    expect(methodsOf(service).filter(({ path }) => !answered.includes(path))).toEqual([]);
  });

  it.each(Object.keys(MESSAGES))("%s has a handler for each message", (service) => {
    const handled = chain.ibc.messages.map(({ typeUrl }) => typeUrl);
    const types = methodsOf(service).map(({ requestType }) => `/${requestType}`);
    expect(types.filter((type) => !handled.includes(type))).toEqual([]);
  });

  it("refuse the messages of upgrades, and no others", () => {
    expect(chain.ibc.messages.filter(isRefused).map(({ typeUrl }) => typeUrl)).toEqual(REFUSED);
    expect(chain.ibc.messages.length).toBe(Object.values(MESSAGES).flat().length);
  });
});
