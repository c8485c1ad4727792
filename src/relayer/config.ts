import { z } from "zod";
import { DEC18_ONE, parseDec18 } from "../platform/base/decimal.ts";
import {
  amountField,
  durationField,
  hostNamesField,
  httpUrlField,
  issueText,
  listenField,
  logSchema,
  processSecretSource,
  secretField,
  type SecretSource,
} from "../platform/config/config-fields.ts";
import { signerSchema } from "./signer-config.ts";
import {
  historySchema,
  leaseSchema,
  shardsSchema,
  spendingSchema,
  storeField,
} from "./state/store-config.ts";

/** Accepts a positive decimal string such as "0.0025" with at most 18 fractional digits; outputs a `Dec18`. */
function decimalField() {
  return z.string().transform((text, context) => {
    try {
      const value = parseDec18(text);
      if (value > 0n) return value;
    } catch {
      // The issue below reports it.
    }
    context.addIssue(issueText("is not a positive decimal", 'a decimal in quotes such as "0.0025"'));
    return z.NEVER;
  });
}

/** Accepts a regular expression; outputs a `RegExp`. A leading "(?i)", as Go writes it, ignores case. */
function regularExpressionField() {
  return z.string().transform((text, context) => {
    try {
      return text.startsWith("(?i)") ? new RegExp(text.slice(4), "i") : new RegExp(text);
    } catch {
      context.addIssue(
        issueText("is not a regular expression", 'for example "execute wasm contract failed"'),
      );
      return z.NEVER;
    }
  });
}

/** Accepts a decimal string from 0.001 to 1; outputs a `Dec18`. */
function shareField() {
  return decimalField().refine((share) => share >= DEC18_ONE / 1_000n && share <= DEC18_ONE, {
    error: issueText("is not a share of a block", 'a decimal in quotes from "0.001" to "1"'),
  });
}

/** Less than the third at which the relayer refreshes a client: at a third, every client would be a problem for a while. */
function noticeShareField() {
  return decimalField().refine((share) => share * 10n <= DEC18_ONE * 3n, {
    error: issueText("is not a share of a trusting period", 'a decimal in quotes up to "0.3"'),
  });
}

function endpoints() {
  return z.array(httpUrlField()).min(1).max(16);
}

/**
 * A simulation travels as hex, two characters a byte, in a request of at most 1,000,000 bytes (CometBFT's
 * `max_body_bytes`). At least 2,000 bytes of it are the JSON frame, signer and fee. The limit for a transaction
 * (`mempool.max_tx_bytes`, 1,048,576 bytes) is higher.
 */
const MAX_BATCH_BYTES = (1_000_000 - 2_000) / 2;

/** The schema of the relayer's configuration file. `secrets` resolves the secret references. */
export function relayerConfigSchema(secrets: SecretSource = processSecretSource) {
  return fieldsSchema(secrets)
    .refine(({ state_dir, store }) => state_dir === undefined || store === undefined, {
      path: ["store"],
      error: issueText("is given beside state_dir", "one of the two"),
    })
    .refine(({ shards, connections }) => shards === undefined || shards.count <= connections.length, {
      path: ["shards", "count"],
      error: issueText("is greater than the number of connections", "at most one shard for each connection"),
    });
}

function fieldsSchema(secrets: SecretSource) {
  return z.strictObject({
    chain: z
      .strictObject({
        /** The chain's own name: first part of its protobuf packages, event type, and segment of REST paths. */
        name: z
          .string()
          .regex(/^[a-z][a-z0-9]*$/)
          .default("neutron"),
        id: z.string().min(1).max(50),
        /** In order of preference. */
        rpc: endpoints(),
      })
      .readonly(),
    signer: signerSchema(secrets),
    gas: z
      .strictObject({
        denom: z.string().min(1).max(128).default("untrn"),
        /** Gas limit = simulated gas × this. */
        adjustment: decimalField().prefault("1.3"),
        /** Gas price = price of the fee market × this. */
        price_multiplier: decimalField().prefault("1.1"),
        /** Highest gas price. */
        max_price: decimalField().prefault("1"),
        /** Gas price on a chain without a fee market. */
        fallback_price: decimalField().prefault("0.0053"),
      })
      .prefault({}),
    connections: z
      .array(
        z.strictObject({
          id: z.string().min(10).max(64),
          /** Chain id of the remote chain. It is compared with the chain id of the endpoints. */
          chain_id: z.string().min(1).max(50),
          rpc: endpoints(),
        }),
      )
      .min(1)
      .max(64),
    queries: z
      .strictObject({
        /** Addresses of the contracts whose queries are served; empty: all. */
        owners: z.array(z.string().min(1)).max(1_000).default([]),
        /** Ids of the queries that are served; empty: all. */
        ids: z.array(amountField()).max(10_000).default([]),
        /** Whether the local chain calls the contract for each KV result. */
        allow_kv_callbacks: z.boolean().default(true),
        /** Whether KV queries are served. */
        kv: z.boolean().default(true),
        /** Whether TX queries are served. */
        tx: z.boolean().default(true),
        /** Least number of remote blocks between two results of a KV query, whatever its update period is. */
        min_kv_update_period: amountField().prefault("0"),
        /** Number of remote blocks before the tip where the first search of a TX query starts. */
        tx_lookback_blocks: amountField().prefault("100"),
        /** Interval of the complete reads of the list of queries. Events announce changes in between. */
        reload_every: durationField(1_000).prefault("1m"),
        /** Whether blocks that every endpoint has pruned are skipped; otherwise their query backs off. */
        tx_skip_pruned: z.boolean().default(true),
        /**
         * Regular expression. When set, a rejected TX result becomes a dead letter only if the error matches; any other
         * is sent again after a backoff.
         */
        tx_dead_letter_errors: regularExpressionField().optional(),
      })
      .prefault({}),
    batch: z
      .strictObject({
        /** Gas of one transaction. The fee market caps a block at 30,000,000, which all senders share. */
        gas: amountField().prefault("15000000"),
        /** Encoded bytes of the messages of one transaction. */
        bytes: z
          .int()
          .min(10_000)
          .max(MAX_BATCH_BYTES, {
            error: issueText(
              "is too large for a node: a simulation is hex in a request of at most 1,000,000 bytes, and a transaction has at most 1,048,576",
              `${MAX_BATCH_BYTES} or less`,
            ),
          })
          .default(400_000),
        /** Results in one transaction. */
        results: z.int().min(1).max(1_000).default(300),
        /** Share of a block's gas and bytes that the transactions in flight may use together: others use the block too. */
        block_share: shareField().prefault("0.9"),
      })
      .prefault({}),
    retry: z
      .strictObject({
        /** Backoff after the first failure of a query. It doubles with each further one. */
        first: durationField().prefault("2s"),
        /** Longest backoff. */
        most: durationField().prefault("5m"),
      })
      .prefault({}),
    deadlines: z
      .strictObject({
        /** Deadline of one RPC call. */
        call: durationField().prefault("10s"),
        /** Deadline for the inclusion of a broadcast transaction. */
        inclusion: durationField().prefault("60s"),
      })
      .prefault({}),
    /**
     * Directory of the state: progress of TX searches, dead letters, attempts. Without it they are lost at a restart. Every
     * TX search then starts `tx_lookback_blocks` before the tip: older transactions are not searched, and newer ones are
     * submitted again. The local chain ignores a second submission, but charges its fee.
     */
    state_dir: z.string().min(1).optional(),
    health: z
      .strictObject({
        /** A chain without a new block for this long is a problem. */
        no_block_after: durationField(1_000).prefault("60s"),
        /** Local blocks that a result may be late; default: 3 × the update period of the query + 5. */
        overdue_blocks: z.int().min(1).max(1_000_000).optional(),
        /** A light client with less left is a problem; whichever is more. `within` counts as at most a quarter of the period. */
        client_expires_soon: z
          .strictObject({
            trusting_period_share: noticeShareField().prefault("0.2"),
            within: durationField(1_000).prefault("24h"),
          })
          .prefault({}),
      })
      .prefault({}),
    /** PostgreSQL instead of `state_dir`, for several instances. */
    store: storeField(secrets).optional(),
    lease: leaseSchema(),
    shards: shardsSchema().optional(),
    history: historySchema(),
    spending: spendingSchema(),
    http: z
      .strictObject({
        listen: listenField().prefault("127.0.0.1:9999"),
        hosts: hostNamesField()
          .optional()
          .describe(
            "names that clients may use, besides the loopback names; default: none on a loopback address, else every name",
          ),
        /** Bearer token of requests that change something. */
        token: secretField(secrets).optional(),
        /**
         * Whether `POST /resubmit-txs` needs no token, as clients of the Go relayer expect. Default: only on a loopback
         * address without `token`.
         */
        open_resubmit: z.boolean().optional(),
      })
      .prefault({}),
    metrics: z
      .strictObject({
        /** Whether `/metrics` also has the metrics of the Go relayer under their old names. */
        go_relayer_names: z.boolean().default(false),
      })
      .prefault({}),
    log: logSchema().prefault({}),
  });
}

/** A checked configuration. */
export type RelayerConfig = z.output<ReturnType<typeof relayerConfigSchema>>;
