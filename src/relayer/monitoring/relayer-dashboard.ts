import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  BAD_ABOVE_ZERO,
  type DashboardSpec,
  type PanelSpec,
  PROCESSES,
  query,
  type RowSpec,
  ruleAlerts,
  type StateSpec,
  stat,
  stateCode,
  table,
  timeline,
  upOrDown,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import {
  ANNOTATIONS,
  BACKING_OFF,
  BALANCE_LASTS,
  CHAIN,
  CHAINS,
  CONNECTIONS,
  own,
  PLACE,
  plot,
  rate,
  RELAYERS,
} from "./relayer-parts.ts";
import { M } from "./relayer-condition.ts";

/** Returns a legend that starts with the line's subject, because Grafana truncates the end of a long name. */
const of = (text: string): string => `${text} {{connection_id}} {{instance}}`;

const CONNECTION_TABLE: PanelSpec = table(
  "Connections",
  [
    `max by (instance, connection_id) (${M}_overdue_queries{${PLACE}})`,
    `max by (instance, connection_id) (${M}_most_late_blocks{${PLACE}})`,
    `max by (instance, connection_id) (${M}_last_included_timestamp_seconds{${PLACE}}) * 1000`,
    `min by (instance, connection_id) (${M}_client_active{${PLACE}})`,
    `max by (instance, connection_id) (${M}_remote_height{${PLACE}})`,
    `max by (instance, connection_id) (${M}_consensus_height{${PLACE}})`,
    `max by (instance, connection_id) (${M}_consensus_lag_blocks{${PLACE}})`,
  ],
  {
    description:
      "Each connection's overdue queries, the lateness of its most delayed query, its last result, its light client, and the remote blocks by which the client's newest consensus state lags behind. The name links to the queries.",
    unit: "none",
    height: 6,
    emptyText: "No connection is served",
    columns: [
      {
        label: "connection_id",
        title: "Connection",
        leadsTo: { dashboard: DASHBOARDS.query, variable: "connection" },
      },
      { label: "instance", title: "Instance" },
      { label: "Value #A", title: "Overdue", steps: BAD_ABOVE_ZERO },
      { label: "Value #B", title: "Late", unit: "blocks" },
      { label: "Value #C", title: "Last result", unit: "dateTimeFromNow" },
      { label: "Value #D", title: "Light client", states: upOrDown("active", "expired or frozen") },
      { label: "Value #E", title: "Remote height" },
      { label: "Value #F", title: "Consensus height" },
      { label: "Value #G", title: "Behind", unit: "blocks" },
    ],
  },
);

const ENDPOINT_STATES: readonly StateSpec[] = [
  [0, "does not respond", "red"],
  [1, "responds", "green"],
  [2, "distrusted, does not respond", "red"],
  [3, "distrusted", "orange"],
];

/** The states of a timeline panel. All rows share one mapping from numbers to texts, so each row uses different numbers. */
const PART_STATES: readonly StateSpec[] = [
  [1, "leader", "green"],
  [2, "starting", "blue"],
  [3, "standby", "blue"],
  [4, "unknown", "red"],
  [5, "admitted", "green"],
  [6, "not admitted", "yellow"],
  [7, "connected", "green"],
  [8, "not connected", "yellow"],
  [9, "active", "green"],
  [10, "expired or frozen", "red"],
  [11, "writable", "green"],
  [12, "not writable", "red"],
];

const ENDPOINT = "by (chain_id, endpoint)";

const ACTIVE_ROW: RowSpec = {
  title: "Is it active?",
  panels: [
    CONNECTION_TABLE,
    {
      ...plot("Results", "results/s", "Results per second: proven results, and results by outcome.", {
        [of("{{outcome}}")]: `${rate("instance, connection_id, outcome", "results_total", PLACE)} > 0`,
        [of("proven")]: rate("instance, connection_id", "results_proven_total", PLACE),
      }),
      emptyText: "No result",
    },
    plot(
      "Transactions and cycles",
      "ops",
      "Transactions, cycles over the due queries, and reads of the query list per second. A failed cycle means a connection error. More than one read a minute (0.017) means that events are missed.",
      {
        "transactions {{outcome}} {{instance}}": rate("instance, outcome", "transactions_total", PROCESSES),
        [of("cycles {{outcome}}")]: rate("instance, connection_id, outcome", "cycles_total", PLACE),
        "reads of the query list {{instance}}": rate("instance", "query_list_reloads_total", PROCESSES),
      },
    ),
  ],
};

/** A standby has no included results, and the quantile of an empty histogram is NaN, which `>= 0` drops. */
const includedLate = (share: number): string =>
  `histogram_quantile(${share}, ${rate("instance, connection_id, le", "due_to_included_blocks_bucket", PLACE)}) >= 0`;

const CURRENT_ROW: RowSpec = {
  title: "Is it current?",
  panels: [
    plot(
      "Lateness",
      "blocks",
      "Local blocks since the most delayed query's result was due, and between the height at which included results were due and their inclusion.",
      {
        [of("latest query")]: `max by (instance, connection_id) (${M}_most_late_blocks{${PLACE}})`,
        [of("included, median")]: includedLate(0.5),
        [of("included, 95 %")]: includedLate(0.95),
      },
    ),
    {
      ...plot(
        "Queries",
        "none",
        "Served queries by state, due queries that are late, and queries for which no result is possible now.",
        {
          [of("{{state}}")]: `sum by (instance, connection_id, state) (${M}_queries{${PLACE}}) > 0`,
          [of("overdue")]: `${M}_overdue_queries{${PLACE}}`,
          [of("no result: {{reason}}")]:
            `sum by (instance, connection_id, reason) (${M}_unanswerable_queries{${PLACE}}) > 0`,
        },
      ),
      emptyText: "No query is served",
    },
    plot("Age of the newest block", "s", "Grows when a chain or its node has halted.", {
      [of("seen")]: `time() - ${M}_remote_last_block_seen_timestamp_seconds{${PLACE}}`,
      [of("by its header")]: `time() - ${M}_remote_block_timestamp_seconds{${PLACE}}`,
      "local, seen {{instance}}": `time() - ${own("local_last_block_seen_timestamp_seconds")}`,
      "local, by its header {{instance}}": `time() - ${own("local_block_timestamp_seconds")}`,
    }),
    plot(
      "Local blocks per minute",
      "none",
      "Growth of the local chain's height. Zero means that the chain or its node has halted.",
      { "{{instance}}": `60 * deriv(${own("local_height")}[$__rate_interval])` },
    ),
  ],
};

const SAFE_ROW: RowSpec = {
  title: "Is it safe?",
  panels: [
    {
      ...plot(
        "Time until the light client expires",
        "days",
        "Below the upper line, the relayer updates the light client by itself. Below the lower line, a critical alert fires. At zero, the client has expired, and only governance can replace it.",
        {
          "{{connection_id}} {{instance}}": `(${M}_client_expiry_timestamp_seconds{${PLACE}} - time()) / 86400`,
          "limit: update {{connection_id}}": `max by (connection_id) (${M}_client_trusting_period_seconds{${PLACE}}) / 3 / 86400`,
          "limit: alert {{connection_id}}": `max by (connection_id) (${M}_client_trusting_period_seconds{${PLACE}}) / 20 / 86400`,
        },
      ),
      limits: /limit/,
    },
    timeline(
      "Role, gate, subscription, light clients, store",
      [
        query(
          stateCode({
            metric: `${M}_role`,
            selector: PROCESSES,
            by: "instance",
            states: PART_STATES.slice(0, 4),
            label: "role",
          }),
          "role {{instance}}",
        ),
        query(`6 - ${own("admitted")}`, "gate {{instance}}"),
        query(`8 - ${own("subscription_connected")}`, "subscription {{instance}}"),
        query(`10 - min by (connection_id) (${M}_client_active{${PLACE}})`, "{{connection_id}} light client"),
        query(`12 - ${own("store_writable")}`, "store {{instance}}"),
      ],
      {
        description:
          "Which process submits, and whether the gate admitted the last transaction, the subscription is connected, each light client is active (an expired or frozen one needs governance) and the store can be written (otherwise nothing is sent).",
        states: PART_STATES,
      },
    ),
    timeline(
      "Endpoints",
      [
        query(
          `min ${ENDPOINT} (${M}_endpoint_up{${CHAIN}}) + 2 * max ${ENDPOINT} (${M}_endpoint_distrusted{${CHAIN}})`,
          "{{endpoint}} {{chain_id}}",
        ),
      ],
      {
        description:
          "Shows whether each endpoint's last call succeeded, and whether the relayer distrusts the endpoint after a wrong response.",
        states: ENDPOINT_STATES,
      },
    ),
    table(
      "Endpoints now",
      [
        `max ${ENDPOINT} (${M}_endpoint_latency_seconds{${CHAIN}})`,
        `max ${ENDPOINT} (${M}_endpoint_lag_blocks{${CHAIN}})`,
        `max ${ENDPOINT} (${M}_endpoint_lacks{${CHAIN}})`,
        `min ${ENDPOINT} (${M}_endpoint_batch_size{${CHAIN}})`,
      ],
      {
        description:
          "Duration of the endpoint's last status call, number of blocks behind the chain's best endpoint, methods that the endpoint recently could not serve, and number of calls that it accepts per request.",
        unit: "none",
        width: 12,
        height: 8,
        columns: [
          { label: "chain_id", title: "Chain", width: 110 },
          { label: "endpoint", title: "Endpoint" },
          { label: "Value #A", title: "Latency", unit: "s", width: 80 },
          { label: "Value #B", title: "Behind", unit: "blocks", width: 80 },
          { label: "Value #C", title: "Lacks", width: 65 },
          { label: "Value #D", title: "Batch", width: 65 },
        ],
      },
    ),
    plot("Endpoints behind", "blocks", "Blocks behind the chain's best endpoint.", {
      "{{endpoint}} {{chain_id}} {{instance}}": `${M}_endpoint_lag_blocks{${CHAIN}}`,
    }),
    {
      ...plot("Failed RPC calls", "ops", "Failed RPC calls per second, by error code.", {
        "{{method}} {{outcome}} {{chain_id}} {{instance}}": rate(
          "instance, chain_id, method, outcome",
          "rpc_calls_total",
          `${CHAIN},outcome!~"ok|not-found"`,
        ),
      }),
      emptyText: "No call failed",
    },
    BACKING_OFF,
    plot(
      "Store writes and dead letters",
      "none",
      "Store writes that are not durable yet or were dropped, and remote transactions that were rejected or could not be proven.",
      {
        "pending writes {{instance}}": own("store_pending_writes"),
        "dropped writes {{instance}}": own("store_dropped_writes"),
        "dead letters {{instance}}": own("dead_letters"),
      },
    ),
  ],
};

export const RELAYER: DashboardSpec = {
  uid: DASHBOARDS.relayer,
  pages: ["relayer"],
  file: "icq-relayer.json",
  title: "ICQ relayer",
  description:
    "Shows whether the relayer is active, whether its results are current, and whether its account and light clients are safe. The ICQ costs dashboard shows the fees.",
  variables: [...RELAYERS, CONNECTIONS, CHAINS],
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "Is anything wrong?",
      panels: [
        stat("Ready", [query(`min by (instance) (${own("ready")})`, "{{instance}}")], {
          description: "Ready if GET /readyz reports no problem.",
          unit: "none",
          states: upOrDown("ready", "not ready"),
        }),
        stat("Overdue queries", [query(`sum(${M}_overdue_queries{${PLACE}})`, "overdue")], {
          description:
            "Queries that are overdue by more than health.overdue_blocks although the relayer could have delivered a result.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
        }),
        stat("Latest query", [query(`max(${M}_most_late_seconds{${PLACE}})`, "late")], {
          description: "Time since the most delayed query's result was due.",
          unit: "s",
        }),
        stat(
          "Light client left",
          [
            query(
              `min((${M}_client_expiry_timestamp_seconds{${PLACE}} - time()) / ${M}_client_trusting_period_seconds{${PLACE}})`,
              "left",
            ),
          ],
          {
            description:
              "Share of the trusting period left before the first light client expires unless it is updated. The relayer updates it at a third; alerts fire at a fifth (health.client_expires_soon) and at a twentieth.",
            unit: "percentunit",
            colors: [
              ["red", undefined],
              ["yellow", 0.05],
              ["green", 0.2],
            ],
          },
        ),
        { ...BALANCE_LASTS, width: 4 },
        stat("Dead letters", [query(`max(${own("dead_letters")})`, "dead letters")], {
          description: "Remote transactions that were rejected or could not be proven.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
        }),
        table("Problems", [`max by (instance, code, connection_id) (${own("problems")}) > 0`], {
          description: "Current problems, as reported by GET /readyz.",
          unit: "none",
          width: 24,
          height: 3,
          isList: true,
          emptyText: "GET /readyz reports no problem",
          columns: [
            { label: "code", title: "Problem" },
            {
              label: "connection_id",
              title: "Connection",
              leadsTo: { dashboard: DASHBOARDS.query, variable: "connection" },
              width: 110,
            },
            { label: "instance", title: "Instance", width: 110 },
          ],
        }),
        ruleAlerts('component="icq-relayer",job=~"$job"', [
          { label: "connection_id", title: "Connection", width: 110 },
          { label: "endpoint", title: "Endpoint", width: 200 },
          { label: "instance", title: "Instance", width: 110 },
        ]),
      ],
    },
    ACTIVE_ROW,
    CURRENT_ROW,
    SAFE_ROW,
  ],
};
