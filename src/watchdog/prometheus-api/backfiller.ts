import { type BackoffOptions, backoffMs } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Ledger, LedgerOptions } from "../ledger/ledger.ts";
import type { Observation } from "../observation.ts";
import { toSourceFailure } from "../sources/source-failure.ts";
import type { ValidatorTarget } from "../sources/targets.ts";
import { fillLedger, type StoredPage } from "./fill-ledger.ts";
import { nodeLabels } from "./fleet.ts";
import {
  type BackfillOptions,
  type Gap,
  LONGEST_PIECE_MS,
  nextPiece,
  planGap,
  shorterPieceMs,
} from "./plan-backfill.ts";
import type { Labels } from "./selector.ts";
import type { StoredHistory, StoredNodeOptions } from "./stored-pages.ts";

/** Fills the gaps of one validator's ledger. */
export interface Backfiller {
  /**
   * Fills parts of the gap that the readings of a poll would close, and calls `save` after each. Returns whether the readings
   * can be counted now. False: a part is left for the next poll, because there are many or because Prometheus failed.
   * Rejects on abort only.
   */
  readonly fill: (
    ledger: Ledger | undefined,
    observation: Observation,
    save: (ledger: Ledger) => void,
    signal: AbortSignal,
  ) => Promise<boolean>;
}

export interface BackfillerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly history: StoredHistory;
}

/** What a backfiller needs to know of its validator. */
export interface BackfillerOptions extends BackfillOptions {
  readonly target: ValidatorTarget;
  readonly counting: LedgerOptions;
}

/** Limits of one poll, which must end however long the gap is. */
const PIECES_PER_POLL = 24;
const FILL_MS = 5000;

const BACKOFF: BackoffOptions = { minMs: 1000, baseMs: 5000, maxMs: 60_000 };

/** Queries that failed since the last one that did not. */
interface Failing {
  readonly sinceMs: number;
  readonly attempts: number;
  readonly retryMs: number;
}

/** Creates a backfiller. Its progress is in the ledger; it remembers only how far it searched in vain. */
export function createBackfiller(options: BackfillerOptions, deps: BackfillerDeps): Backfiller {
  const { clock, logger } = deps;
  const { name } = options.target;
  let searchedToMs = 0;
  let lengthMs = LONGEST_PIECE_MS;
  let failing: Failing | undefined;
  /** Gaps that begin earlier are not filled any more. */
  let abandonedMs = 0;
  const end = (): true => {
    searchedToMs = 0;
    failing = undefined;
    return true;
  };
  const fail = (error: unknown, gap: Gap): void => {
    const failure = toSourceFailure(error);
    const shorter = failure.code === "too-large" ? shorterPieceMs(lengthMs) : undefined;
    if (shorter !== undefined) {
      lengthMs = shorter;
      return;
    }
    const nowMs = clock.monotonicMs();
    const { sinceMs, attempts } = failing ?? { sinceMs: nowMs, attempts: 0 };
    failing = { sinceMs, attempts: attempts + 1, retryMs: nowMs + backoffMs(attempts, BACKOFF, deps.random) };
    const fields = { validator: name, ...timesOf(gap), reason: failure.text };
    if (nowMs - sinceMs >= options.giveUpMs) {
      abandonedMs = gap.toMs;
      logger.error("gap not filled from Prometheus; counting goes on without it", fields);
    } else if (attempts === 0)
      logger.warn("gap cannot be filled from Prometheus yet; counting waits", fields);
  };
  return {
    fill: async (ledger, observation, save, signal) => {
      const gap = planGap(ledger, observation, options);
      if (ledger === undefined || gap === undefined) return end();
      let filled = ledger;
      const startMs = clock.monotonicMs();
      for (let pieces = 0; pieces < PIECES_PER_POLL; pieces++) {
        const rest = { fromMs: Math.max(gap.fromMs, searchedToMs), toMs: gap.toMs };
        if (rest.fromMs >= rest.toMs || rest.fromMs < abandonedMs) return end();
        const nowMs = clock.monotonicMs();
        if (nowMs - startMs > FILL_MS || nowMs < (failing?.retryMs ?? 0)) return false;
        const piece = nextPiece(rest, lengthMs);
        try {
          const pages = await readPiece(options.target, ledger.chainId, (labels, of) =>
            deps.history(labels, piece, of, signal),
          );
          failing = undefined;
          const { head } = observation.chain;
          const edge = head.state === "up" ? head.value.monthEdge : undefined;
          const next = fillLedger(filled, pages, { ...options.counting, validator: name, edge });
          if (next !== filled) save(next);
          filled = next;
          searchedToMs = piece.toMs;
          logger.info("gap filled from Prometheus", {
            validator: name,
            ...timesOf(piece),
            scrapes: pages.length,
          });
        } catch (error) {
          if (signal.aborted) throw error;
          fail(error, rest);
        }
      }
      return false;
    },
  };
}

async function readPiece(
  { consensusAddress, nodes }: ValidatorTarget,
  chainId: string | undefined,
  read: (labels: Labels, of: StoredNodeOptions) => ReturnType<StoredHistory>,
): Promise<readonly StoredPage[]> {
  const ofNode = nodes.map(async (node) => {
    const pages = await read(nodeLabels(node), { chainId, consensusAddress });
    return pages.map((page) => ({ node: node.name, page }));
  });
  return (await Promise.all(ofNode)).flat();
}

function timesOf({ fromMs, toMs }: Gap): { readonly from: string; readonly to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
