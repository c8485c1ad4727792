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
    "required; one or more endpoints, separated by commas; tcp:// means http://",
  ],
  ["RELAYER_NEUTRON_CHAIN_REST_ADDR", "", "not needed, because the relayer reads everything over RPC"],
  ["RELAYER_NEUTRON_CHAIN_HOME_DIR", "signer.keyring.home", "required without RELAYER_MNEMONIC"],
  ["RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME", "signer.keyring.key", "required without RELAYER_MNEMONIC"],
  [
    "RELAYER_NEUTRON_CHAIN_TIMEOUT",
    "deadlines.call",
    "the relayer uses the larger of the two chains' timeouts",
  ],
  [
    "RELAYER_NEUTRON_CHAIN_GAS_PRICES",
    "gas.fallback_price",
    "gas price in the fee denom; prices in other denoms are ignored",
  ],
  ["RELAYER_NEUTRON_CHAIN_GAS_LIMIT", "batch.gas", "maximum gas of one transaction; 0 means the default"],
  ["RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT", "gas.adjustment", ""],
  ["RELAYER_NEUTRON_CHAIN_DENOM", "gas.denom", ""],
  ["RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE", "gas.max_price", ""],
  ["RELAYER_NEUTRON_CHAIN_GAS_PRICE_MULTIPLIER", "gas.price_multiplier", ""],
  ["RELAYER_NEUTRON_CHAIN_CONNECTION_ID", "connections.0.id", "required"],
  [
    "RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND",
    "signer.keyring.backend",
    "the backend file requires a password; as in the Go relayer, any other value means test",
  ],
  ["RELAYER_NEUTRON_CHAIN_DEBUG", "", "no effect, as in the Go relayer; LOGGER_LEVEL sets the log level"],
  ["RELAYER_NEUTRON_CHAIN_OUTPUT_FORMAT", "", "no effect, as in the Go relayer"],
  [
    "RELAYER_NEUTRON_CHAIN_SIGN_MODE_STR",
    "",
    "no effect, as in the Go relayer: the sign mode is always direct",
  ],
  [
    "RELAYER_TARGET_CHAIN_RPC_ADDR",
    "connections.0.rpc",
    "required; one or more endpoints, separated by commas",
  ],
  [
    "RELAYER_TARGET_CHAIN_TIMEOUT",
    "deadlines.call",
    "the relayer uses the larger of the two chains' timeouts",
  ],
  ["RELAYER_TARGET_CHAIN_DEBUG", "", "no effect, as in the Go relayer"],
  ["RELAYER_TARGET_CHAIN_OUTPUT_FORMAT", "", "no effect, as in the Go relayer"],
  ["RELAYER_REGISTRY_ADDRESSES", "queries.owners", "spaces around commas are ignored"],
  ["RELAYER_REGISTRY_QUERY_IDS", "queries.ids", ""],
  ["RELAYER_ALLOW_TX_QUERIES", "queries.tx", "required"],
  ["RELAYER_ALLOW_KV_CALLBACKS", "queries.allow_kv_callbacks", "required"],
  ["RELAYER_MIN_KV_UPDATE_PERIOD", "queries.min_kv_update_period", "remote blocks"],
  [
    "RELAYER_STORAGE_PATH",
    "state_dir",
    "required; on the first start, the relayer imports the Go relayer's storage from this path",
  ],
  [
    "RELAYER_CHECK_SUBMITTED_TX_STATUS_DELAY",
    "",
    "not needed, because the relayer tracks every transaction until it is in a block",
  ],
  ["RELAYER_QUERIES_TASK_QUEUE_CAPACITY", "", "not needed, because each query is queued only once"],
  [
    "RELAYER_INITIAL_TX_SEARCH_OFFSET",
    "queries.tx_lookback_blocks",
    "if 0 or absent, the search starts 100 blocks back instead of at the first block",
  ],
  ["RELAYER_LISTEN_ADDR", "http.listen", ""],
  [
    "RELAYER_IGNORE_ERRORS_REGEX",
    "queries.tx_dead_letter_errors",
    "after other errors, the relayer retries instead of stopping; if absent, every rejection becomes a dead letter",
  ],
];

const LOGGER_VARIABLES: readonly Row[] = [
  ["LOGGER_LEVEL", "log.level", "dpanic, panic and fatal mean error"],
  ["LOGGER_ENCODING", "log.format", "console means text"],
  ["LOGGER_OUTPUTPATHS", "log.outputs", ""],
  ["LOGGER_ENCODERCONFIG_TIMEKEY", "log.keys.time", "default ts, as in the Go relayer"],
  ["LOGGER_ENCODERCONFIG_LEVELKEY", "log.keys.level", "default level"],
  ["LOGGER_ENCODERCONFIG_MESSAGEKEY", "log.keys.message", "default msg"],
  ["LOGGER_ERROROUTPUTPATHS", "", "not needed, because the logger produces no errors"],
  ["LOGGER_DISABLECALLER", "", "not needed, because log lines never name the caller"],
  ["LOGGER_DISABLESTACKTRACE", "", "not needed, because stack traces appear only at level debug"],
  ["LOGGER_DEVELOPMENT", "", "no effect"],
  ["LOGGER_SAMPLING_INITIAL", "", "not needed, because a repeated error is logged only once"],
  ["LOGGER_SAMPLING_THEREAFTER", "", "not needed, because a repeated error is logged only once"],
];

/** Variables that this relayer reads in addition to the Go relayer's variables. */
const OWN_VARIABLES: readonly Row[] = [
  ["RELAYER_MNEMONIC", "signer.mnemonic", "used instead of the keyring; stays in the environment"],
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
  ["RELAYER_OPEN_RESUBMIT", "http.open_resubmit", "if true, /resubmit-txs needs no token on any address"],
];

/** All known variables, including the Go relayer's variables that have no effect on this relayer. */
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

/** Variables from examples and early versions that the Go relayer does not read, each with advice. */
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
