import { z } from "zod";
import type { JsonObject } from "../../platform/base/json.ts";
import { isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import { MEASURES, type Share, type SharedMisses } from "../sources/standing-readings.ts";
import { formatPercent } from "./reward-tier.ts";
import { JAIL_STATES } from "./standing.ts";
import type { DatedComparison, PresentRate, Standing, WindowStanding } from "./standing.ts";
import { percentile } from "./standing-texts.ts";

/**
 * Encodes a validator's jail state, signing window and comparisons as JSON. Block counts are numbers, shares are decimal strings, times are
 * ISO 8601 strings, and durations are in seconds.
 */
export function standingJson({ jail, window, windowNote, commits, votes, peers }: Standing): JsonObject {
  return {
    jail: { state: jail.state, until: isoTimeOrNull(jail.untilMs), command: jail.command ?? null },
    window: window === undefined ? null : windowJson(window),
    window_note: windowNote ?? null,
    commits: commits === undefined ? null : sharedJson(commits),
    votes: votes === undefined ? null : sharedJson(votes),
    peers: {
      comparisons: peers.comparisons.map(comparisonJson),
      notes: peers.notes,
    },
  };
}

function windowJson(window: WindowStanding): JsonObject {
  const { signed, ifAllMissed, atPresentRate: rate, allMissedMs, presentMs } = window;
  return {
    window_blocks: Number(window.windowBlocks),
    counted_blocks: Number(window.counted),
    missed_blocks: Number(window.missed),
    allowed_misses: Number(window.allowed),
    misses_left: Number(window.left),
    signed: signed === undefined ? null : shareJson(signed),
    jail_if_all_missed:
      ifAllMissed === undefined
        ? null
        : {
            least_blocks: Number(ifAllMissed.least),
            most_blocks: Number(ifAllMissed.most),
            seconds: secondsOrNull(allMissedMs),
          },
    jail_at_present_rate: {
      state: rate.kind,
      ...(rate.kind === "jail"
        ? {
            blocks: Number(rate.blocks),
            seconds: secondsOrNull(presentMs),
            missed: Number(rate.growth.missed),
            of_blocks: Number(rate.growth.blocks),
          }
        : {}),
    },
  };
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}

function shareJson(share: Share): JsonObject {
  return { good: String(share.good), total: String(share.total), percent: formatPercent(share) };
}

function sharedJson({ power, ...counts }: SharedMisses): JsonObject {
  const powers =
    power === undefined ? null : { others: String(power.others), missing: String(power.missing) };
  return { ...counts, power: powers };
}

function comparisonJson({
  atMs,
  measure,
  since,
  own,
  rank,
  compared,
  notBetter,
  median,
}: DatedComparison): JsonObject {
  return {
    measure,
    since,
    own: shareJson(own),
    rank,
    compared,
    not_better: notBetter,
    percentile: percentile({ notBetter, compared }),
    median: shareJson(median),
    read_at: isoTime(atMs),
  };
}

const blocks = z.int().min(0).transform(BigInt);
const wireShare = z
  .object({ good: z.string().regex(/^\d{1,60}$/), total: z.string().regex(/^[1-9]\d{0,59}$/) })
  .transform(({ good, total }): Share => ({ good: BigInt(good), total: BigInt(total) }));
const time = z
  .string()
  .nullable()
  .transform((text) => (text === null ? undefined : Date.parse(text)));
const seconds = z
  .number()
  .nullable()
  .transform((value) => (value === null ? undefined : Math.round(value * 1000)));
const power = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt);
const shared = z
  .object({
    seen: z.int(),
    missed: z.int(),
    others: z.int(),
    missing: z.int(),
    power: z.object({ others: power, missing: power }).nullable(),
  })
  .transform(
    ({ power: powers, ...counts }): SharedMisses => (powers === null ? counts : { ...counts, power: powers }),
  );
const present = z.union([
  z.object({
    state: z.literal("jail"),
    blocks,
    seconds,
    missed: blocks,
    of_blocks: blocks,
  }),
  z.object({ state: z.enum(["unknown", "never"]) }),
]);
const wireWindow = z
  .object({
    window_blocks: blocks,
    counted_blocks: blocks,
    missed_blocks: blocks,
    allowed_misses: blocks,
    misses_left: blocks,
    signed: wireShare.nullable(),
    jail_if_all_missed: z.object({ least_blocks: blocks, most_blocks: blocks, seconds }).nullable(),
    jail_at_present_rate: present,
  })
  .transform((wire): WindowStanding => {
    const { jail_if_all_missed: all, jail_at_present_rate: rate } = wire;
    return {
      windowBlocks: wire.window_blocks,
      counted: wire.counted_blocks,
      missed: wire.missed_blocks,
      allowed: wire.allowed_misses,
      left: wire.misses_left,
      signed: wire.signed ?? undefined,
      ifAllMissed: all === null ? undefined : { least: all.least_blocks, most: all.most_blocks },
      atPresentRate: presentOf(rate),
      allMissedMs: all?.seconds,
      presentMs: rate.state === "jail" ? rate.seconds : undefined,
    };
  });

function presentOf(rate: z.output<typeof present>): PresentRate {
  if (rate.state !== "jail") return { kind: rate.state };
  return { kind: "jail", blocks: rate.blocks, growth: { missed: rate.missed, blocks: rate.of_blocks } };
}

const wireComparison = z
  .object({
    measure: z.enum(MEASURES),
    since: z.string(),
    own: wireShare,
    rank: z.int(),
    compared: z.int(),
    not_better: z.int(),
    median: wireShare,
    read_at: z.string().transform(Date.parse),
  })
  .transform(
    ({ not_better: notBetter, read_at: atMs, ...rest }): DatedComparison => ({
      ...rest,
      notBetter,
      atMs,
    }),
  );

/** Decodes the output of {@link standingJson}. Throws a `ZodError` for invalid values. */
export const standingSchema = z
  .object({
    jail: z.object({ state: z.enum(JAIL_STATES), until: time, command: z.string().nullable() }),
    window: wireWindow.nullable(),
    window_note: z.string().nullable(),
    commits: shared.nullable(),
    votes: shared.nullable(),
    peers: z.object({
      comparisons: z.array(wireComparison),
      notes: z.array(z.string()),
    }),
  })
  .transform(
    ({ jail, window, window_note: note, commits, votes, peers }): Standing => ({
      jail: {
        state: jail.state,
        ...(jail.until === undefined ? {} : { untilMs: jail.until }),
        ...(jail.command === null ? {} : { command: jail.command }),
      },
      window: window ?? undefined,
      windowNote: note ?? undefined,
      commits: commits ?? undefined,
      votes: votes ?? undefined,
      peers,
    }),
  );
