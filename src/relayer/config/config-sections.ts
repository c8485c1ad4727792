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
    chain_id: z
      .string()
      .min(1)
      .max(50)
      .describe("the remote chain's id. The relayer checks that the endpoints report this id"),
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
          "maximum number of RPC calls in one request. If an endpoint refuses a batch, the relayer halves the endpoint's maximum, down to single calls",
        ),
      max_response_bytes: z
        .int()
        .min(1_000_000)
        .max(512 * 1024 * 1024)
        .default(64 * 1024 * 1024)
        .describe(
          "maximum size of a response in bytes. If a response is larger, the relayer tries the next endpoint",
        ),
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
      max_age: durationField(60_000)
        .prefault("30d")
        .describe("age at which the relayer deletes a stored attempt"),
      max_attempts: z
        .int()
        .min(1_000)
        .max(10_000_000)
        .default(200_000)
        .describe("maximum number of stored attempts. An attempt takes up about 300 bytes"),
    })
    .prefault({});
}

/** `lease`: lets several instances share a signer with PostgreSQL. Only one instance submits at any time. */
export function leaseSchema() {
  return z
    .strictObject({
      ttl: durationField(2_000)
        .prefault("5s")
        .describe(
          "time after which the lease expires unless its holder renews it. Another instance then takes over within a quarter of this time",
        ),
    })
    .prefault({});
}

/** `shards`: restricts this instance to some of the `connections`. Each shard needs its own signer. */
export function shardsSchema() {
  return z
    .strictObject({
      count: z
        .int()
        .min(1)
        .max(64)
        .describe("number of shards into which the queries are divided")
        .meta({ example: 2 }),
      index: z
        .int()
        .min(0)
        .max(63)
        .describe("index of the shard that this instance serves, counted from 0")
        .meta({ example: 0 }),
    })
    .refine(({ count, index }) => index < count, {
      error: issueText("has an index beyond count", "an index from 0 to count - 1"),
    });
}

/** `spending`: limits on the relayer's payments. */
export function spendingSchema() {
  return z
    .strictObject({
      reserve: amountField()
        .prefault("0")
        .describe(
          "amount of the fee denom that must stay in the account. The relayer never spends this reserve",
        ),
      daily_fee: amountField()
        .optional()
        .describe("maximum fees that the relayer pays per UTC day; default: no limit")
        .meta({ example: "50000000", commentedOut: true }),
      daily_gas_per_owner: amountField()
        .optional()
        .describe("maximum gas per UTC day for the queries of one owner; default: no limit")
        .meta({ example: "2000000000", commentedOut: true }),
      budget: z
        .string()
        .max(100)
        .optional()
        .describe(
          "fee budget per UTC calendar month, in base units or, if gas.display is set, in display units. If the month's fees or their forecast exceed the budget, the relayer warns but keeps sending",
        )
        .meta({ example: "1500000000", commentedOut: true }),
    })
    .prefault({});
}
