import { parseGoBool } from "../../platform/base/integers.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { issueText } from "../../platform/config/config-fields.ts";
import type { ConfigEnvironment } from "../../platform/config/daemon-config.ts";
import { unknownVariables } from "./variables.ts";

const LOCAL = "RELAYER_NEUTRON_CHAIN";
const REMOTE = "RELAYER_TARGET_CHAIN";

/** A configuration with the structure of the YAML file, in which an absent key has its default value. */
type ConfigTree = Readonly<Record<string, unknown>>;

export interface EnvConfig {
  /** The configuration. Chain ids that no environment variable sets are omitted. */
  readonly tree: ConfigTree;
  /** Both chains' ids and endpoints. As in the Go relayer, an id that no variable sets is read from the endpoints. */
  readonly chains: Readonly<Record<"local" | "remote", EnvChain>>;
  /** One line per invalid or missing variable. The configuration is usable if the list is empty. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface EnvChain {
  readonly id: string | undefined;
  readonly rpc: readonly string[];
}

/** Reads the Go relayer's variables. Like the Go relayer, treats an empty variable as absent. Reports errors in `problems`. */
export function readEnv(environment: ConfigEnvironment): EnvConfig {
  const values = createEnvValues(environment);
  const chains = {
    local: { id: values.text(`${LOCAL}_CHAIN_ID`), rpc: endpoints(values, `${LOCAL}_RPC_ADDR`) },
    remote: { id: values.text(`${REMOTE}_CHAIN_ID`), rpc: endpoints(values, `${REMOTE}_RPC_ADDR`) },
  };
  const connectionId = values.required(`${LOCAL}_CONNECTION_ID`);
  const tree = without({
    chain: without({ id: chains.local.id, rpc: chains.local.rpc }),
    signer: signer(values),
    gas: gas(values),
    connections: [without({ id: connectionId, chain_id: chains.remote.id, rpc: chains.remote.rpc })],
    queries: queries(values),
    batch: batch(values),
    deadlines: deadlines(values),
    state_dir: values.required("RELAYER_STORAGE_PATH"),
    http: http(values),
    metrics: { go_relayer_names: true },
    log: log(values),
  });
  const warnings = [...values.warnings, ...unknownVariables(environment)];
  return { tree, chains, problems: values.problems, warnings };
}

/** Returns the object without undefined values and empty sections. */
function without(section: ConfigTree): ConfigTree {
  return Object.fromEntries(
    Object.entries(section).filter(([, value]) => value !== undefined && !isEmptySection(value)),
  );
}

function isEmptySection(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}

function endpoints(values: EnvValues, name: string): readonly string[] {
  const given = values.list(name);
  if (given.length === 0) values.problem(name, "is missing", "a URL, e.g. http://127.0.0.1:26657");
  const urls = given.map((text) => text.replace(/^tcp:\/\//, "http://"));
  for (const url of urls)
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
      values.problem(name, "is not a URL", "http://, https:// or tcp://");
  return urls;
}

/** Returns a reference to the secret in the variable `name`, or in the file that `<name>_FILE` names. */
function secretReference(values: EnvValues, name: string): ConfigTree | undefined {
  if (values.text(name) !== undefined) return { env: name };
  const file = values.text(`${name}_FILE`);
  return file === undefined ? undefined : { file };
}

function signer(values: EnvValues): ConfigTree {
  const mnemonic = secretReference(values, "RELAYER_MNEMONIC");
  return without({
    mnemonic,
    keyring: mnemonic === undefined ? keyring(values) : undefined,
    prefix: values.text(`${LOCAL}_ACCOUNT_PREFIX`),
    hd_path: values.text("RELAYER_HD_PATH"),
    fee_granter: values.text("RELAYER_FEE_GRANTER"),
    memo: values.text("RELAYER_MEMO"),
  });
}

function keyring(values: EnvValues): ConfigTree {
  const password = secretReference(values, `${LOCAL}_KEYRING_PASSWORD`);
  const backend = values.text(`${LOCAL}_KEYRING_BACKEND`) ?? "test";
  const isFile = backend === "file" && password !== undefined;
  if (!isFile && backend !== "test") {
    const advice = backend === "file" ? `; for the file backend, set ${LOCAL}_KEYRING_PASSWORD_FILE` : "";
    values.warnings.push(
      `${LOCAL}_KEYRING_BACKEND: ignored; the test backend signs, as in the Go relayer${advice}`,
    );
  }
  return without({
    home: values.required(`${LOCAL}_HOME_DIR`),
    key: values.required(`${LOCAL}_SIGN_KEY_NAME`),
    backend: isFile ? "file" : "test",
    password: isFile ? password : undefined,
  });
}

function gas(values: EnvValues): ConfigTree {
  const prices = gasPrices(values);
  // Early versions of the Go relayer had no variable for the denom.
  const denom = values.text(`${LOCAL}_DENOM`) ?? (prices.length === 1 ? prices[0]?.denom : undefined);
  return without({
    denom,
    adjustment: values.decimal(`${LOCAL}_GAS_ADJUSTMENT`),
    price_multiplier: values.decimal(`${LOCAL}_GAS_PRICE_MULTIPLIER`),
    max_price: values.decimal(`${LOCAL}_MAX_GAS_PRICE`),
    fallback_price: fallbackPrice(values, prices, denom ?? "untrn"),
  });
}

interface GasPrice {
  readonly price: string;
  readonly denom: string;
}

const GAS_PRICES = `${LOCAL}_GAS_PRICES`;

/** Parses prices such as "0.5untrn,0.1uatom". */
function gasPrices(values: EnvValues): readonly GasPrice[] {
  return values.list(GAS_PRICES).flatMap((coin) => {
    const [, price, denom] = /^(\d{1,30}(?:\.\d{1,18})?)([A-Za-z].*)$/.exec(coin) ?? [];
    if (price !== undefined && denom !== undefined) return [{ price, denom }];
    return values.problem(GAS_PRICES, "is not a list of coins", "coins, e.g. 0.0053untrn") ?? [];
  });
}

function fallbackPrice(values: EnvValues, prices: readonly GasPrice[], denom: string): string | undefined {
  if (prices.length === 0) return undefined;
  const price = prices.find((one) => one.denom === denom)?.price;
  return price ?? values.problem(GAS_PRICES, `has no price in ${denom}`, `coins, e.g. 0.0053${denom}`);
}

function queries(values: EnvValues): ConfigTree {
  const lookback = values.whole("RELAYER_INITIAL_TX_SEARCH_OFFSET");
  const tx = values.requiredBool("RELAYER_ALLOW_TX_QUERIES");
  if (tx === true && (lookback ?? "0") === "0")
    values.warnings.push(
      "RELAYER_INITIAL_TX_SEARCH_OFFSET is 0 or absent: the first search of a TX query starts 100 blocks before the tip, not at the first block",
    );
  return without({
    owners: nonEmpty(values.list("RELAYER_REGISTRY_ADDRESSES")),
    ids: nonEmpty(values.list("RELAYER_REGISTRY_QUERY_IDS")),
    allow_kv_callbacks: values.requiredBool("RELAYER_ALLOW_KV_CALLBACKS"),
    tx,
    min_kv_update_period: values.whole("RELAYER_MIN_KV_UPDATE_PERIOD"),
    tx_lookback_blocks: lookback === "0" ? undefined : lookback,
    tx_dead_letter_errors: values.text("RELAYER_IGNORE_ERRORS_REGEX"),
  });
}

function nonEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}

function batch(values: EnvValues): ConfigTree {
  const limit = values.whole(`${LOCAL}_GAS_LIMIT`);
  return without({ gas: limit === undefined || /^0+$/.test(limit) ? undefined : limit });
}

function deadlines(values: EnvValues): ConfigTree {
  const given = [LOCAL, REMOTE].flatMap((chain) => values.durationMs(`${chain}_TIMEOUT`) ?? []);
  return without({ call: given.length === 0 ? undefined : `${Math.max(...given)}ms` });
}

function http(values: EnvValues): ConfigTree {
  return without({
    // In Go, ":9999" means port 9999 on all addresses.
    listen: values.text("RELAYER_LISTEN_ADDR")?.replace(/^:/, "0.0.0.0:"),
    token: secretReference(values, "RELAYER_HTTP_TOKEN"),
    open_resubmit: values.bool("RELAYER_OPEN_RESUBMIT"),
  });
}

const ZAP_LEVELS: ReadonlyMap<string, string> = new Map([
  ["debug", "debug"],
  ["info", "info"],
  ["warn", "warn"],
  ["error", "error"],
  ["dpanic", "error"],
  ["panic", "error"],
  ["fatal", "error"],
]);

function log(values: EnvValues): ConfigTree {
  return without({
    level: chosen(values, "LOGGER_LEVEL", ZAP_LEVELS),
    // The Go relayer logs JSON, even to a terminal.
    format: chosen(values, "LOGGER_ENCODING", ENCODINGS) ?? "json",
    outputs: nonEmpty(values.list("LOGGER_OUTPUTPATHS").map((path) => path.replace(/^file:\/\//, ""))),
    keys: without({
      time: values.text("LOGGER_ENCODERCONFIG_TIMEKEY") ?? "ts",
      level: values.text("LOGGER_ENCODERCONFIG_LEVELKEY"),
      message: values.text("LOGGER_ENCODERCONFIG_MESSAGEKEY"),
    }),
  });
}

const ENCODINGS: ReadonlyMap<string, string> = new Map([
  ["json", "json"],
  ["console", "text"],
]);

function chosen(values: EnvValues, name: string, choices: ReadonlyMap<string, string>): string | undefined {
  const given = values.text(name);
  if (given === undefined) return undefined;
  return (
    choices.get(given.toLowerCase()) ??
    values.problem(name, "is not an allowed value", [...choices.keys()].join(", "))
  );
}

type EnvValues = ReturnType<typeof createEnvValues>;

/** Creates readers for environment variables. For an invalid value, a reader records a problem and returns undefined. */
function createEnvValues(environment: ConfigEnvironment) {
  const problems: string[] = [];
  const problem = (name: string, what: string, expected: string): undefined => {
    problems.push(`${name}: ${issueText(what, expected)}`);
    return undefined;
  };
  const text = (name: string): string | undefined => {
    const value = environment[name]?.trim();
    return value === "" ? undefined : value;
  };
  /** Like `text`, but records a problem if the variable is absent. */
  const required = (name: string) => text(name) ?? problem(name, "is missing", "a value");
  /** Creates a reader. `parse` must return undefined for an invalid value. */
  const reader =
    <T>(read: typeof text, parse: (value: string) => T | undefined, what: string, expected: string) =>
    (name: string): T | undefined => {
      const value = read(name);
      return value === undefined ? undefined : (parse(value) ?? problem(name, what, expected));
    };
  return {
    /** One line "NAME: what is wrong (what was expected)" per problem, in reading order. No line contains a variable's value. */
    problems,
    /** One line per setting whose effect differs from the Go relayer's. */
    warnings: new Array<string>(),
    problem,
    text,
    required,
    list: (name: string) => splitList(text(name) ?? ""),
    bool: reader(text, goBool, "is not a boolean", "true or false"),
    requiredBool: reader(required, goBool, "is not a boolean", "true or false"),
    /** Reads a positive number as decimal text. */
    decimal: reader(text, goDecimal, "is not a positive number", "a number, e.g. 0.0053"),
    /** Reads an integer as decimal text. */
    whole: reader(text, wholeNumber, "is not an integer", "digits"),
    /** Reads a Go duration such as "10s" or "1m30s", in ms. */
    durationMs: reader(text, goDurationMs, "is not a duration", "a number with a unit, e.g. 10s"),
  };
}

function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function goBool(text: string): boolean | undefined {
  try {
    return parseGoBool(text);
  } catch {
    return undefined;
  }
}

function wholeNumber(text: string): string | undefined {
  return /^\d{1,20}$/.test(text) ? text : undefined;
}

/** Accepts every positive number that Go's ParseFloat accepts and that has at most 18 decimals, for example "1e-3". */
function goDecimal(text: string): string | undefined {
  if (/^\d{1,30}(?:\.\d{1,18})?$/.test(text)) return /[1-9]/.test(text) ? text : undefined;
  const value = /^\d*\.?\d*(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1e-18 && value < 1e15)) return undefined;
  return value.toFixed(18).replace(/\.?0+$/, "");
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
};

/** Parses a positive duration in the format of Go's `time.ParseDuration`, rounded up to 1 ms. */
function goDurationMs(text: string): number | undefined {
  if (!/^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g))
    totalMs += Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  return totalMs > 0 && totalMs <= 366 * DAY_MS ? Math.ceil(totalMs) : undefined;
}
