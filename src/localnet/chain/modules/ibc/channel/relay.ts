import {
  type MsgAcknowledgement,
  type MsgRecvPacket,
  type MsgTimeout,
  type MsgTimeoutOnClose,
  ResponseResultType,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { ChainEvent } from "../../../runtime/events.ts";
import { collectEvents, type Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { proofOf } from "../connection/connection-proofs.ts";
import { acknowledgePacket } from "./acknowledge.ts";
import type { Acknowledgement, IbcApplication, PortRouter, RelayedPacket } from "./application.ts";
import { packetOf } from "./packet.ts";
import { receivePacket, writeAcknowledgement } from "./receive.ts";
import { applicationOfChannel } from "./router.ts";
import { executeTimeout, timeOutOnClose, timeOutPacket } from "./timeout.ts";

// The messages with which relayers carry packets. A packet that was relayed before changes nothing and is a success: several
// relayers carry the same packets, and one that comes late must not lose its other messages.

/** What the messages need of the chain. */
export interface RelayEnvironment {
  readonly router: PortRouter;
  /** Parses a bech32 address that the stateless checks have accepted. */
  readonly parseAddress: (text: string) => Uint8Array;
}

type Result = ResponseResultType;
const { RESPONSE_RESULT_TYPE_NOOP: NOOP, RESPONSE_RESULT_TYPE_SUCCESS: SUCCESS } = ResponseResultType;

/** Prefix of the types and keys of all events of an application that refuses a packet. */
const ERROR_PREFIX = "ibccallbackerror-";

/** MsgRecvPacket: verifies the packet, calls the application and writes its acknowledgement. */
export function relayReceive(
  context: Context,
  message: MsgRecvPacket,
  environment: RelayEnvironment,
): Result {
  const packet = relayedPacket(message, environment);
  const { application } = applicationOfChannel(context, environment.router, packet.destination);
  const isNew = verified("receive packet", () =>
    receivePacket(context, packet, proofOf(message.proofCommitment, message.proofHeight)),
  );
  if (!isNew) return NOOP;
  const acknowledgement = callReceiver(context, application, packet);
  if (acknowledgement !== undefined) writeAcknowledgement(context, packet, acknowledgement);
  return SUCCESS;
}

/** MsgAcknowledgement: verifies the acknowledgement of a sent packet and passes it to the application. */
export function relayAcknowledgement(
  context: Context,
  message: MsgAcknowledgement,
  environment: RelayEnvironment,
): Result {
  const packet = relayedPacket(message, environment);
  const { application, channel } = applicationOfChannel(context, environment.router, packet.source);
  const { acknowledgement } = message;
  const proof = proofOf(message.proofAcked, message.proofHeight);
  const isNew = verified("acknowledge packet", () =>
    acknowledgePacket(context, channel, packet, { acknowledgement, proof }),
  );
  if (!isNew) return NOOP;
  wrapErrors(
    (error) => error.wrap("acknowledge packet callback failed"),
    () => application.onAcknowledge(context, packet, acknowledgement),
  );
  return SUCCESS;
}

/** MsgTimeout: verifies that a sent packet was not received in time and tells the application. */
export function relayTimeout(context: Context, message: MsgTimeout, environment: RelayEnvironment): Result {
  const packet = relayedPacket(message, environment);
  const { application, channel } = applicationOfChannel(context, environment.router, packet.source);
  const { nextSequenceRecv, proofHeight } = message;
  const unreceived = { proof: proofOf(message.proofUnreceived, proofHeight), nextSequenceRecv };
  const isNew = verified("timeout packet", () => timeOutPacket(context, channel, packet, unreceived));
  if (!isNew) return NOOP;
  executeTimeout(context, channel, packet);
  wrapErrors(
    (error) => error.wrap("timeout packet callback failed"),
    () => application.onTimeout(context, packet),
  );
  return SUCCESS;
}

/** MsgTimeoutOnClose: as MsgTimeout, for a channel that the counterparty has closed. */
export function relayTimeoutOnClose(
  context: Context,
  message: MsgTimeoutOnClose,
  environment: RelayEnvironment,
): Result {
  const packet = relayedPacket(message, environment);
  const { application, channel } = applicationOfChannel(context, environment.router, packet.source);
  const { nextSequenceRecv, proofHeight, counterpartyUpgradeSequence: upgradeSequence } = message;
  const closed = { proof: proofOf(message.proofClose, proofHeight), upgradeSequence };
  const proof = proofOf(message.proofUnreceived, proofHeight);
  const isNew = verified("timeout on close packet", () =>
    timeOutOnClose(context, channel, packet, { proof, nextSequenceRecv, closed }),
  );
  if (!isNew) return NOOP;
  executeTimeout(context, channel, packet);
  wrapErrors(
    (error) => error.wrap("timeout on close callback failed"),
    () => application.onTimeout(context, packet),
  );
  return SUCCESS;
}

function relayedPacket(
  message: Parameters<typeof packetOf>[0] & { readonly signer: string },
  { parseAddress }: RelayEnvironment,
): RelayedPacket {
  return { ...packetOf(message), relayer: parseAddress(message.signer) };
}

function verified(words: string, work: () => boolean): boolean {
  return wrapErrors((error) => error.wrap(`${words} verification failed`), work);
}

/** Ends the branch of an application that has refused a packet. */
class Refused extends Error {
  readonly acknowledgement: Acknowledgement;

  constructor(acknowledgement: Acknowledgement) {
    super("the application refused the packet");
    this.acknowledgement = acknowledgement;
  }
}

/** Calls the application. The writes of one that refuses the packet are dropped; its events stay, with a prefix. */
function callReceiver(
  context: Context,
  application: IbcApplication,
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
