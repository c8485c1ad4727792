import { failedMessageIndex } from "../../cosmos/client/tx/tx-queries.ts";
import type { SendOutcome, WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/waits.ts";
import { IbcRelayerError } from "./errors.ts";
import type { IbcChain, Snapshot } from "./ibc-chain.ts";
import { proveWork, type Work } from "./work.ts";

/** The chain to which messages are sent, and the retry backoff for messages that the chain has rejected. */
export interface Target {
  readonly chain: IbcChain;
  readonly backoff: RetryBackoff;
}

/** Maximum number of messages per transaction. A message that receives a packet takes about 220,000 gas and 2 kB. */
const MAX_MESSAGES = 100;
/** Maximum total size of the messages in a transaction, in bytes. The value is below the 1 MiB limit of CometBFT's mempool. */
const MAX_BYTES = 600_000;
/** Gas that a transaction uses to pay its fee. This gas is added to the simulated gas, because a simulation pays no fee. */
const FEE_GAS = 30_000n;

interface Load {
  readonly work: Work;
  readonly message: WireMessage;
}

/**
 * Sends one transaction with the light-client update that the proofs need and as many of the messages as the limits allow. If the
 * chain rejects a message, omits the message and retries it later. Returns the work that was included in a block. Rejects with
 * `ClientError`, `RelayError` or `IbcRelayerError`.
 */
export async function deliver(
  { chain, backoff }: Target,
  work: readonly Work[],
  from: Snapshot,
  deps: { readonly clock: Pick<Clock, "nowMs">; readonly signal: AbortSignal },
): Promise<readonly Work[]> {
  const { signal } = deps;
  const part = work.filter(({ name }) => backoff.isReady(name)).slice(0, MAX_MESSAGES);
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
  return sendLoads({ chain, backoff }, update === undefined ? [] : [update], withinBytes(loads), signal);
}

/** Returns the message that updates `chain`'s client to `from`'s newest header, or undefined if the client is up to date. */
async function clientUpdate(
  chain: IbcChain,
  from: Snapshot,
  { clock, signal }: { readonly clock: Pick<Clock, "nowMs">; readonly signal: AbortSignal },
): Promise<WireMessage | undefined> {
  const { queries, connectionId, sender } = chain;
  const clientId = await queries.clientOfConnection(connectionId, signal);
  const client = await queries.clientState(clientId, signal);
  if (isUpdatedTo(client, from.moment)) return undefined;
  const finder = createTrustFinder(
    { local: queries, remote: from.chain.client, localTimeMs: clock.nowMs },
    client,
    signal,
  );
  const header = headerAny(from.block, await finder.below(from.moment));
  return updateClientMessage(clientId, header, sender.address);
}

/**
 * Returns the first messages with a total size of at most {@link MAX_BYTES}. Always includes the first message, so that the chain
 * itself rejects a message that is too large.
 */
function withinBytes(loads: readonly Load[]): readonly Load[] {
  let bytes = 0;
  return loads.filter(({ message }, index) => {
    bytes += message.value.length;
    return index === 0 || bytes <= MAX_BYTES;
  });
}

async function sendLoads(
  { chain, backoff }: Target,
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
      const text = `${chain.chainId} rejected a transaction of the IBC relayer: ${refusal.log}`;
      throw new IbcRelayerError({ code: "transaction-failed", chainId: chain.chainId }, text);
    }
    backoff.recordRefusal(failed.work.name, refusal.log);
    left = left.filter((load) => load !== failed);
  }
  return [];
}

/** The reason why a chain rejected a transaction. `failedMessage` is the failed message's index, or undefined if unknown. */
interface Refusal {
  readonly failedMessage: number | undefined;
  readonly log: string;
}

/** Sends the messages in one transaction. Returns undefined once they are in a block, or the reason for a failure. */
async function sendOnce(
  { sender }: IbcChain,
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
      // Treat ibc-go's ErrRedundantTx as success, because another relayer has already relayed all packets in the transaction.
      return confirmation.codespace === "channel" && confirmation.code === 22
        ? undefined
        : { failedMessage: failedMessageIndex(confirmation.log), log: confirmation.log };
    case "lost":
      return { failedMessage: undefined, log: confirmation.reason };
  }
}

/** Gas limit for a client update, which uses about 200,000 gas including the fee payment. */
const UPDATE_GAS = 1_000_000n;

/** Updates both chains' light clients before they expire. Returns true if it updated a client. Rejects with {@link deliver}'s errors. */
export type ClientRefresh = (chains: readonly [Snapshot, Snapshot], signal: AbortSignal) => Promise<boolean>;

/**
 * Updates a light client whose newest header is older than a third of the trusting period. Without packets, nothing else updates
 * the client, and a connection becomes unusable if its client expires. A client is not queried before its next update can be due.
 */
export function createClientRefresh({ clock }: { readonly clock: Pick<Clock, "nowMs"> }): ClientRefresh {
  /** For each chain, the header time of the other chain at which the chain's client may need its next update. */
  const dueNs = new Map<IbcChain, bigint>();
  const refresh = async (chain: IbcChain, from: Snapshot, signal: AbortSignal): Promise<boolean> => {
    const { timeNs } = from.moment;
    if (timeNs < (dueNs.get(chain) ?? 0n)) return false;
    const clientId = await chain.queries.clientOfConnection(chain.connectionId, signal);
    const { latestHeight, trustingPeriodNs } = await chain.queries.clientState(clientId, signal);
    const { timeNs: newestNs } = await chain.queries.consensusState(clientId, latestHeight, signal);
    dueNs.set(chain, newestNs + trustingPeriodNs / 3n);
    if (timeNs < newestNs + trustingPeriodNs / 3n) return false;
    const update = await clientUpdate(chain, from, { clock, signal });
    if (update === undefined) return false;
    await sendUpdate(chain, clientId, update, signal);
    return true;
  };
  return async ([one, other], signal) => {
    const refreshed = [await refresh(one.chain, other, signal), await refresh(other.chain, one, signal)];
    return refreshed.includes(true);
  };
}

async function sendUpdate(
  { chainId, sender }: IbcChain,
  clientId: string,
  update: WireMessage,
  signal: AbortSignal,
): Promise<void> {
  const { confirmation } = await sender.send([update], UPDATE_GAS, signal);
  if (confirmation.kind === "included") return;
  const log = confirmation.kind === "lost" ? confirmation.reason : confirmation.log;
  const text = `${chainId} rejected the update of ${clientId}: ${log}`;
  throw new IbcRelayerError({ code: "transaction-failed", chainId }, text);
}

/** A message that a chain rejected, the reason, and the time of the next attempt to send it. */
export interface RefusedWork {
  readonly name: string;
  readonly reason: string;
  readonly attempts: number;
  readonly retryAtMs: number;
}

const BACKOFF: BackoffOptions = { minMs: 1_000, baseMs: 2_000, maxMs: 60_000 };
const MAX_REASON = 300;

/**
 * Delays retries of rejected messages, so that rejected messages do not delay other messages. Each cycle calls `retain` to discard
 * old entries.
 */
export type RetryBackoff = ReturnType<typeof createRetryBackoff>;

export function createRetryBackoff(clock: Pick<Clock, "nowMs">, random: () => number) {
  const entries = new Map<string, RefusedWork>();
  let refusals = 0;
  return {
    isReady: (name: string) => (entries.get(name)?.retryAtMs ?? 0) <= clock.nowMs(),
    recordRefusal: (name: string, reason: string) => {
      refusals += 1;
      const attempts = (entries.get(name)?.attempts ?? 0) + 1;
      const retryAtMs = clock.nowMs() + backoffMs(attempts - 1, BACKOFF, random);
      entries.set(name, { name, reason: reason.slice(0, MAX_REASON), attempts, retryAtMs });
    },
    /** Removes all entries whose names are not in `names`, because the chain no longer needs their messages. */
    retain: (names: ReadonlySet<string>) => {
      for (const name of entries.keys()) if (!names.has(name)) entries.delete(name);
    },
    list: (): readonly RefusedWork[] => [...entries.values()],
    /** Returns the number of rejections since startup. */
    refusals: () => refusals,
  };
}
