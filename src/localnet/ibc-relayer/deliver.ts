import type { Clock } from "../../platform/base/clock.ts";
import { failedMessageIndex } from "../../cosmos/client/tx/tx-queries.ts";
import type { SendOutcome, WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import type { CourierChain, Snapshot } from "./courier-chain.ts";
import { CourierError } from "./courier-error.ts";
import type { TroubleBook } from "./trouble-book.ts";
import { proveWork, type Work } from "./work.ts";

/** The chain that gets messages, and where its refusals are noted. */
export interface Target {
  readonly chain: CourierChain;
  readonly troubles: TroubleBook;
}

/** Messages of one transaction. A receive takes about 220,000 gas and 2 kB. */
const MAX_MESSAGES = 100;
/** Bytes of the messages of one transaction. CometBFT's mempool takes 1 MiB. */
const MAX_BYTES = 600_000;
/** Gas of the payment of the fee, which a simulation does not run. */
const FEE_GAS = 30_000n;

/** A message with its work. */
interface Load {
  readonly work: Work;
  readonly message: WireMessage;
}

/**
 * Sends the next part of the work in one transaction, after the update of the light client that its proofs need. A message that
 * the chain refuses is noted and left out. Returns the work that is on the chain. Rejects with `ClientError`, `RelayError` or
 * `CourierError`.
 */
export async function deliver(
  { chain, troubles }: Target,
  work: readonly Work[],
  from: Snapshot,
  deps: { readonly clock: Pick<Clock, "nowMs">; readonly signal: AbortSignal },
): Promise<readonly Work[]> {
  const { signal } = deps;
  const part = work.filter(({ name }) => troubles.isReady(name)).slice(0, MAX_MESSAGES);
  if (part.length === 0) return [];
  const needsProof = part.some(({ paths }) => paths.length > 0);
  const source = { client: from.chain.client, point: from.moment };
  const [update, messages] = await Promise.all([
    needsProof ? clientUpdate(chain, from, deps) : undefined,
    proveWork(part, source, chain.sender.address, signal),
  ]);
  const loads = part.flatMap((one, index) => {
    const message = messages[index];
    return message === undefined ? [] : [{ work: one, message }];
  });
  return sendLoads({ chain, troubles }, update === undefined ? [] : [update], withinBytes(loads), signal);
}

/** Gives the light client of `from` on `chain` the newest header. Resolves with undefined when the client has it already. */
export async function clientUpdate(
  chain: CourierChain,
  from: Snapshot,
  { clock, signal }: { readonly clock: Pick<Clock, "nowMs">; readonly signal: AbortSignal },
): Promise<WireMessage | undefined> {
  const { queries, connectionId, sender } = chain;
  const clientId = await queries.clientOfConnection(connectionId, signal);
  const client = await queries.clientState(clientId, signal);
  if (isUpdatedTo(client, from.moment)) return undefined;
  const finder = createTrustFinder({ local: queries, remote: from.chain.client, clock }, client, signal);
  const header = headerAny(from.block, await finder.below(from.moment));
  return updateClientMessage(clientId, header, sender.address);
}

/** A single message that is too large is tried all the same: the chain says so. */
function withinBytes(loads: readonly Load[]): readonly Load[] {
  let bytes = 0;
  return loads.filter(({ message }, index) => {
    bytes += message.value.length;
    return index === 0 || bytes <= MAX_BYTES;
  });
}

async function sendLoads(
  { chain, troubles }: Target,
  update: readonly WireMessage[],
  loads: readonly Load[],
  signal: AbortSignal,
): Promise<readonly Work[]> {
  let left = loads;
  while (left.length > 0) {
    const refusal = await sendOnce(chain, [...update, ...left.map(({ message }) => message)], signal);
    if (refusal === undefined) return left.map(({ work }) => work);
    const failed = left[(refusal.failedMessage ?? -1) - update.length];
    if (failed === undefined) {
      const text = `${chain.chainId} refused a transaction of the courier: ${refusal.log}`;
      throw new CourierError({ code: "transaction-failed", chainId: chain.chainId }, text);
    }
    troubles.note(failed.work.name, refusal.log);
    left = left.filter((load) => load !== failed);
  }
  return [];
}

/** Why a transaction has no effect. `failedMessage`: the index of the message that is the reason. */
interface Refusal {
  readonly failedMessage: number | undefined;
  readonly log: string;
}

/** Simulates and sends. Returns undefined when the messages are on the chain. */
async function sendOnce(
  { sender }: CourierChain,
  messages: readonly WireMessage[],
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const simulated = await sender.simulate(messages, signal);
  if (!simulated.ok) return simulated;
  const gasLimit = ((simulated.gasUsed + FEE_GAS) * 13n) / 10n;
  return refusalOf(await sender.send(messages, gasLimit, signal));
}

function refusalOf({ confirmation }: SendOutcome): Refusal | undefined {
  switch (confirmation.kind) {
    case "included":
      return undefined;
    case "failed":
    case "refused":
      return isRedundant(confirmation)
        ? undefined
        : { failedMessage: failedMessageIndex(confirmation.log), log: confirmation.log };
    case "lost":
      return { failedMessage: undefined, log: confirmation.reason };
  }
}

/** Another relayer was faster with all packets of the transaction. */
function isRedundant({ codespace, code }: { readonly codespace: string; readonly code: number }): boolean {
  return codespace === "channel" && code === 22;
}
