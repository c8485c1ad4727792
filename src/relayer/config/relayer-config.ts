import { z } from "zod";
import { linksSchema } from "../../platform/monitoring/alerts/links.ts";
import { DEC18_ONE } from "../../platform/base/decimal.ts";
import {
  amountField,
  decimalField,
  durationField,
  hostNamesField,
  issueText,
  listenField,
  logSchema,
  processSecretSource,
  secretField,
  type SecretSource,
} from "../../platform/config/config-fields.ts";
import type { ConfigKind } from "../../platform/config/daemon-config.ts";
import { tlsSchema } from "../../platform/config/endpoint-field.ts";
import { urgencySchema } from "../gas-budget/urgency.ts";
import { budgetOf, displaySchema, valueSchema } from "./amount-config.ts";
import { signerSchema } from "./signer-config.ts";
import {
  historySchema,
  leaseSchema,
  shardsSchema,
  spendingSchema,
  storeField,
  connectionSchema,
  endpoints,
  requestsSchema,
} from "./config-sections.ts";

/** Accepts a regular expression; outputs a `RegExp`. A leading "(?i)", as in Go, makes it ignore case. */
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

/**
 * The relayer refreshes a client after two thirds of its trusting period. A notice share of a third or more would report every
 * client briefly.
 */
function noticeShareField() {
  return decimalField().refine((share) => share * 10n <= DEC18_ONE * 3n, {
    error: issueText("is not a share of a trusting period", 'a decimal in quotes up to "0.3"'),
  });
}

/**
 * A simulation request contains the transaction as hex, two characters per byte. CometBFT limits a request to 1,000,000 bytes
 * (`max_body_bytes`). The JSON frame, signer and fee take up at least 2,000 of them. The transaction size limit is higher
 * (`mempool.max_tx_bytes`, 1,048,576 bytes).
 */
const MAX_BATCH_BYTES = (1_000_000 - 2_000) / 2;

/** The schema of the relayer's configuration file. `secrets` resolves secret references. */
export function relayerConfigSchema(secrets: SecretSource = processSecretSource) {
  return fieldsSchema(secrets)
    .refine(({ state_dir, store }) => state_dir === undefined || store === undefined, {
      path: ["store"],
      error: issueText("cannot be combined with state_dir", "only one of the two"),
    })
    .refine((config) => config.spending.budget === undefined || budgetOf(config) !== undefined, {
      path: ["spending", "budget"],
      error: issueText(
        "is not an amount of gas.denom",
        'base units in quotes, e.g. "50000000", or display units, e.g. "50 NTRN", if gas.display defines them',
      ),
    })
    .refine(({ shards, connections }) => shards === undefined || shards.count <= connections.length, {
      path: ["shards", "count"],
      error: issueText("is greater than the number of connections", "at most one shard per connection"),
    });
}

function fieldsSchema(secrets: SecretSource) {
  return z.strictObject({
    chain: z
      .strictObject({
        name: z
          .string()
          .regex(/^[a-z][a-z0-9]*$/)
          .default("neutron")
          .describe("the chain's own name, used in its protobuf packages, event types and REST paths"),
        id: z.string().min(1).max(50).describe("chain id").meta({ example: "neutron-1", reload: "process" }),
        rpc: endpoints(secrets)
          .describe(
            "RPC endpoints in order of preference: a URL, or {url, name, headers}; endpoints that fail, lag behind or are much slower are tried last",
          )
          .meta({ example: ["http://127.0.0.1:26657"] }),
      })
      .readonly()
      .describe("the local chain, where the interchain queries are registered"),
    signer: signerSchema(secrets),
    gas: z
      .strictObject({
        denom: z.string().min(1).max(128).default("untrn").describe("fee denom"),
        display: displaySchema()
          .optional()
          .describe(
            "display unit for amounts, in addition to base units; default: the unit in the chain's bank metadata, if there is one",
          )
          .meta({ commentedOut: true }),
        value: valueSchema()
          .optional()
          .describe(
            "value of one display unit; if set, the page and the reports also show the value of amounts",
          )
          .meta({ commentedOut: true }),
        adjustment: decimalField()
          .prefault("1.3")
          .describe(
            "maximum gas limit, as a multiple of the simulated gas; the limit starts there and then adapts to the gas that transactions actually use",
          ),
        price_multiplier: decimalField()
          .prefault("1.1")
          .describe(
            "offered gas price, as a multiple of the chain's price; if the fee market's state is readable, the relayer instead offers the highest price that the market can reach by the block after next",
          ),
        price: z
          .strictObject({
            comfortable: decimalField()
              .describe(
                "fee market price above which only urgent results are sent; below it, the relayer sends as much as the market bears, and a backlog may raise the price up to here; default: 2 × the market's minimum",
              )
              .meta({ example: "0.005" }),
          })
          .optional()
          .describe("the price that the relayer aims for")
          .meta({ commentedOut: true }),
        max_price: decimalField().prefault("1").describe("maximum gas price; above it, nothing is sent"),
        fallback_price: decimalField()
          .prefault("0.0053")
          .describe("gas price on a chain without a fee market"),
      })
      .prefault({})
      .describe("gas and gas price"),
    connections: z
      .array(connectionSchema(secrets))
      .min(1)
      .max(64)
      .describe(
        "connections to serve; each has its own workers, so a slow remote chain delays no other connection",
      )
      .meta({
        example: [{ id: "connection-0", chain_id: "cosmoshub-4", rpc: ["http://127.0.0.1:26757"] }],
      }),
    queries: queriesSchema(),
    batch: batchSchema(),
    retry: z
      .strictObject({
        first: durationField()
          .prefault("2s")
          .describe("backoff after a query's first failure; it doubles with each further failure"),
        most: durationField().prefault("5m").describe("longest backoff"),
      })
      .prefault({})
      .describe("a query's backoff after failures"),
    deadlines: z
      .strictObject({
        call: durationField().prefault("10s").describe("deadline for one RPC call"),
        inclusion: durationField()
          .prefault("60s")
          .describe("deadline for a broadcast transaction's inclusion"),
      })
      .prefault({})
      .describe("time limits"),
    rpc: requestsSchema(),
    tls: tlsSchema("the endpoints", secrets),
    state_dir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "folder for the SQLite file with TX search progress, dead letters and attempts; without state_dir or store, these are lost on restart: every TX search then starts tx_lookback_blocks before the tip and resubmits the transactions that it finds, which costs fees",
      )
      .meta({ example: "./relayer-state", reload: "process" }),
    health: healthSchema(),
    store: storeField(secrets)
      .optional()
      .describe(
        "PostgreSQL instead of state_dir, shared by several instances; of the instances with the same signer, only the leader submits",
      )
      .meta({ commentedOut: true, reload: "process" }),
    lease: leaseSchema().describe("with store: leadership among the instances with the same signer"),
    shards: shardsSchema()
      .optional()
      .describe("splits the connections among instances with different signers")
      .meta({ commentedOut: true }),
    history: historySchema()
      .describe("how long and how many attempts are stored")
      .meta({ reload: "process" }),
    urgency: urgencySchema()
      .describe("rules for queries that are worth a higher price than gas.price.comfortable; default: none")
      .meta({ commentedOut: true }),
    spending: spendingSchema().describe(
      "limits per UTC day and signer, and the monthly budget, in gas.denom",
    ),
    http: httpSchema(secrets),
    metrics: z
      .strictObject({
        go_relayer_names: z
          .boolean()
          .default(false)
          .describe("/metrics also serves the Go relayer's metrics, under their old names"),
      })
      .prefault({})
      .describe("the metrics page"),
    links: linksSchema,
    log: logSchema().prefault({}).describe("log lines").meta({ reload: "process" }),
  });
}

function queriesSchema() {
  return z
    .strictObject({
      owners: z
        .array(z.string().min(1))
        .max(1_000)
        .default([])
        .describe("contract addresses whose queries are served; empty: all"),
      ids: z
        .array(amountField())
        .max(10_000)
        .default([])
        .describe("ids of the queries to serve, in quotes; empty: all"),
      allow_kv_callbacks: z
        .boolean()
        .default(true)
        .describe("the local chain calls the contract for each KV result"),
      kv: z.boolean().default(true).describe("serve KV queries"),
      tx: z.boolean().default(true).describe("serve TX queries"),
      min_kv_update_period: amountField()
        .prefault("0")
        .describe(
          "minimum number of remote blocks between two results of a KV query, regardless of its update period",
        ),
      skip_unchanged: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(0)
        .describe(
          "skip a KV result with unchanged values until the last result is this many local blocks old; 0: send every result. Contracts that check a result's height then see an older height",
        ),
      tx_lookback_blocks: amountField()
        .prefault("100")
        .describe("the first search of a TX query starts this many remote blocks before the tip"),
      reload_every: durationField(1_000)
        .prefault("1m")
        .describe("interval between full reads of the query list; in between, events announce changes"),
      tx_skip_pruned: z
        .boolean()
        .default(true)
        .describe("skip blocks that every endpoint has pruned; false: the query backs off"),
      tx_give_up_after: durationField()
        .prefault("1d")
        .describe(
          "a transaction that no endpoint can prove for this long, e.g. because no endpoint stores block results, becomes a dead letter",
        ),
      tx_dead_letter_errors: regularExpressionField()
        .optional()
        .describe(
          "regular expression: a rejected TX result becomes a dead letter only if its error matches, otherwise it is sent again after a backoff; default: every rejected TX result becomes a dead letter",
        )
        .meta({ example: "execute wasm contract failed", commentedOut: true }),
    })
    .prefault({})
    .describe("which queries are served, and how");
}

function batchSchema() {
  return z
    .strictObject({
      gas: amountField()
        .prefault("15000000")
        .describe("gas per transaction; the fee market caps a block at 30,000,000, shared by all senders"),
      bytes: z
        .int()
        .min(10_000)
        .max(MAX_BATCH_BYTES, {
          error: issueText(
            "exceeds node limits: a simulation request, which is hex-encoded, may have at most 1,000,000 bytes, and a transaction at most 1,048,576",
            `${MAX_BATCH_BYTES} or less`,
          ),
        })
        .default(400_000)
        .describe("encoded bytes of one transaction's messages; hex encoding doubles them in a simulation"),
      results: z.int().min(1).max(1_000).default(300).describe("results per transaction"),
      block_share: shareField()
        .prefault("0.9")
        .describe(
          "share of a block's gas and bytes that all transactions in flight may use together, leaving the rest to others",
        ),
    })
    .prefault({})
    .describe("limits per transaction");
}

function healthSchema() {
  return z
    .strictObject({
      no_block_after: durationField(1_000)
        .optional()
        .describe(
          "a chain without a new block for this long is a problem; default: ten times its block time, at least 15s and at most 60s",
        )
        .meta({ example: "30s", commentedOut: true }),
      overdue_blocks: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe(
          "number of local blocks by which a result may be late; default: 3 × the query's update period + 5, plus the delay that the fee market causes for every result",
        )
        .meta({ example: 8, commentedOut: true }),
      client_expires_soon: z
        .strictObject({
          trusting_period_share: noticeShareField()
            .prefault("0.2")
            .describe("share of the trusting period; the relayer refreshes a client once a third is left"),
          within: durationField(1_000)
            .prefault("24h")
            .describe("time before the expiry, limited to a quarter of the trusting period"),
        })
        .prefault({})
        .describe("a light client with less time left than either of these is a problem"),
    })
    .prefault({})
    .describe("conditions for GET /readyz to return 503, the page to turn red and the problem to be logged");
}

function httpSchema(secrets: SecretSource) {
  return z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9999")
        .describe("address of the relayer's HTTP server for page, status, metrics and health")
        .meta({ reload: "process" }),
      hosts: hostNamesField()
        .optional()
        .describe(
          "host names that clients may use in addition to loopback names; default: none on a loopback address, otherwise any name",
        )
        .meta({ example: ["relayer.example"], commentedOut: true, reload: "process" }),
      token: secretField(secrets)
        .optional()
        .describe(
          "bearer token for requests that change something; default: control-token in state_dir; a secret",
        )
        .meta({ example: { env: "RELAYER_HTTP_TOKEN" }, commentedOut: true }),
      open_resubmit: z
        .boolean()
        .optional()
        .describe(
          "accept POST /resubmit-txs without a token, as clients of the Go relayer expect; default: only on a loopback address without token",
        )
        .meta({ example: false, commentedOut: true }),
    })
    .prefault({})
    .describe("the relayer's HTTP server");
}

/** The relayer's configuration kind, with its environment variables. `secrets` resolves secret references. */
export function relayerConfigKind(secrets = processSecretSource): ConfigKind<RelayerConfig> {
  return {
    name: "icq-relayer",
    prefix: "RELAYWATCH_RELAYER_",
    schema: relayerConfigSchema(secrets),
    secrets,
  };
}

export type RelayerConfig = z.output<ReturnType<typeof relayerConfigSchema>>;
