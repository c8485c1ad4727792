import type { Clock } from "../../platform/base/clock.ts";
import { minInt } from "../../platform/base/integers.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import type { Rest } from "./chain-rest.ts";
import { onSourceError, SourceError } from "./observation.ts";
import { comparePeers } from "./shared-misses.ts";
import { asCount, SLASHING, toSigningInfo, toSlashingParams } from "./slashing-wire.ts";
import type { Measure, PeerComparison, PeersView, Share } from "./standing-views.ts";
import type { ChainTarget, ValidatorTarget } from "./targets.ts";

/** Time between two readings, since the compared values cover weeks. */
const EVERY_MS = 10 * MINUTE_MS;
/** How long to wait after a failed reading. */
const RETRY_MS = MINUTE_MS;
/** Maximum age up to which the last reading is shown while no new one succeeds. */
const MAX_AGE_MS = HOUR_MS;

/**
 * Creates a reader for all validators in the set: signing infos, page by page, and the revenue module's statistics. It reads them
 * every ten minutes. After a failure, it reads them again one minute later. Between readings, it returns the last view for up to
 * an hour, and then throws {@link SourceError}.
 */
export function createPeersReader(
  target: ValidatorTarget & { readonly consensusAddress: string },
  { module }: ChainTarget,
  rest: Rest,
  clock: Clock,
): (set: ReadonlySet<string>, signal: AbortSignal) => Promise<PeersView> {
  let last: { readonly view: PeersView; readonly atMs: number } | undefined;
  let failure: { readonly error: unknown; readonly atMs: number } | undefined;
  const readAll = async (set: ReadonlySet<string>, signal: AbortSignal): Promise<PeersView> => {
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
    if (last !== undefined && nowMs - last.atMs < EVERY_MS) return last.view;
    const isWaiting = failure !== undefined && nowMs - failure.atMs < RETRY_MS;
    if (!isWaiting)
      try {
        last = { view: await readAll(set, signal), atMs: nowMs };
        failure = undefined;
        return last.view;
      } catch (error) {
        failure = { error, atMs: nowMs };
      }
    if (last !== undefined && nowMs - last.atMs < MAX_AGE_MS) return last.view;
    throw failure?.error;
  };
}

/** A comparison, or the reason why there is none. */
type Compared = PeerComparison | string;

/** Undefined if the chain has no such module. */
function findModule(path: string, rest: Rest, signal: AbortSignal): Promise<JsonField | undefined> {
  return rest.ofModule(path, signal).catch(onSourceError(() => undefined, "absent"));
}

/** Signing infos per page, and the maximum number of pages. The module retains the infos of validators that have left the set. */
const PAGE = 500;
const MAX_PAGES = 20;

/** Compares the shares of blocks that all validators in the set have signed in their signing windows. */
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
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = `pagination.limit=${PAGE}${key === "" ? "" : `&pagination.key=${encodeURIComponent(key)}`}`;
    const root = await rest.get(`${SLASHING}/signing_infos?${query}`, signal);
    infos.push(...root.member("info").elements());
    key = root.member("pagination").orEmpty().member("next_key").asText();
    if (key === "") return infos;
  }
  throw new SourceError({ code: "too-large" }, `the chain has more than ${PAGE * MAX_PAGES} signing infos`);
}

/** Compares the basis of the chain's payments: blocks and votes in its payment period. */
async function comparePay(
  operator: string | undefined,
  module: string,
  rest: Rest,
  signal: AbortSignal,
): Promise<readonly Compared[]> {
  // The chain returns 500 while it has no price to pay with.
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

/** Reads an entry from `/neutron/revenue/validators_stats`. The chain spells "commited" with one t. */
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
