import type { Environment } from "./env-values.ts";

export interface EnvVariable {
  readonly name: string;
  /** Configuration file key that the variable sets; "" if the variable has no effect. */
  readonly key: string;
  /** Explains to people how the effect differs from the Go relayer's, or why the variable has no effect. */
  readonly note: string;
}

/** Variables that the Go relayer reads (v0.3.0, `internal/config/config.go`). */
const GO_VARIABLES: readonly EnvVariable[] = [
  {
    name: "RELAYER_NEUTRON_CHAIN_RPC_ADDR",
    key: "chain.rpc",
    note: "required; commas separate several endpoints; tcp:// is read as http://",
  },
  { name: "RELAYER_NEUTRON_CHAIN_REST_ADDR", key: "", note: "not needed: everything is read over RPC" },
  {
    name: "RELAYER_NEUTRON_CHAIN_HOME_DIR",
    key: "signer.keyring.home",
    note: "required without RELAYER_MNEMONIC",
  },
  {
    name: "RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME",
    key: "signer.keyring.key",
    note: "required without RELAYER_MNEMONIC",
  },
  {
    name: "RELAYER_NEUTRON_CHAIN_TIMEOUT",
    key: "deadlines.call",
    note: "the greater of the two chains' values is used",
  },
  { name: "RELAYER_NEUTRON_CHAIN_GAS_PRICES", key: "gas.fallback_price", note: "the price of the fee denom" },
  {
    name: "RELAYER_NEUTRON_CHAIN_GAS_LIMIT",
    key: "batch.gas",
    note: "maximum gas of one transaction; 0: the default",
  },
  { name: "RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT", key: "gas.adjustment", note: "" },
  { name: "RELAYER_NEUTRON_CHAIN_DENOM", key: "gas.denom", note: "" },
  { name: "RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE", key: "gas.max_price", note: "" },
  { name: "RELAYER_NEUTRON_CHAIN_GAS_PRICE_MULTIPLIER", key: "gas.price_multiplier", note: "" },
  { name: "RELAYER_NEUTRON_CHAIN_CONNECTION_ID", key: "connections.0.id", note: "required" },
  {
    name: "RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND",
    key: "signer.keyring.backend",
    note: "file needs a password; as in the Go relayer, test signs for any other value",
  },
  { name: "RELAYER_NEUTRON_CHAIN_DEBUG", key: "", note: "no effect, as in the Go relayer; see LOGGER_LEVEL" },
  { name: "RELAYER_NEUTRON_CHAIN_OUTPUT_FORMAT", key: "", note: "no effect, as in the Go relayer" },
  { name: "RELAYER_NEUTRON_CHAIN_SIGN_MODE_STR", key: "", note: "no effect, as in the Go relayer: direct" },
  {
    name: "RELAYER_TARGET_CHAIN_RPC_ADDR",
    key: "connections.0.rpc",
    note: "required; commas separate several endpoints",
  },
  {
    name: "RELAYER_TARGET_CHAIN_TIMEOUT",
    key: "deadlines.call",
    note: "the greater of the two chains' values is used",
  },
  { name: "RELAYER_TARGET_CHAIN_DEBUG", key: "", note: "no effect, as in the Go relayer" },
  { name: "RELAYER_TARGET_CHAIN_OUTPUT_FORMAT", key: "", note: "no effect, as in the Go relayer" },
  { name: "RELAYER_REGISTRY_ADDRESSES", key: "queries.owners", note: "spaces around commas are ignored" },
  { name: "RELAYER_REGISTRY_QUERY_IDS", key: "queries.ids", note: "" },
  { name: "RELAYER_ALLOW_TX_QUERIES", key: "queries.tx", note: "required" },
  { name: "RELAYER_ALLOW_KV_CALLBACKS", key: "queries.allow_kv_callbacks", note: "required" },
  { name: "RELAYER_MIN_KV_UPDATE_PERIOD", key: "queries.min_kv_update_period", note: "remote blocks" },
  {
    name: "RELAYER_STORAGE_PATH",
    key: "state_dir",
    note: "required; the first start imports the Go relayer's storage from it",
  },
  {
    name: "RELAYER_CHECK_SUBMITTED_TX_STATUS_DELAY",
    key: "",
    note: "not needed: every transaction is followed until it is in a block",
  },
  { name: "RELAYER_QUERIES_TASK_QUEUE_CAPACITY", key: "", note: "not needed: a query is queued once" },
  {
    name: "RELAYER_INITIAL_TX_SEARCH_OFFSET",
    key: "queries.tx_lookback_blocks",
    note: "0 or absent: 100 blocks instead of the whole chain",
  },
  { name: "RELAYER_LISTEN_ADDR", key: "http.listen", note: "" },
  {
    name: "RELAYER_IGNORE_ERRORS_REGEX",
    key: "queries.tx_dead_letter_errors",
    note: "other errors are retried instead of stopping the process; absent: every rejection becomes a dead letter",
  },
];

const LOGGER_VARIABLES: readonly EnvVariable[] = [
  { name: "LOGGER_LEVEL", key: "log.level", note: "dpanic, panic and fatal mean error" },
  { name: "LOGGER_ENCODING", key: "log.format", note: "console means text" },
  { name: "LOGGER_OUTPUTPATHS", key: "log.outputs", note: "" },
  { name: "LOGGER_ENCODERCONFIG_TIMEKEY", key: "log.keys.time", note: "default ts, as in the Go relayer" },
  { name: "LOGGER_ENCODERCONFIG_LEVELKEY", key: "log.keys.level", note: "default level" },
  { name: "LOGGER_ENCODERCONFIG_MESSAGEKEY", key: "log.keys.message", note: "default msg" },
  { name: "LOGGER_ERROROUTPUTPATHS", key: "", note: "not needed: the logger has no errors of its own" },
  { name: "LOGGER_DISABLECALLER", key: "", note: "not needed: lines have no caller" },
  { name: "LOGGER_DISABLESTACKTRACE", key: "", note: "not needed: stacks are at level debug only" },
  { name: "LOGGER_DEVELOPMENT", key: "", note: "no effect" },
  { name: "LOGGER_SAMPLING_INITIAL", key: "", note: "not needed: a repeated error is logged once" },
  { name: "LOGGER_SAMPLING_THEREAFTER", key: "", note: "not needed: a repeated error is logged once" },
];

/** Variables that only this relayer reads. */
const OWN_VARIABLES: readonly EnvVariable[] = [
  {
    name: "RELAYER_MNEMONIC",
    key: "signer.mnemonic",
    note: "instead of a keyring; stays in the environment",
  },
  { name: "RELAYER_MNEMONIC_FILE", key: "signer.mnemonic", note: "instead of a keyring" },
  { name: "RELAYER_HD_PATH", key: "signer.hd_path", note: "of the mnemonic" },
  {
    name: "RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD",
    key: "signer.keyring.password",
    note: "of the backend file; stays in the environment",
  },
  {
    name: "RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD_FILE",
    key: "signer.keyring.password",
    note: "of the backend file",
  },
  {
    name: "RELAYER_NEUTRON_CHAIN_ACCOUNT_PREFIX",
    key: "signer.prefix",
    note: "of early versions; default neutron",
  },
  {
    name: "RELAYER_NEUTRON_CHAIN_CHAIN_ID",
    key: "chain.id",
    note: "of early versions; default: read from the endpoint",
  },
  {
    name: "RELAYER_TARGET_CHAIN_CHAIN_ID",
    key: "connections.0.chain_id",
    note: "of early versions; default: read from the endpoint",
  },
  { name: "RELAYER_FEE_GRANTER", key: "signer.fee_granter", note: "" },
  { name: "RELAYER_MEMO", key: "signer.memo", note: "" },
  { name: "RELAYER_HTTP_TOKEN", key: "http.token", note: "stays in the environment" },
  { name: "RELAYER_HTTP_TOKEN_FILE", key: "http.token", note: "" },
  {
    name: "RELAYER_OPEN_RESUBMIT",
    key: "http.open_resubmit",
    note: "true: /resubmit-txs needs no token on any address",
  },
];

/** All known variables, including the Go relayer's variables without effect here. */
export const ENV_VARIABLES: readonly EnvVariable[] = [...GO_VARIABLES, ...LOGGER_VARIABLES, ...OWN_VARIABLES];

/** Replaces the keys in a text with the variables that set them. Leaves a key without a variable unchanged. */
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
export function unknownVariables(environment: Environment): readonly string[] {
  return Object.keys(environment)
    .filter((name) => PREFIXES.some((prefix) => name.startsWith(prefix)) && !KNOWN.has(name))
    .filter((name) => (environment[name] ?? "").trim() !== "")
    .toSorted()
    .map((name) => `${name} has no effect: ${adviceFor(name)}`);
}

function adviceFor(name: string): string {
  if (name.startsWith(ENCODER_PREFIX)) return "only the names of time, level and message can be changed";
  return UNREAD.get(name) ?? "no such setting is known; check its spelling";
}
