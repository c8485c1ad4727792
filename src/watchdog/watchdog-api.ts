import { z } from "zod";
import { RELOAD_STATUS } from "../platform/http/daemon-control-routes.ts";
import {
  digits,
  errorOf,
  getJson,
  getText,
  jsonOf,
  postJson,
  type RouteDefinition,
  time,
} from "../platform/http/route-about.ts";
import { acknowledgeRequest, withdrawRequest } from "./alerts/acknowledge.ts";
import { silenceRequest } from "./alerts/silence.ts";
import { CURVES } from "./policy/assessment.ts";
import { PAYMENT_STATES } from "./policy/payment-texts.ts";
import { BOUNDARIES, TIERS } from "./policy/reward-tier.ts";
import { standingSchema } from "./policy/standing-json.ts";
import { SOURCE_NAMES } from "./sources/targets.ts";

const words = z.string();
const wordsOrNull = words.nullable();
const numberOrNull = z.number().nullable();
const names = z.array(words);
const timeOrNull = time.nullable();
const month = z.string().regex(/^\d{4}-\d\d$/);
const tier = z.enum(TIERS);
/** 98.0582 */
const percent = z.string().regex(/^\d+\.\d+$/);
const blockCounts = { good: z.int(), bad: z.int() };

const monthFields = {
  month,
  success_rate_percent: percent.nullable(),
  tier: tier.nullable(),
  blocks: z.strictObject({ ...blockCounts, unknown: z.int() }),
  estimated_blocks: z.strictObject(blockCounts),
  backfilled_blocks: z.strictObject(blockCounts),
  hash: wordsOrNull,
};

const headroom = z.strictObject({
  boundary: z.enum(BOUNDARIES),
  state: words,
  misses: z.int(),
  outage_seconds: numberOrNull,
  lost_in_seconds: numberOrNull,
  required_rate: numberOrNull,
  burn_rates: z.record(words, z.number()),
});

const forecastPart = z.strictObject({ success_rate_percent: percent, tier, reward_cents: z.int() });

const assessment = z.strictObject({
  policy: z.strictObject({ curve: z.enum(CURVES), source: words, full_reward_cents: z.int() }),
  success_rate_percent: percent.nullable(),
  success_rate_bounds_percent: z.strictObject({ low: percent, high: percent }).nullable(),
  tier: tier.nullable(),
  reward_cents: numberOrNull,
  block_time_seconds: numberOrNull,
  remaining_blocks: numberOrNull,
  headroom: z.array(headroom),
  forecast: z
    .strictObject({
      basis: words,
      low: forecastPart,
      middle: forecastPart,
      high: forecastPart,
      regimes: z.array(
        z.strictObject({ name: words, bad_share: z.number(), success_rate_percent: percent, tier }),
      ),
    })
    .nullable(),
  rotation: z.strictObject({
    state: z.enum(["none", "next", "due"]),
    months_in_a_row: z.int(),
    months_in_window: z.int(),
    months: z.array(month),
  }),
});

const comparison = z.strictObject({
  node: words,
  pair: words,
  reference: words,
  own: wordsOrNull,
  other: wordsOrNull,
  deviation_bps: numberOrNull,
  age_seconds: numberOrNull,
  sidecars: numberOrNull,
  reason: wordsOrNull,
});

const upgrade = z.strictObject({
  name: words,
  height: digits,
  info: words,
  remaining_blocks: digits.nullable(),
  expected_at: timeOrNull,
  earliest_at: timeOrNull,
  latest_at: timeOrNull,
  seen_at: time,
  done_at: timeOrNull,
});

const payment = z.strictObject({
  month,
  outcome: words,
  state: z.enum(PAYMENT_STATES),
  height: digits,
  time,
  tx_hash: wordsOrNull,
  amount: z.strictObject({ amount: digits, denom: words }).nullable(),
  display: wordsOrNull,
  expected_amount: digits.nullable(),
  amount_by_chain_counts: digits.nullable(),
  difference: digits.nullable(),
  chain_counts: z
    .strictObject({ signed_blocks: digits, votes: digits, blocks_in_active_set: digits, blocks: digits })
    .nullable(),
  note: wordsOrNull,
});

const alertState = z.enum(["inactive", "pending", "firing"]);

const source = z.strictObject({
  name: z.enum(SOURCE_NAMES),
  node: wordsOrNull,
  up: z.boolean(),
  absent: z.literal(true).optional(),
  error: wordsOrNull,
  last_success_at: timeOrNull,
  duration_ms: z.int(),
  endpoints: z.array(z.strictObject({ host: words, used: z.boolean(), up: z.boolean() })).optional(),
});

const validatorFields = {
  validator: words,
  chain_id: wordsOrNull,
  started_at: timeOrNull,
  polled_at: timeOrNull,
  ...monthFields,
  assessment: assessment.nullable(),
  standing: standingSchema.nullable(),
  months: z.array(z.strictObject(monthFields)),
  prices: z.strictObject({ state: z.enum(["present", "missing", "unknown"]), pairs: names }),
  price_comparisons: z.array(comparison),
  upgrade: upgrade.nullable(),
  payments: z.array(payment),
  alerts: z.array(
    z.strictObject({
      name: words,
      validator: words,
      severity: words,
      state: alertState,
      since: timeOrNull,
      reason: wordsOrNull,
      quiet: wordsOrNull,
    }),
  ),
  store_error: wordsOrNull,
  clock_error: wordsOrNull,
  pending_notifications: z.int(),
  sources: z.array(source),
};
const validator = z.strictObject(validatorFields);

const acknowledged = z.strictObject({ author: words, note: words, at: time });
const silence = z.strictObject({
  id: words,
  alerts: names,
  validators: names,
  author: words,
  reason: words,
  starts_at: time,
  ends_at: time,
});

const alert = z.strictObject({
  name: words,
  alertname: words,
  validator: words,
  severity: words,
  title: words,
  state: alertState,
  since: timeOrNull,
  fires_at: timeOrNull,
  held_until: timeOrNull,
  resolved_at: timeOrNull,
  reason: wordsOrNull,
  quiet: wordsOrNull,
  notified_at: timeOrNull,
  acknowledged: acknowledged.nullable(),
  escalated_at: timeOrNull,
  escalates_at: timeOrNull,
  when: words,
  description: words,
  impact: words,
  action: words,
  runbook: words,
  for_seconds: z.number(),
  resolve_for_seconds: z.number(),
  thresholds: z.record(words, z.number()),
  inhibits: names,
});

const deadLetter = z.strictObject({
  channel: words,
  id: words,
  alert: words,
  validator: words,
  kind: words,
  at: time,
  reason: words,
  failed_at: time,
  error: words,
});

const acknowledgedAlerts = z.strictObject({
  alerts: z.array(z.strictObject({ validator: words, name: words, acknowledged: acknowledged.nullable() })),
});

const notStored = errorOf("the state cannot be stored, and nothing changed");
const refused = (what: string) => ({ 400: errorOf(what), 503: notStored });

const tests = z.strictObject({
  channels: z.array(z.strictObject({ channel: words, kind: words, error: wordsOrNull })),
});

/** Schema for selecting dead letters. */
export const DEAD_LETTER_CHOICE = z.strictObject({
  ids: z.array(words).max(1000).optional(),
  channels: z.array(words).max(100).optional(),
});

const deadLetters = (name: string, does: string, reply: z.ZodType): RouteDefinition => {
  const summary = `${does}: all, or those with \`ids\` and of \`channels\``;
  const more = { body: DEAD_LETTER_CHOICE, replies: refused("an invalid body") };
  return postJson(`/api/alerts/dead-letters/${name}`, summary, reply, more);
};

const createSilence: RouteDefinition = {
  method: "POST",
  path: "/api/silences",
  guarded: true,
  about: {
    summary: "creates a silence",
    body: silenceRequest,
    replies: {
      201: jsonOf(silence),
      ...refused("an invalid body"),
      409: errorOf("there are too many silences"),
    },
  },
};

const endSilence: RouteDefinition = {
  method: "DELETE",
  path: "/api/silences/:id",
  guarded: true,
  about: {
    summary: "deletes a silence",
    replies: {
      200: jsonOf(z.strictObject({ deleted: words })),
      404: errorOf("no such silence"),
      503: notStored,
    },
  },
};

/** The routes of the watchdog's HTTP API, except those from which commands read; see `report/report-data.ts`. */
export const WATCHDOG_API = {
  status: getJson(
    "/api/status",
    "the first validator, all (`validators`), and how the configuration was loaded (`config`)",
    z.strictObject({
      ...validatorFields,
      validators: z.array(validator),
      config: RELOAD_STATUS.nullable(),
    }),
  ),
  validator: getJson(
    "/api/validators/:name",
    "one validator: month, rate, tier, assessment (reward, headroom by boundary, forecast, rotation), standing on the chain, prices, payments, alerts, sources",
    validator,
    { replies: { 404: errorOf("no such validator") } },
  ),
  metrics: getText("/metrics", "[metrics](metrics.md#oracle-watchdog) for Prometheus"),
  livez: getText("/livez", "503 when the poll loop hangs", {
    replies: { 503: errorOf("the last poll ended too long ago") },
  }),
  readyz: getText("/readyz", "503 before the end of the first poll", {
    replies: { 503: errorOf("the first poll has not ended yet") },
  }),
  alerts: getJson(
    "/api/alerts",
    "all alerts with state, texts and thresholds; silences, maintenance and dead letters",
    z.strictObject({
      alerts: z.array(alert),
      silences: z.array(silence),
      dead_letters: z.array(deadLetter),
      maintenance: z.array(
        z.strictObject({ reason: words, validators: names, duration_seconds: z.number() }),
      ),
    }),
  ),
  test: postJson("/api/alerts/test", "sends a test notification to every channel", tests, {
    replies: { 502: jsonOf(tests, "a channel does not accept it") },
  }),
  acknowledge: postJson(
    "/api/alerts/ack",
    "acknowledges firing alerts; empty lists: all",
    acknowledgedAlerts,
    { body: acknowledgeRequest, replies: refused("an invalid body, or no such alert fires") },
  ),
  withdraw: postJson("/api/alerts/unack", "withdraws the acknowledgement", acknowledgedAlerts, {
    body: withdrawRequest,
    replies: refused("an invalid body, or no such alert is acknowledged"),
  }),
  resend: deadLetters("resend", "sends dead letters again", z.strictObject({ resent: z.int() })),
  discard: deadLetters("discard", "drops dead letters", z.strictObject({ discarded: z.int() })),
  silences: getJson("/api/silences", "silences", z.strictObject({ silences: z.array(silence) })),
  silence: createSilence,
  endSilence,
};
