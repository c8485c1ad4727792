import { z } from "zod";
import {
  amountField,
  durationField,
  issueText,
  secretField,
  type SecretSource,
} from "../../platform/config/config-fields.ts";
import { urlAsSection, endpointField } from "../../platform/config/endpoint-field.ts";
import { type PostgresAddress, parsePostgresUrl } from "../../platform/storage/postgres-url.ts";

export function endpoints(secrets: SecretSource) {
  return z
    .array(endpointField(secrets, { hasKey: true }))
    .min(1)
    .max(16);
}

export function connectionSchema(secrets: SecretSource) {
  return z.strictObject({
    id: z.string().min(10).max(64).describe("the connection's id on the local chain"),
    chain_id: z.string().min(1).max(50).describe("the remote chain's id, checked against its endpoints"),
    rpc: endpoints(secrets).describe("the remote chain's RPC endpoints, in order of preference"),
  });
}

export function requestsSchema() {
  return z
    .strictObject({
      batch: z
        .int()
        .min(1)
        .max(100)
        .default(10)
        .describe(
          "maximum number of calls per request. If an endpoint refuses a batch, the relayer halves this number for it, down to single calls",
        ),
      max_response_bytes: z
        .int()
        .min(1_000_000)
        .max(512 * 1024 * 1024)
        .default(64 * 1024 * 1024)
        .describe("maximum size of a response. If a response is larger, the relayer tries the next endpoint"),
    })
    .prefault({})
    .describe("settings for requests to all endpoints");
}

function postgresField() {
  return z.string().transform((text, context): PostgresAddress => {
    const parsed = parsePostgresUrl(text);
    if (parsed.ok) return parsed.address;
    context.addIssue(issueText(parsed.wrong, parsed.expected));
    return z.NEVER;
  });
}

/** `store`: `postgres://…`, or an object with the URL and a reference to the password. */
export function storeField(secrets: SecretSource) {
  return z.preprocess(
    urlAsSection,
    z.strictObject({
      url: postgresField()
        .describe(
          "the database's URL without the password, as postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full",
        )
        .meta({ example: "postgres://relaywatch@db.example:5432/relaywatch?sslmode=verify-full" }),
      password: secretField(secrets)
        .optional()
        .describe("the database password (a secret)")
        .meta({ example: { env: "STORE_PASSWORD" } }),
    }),
  );
}

/** `history`: limits the number and the age of the attempts that the store retains. */
export function historySchema() {
  return z
    .strictObject({
      max_age: durationField(60_000).prefault("30d").describe("the age at which an attempt is deleted"),
      max_attempts: z
        .int()
        .min(1_000)
        .max(10_000_000)
        .default(200_000)
        .describe("the maximum number of stored attempts; each takes up about 300 bytes"),
    })
    .prefault({});
}

/** `lease`: with PostgreSQL, lets several instances share a signer, of which only one submits at any time. */
export function leaseSchema() {
  return z
    .strictObject({
      ttl: durationField(2_000)
        .prefault("5s")
        .describe(
          "time after which the lease ends if it is not renewed. Another instance then takes over within a quarter of this time",
        ),
    })
    .prefault({});
}

/** `shards`: restricts this instance to some of the `connections`. Each shard needs its own signer. */
export function shardsSchema() {
  return z
    .strictObject({
      count: z.int().min(1).max(64).describe("the number of shards").meta({ example: 2 }),
      index: z.int().min(0).max(63).describe("this instance's shard, counted from 0").meta({ example: 0 }),
    })
    .refine(({ count, index }) => index < count, {
      error: issueText("has an index beyond count", "an index from 0 to count - 1"),
    });
}

/** `spending`: limits on the relayer's payments. */
export function spendingSchema() {
  return z
    .strictObject({
      reserve: amountField().prefault("0").describe("the part of the balance that is never spent"),
      daily_fee: amountField()
        .optional()
        .describe("the maximum fees per day; default: no limit")
        .meta({ example: "50000000", commentedOut: true }),
      daily_gas_per_owner: amountField()
        .optional()
        .describe("the maximum gas per day for one owner's queries; default: no limit")
        .meta({ example: "2000000000", commentedOut: true }),
      budget: z
        .string()
        .max(100)
        .optional()
        .describe(
          "fee budget per UTC calendar month, in base units or, if gas.display is set, in display units. If the month's fees or their forecast exceed it, the relayer warns but keeps sending",
        )
        .meta({ example: "1500000000", commentedOut: true }),
    })
    .prefault({});
}
