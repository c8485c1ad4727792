import {
  type Msg,
  MsgAcknowledgement,
  MsgRecvPacket,
  MsgTimeout,
  MsgTimeoutOnClose,
  ResponseResultType,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { MsgUpdateClient } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { AnteStep } from "../../../runtime/ante-step.ts";
import { collectEvents, type Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import type { ChainEvent } from "../../../runtime/events.ts";
import type { MessageFunctions } from "../../../runtime/handlers.ts";
import type { TxMessage } from "../../../runtime/tx.ts";
import { updateClientInCheck } from "../client/keeper.ts";
import { proofOf } from "../client/verify-proof.ts";
import { ErrRedundantTx } from "../host/errors.ts";
import type { IbcOptions } from "../host/signed-handler.ts";
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
import {
  validateAcknowledgement,
  validateReceive,
  validateTimeout,
  validateTimeoutOnClose,
} from "./messages.ts";
import { packetOf } from "../host/packet.ts";

// The messages with which relayers carry packets. A packet that was relayed before changes nothing and is a success: several
// relayers carry the same packets, and one that comes late must not lose its other messages.

/** Options and dependencies of the handlers. */
export interface RelayDeps {
  readonly router: PortRouter;
  /** Parses a bech32 address that the stateless checks have accepted. */
  readonly parseAddress: (text: string) => Uint8Array;
}

type Result = ResponseResultType;
const { RESPONSE_RESULT_TYPE_NOOP: NOOP, RESPONSE_RESULT_TYPE_SUCCESS: SUCCESS } = ResponseResultType;

/** Prefix for event types and attribute keys when the application refuses a packet. */
const ERROR_PREFIX = "ibccallbackerror-";

/** MsgRecvPacket: verifies the packet, calls the application and writes its acknowledgement. */
function relayReceive(context: Context, message: MsgRecvPacket, deps: RelayDeps): Result {
  const packet = relayedPacket(message, deps);
  const application = applicationOfChannel(context, deps.router, packet.destination);
  const isNew = wrapErrors("receive packet verification failed", () =>
    receivePacket(context, packet, proofOf(message.proofCommitment, message.proofHeight)),
  );
  if (!isNew) return NOOP;
  const acknowledgement = callReceiver(context, application, packet);
  if (acknowledgement !== undefined) writeAcknowledgement(context, packet, acknowledgement);
  return SUCCESS;
}

/** MsgAcknowledgement: verifies a sent packet's acknowledgement and passes it to the application. */
function relayAcknowledgement(context: Context, message: MsgAcknowledgement, deps: RelayDeps): Result {
  const packet = relayedPacket(message, deps);
  const application = applicationOfChannel(context, deps.router, packet.source);
  const { acknowledgement } = message;
  const proof = proofOf(message.proofAcked, message.proofHeight);
  const isNew = wrapErrors("acknowledge packet verification failed", () =>
    acknowledgePacket(context, packet, { acknowledgement, proof }),
  );
  if (!isNew) return NOOP;
  wrapErrors("acknowledge packet callback failed", () =>
    application.onAcknowledge(context, packet, acknowledgement),
  );
  return SUCCESS;
}

/** MsgTimeout: verifies that a sent packet was not received in time and calls the application. */
function relayTimeout(context: Context, message: MsgTimeout, deps: RelayDeps): Result {
  const packet = relayedPacket(message, deps);
  const application = applicationOfChannel(context, deps.router, packet.source);
  const { nextSequenceRecv, proofHeight } = message;
  const unreceived = { proof: proofOf(message.proofUnreceived, proofHeight), nextSequenceRecv };
  const isNew = wrapErrors("timeout packet verification failed", () =>
    timeOutPacket(context, packet, unreceived),
  );
  if (!isNew) return NOOP;
  executeTimeout(context, packet);
  wrapErrors("timeout packet callback failed", () => application.onTimeout(context, packet));
  return SUCCESS;
}

/** MsgTimeoutOnClose: like MsgTimeout, but for a channel that the counterparty has closed. */
function relayTimeoutOnClose(context: Context, message: MsgTimeoutOnClose, deps: RelayDeps): Result {
  const packet = relayedPacket(message, deps);
  const application = applicationOfChannel(context, deps.router, packet.source);
  const { nextSequenceRecv, proofHeight, counterpartyUpgradeSequence: upgradeSequence } = message;
  const closed = { proof: proofOf(message.proofClose, proofHeight), upgradeSequence };
  const proof = proofOf(message.proofUnreceived, proofHeight);
  const isNew = wrapErrors("timeout on close packet verification failed", () =>
    timeOutOnClose(context, packet, { proof, nextSequenceRecv, closed }),
  );
  if (!isNew) return NOOP;
  executeTimeout(context, packet);
  wrapErrors("timeout on close callback failed", () => application.onTimeout(context, packet));
  return SUCCESS;
}

function relayedPacket(
  message: Parameters<typeof packetOf>[0] & { readonly signer: string },
  deps: RelayDeps,
): RelayedPacket {
  return { ...packetOf(message), relayer: deps.parseAddress(message.signer) };
}

/** Thrown to end an application's branch after the application has refused a packet. */
class Refused extends Error {
  readonly acknowledgement: Acknowledgement;

  constructor(acknowledgement: Acknowledgement) {
    super("the application refused the packet");
    this.acknowledgement = acknowledgement;
  }
}

/** Calls the application. If it refuses the packet, its writes are dropped, but its events are kept with a prefix. */
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

/** The `ibc.core.channel.v1` messages that carry packets. */
export function packetMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  const deps = { router, parseAddress: (text: string) => parseAddress(bech32Prefix, text) };
  return {
    RecvPacket: {
      validate: (message) => validateReceive(message, bech32Prefix),
      handle: (context, message) => ({ result: relayReceive(context, message, deps) }),
    },
    Acknowledgement: {
      validate: (message) => validateAcknowledgement(message, bech32Prefix),
      handle: (context, message) => ({ result: relayAcknowledgement(context, message, deps) }),
    },
    Timeout: {
      validate: (message) => validateTimeout(message, bech32Prefix),
      handle: (context, message) => ({ result: relayTimeout(context, message, deps) }),
    },
    TimeoutOnClose: {
      validate: (message) => validateTimeoutOnClose(message, bech32Prefix),
      handle: (context, message) => ({ result: relayTimeoutOnClose(context, message, deps) }),
    },
  } satisfies Partial<MessageFunctions<typeof Msg>>;
}

/** Kind of message in CheckTx. "other" means that it is not a relayer's message. */
type Relayed = "update" | "new" | "redundant" | "other";

/**
 * Creates the ante step for relayers' transactions (ibc-go `RedundantRelayDecorator`). A transaction that consists only of client
 * updates and packets runs in CheckTx, where a failure costs nothing. It is refused with channel/22 if all its packets have
 * already been relayed. Any other message ends the checks; that message and all later ones run only in the block.
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
      return checkReceive(context, MsgRecvPacket.decode(value), deps);
    case "/ibc.core.channel.v1.MsgAcknowledgement":
      return kindOf(relayAcknowledgement(context, MsgAcknowledgement.decode(value), deps));
    case "/ibc.core.channel.v1.MsgTimeout":
      return kindOf(relayTimeout(context, MsgTimeout.decode(value), deps));
    case "/ibc.core.channel.v1.MsgTimeoutOnClose":
      return kindOf(relayTimeoutOnClose(context, MsgTimeoutOnClose.decode(value), deps));
    default:
      return "other";
  }
}

/** Verifies a packet without calling its application. A recheck skips the verification. */
function checkReceive(context: Context, message: MsgRecvPacket, { router }: RelayDeps): Relayed {
  const packet = packetOf(message);
  if (context.mode === "recheck") return receiveVerified(context, packet) ? "new" : "redundant";
  applicationOfChannel(context, router, packet.destination);
  const proof = proofOf(message.proofCommitment, message.proofHeight);
  const isNew = wrapErrors("receive packet verification failed", () => receivePacket(context, packet, proof));
  return isNew ? "new" : "redundant";
}

function kindOf(result: ResponseResultType): Relayed {
  return result === ResponseResultType.RESPONSE_RESULT_TYPE_NOOP ? "redundant" : "new";
}
