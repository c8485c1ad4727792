import { z } from "zod";
import {
  amountField,
  durationField,
  issueText,
  secretField,
  type SecretSource,
} from "../../platform/config/config-fields.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { type PostgresAddress, parsePostgresUrl } from "../../platform/storage/postgres-url.ts";
import type { StorePlace } from "./store.ts";

/** Field for the address of a PostgreSQL database. */
function postgresField() {
  return z.string().transform((text, context): PostgresAddress => {
    const parsed = parsePostgresUrl(text);
    if (parsed.ok) return parsed.address;
    context.addIssue(issueText(parsed.wrong, parsed.expected));
    return z.NEVER;
  });
}

/** `store`: `postgres://…`, or an object with the reference of its password. */
export function storeField(secrets: SecretSource) {
  return z.preprocess(
    (given) => (typeof given === "string" ? { url: given } : given),
    z.strictObject({
      /** `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full`, without a password. */
      url: postgresField(),
      password: secretField(secrets).optional(),
    }),
  );
}

/** `history`: how much of the past the store keeps. */
export function historySchema() {
  return z
    .strictObject({
      /** Age at which an attempt is deleted. */
      max_age: durationField(60_000).prefault("30d"),
      /** Attempts that are kept. An attempt takes about 300 bytes. */
      max_attempts: z.int().min(1_000).max(10_000_000).default(200_000),
    })
    .prefault({});
}

/** `lease`: with PostgreSQL, of all instances with the same signer one submits. */
export function leaseSchema() {
  return z
    .strictObject({
      /** Lifetime of the lease without a renewal. Another instance takes over within it, plus a second. */
      ttl: durationField(2_000).prefault("5s"),
    })
    .prefault({});
}

/** `shards`: this instance serves a part of `connections`. Each shard needs a signer of its own. */
export function shardsSchema() {
  return z
    .strictObject({ count: z.int().min(1).max(64), index: z.int().min(0).max(63) })
    .refine(({ count, index }) => index < count, {
      error: issueText("has an index that is not below count", "index 0 to count - 1"),
    });
}

/** `spending`: limits of what the relayer pays, for one UTC day and signer. */
export function spendingSchema() {
  return z
    .strictObject({
      /** Balance that is never spent, in units of `gas.denom`. */
      reserve: amountField().prefault("0"),
      /** Fees of one day, in units of `gas.denom`; absent: no limit. */
      daily_fee: amountField().optional(),
      /** Gas of one day for the queries of one owner; absent: no limit. */
      daily_gas_per_owner: amountField().optional(),
    })
    .prefault({});
}

/** Returns the place that a configuration names. */
export function placeOf({
  state_dir: stateDir,
  store,
}: {
  readonly state_dir?: string | undefined;
  readonly store?: { readonly url: PostgresAddress; readonly password?: Secret | undefined } | undefined;
}): StorePlace {
  if (store !== undefined) return { kind: "postgres", address: store.url, password: store.password };
  return stateDir === undefined ? { kind: "memory" } : { kind: "sqlite", stateDir };
}
