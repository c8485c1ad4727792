import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { MsgUpdateClient } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { AnteStep } from "../../../runtime/ante-step.ts";
import { collectEvents, type Context, type ChainEvent } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import type { MessageFunctions } from "../../../runtime/handlers.ts";
import type { TxMessage } from "../../../runtime/tx.ts";
import { updateClientInCheck } from "../client/keeper.ts";
import { proofOf } from "../client/verify-proof.ts";
import { ErrInvalidAcknowledgement, ErrInvalidSequence, ErrRedundantTx } from "../host/errors.ts";
import { type Packet, packetOf, validatePacket } from "../host/packet.ts";
import { type IbcOptions, requireSigner } from "../host/signed-handler.ts";
import { applicationOfChannel } from "./channel-store.ts";
import type { Acknowledgement, IBCModule, PortRouter, RelayedPacket } from "./ibc-module.ts";
import {
  acknowledgePacket,
  executeTimeout,
  receivePacket,
  receiveVerified,
  timeOutOnClose,
  timeOutPacket,
  writeAcknowledgement,
} from "./keeper.ts";
import { requireProof } from "./messages.ts";

// Handlers for the messages that relay packets. If a packet has already been relayed, the message succeeds without changes. Several
// relayers can relay the same packet, and the other messages in the slower relayer's transaction must not fail.

export interface RelayDeps {
  readonly router: PortRouter;
  readonly bech32Prefix: string;
}

type Result = wire.ResponseResultType;
const { RESPONSE_RESULT_TYPE_NOOP: NOOP, RESPONSE_RESULT_TYPE_SUCCESS: SUCCESS } = wire.ResponseResultType;

/** Prefix that is added to the event types and attribute keys if the application refuses a packet. */
const ERROR_PREFIX = "ibccallbackerror-";

type PacketMessage = Parameters<typeof packetOf>[0] & { readonly signer: string };

interface RelayStep {
  /** The packet's channel end on this chain. */
  readonly end: "source" | "destination";
  /** The step's name in the errors that `verify` throws. */
  readonly name: string;
  /** Verifies and records the packet. Returns false if the packet was relayed before. */
  readonly verify: (packet: Packet) => boolean;
  /** Calls the application with the verified packet. */
  readonly complete: (application: IBCModule, packet: RelayedPacket) => void;
}

function relay(context: Context, message: PacketMessage, deps: RelayDeps, step: RelayStep): Result {
  const relayer = parseAddress(deps.bech32Prefix, message.signer);
  const packet: RelayedPacket = { ...packetOf(message), relayer };
  const application = applicationOfChannel(context, deps.router, packet[step.end]);
  if (!wrapErrors(`${step.name} verification failed`, () => step.verify(packet))) return NOOP;
  step.complete(application, packet);
  return SUCCESS;
}

/** MsgRecvPacket: verifies the packet, calls the application and writes its acknowledgement. */
function relayReceive(context: Context, message: wire.MsgRecvPacket, deps: RelayDeps): Result {
  const proof = proofOf(message.proofCommitment, message.proofHeight);
  return relay(context, message, deps, {
    end: "destination",
    name: "receive packet",
    verify: (packet) => receivePacket(context, packet, proof),
    complete: (application, packet) => {
      const acknowledgement = callReceiver(context, application, packet);
      if (acknowledgement !== undefined) writeAcknowledgement(context, packet, acknowledgement);
    },
  });
}

/** MsgAcknowledgement: verifies a sent packet's acknowledgement and passes it to the application. */
function relayAcknowledgement(context: Context, message: wire.MsgAcknowledgement, deps: RelayDeps): Result {
  const { acknowledgement } = message;
  const proof = proofOf(message.proofAcked, message.proofHeight);
  return relay(context, message, deps, {
    end: "source",
    name: "acknowledge packet",
    verify: (packet) => acknowledgePacket(context, packet, { acknowledgement, proof }),
    complete: (application, packet) =>
      wrapErrors("acknowledge packet callback failed", () =>
        application.onAcknowledge(context, packet, acknowledgement),
      ),
  });
}

/** MsgTimeout: verifies that a sent packet was not received in time and calls the application. */
function relayTimeout(context: Context, message: wire.MsgTimeout, deps: RelayDeps): Result {
  const { nextSequenceRecv, proofHeight } = message;
  const unreceived = { proof: proofOf(message.proofUnreceived, proofHeight), nextSequenceRecv };
  return relay(context, message, deps, {
    end: "source",
    name: "timeout packet",
    verify: (packet) => timeOutPacket(context, packet, unreceived),
    complete: (application, packet) =>
      completeTimeout(context, application, packet, "timeout packet callback failed"),
  });
}

/** MsgTimeoutOnClose: like MsgTimeout, but for a channel that the counterparty has closed. */
function relayTimeoutOnClose(context: Context, message: wire.MsgTimeoutOnClose, deps: RelayDeps): Result {
  const { nextSequenceRecv, proofHeight, counterpartyUpgradeSequence: upgradeSequence } = message;
  const closed = { proof: proofOf(message.proofClose, proofHeight), upgradeSequence };
  const unreceived = { proof: proofOf(message.proofUnreceived, proofHeight), nextSequenceRecv, closed };
  return relay(context, message, deps, {
    end: "source",
    name: "timeout on close packet",
    verify: (packet) => timeOutOnClose(context, packet, unreceived),
    complete: (application, packet) =>
      completeTimeout(context, application, packet, "timeout on close callback failed"),
  });
}

function completeTimeout(
  context: Context,
  application: IBCModule,
  packet: RelayedPacket,
  words: string,
): void {
  executeTimeout(context, packet);
  wrapErrors(words, () => application.onTimeout(context, packet));
}

/** Thrown to discard an application's writes after the application has refused a packet. */
class Refused extends Error {
  readonly acknowledgement: Acknowledgement;

  constructor(acknowledgement: Acknowledgement) {
    super("the application refused the packet");
    this.acknowledgement = acknowledgement;
  }
}

/**
 * Calls the application. If the application refuses the packet, its writes are dropped, and its events are kept with a prefix.
 */
function callReceiver(
  context: Context,
  application: IBCModule,
  packet: RelayedPacket,
): Acknowledgement | undefined {
  const events: ChainEvent[] = [];
  try {
    const accepted = context.atomically((inner) => {
      const acknowledgement = application.onReceive(collectEvents(inner, events), packet);
      if (acknowledgement?.success === false) throw new Refused(acknowledgement);
      return acknowledgement;
    });
    for (const event of events) context.emit(event);
    return accepted;
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    for (const event of events) context.emit(asErrorEvent(event));
    return thrown.acknowledgement;
  }
}

function asErrorEvent({ type, attributes }: ChainEvent): ChainEvent {
  return {
    type: `${ERROR_PREFIX}${type}`,
    attributes: attributes.map(({ key, ...rest }) => ({ key: `${ERROR_PREFIX}${key}`, ...rest })),
  };
}

/** The `ibc.core.channel.v1` messages that carry packets, with their stateless checks (`ValidateBasic`) in ibc-go's order. */
export function packetMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  const deps = { router, bech32Prefix };
  const checkSender = (message: PacketMessage): void => {
    requireSigner(bech32Prefix, message);
    validatePacket(packetOf(message));
  };
  return {
    RecvPacket: {
      validate: (message) => {
        requireProof(message.proofCommitment, "commitment proof");
        checkSender(message);
      },
      handle: (context, message) => ({ result: relayReceive(context, message, deps) }),
    },
    Acknowledgement: {
      validate: (message) => {
        requireProof(message.proofAcked, "acknowledgement proof");
        if (message.acknowledgement.length === 0)
          throw ErrInvalidAcknowledgement("ack bytes cannot be empty");
        checkSender(message);
      },
      handle: (context, message) => ({ result: relayAcknowledgement(context, message, deps) }),
    },
    Timeout: {
      validate: (message) => {
        requireProof(message.proofUnreceived, "unreceived proof");
        requireNextSequence(message);
        checkSender(message);
      },
      handle: (context, message) => ({ result: relayTimeout(context, message, deps) }),
    },
    TimeoutOnClose: {
      validate: (message) => {
        requireNextSequence(message);
        requireProof(message.proofUnreceived, "unreceived proof");
        requireProof(message.proofClose, "proof of closed counterparty channel end");
        checkSender(message);
      },
      handle: (context, message) => ({ result: relayTimeoutOnClose(context, message, deps) }),
    },
  } satisfies Partial<MessageFunctions<typeof wire.Msg>>;
}

function requireNextSequence({ nextSequenceRecv }: { readonly nextSequenceRecv: bigint }): void {
  if (nextSequenceRecv === 0n) throw ErrInvalidSequence("next sequence receive cannot be 0");
}

/** The kind of a message in CheckTx. The kind "other" is for messages that neither update a client nor relay a packet. */
type Relayed = "update" | "new" | "redundant" | "other";

/**
 * Creates the ante step for relayers' transactions (ibc-go `RedundantRelayDecorator`). In CheckTx, the step runs client updates and
 * verifies packets, because a relayer pays no fee for a failure in CheckTx. The checks stop at the first message that is neither a
 * client update nor a packet. A transaction that contains only client updates and packets is rejected with channel/22 if all its
 * packets were relayed before.
 */
export function createRelayCheck(deps: RelayDeps): AnteStep {
  return (context, tx) => {
    if (context.mode !== "check" && context.mode !== "recheck") return;
    const seen = { new: 0, redundant: 0 };
    for (const message of tx.messages) {
      const kind = checkMessage(context, message, deps);
      if (kind === "other") return;
      if (kind !== "update") seen[kind] += 1;
    }
    if (seen.redundant > 0 && seen.new === 0) throw ErrRedundantTx();
  };
}

function checkMessage(context: Context, { typeUrl, value }: TxMessage, deps: RelayDeps): Relayed {
  switch (typeUrl) {
    case "/ibc.core.client.v1.MsgUpdateClient": {
      const { clientId, clientMessage } = MsgUpdateClient.decode(value);
      updateClientInCheck(context, clientId, clientMessage);
      return "update";
    }
    case "/ibc.core.channel.v1.MsgRecvPacket":
      return checkReceive(context, wire.MsgRecvPacket.decode(value), deps);
    case "/ibc.core.channel.v1.MsgAcknowledgement":
      return kindOf(relayAcknowledgement(context, wire.MsgAcknowledgement.decode(value), deps));
    case "/ibc.core.channel.v1.MsgTimeout":
      return kindOf(relayTimeout(context, wire.MsgTimeout.decode(value), deps));
    case "/ibc.core.channel.v1.MsgTimeoutOnClose":
      return kindOf(relayTimeoutOnClose(context, wire.MsgTimeoutOnClose.decode(value), deps));
    default:
      return "other";
  }
}

/** Verifies a packet without calling its application. In a recheck, the proof is not verified again. */
function checkReceive(context: Context, message: wire.MsgRecvPacket, { router }: RelayDeps): Relayed {
  const packet = packetOf(message);
  if (context.mode === "recheck") return receiveVerified(context, packet) ? "new" : "redundant";
  applicationOfChannel(context, router, packet.destination);
  const proof = proofOf(message.proofCommitment, message.proofHeight);
  const isNew = wrapErrors("receive packet verification failed", () => receivePacket(context, packet, proof));
  return isNew ? "new" : "redundant";
}

function kindOf(result: Result): Relayed {
  return result === NOOP ? "redundant" : "new";
}
