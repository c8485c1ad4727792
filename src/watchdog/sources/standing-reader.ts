import { decodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { JsonField } from "../../platform/base/json.ts";
import type { Rest } from "./chain-rest.ts";
import { onSourceError, type Seen, SourceError, type ValidatorReading } from "./observation.ts";
import type { Scrape } from "./page-reader.ts";
import { comparePeers, createCommitTracker, type Member } from "./shared-misses.ts";
import {
  asCount,
  createSlashingReader,
  SLASHING,
  toSigningInfo,
  toSlashingParams,
} from "./slashing-reader.ts";
import type { Measure, PeerComparison, PeersReading, Share } from "./standing-readings.ts";
import type { ChainTarget, ValidatorTarget } from "./targets.ts";
import { minInt } from "../../platform/base/integers.ts";
import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";

const VALIDATORS = "/cosmos/base/tendermint/v1beta1/validatorsets";
/** Number of validators per page, which is CometBFT's maximum. */
const PAGE = 100;
const MAX_PAGES = 10;

/** The fields of the latest block that show which validators signed the previous one. */
interface SignedBlock {
  readonly height: bigint;
  /** Base64 addresses of the validators that signed the previous block; absent if unknown. */
  readonly signers?: ReadonlySet<string>;
}

/**
 * Creates a reader of a validator's standing: its signing window, its membership in the set, and the other validators in the set.
 * Returns undefined if the validator has no consensus address.
 */
export function createStandingReader(
  target: ValidatorTarget,
  chain: ChainTarget,
  { rest, scrape, clock }: { readonly rest: Rest; readonly scrape: Scrape; readonly clock: Clock },
) {
  const { consensusAddress } = target;
  if (consensusAddress === undefined) return undefined;
  const own = { ...target, consensusAddress };
  const slashing = createSlashingReader(own, chain, rest, clock);
  const peers = createPeersReader(own, chain, rest, clock);
  const readingOf = createSetReading(consensusAddress);
  let set: ReadonlySet<string> | undefined;
  const readSet = async (block: SignedBlock | undefined, signal: AbortSignal): Promise<ValidatorReading> => {
    const members = await readMembers(rest, signal);
    set = new Set(members.map(({ address }) => address));
    return readingOf(members, block);
  };
  return {
    slashing: (signal: AbortSignal) => scrape("the slashing module", signal, slashing),
    /**
     * `block` is the latest block, or undefined if it cannot be read. The comparison uses the set that the previous call read, so that the
     * set and the other validators' data can be read in parallel. The first call therefore compares nothing.
     */
    inSet: async (
      block: SignedBlock | undefined,
      signal: AbortSignal,
    ): Promise<{ readonly validator: Seen<ValidatorReading>; readonly peers?: Seen<PeersReading> }> => {
      const known = set;
      const [validator, others] = await Promise.all([
        scrape("the validator set", signal, (inner) => readSet(block, inner)),
        known && scrape("the other validators", signal, (inner) => peers(known, inner)),
      ]);
      return { validator, ...(others === undefined ? {} : { peers: others }) };
    },
  };
}

/**
 * Creates a function that finds the validator in a reading of the set, and counts the other validators that missed the same
 * commits.
 */
function createSetReading(
  address: string,
): (members: readonly Member[], block: SignedBlock | undefined) => ValidatorReading {
  const track = createCommitTracker(address);
  /** Base64 addresses, as in commits, by bech32 address. */
  let keys: ReadonlyMap<string, string> = new Map();
  return (members, block) => {
    const own = members.find((one) => one.address === address);
    const reading = { size: members.length, isInSet: own !== undefined, votingPower: own?.votingPower ?? 0n };
    if (own === undefined || block?.signers === undefined) return reading;
    const { height, signers } = block;
    // Decode the addresses only if the set has changed, because decoding takes longer than the rest of a poll.
    keys = new Map(
      members.map((one) => [one.address, keys.get(one.address) ?? toBase64(decodeBech32(one.address).bytes)]),
    );
    const missing = new Set([...keys].flatMap(([member, signer]) => (signers.has(signer) ? [] : [member])));
    return { ...reading, signedLatest: !missing.has(address), commits: track({ height, missing }, members) };
  };
}

/** Reads the latest validator set page by page, with all pages at the same height. */
async function readMembers(rest: Rest, signal: AbortSignal): Promise<readonly Member[]> {
  const members: Member[] = [];
  let set = "latest";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = `pagination.limit=${PAGE}${page === 0 ? "" : `&pagination.offset=${page * PAGE}`}`;
    const root = await rest.get(`${VALIDATORS}/${set}?${query}`, signal);
    const found = root.member("validators").required().elements().map(toMember);
    members.push(...found);
    const total = root.member("pagination").orEmpty().member("total").asInt64();
    if (BigInt(members.length) >= total) return members;
    // Throw, because validators on the missing pages would seem to have left the set.
    if (found.length === 0 || page + 1 === MAX_PAGES)
      throw root.error("validators", `all ${total} of the set, of which ${members.length} were received`);
    set = root.member("block_height").required().asHeight().toString();
  }
  return members;
}

function toMember(validator: JsonField): Member {
  const address = validator.member("address").required();
  if (!BECH32.test(address.asText())) throw address.error(address.path, "a bech32 address");
  return { address: address.asText(), votingPower: validator.member("voting_power").asInt64() };
}

const BECH32 = /^[a-z0-9]{1,60}1[a-z0-9]{6,90}$/;

/** Interval between readings. The compared values cover weeks, so more frequent readings would show nothing new. */
const EVERY_MS = 10 * MINUTE_MS;
/** How long to wait after a failed reading. */
const RETRY_MS = MINUTE_MS;
/** Maximum age of the last reading while new readings fail. */
const MAX_AGE_MS = HOUR_MS;

/**
 * Creates a reader that compares all validators in the set by their signing infos and by the revenue module's statistics. The reader
 * requests them every ten minutes, or one minute after a failure, and otherwise returns the last reading. If the last reading is older than
 * an hour, the reader throws {@link SourceError}.
 */
export function createPeersReader(
  target: ValidatorTarget & { readonly consensusAddress: string },
  { module }: ChainTarget,
  rest: Rest,
  clock: Clock,
): (set: ReadonlySet<string>, signal: AbortSignal) => Promise<PeersReading> {
  let last: { readonly reading: PeersReading; readonly atMs: number } | undefined;
  let failure: { readonly error: unknown; readonly atMs: number } | undefined;
  const readAll = async (set: ReadonlySet<string>, signal: AbortSignal): Promise<PeersReading> => {
    const results = [
      ...(await compareSigning(target.consensusAddress, set, rest, signal)),
      ...(await comparePay(target.operatorAddress, module, rest, signal)),
    ];
    return {
      atMs: clock.nowMs(),
      comparisons: results.filter((result) => typeof result !== "string"),
      notes: [...new Set(results.filter((result) => typeof result === "string"))],
    };
  };
  return async (set, signal) => {
    const nowMs = clock.monotonicMs();
    if (last !== undefined && nowMs - last.atMs < EVERY_MS) return last.reading;
    const isWaiting = failure !== undefined && nowMs - failure.atMs < RETRY_MS;
    if (!isWaiting)
      try {
        last = { reading: await readAll(set, signal), atMs: nowMs };
        failure = undefined;
        return last.reading;
      } catch (error) {
        failure = { error, atMs: nowMs };
      }
    if (last !== undefined && nowMs - last.atMs < MAX_AGE_MS) return last.reading;
    throw failure?.error;
  };
}

/** A comparison, or the reason why there is none. */
type Compared = PeerComparison | string;

/** Requests a path that one of the chain's modules serves. Returns undefined if the chain lacks the module. */
function findModule(path: string, rest: Rest, signal: AbortSignal): Promise<JsonField | undefined> {
  return rest.ofModule(path, signal).catch(onSourceError(() => undefined, "absent"));
}

/** Signing infos per page, and the maximum number of pages, which allow for the infos of validators that have left the set. */
const INFOS_PAGE = 500;
const MAX_INFOS_PAGES = 20;

/** Compares all validators in the set by the share of blocks signed in their signing windows. */
async function compareSigning(
  address: string,
  set: ReadonlySet<string>,
  rest: Rest,
  signal: AbortSignal,
): Promise<readonly Compared[]> {
  const root = await findModule(`${SLASHING}/params`, rest, signal);
  if (root === undefined) return [];
  const { windowBlocks } = toSlashingParams(root);
  const shares = new Map<string, Share>();
  for (const field of await readSigningInfos(rest, signal)) {
    const { indexOffset, missedBlocks } = toSigningInfo(field);
    const total = minInt(indexOffset, windowBlocks);
    const good = missedBlocks < total ? total - missedBlocks : 0n;
    const of = field.member("address").asText();
    if (total > 0n && set.has(of)) shares.set(of, { good, total });
  }
  return [comparisonOf("signing", "signing window", shares, address)];
}

async function readSigningInfos(rest: Rest, signal: AbortSignal): Promise<readonly JsonField[]> {
  const infos: JsonField[] = [];
  let key = "";
  for (let page = 0; page < MAX_INFOS_PAGES; page++) {
    const query = `pagination.limit=${INFOS_PAGE}${key === "" ? "" : `&pagination.key=${encodeURIComponent(key)}`}`;
    const root = await rest.get(`${SLASHING}/signing_infos?${query}`, signal);
    infos.push(...root.member("info").elements());
    key = root.member("pagination").orEmpty().member("next_key").asText();
    if (key === "") return infos;
  }
  throw new SourceError(
    { code: "too-large" },
    `the chain has more than ${INFOS_PAGE * MAX_INFOS_PAGES} signing infos`,
  );
}

/** Compares all validators by the counts that determine their pay: blocks and votes in the payment period. */
async function comparePay(
  operator: string | undefined,
  module: string,
  rest: Rest,
  signal: AbortSignal,
): Promise<readonly Compared[]> {
  // Ignore status 500, which the chain returns while it lacks the price needed to compute payments.
  const root = await findModule(`/${module}/revenue/validators_stats`, rest, signal).catch(
    onSourceError(() => "no statistics" as const, "http-status"),
  );
  if (root === undefined) return [];
  if (root === "no statistics") return ["the revenue module currently has no statistics"];
  if (operator === undefined) return ["the configuration has no operator_address"];
  const all = root.member("stats").elements().map(toPayShares);
  const of = (measure: "blocks" | "votes"): Compared =>
    comparisonOf(
      measure,
      "payment period",
      new Map(all.flatMap((one) => (one.total === 0n ? [] : [[one.operator, one[measure]]]))),
      operator,
    );
  return [of("blocks"), of("votes")];
}

/** Parses one validator's entry in the response from `/neutron/revenue/validators_stats`. The field names spell "commited" with one t. */
function toPayShares(stats: JsonField) {
  const info = stats.member("validator_info").required();
  const total = asCount(info.member("in_active_valset_for_blocks_in_period"));
  const share = (name: string): Share => {
    const good = asCount(info.member(name));
    if (good > total) throw info.error(info.member(name).path, "at most the blocks in the active set");
    return { good, total };
  };
  return {
    operator: info.member("val_oper_address").asText(),
    total,
    blocks: share("commited_blocks_in_period"),
    votes: share("commited_oracle_votes_in_period"),
  };
}

const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  signing: "signed blocks",
  blocks: "paid blocks",
  votes: "paid votes",
};

function comparisonOf(
  measure: Measure,
  since: string,
  shares: ReadonlyMap<string, Share>,
  address: string,
): Compared {
  const own = shares.get(address);
  if (own === undefined) return `the chain has no ${MEASURE_NAMES[measure]} for this validator`;
  const others = [...shares].filter(([other]) => other !== address).map(([, share]) => share);
  const compared = comparePeers(own, others);
  return compared === undefined
    ? "the set has no other validator to compare this one with"
    : { measure, since, ...compared };
}
