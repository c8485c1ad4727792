import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { Context } from "../../../runtime/context.ts";
import type { WireType } from "../../../runtime/handlers.ts";
import type { MessageHandler } from "../../../runtime/module.ts";
import { proofOf } from "../connection/connection-proofs.ts";
import { toMessageHandler } from "../../../runtime/handlers.ts";
import {
  answeringHandler,
  requireAuthority,
  signedHandler,
  type SignedMessage,
  unsupportedHandler,
} from "../signed-message.ts";
import type { IbcOptions } from "../types.ts";
import type { PortRouter } from "./application.ts";
import { setChannelParams } from "./channel-store.ts";
import {
  closeConfirm,
  closeInit,
  openAck,
  openConfirm,
  openInit,
  type OpenRequest,
  openTry,
} from "./handshake.ts";
import * as checks from "./messages.ts";
import {
  relayAcknowledgement,
  type RelayEnvironment,
  relayReceive,
  relayTimeout,
  relayTimeoutOnClose,
} from "./relay.ts";
import { applicationOfChannel, applicationOfPort } from "./router.ts";

const CHANNEL = "/ibc.core.channel.v1.";

/** Handlers of the messages of `ibc.core.channel.v1`. */
export function channelHandlers(options: IbcOptions, router: PortRouter): readonly MessageHandler[] {
  return [
    ...openingHandlers(options, router),
    ...laterHandlers(options, router),
    ...packetHandlers(options, router),
    paramsHandler(options),
    ...upgradeHandlers(),
  ];
}

function openingHandlers({ bech32Prefix }: IbcOptions, router: PortRouter): readonly MessageHandler[] {
  return [
    answeringHandler(`${CHANNEL}MsgChannelOpenInit`, wire.MsgChannelOpenInit, {
      validate: (message) => checks.validateOpenInit(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfPort(router, message.portId);
        const opened = openInit(context, application, requestOf(message, message.channel?.version ?? ""));
        return wire.MsgChannelOpenInitResponse.encode(opened).finish();
      },
    }),
    answeringHandler(`${CHANNEL}MsgChannelOpenTry`, wire.MsgChannelOpenTry, {
      validate: (message) => checks.validateOpenTry(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfPort(router, message.portId);
        const request = requestOf(message, message.counterpartyVersion);
        const proof = proofOf(message.proofInit, message.proofHeight);
        const opened = openTry(context, application, { ...request, proof });
        return wire.MsgChannelOpenTryResponse.encode(opened).finish();
      },
    }),
  ];
}

function laterHandlers({ bech32Prefix }: IbcOptions, router: PortRouter): readonly MessageHandler[] {
  return [
    signedHandler(`${CHANNEL}MsgChannelOpenAck`, wire.MsgChannelOpenAck, {
      validate: (message) => checks.validateOpenAck(message, bech32Prefix),
      handle: (context, message) => {
        const { application } = applicationOfChannel(context, router, message);
        const { counterpartyChannelId: channelId, counterpartyVersion: version } = message;
        const proof = proofOf(message.proofTry, message.proofHeight);
        openAck(context, application, message, { channelId, version, proof });
      },
    }),
    signedHandler(`${CHANNEL}MsgChannelOpenConfirm`, wire.MsgChannelOpenConfirm, {
      validate: (message) => checks.validateOpenConfirm(message, bech32Prefix),
      handle: (context, message) => {
        const { application } = applicationOfChannel(context, router, message);
        openConfirm(context, application, message, proofOf(message.proofAck, message.proofHeight));
      },
    }),
    signedHandler(`${CHANNEL}MsgChannelCloseInit`, wire.MsgChannelCloseInit, {
      validate: (message) => checks.validateCloseInit(message, bech32Prefix),
      handle: (context, message) =>
        closeInit(context, applicationOfChannel(context, router, message).application, message),
    }),
    signedHandler(`${CHANNEL}MsgChannelCloseConfirm`, wire.MsgChannelCloseConfirm, {
      validate: (message) => checks.validateCloseConfirm(message, bech32Prefix),
      handle: (context, message) => {
        const { application } = applicationOfChannel(context, router, message);
        const proof = proofOf(message.proofInit, message.proofHeight);
        const upgradeSequence = message.counterpartyUpgradeSequence;
        closeConfirm(context, application, message, { proof, upgradeSequence });
      },
    }),
  ];
}

function packetHandlers({ bech32Prefix }: IbcOptions, router: PortRouter): readonly MessageHandler[] {
  const environment = { router, parseAddress: (text: string) => parseAddress(bech32Prefix, text) };
  return [
    packetHandler("MsgRecvPacket", wire.MsgRecvPacket, environment, {
      validate: (message) => checks.validateReceive(message, bech32Prefix),
      relay: relayReceive,
    }),
    packetHandler("MsgAcknowledgement", wire.MsgAcknowledgement, environment, {
      validate: (message) => checks.validateAcknowledgement(message, bech32Prefix),
      relay: relayAcknowledgement,
    }),
    packetHandler("MsgTimeout", wire.MsgTimeout, environment, {
      validate: (message) => checks.validateTimeout(message, bech32Prefix),
      relay: relayTimeout,
    }),
    packetHandler("MsgTimeoutOnClose", wire.MsgTimeoutOnClose, environment, {
      validate: (message) => checks.validateTimeoutOnClose(message, bech32Prefix),
      relay: relayTimeoutOnClose,
    }),
  ];
}

function paramsHandler({ bech32Prefix, authority }: IbcOptions): MessageHandler {
  return toMessageHandler({
    typeUrl: `${CHANNEL}MsgUpdateParams`,
    type: wire.MsgUpdateParams,
    signers: (message) => [message.authority],
    validate: (message) => checks.validateUpdateParams(message, bech32Prefix),
    handle: (context, message) => {
      requireAuthority(authority, { signer: message.authority });
      setChannelParams(context, checks.paramsIn(message));
    },
  });
}

/** The messages of channel upgrades, and of the entries that only an upgrade lets relayers prune. */
function upgradeHandlers(): readonly MessageHandler[] {
  return [
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeInit`, wire.MsgChannelUpgradeInit),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeTry`, wire.MsgChannelUpgradeTry),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeAck`, wire.MsgChannelUpgradeAck),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeConfirm`, wire.MsgChannelUpgradeConfirm),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeOpen`, wire.MsgChannelUpgradeOpen),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeTimeout`, wire.MsgChannelUpgradeTimeout),
    unsupportedHandler(`${CHANNEL}MsgChannelUpgradeCancel`, wire.MsgChannelUpgradeCancel),
    unsupportedHandler(`${CHANNEL}MsgPruneAcknowledgements`, wire.MsgPruneAcknowledgements),
  ];
}

/** The responses of all packet messages have the same form: field 1 is the result. */
function packetHandler<T extends SignedMessage>(
  name: string,
  type: WireType<T>,
  environment: RelayEnvironment,
  form: {
    readonly validate: (message: T) => void;
    readonly relay: (context: Context, message: T, environment: RelayEnvironment) => wire.ResponseResultType;
  },
): MessageHandler {
  return answeringHandler(`${CHANNEL}${name}`, type, {
    validate: form.validate,
    handle: (context, message) =>
      wire.MsgRecvPacketResponse.encode({ result: form.relay(context, message, environment) }).finish(),
  });
}

function requestOf(
  { portId, channel }: Pick<wire.MsgChannelOpenInit, "portId" | "channel">,
  version: string,
): OpenRequest {
  // The stateless checks refuse a message without a channel.
  return { portId, version, channel: channel ?? EMPTY_CHANNEL };
}

const EMPTY_CHANNEL: OpenRequest["channel"] = {
  state: 0,
  ordering: 0,
  counterparty: undefined,
  connectionHops: [],
  version: "",
  upgradeSequence: 0n,
};
