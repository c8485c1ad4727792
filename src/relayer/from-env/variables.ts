import type { ConfigEnvironment } from "../../platform/config/daemon-config.ts";

export interface EnvVariable {
  readonly name: string;
  /** The configuration key that the variable sets; "" if it has no effect. */
  readonly key: string;
  /** Explains how the effect differs from the Go relayer's, or why the variable has no effect. */
  readonly note: string;
}

type Row = readonly [name: EnvVariable["name"], key: EnvVariable["key"], note: EnvVariable["note"]];

/** Variables that the Go relayer reads (v0.3.0, `internal/config/config.go`). */
const GO_VARIABLES: readonly Row[] = [
  [
    "RELAYER_NEUTRON_CHAIN_RPC_ADDR",
    "chain.rpc",
    "required; comma-separated endpoints; tcp:// is read as http://",
  ],
  ["RELAYER_NEUTRON_CHAIN_REST_ADDR", "", "not needed: all reads use RPC"],
  ["RELAYER_NEUTRON_CHAIN_HOME_DIR", "signer.keyring.home", "required without RELAYER_MNEMONIC"],
  ["RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME", "signer.keyring.key", "required without RELAYER_MNEMONIC"],
  ["RELAYER_NEUTRON_CHAIN_TIMEOUT", "deadlines.call", "the larger of the two chains' values is used"],
  ["RELAYER_NEUTRON_CHAIN_GAS_PRICES", "gas.fallback_price", "the fee denom's price"],
  ["RELAYER_NEUTRON_CHAIN_GAS_LIMIT", "batch.gas", "maximum gas of one transaction; 0: the default"],
  ["RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT", "gas.adjustment", ""],
  ["RELAYER_NEUTRON_CHAIN_DENOM", "gas.denom", ""],
  ["RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE", "gas.max_price", ""],
  ["RELAYER_NEUTRON_CHAIN_GAS_PRICE_MULTIPLIER", "gas.price_multiplier", ""],
  ["RELAYER_NEUTRON_CHAIN_CONNECTION_ID", "connections.0.id", "required"],
  [
    "RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND",
    "signer.keyring.backend",
    "file needs a password; as in the Go relayer, any other value means test",
  ],
  ["RELAYER_NEUTRON_CHAIN_DEBUG", "", "no effect, as in the Go relayer; see LOGGER_LEVEL"],
  ["RELAYER_NEUTRON_CHAIN_OUTPUT_FORMAT", "", "no effect, as in the Go relayer"],
  [
    "RELAYER_NEUTRON_CHAIN_SIGN_MODE_STR",
    "",
    "no effect, as in the Go relayer: the sign mode is always direct",
  ],
  ["RELAYER_TARGET_CHAIN_RPC_ADDR", "connections.0.rpc", "required; comma-separated endpoints"],
  ["RELAYER_TARGET_CHAIN_TIMEOUT", "deadlines.call", "the larger of the two chains' values is used"],
  ["RELAYER_TARGET_CHAIN_DEBUG", "", "no effect, as in the Go relayer"],
  ["RELAYER_TARGET_CHAIN_OUTPUT_FORMAT", "", "no effect, as in the Go relayer"],
  ["RELAYER_REGISTRY_ADDRESSES", "queries.owners", "spaces around commas are ignored"],
  ["RELAYER_REGISTRY_QUERY_IDS", "queries.ids", ""],
  ["RELAYER_ALLOW_TX_QUERIES", "queries.tx", "required"],
  ["RELAYER_ALLOW_KV_CALLBACKS", "queries.allow_kv_callbacks", "required"],
  ["RELAYER_MIN_KV_UPDATE_PERIOD", "queries.min_kv_update_period", "remote blocks"],
  ["RELAYER_STORAGE_PATH", "state_dir", "required; the Go relayer's storage, imported on the first start"],
  [
    "RELAYER_CHECK_SUBMITTED_TX_STATUS_DELAY",
    "",
    "not needed: every transaction is tracked until it is in a block",
  ],
  ["RELAYER_QUERIES_TASK_QUEUE_CAPACITY", "", "not needed: a query is queued once"],
  [
    "RELAYER_INITIAL_TX_SEARCH_OFFSET",
    "queries.tx_lookback_blocks",
    "0 or absent: 100 blocks instead of the entire chain",
  ],
  ["RELAYER_LISTEN_ADDR", "http.listen", ""],
  [
    "RELAYER_IGNORE_ERRORS_REGEX",
    "queries.tx_dead_letter_errors",
    "other errors are retried instead of stopping the process; absent: every rejection becomes a dead letter",
  ],
];

const LOGGER_VARIABLES: readonly Row[] = [
  ["LOGGER_LEVEL", "log.level", "dpanic, panic and fatal are read as error"],
  ["LOGGER_ENCODING", "log.format", "console means text"],
  ["LOGGER_OUTPUTPATHS", "log.outputs", ""],
  ["LOGGER_ENCODERCONFIG_TIMEKEY", "log.keys.time", "default ts, as in the Go relayer"],
  ["LOGGER_ENCODERCONFIG_LEVELKEY", "log.keys.level", "default level"],
  ["LOGGER_ENCODERCONFIG_MESSAGEKEY", "log.keys.message", "default msg"],
  ["LOGGER_ERROROUTPUTPATHS", "", "not needed: the logger has no errors of its own"],
  ["LOGGER_DISABLECALLER", "", "not needed: log lines never name the caller"],
  ["LOGGER_DISABLESTACKTRACE", "", "not needed: stack traces appear only at level debug"],
  ["LOGGER_DEVELOPMENT", "", "no effect"],
  ["LOGGER_SAMPLING_INITIAL", "", "not needed: a repeated error is logged once"],
  ["LOGGER_SAMPLING_THEREAFTER", "", "not needed: a repeated error is logged once"],
];

/** Variables that this relayer reads in addition to the Go relayer's variables. */
const OWN_VARIABLES: readonly Row[] = [
  ["RELAYER_MNEMONIC", "signer.mnemonic", "replaces the keyring; stays in the environment"],
  ["RELAYER_MNEMONIC_FILE", "signer.mnemonic", "replaces the keyring"],
  ["RELAYER_HD_PATH", "signer.hd_path", "for the mnemonic"],
  [
    "RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD",
    "signer.keyring.password",
    "for the file backend; stays in the environment",
  ],
  ["RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD_FILE", "signer.keyring.password", "for the file backend"],
  [
    "RELAYER_NEUTRON_CHAIN_ACCOUNT_PREFIX",
    "signer.prefix",
    "used by early versions of the Go relayer; default: neutron",
  ],
  [
    "RELAYER_NEUTRON_CHAIN_CHAIN_ID",
    "chain.id",
    "used by early versions of the Go relayer; default: read from the endpoint",
  ],
  [
    "RELAYER_TARGET_CHAIN_CHAIN_ID",
    "connections.0.chain_id",
    "used by early versions of the Go relayer; default: read from the endpoint",
  ],
  ["RELAYER_FEE_GRANTER", "signer.fee_granter", ""],
  ["RELAYER_MEMO", "signer.memo", ""],
  ["RELAYER_HTTP_TOKEN", "http.token", "stays in the environment"],
  ["RELAYER_HTTP_TOKEN_FILE", "http.token", ""],
  ["RELAYER_OPEN_RESUBMIT", "http.open_resubmit", "true: /resubmit-txs needs no token on any address"],
];

/** All known variables, including the Go relayer's variables that have no effect here. */
export const ENV_VARIABLES: readonly EnvVariable[] = [
  ...GO_VARIABLES,
  ...LOGGER_VARIABLES,
  ...OWN_VARIABLES,
].map(([name, key, note]) => ({ name, key, note }));

/** Replaces the keys in a text with the variables that set them. Keys that no variable sets remain unchanged. */
export function nameVariables(text: string): string {
  return text.replace(
    /(?<![\w.])[a-z_]+(?:\.[a-z_0-9]+)*(?![\w.]*\w)/g,
    (key) => ENV_VARIABLES.find((variable) => variable.key === key)?.name ?? key,
  );
}

/** Variables from examples and early versions that the Go relayer does not read, each with its replacement. */
const UNREAD: ReadonlyMap<string, string> = new Map([
  ["RELAYER_WEBSERVER_PORT", "set RELAYER_LISTEN_ADDR"],
  ["RELAYER_PROMETHEUS_PORT", "metrics are at RELAYER_LISTEN_ADDR, path /metrics"],
  ["RELAYER_NEUTRON_CHAIN_KEY", "set RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME"],
  ["RELAYER_NEUTRON_CHAIN_ALLOW_KV_CALLBACKS", "set RELAYER_ALLOW_KV_CALLBACKS"],
  ...[
    "RELAYER_NEUTRON_CHAIN_CHAIN_PREFIX",
    "RELAYER_NEUTRON_CHAIN_CLIENT_ID",
    "RELAYER_NEUTRON_CHAIN_TX_BROADCAST_TYPE",
    ..."CLIENT_ID CONNECTION_ID GAS_PRICES GAS_ADJUSTMENT HOME_DIR KEYRING_BACKEND SIGN_MODE_STR ACCOUNT_PREFIX VALIDATOR_ACCOUNT_PREFIX REST_ADDR DENOM"
      .split(" ")
      .map((part) => `RELAYER_TARGET_CHAIN_${part}`),
  ].map((name) => [name, "the Go relayer does not read it either"] as const),
]);

const KNOWN: ReadonlySet<string> = new Set(ENV_VARIABLES.map(({ name }) => name));

/** Unknown variables with these prefixes cause a warning. */
const PREFIXES = ["RELAYER_", "LOGGER_"] as const;

/** Prefix of variables that only style the Go relayer's log lines. */
const ENCODER_PREFIX = "LOGGER_ENCODERCONFIG_";

/** Returns a warning for each unknown variable that has one of the prefixes and a value. */
export function unknownVariables(environment: ConfigEnvironment): readonly string[] {
  return Object.keys(environment)
    .filter((name) => PREFIXES.some((prefix) => name.startsWith(prefix)) && !KNOWN.has(name))
    .filter((name) => (environment[name] ?? "").trim() !== "")
    .toSorted()
    .map((name) => `${name} has no effect: ${adviceFor(name)}`);
}

function adviceFor(name: string): string {
  if (name.startsWith(ENCODER_PREFIX)) return "only the keys for time, level and message can be changed";
  return UNREAD.get(name) ?? "unknown setting; check its spelling";
}
