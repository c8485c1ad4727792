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

/** Accepts a regular expression and outputs a `RegExp`. A leading "(?i)", as in Go, makes the expression case-insensitive. */
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

/** Accepts a decimal string from 0.001 to 1 and outputs a `Dec18`. */
function shareField() {
  return decimalField().refine((share) => share >= DEC18_ONE / 1_000n && share <= DEC18_ONE, {
    error: issueText("is not a share of a block", 'a decimal in quotes from "0.001" to "1"'),
  });
}

/**
 * Accepts a decimal string of at most 0.3 and outputs a `Dec18`. The relayer refreshes a client after two thirds of its trusting
 * period. With a share of a third or more, every client would be reported before each refresh.
 */
function noticeShareField() {
  return decimalField().refine((share) => share * 10n <= DEC18_ONE * 3n, {
    error: issueText("is not a share of a trusting period", 'a decimal in quotes up to "0.3"'),
  });
}

/**
 * A simulation request contains the transaction as hex, two characters per byte. CometBFT limits a request to 1,000,000 bytes
 * (`max_body_bytes`). The request's JSON, signer and fee take up to 2,000 of these bytes. The transaction size limit is higher
 * (`mempool.max_tx_bytes`, 1,048,576 bytes).
 */
const MAX_BATCH_BYTES = (1_000_000 - 2_000) / 2;

/** Creates the schema of the relayer's configuration file. `secrets` resolves references to secrets. */
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
          .describe("the local chain's name in its protobuf packages, event types and REST paths"),
        id: z.string().min(1).max(50).describe("chain id").meta({ example: "neutron-1", reload: "process" }),
        rpc: endpoints(secrets)
          .describe(
            "RPC endpoints of the local chain, in order of preference, each as a URL or {url, name, headers}. The relayer tries an endpoint last if it fails, lags or is much slower than the others",
          )
          .meta({ example: ["http://127.0.0.1:26657"] }),
      })
      .readonly()
      .describe("the local chain, where the interchain queries are registered"),
    signer: signerSchema(secrets),
    gas: z
      .strictObject({
        denom: z.string().min(1).max(128).default("untrn").describe("the denom in which fees are paid"),
        display: displaySchema()
          .optional()
          .describe(
            "a unit in which amounts are also shown, next to base units; default: the unit in the chain's bank metadata, if there is one",
          )
          .meta({ commentedOut: true }),
        value: valueSchema()
          .optional()
          .describe("value of one display unit in a currency, which the page and reports also show")
          .meta({ commentedOut: true }),
        adjustment: decimalField()
          .prefault("1.3")
          .describe(
            "initial and maximum ratio of a transaction's gas limit to its simulated gas. The relayer adapts the ratio to the gas that transactions actually use",
          ),
        price_multiplier: decimalField()
          .prefault("1.1")
          .describe(
            "factor by which the relayer multiplies the chain's gas price. If the relayer can read the fee market's state, it instead offers the highest price that the market can reach by the block after next",
          ),
        price: z
          .strictObject({
            comfortable: decimalField()
              .describe(
                "gas price above which the relayer sends only urgent results. Up to this price, the relayer uses as much gas as the fee market can sustain. To send a backlog, the relayer may raise the price up to this value; default: 2 × the market's minimum",
              )
              .meta({ example: "0.005" }),
          })
          .optional()
          .describe("the gas price that the relayer aims for")
          .meta({ commentedOut: true }),
        max_price: decimalField()
          .prefault("1")
          .describe("maximum gas price. While the price is above this maximum, the relayer sends nothing"),
        fallback_price: decimalField()
          .prefault("0.0053")
          .describe("gas price to offer on a chain that has no fee market"),
      })
      .prefault({})
      .describe("gas limits, gas prices and the units for amounts"),
    connections: z
      .array(connectionSchema(secrets))
      .min(1)
      .max(64)
      .describe("connections to serve. A slow remote chain delays only its own connections")
      .meta({
        example: [{ id: "connection-0", chain_id: "cosmoshub-4", rpc: ["http://127.0.0.1:26757"] }],
      }),
    queries: queriesSchema(),
    batch: batchSchema(),
    retry: z
      .strictObject({
        first: durationField()
          .prefault("2s")
          .describe("backoff after a query's first failure; doubled after each further failure"),
        most: durationField().prefault("5m").describe("the longest backoff"),
      })
      .prefault({})
      .describe("how long a query backs off after failures"),
    deadlines: z
      .strictObject({
        call: durationField().prefault("10s").describe("maximum duration of one RPC call"),
        inclusion: durationField()
          .prefault("60s")
          .describe("maximum time from the broadcast of a transaction to its inclusion in a block"),
      })
      .prefault({})
      .describe("deadlines for RPC calls and transactions"),
    rpc: requestsSchema(),
    tls: tlsSchema("the endpoints", secrets),
    state_dir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "folder for the SQLite file that stores TX search progress, dead letters and attempts. Without state_dir or store, a restart loses this data. Every TX search then starts tx_lookback_blocks before the tip and submits again the transactions that it finds there, which costs fees",
      )
      .meta({ example: "./relayer-state", reload: "process" }),
    health: healthSchema(),
    store: storeField(secrets)
      .optional()
      .describe(
        "PostgreSQL database, which replaces state_dir and can be shared by several instances. Among instances with the same signer, only the leader submits results",
      )
      .meta({ commentedOut: true, reload: "process" }),
    lease: leaseSchema().describe("how instances with the same signer choose their leader, if store is set"),
    shards: shardsSchema()
      .optional()
      .describe("the split of connections among instances with different signers")
      .meta({ commentedOut: true }),
    history: historySchema()
      .describe("how many attempts are stored, and for how long")
      .meta({ reload: "process" }),
    urgency: urgencySchema()
      .describe("rules that select queries worth a higher price than gas.price.comfortable; default: none")
      .meta({ commentedOut: true }),
    spending: spendingSchema().describe(
      "limits on a signer's spending per UTC day and a monthly budget, in gas.denom",
    ),
    http: httpSchema(secrets),
    metrics: z
      .strictObject({
        go_relayer_names: z
          .boolean()
          .default(false)
          .describe("if true, /metrics also serves the Go relayer's metrics under their old names"),
      })
      .prefault({})
      .describe("the /metrics page"),
    links: linksSchema,
    log: logSchema().prefault({}).describe("the log").meta({ reload: "process" }),
  });
}

function queriesSchema() {
  return z
    .strictObject({
      owners: z
        .array(z.string().min(1))
        .max(1_000)
        .default([])
        .describe("the addresses of the contracts whose queries are served; empty: all contracts"),
      ids: z
        .array(amountField())
        .max(10_000)
        .default([])
        .describe("the ids of the queries to serve, in quotes; empty: all"),
      allow_kv_callbacks: z
        .boolean()
        .default(true)
        .describe("if true, the local chain calls the query's contract for each KV result"),
      kv: z.boolean().default(true).describe("if true, the relayer serves KV queries"),
      tx: z.boolean().default(true).describe("if true, the relayer serves TX queries"),
      min_kv_update_period: amountField()
        .prefault("0")
        .describe("minimum number of remote blocks between two results of any KV query"),
      skip_unchanged: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(0)
        .describe(
          "the relayer sends a KV result with unchanged values only if the query's last result is at least this many local blocks old; 0 sends every result. With a higher value, contracts that check a result's height can see an older height",
        ),
      tx_lookback_blocks: amountField()
        .prefault("100")
        .describe("a TX query's first search starts this many blocks before the remote chain's latest block"),
      reload_every: durationField(1_000)
        .prefault("1m")
        .describe("interval between reads of the whole query list. Events announce changes in between"),
      tx_skip_pruned: z
        .boolean()
        .default(true)
        .describe(
          "if true, a TX query's search skips blocks that every endpoint has pruned; if false, the query backs off at such a block",
        ),
      tx_give_up_after: durationField()
        .prefault("1d")
        .describe(
          "time after which a remote transaction becomes a dead letter if no endpoint can prove it, e.g. because no endpoint stores block results",
        ),
      tx_dead_letter_errors: regularExpressionField()
        .optional()
        .describe(
          "regular expression for error texts. A rejected TX result becomes a dead letter if its error text matches; otherwise, the relayer sends the result again after a backoff; default: every rejected TX result becomes a dead letter",
        )
        .meta({ example: "execute wasm contract failed", commentedOut: true }),
    })
    .prefault({})
    .describe("which queries the relayer serves, and how");
}

function batchSchema() {
  return z
    .strictObject({
      gas: amountField()
        .prefault("15000000")
        .describe("maximum gas per transaction. All senders together can use 30,000,000 gas per block"),
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
        .describe(
          "maximum encoded size of a transaction's messages. A simulation request is twice as large, because it is hex-encoded",
        ),
      results: z
        .int()
        .min(1)
        .max(1_000)
        .default(300)
        .describe("the maximum number of results in a transaction"),
      block_share: shareField()
        .prefault("0.9")
        .describe(
          "the share of a block's gas and bytes that all transactions in flight may use together. The rest is left for other senders",
        ),
    })
    .prefault({})
    .describe("limits for transactions");
}

function healthSchema() {
  return z
    .strictObject({
      no_block_after: durationField(1_000)
        .optional()
        .describe(
          "time without a new block after which a chain is reported as a problem; default: ten times its block time, at least 15s and at most 60s",
        )
        .meta({ example: "30s", commentedOut: true }),
      overdue_blocks: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe(
          "number of local blocks by which a result may be late before the relayer reports a problem; default: 3 × the query's update period + 5, plus the delay that the fee market causes for every result",
        )
        .meta({ example: 8, commentedOut: true }),
      client_expires_soon: z
        .strictObject({
          trusting_period_share: noticeShareField()
            .prefault("0.2")
            .describe(
              "/readyz reports a client as a problem when this share of its trusting period remains. The relayer refreshes a client once a third remains",
            ),
          within: durationField(1_000)
            .prefault("24h")
            .describe("remaining time before expiry, at most a quarter of the client's trusting period"),
        })
        .prefault({})
        .describe("remaining time below which a light client is a problem. Reaching either limit is enough"),
    })
    .prefault({})
    .describe(
      "conditions under which GET /readyz returns 503, the page turns red, and the log shows the problem",
    );
}

function httpSchema(secrets: SecretSource) {
  return z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9999")
        .describe(
          "address on which the relayer serves its status page, API, metrics and health checks over HTTP",
        )
        .meta({ reload: "process" }),
      hosts: hostNamesField()
        .optional()
        .describe(
          "host names that clients may use to reach the server, in addition to loopback names; default: only loopback names on a loopback address, every name on other addresses",
        )
        .meta({ example: ["relayer.example"], commentedOut: true, reload: "process" }),
      token: secretField(secrets)
        .optional()
        .describe(
          "bearer token (a secret) that clients must send with requests that change something; default: the token in the file control-token in state_dir",
        )
        .meta({ example: { env: "RELAYER_HTTP_TOKEN" }, commentedOut: true }),
      open_resubmit: z
        .boolean()
        .optional()
        .describe(
          "if true, POST /resubmit-txs works without a token, as the Go relayer's clients expect; default: true only on a loopback address without http.token",
        )
        .meta({ example: false, commentedOut: true }),
    })
    .prefault({})
    .describe("the relayer's HTTP server");
}

/** Returns the name, environment variable prefix and schema of the relayer's configuration. `secrets` resolves references to secrets. */
export function relayerConfigKind(secrets = processSecretSource): ConfigKind<RelayerConfig> {
  return {
    name: "icq-relayer",
    prefix: "RELAYWATCH_RELAYER_",
    schema: relayerConfigSchema(secrets),
    secrets,
  };
}

export type RelayerConfig = z.output<ReturnType<typeof relayerConfigSchema>>;
