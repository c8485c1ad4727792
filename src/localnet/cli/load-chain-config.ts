import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createSigner } from "../../cosmos/client/tx/signer.ts";
import { toBase64, toHex } from "../../platform/base/bytes.ts";
import { CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, parseJson } from "../../platform/base/json.ts";
import { DEFAULT_PORTS, type Ports } from "../../platform/base/localnet-defaults.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import { Secret } from "../../platform/base/secret.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { loadDaemonConfig } from "../../platform/config/daemon-config.ts";
import type { ProfileName } from "../chain/deviations/deviations.ts";
import { parseAddress } from "../chain/runtime/address.ts";
import * as localnet from "../accounts/chains.ts";
import { chainConfigKind, type ChainFile, type ChainSection, keyOfPort } from "./chain-config.ts";
import { ascending } from "../../platform/base/order.ts";

/** Maximum size of a code file in bytes. The limit prevents the program from reading a huge file that was given by mistake. */
const MAX_CODE_FILE_BYTES = 16 * 1024 * 1024;
const MAX_GENESIS_BYTES = 512 * 1024 * 1024;

/** Prefix of strings such as `file:NAME`, which the loader replaces with the named file's contents. */
const FILE = "file:";

/** A localnet configured by a chain file, or the default localnet. */
export interface ConfiguredLocalnet {
  readonly chains: localnet.LocalnetChains;
  readonly roles: localnet.LocalnetRoles;
  readonly profile: ProfileName;
  readonly validators: Readonly<Record<localnet.ChainPart, readonly bigint[]>>;
  readonly blockTimeMs: number;
  readonly ports: Ports;
}

export interface ChainConfigOptions {
  readonly chainConfig?: string;
  readonly chainDir?: string;
}

/** Reads the chain file, but not the files that it references. Throws `ConfigError` and `CliError`. */
export async function readChainConfig(file: string, portOffset = 0): Promise<ConfiguredLocalnet> {
  return configured(loadDaemonConfig(chainConfigKind, file).config, portOffset, () => ({}));
}

/**
 * Returns a chain file's chains or, without a file, the default localnet's chains. Does not read the files that the chain file
 * references, because only a new chain needs their contents. Throws `ConfigError`.
 */
export async function chainsOf(file: string | undefined): Promise<localnet.LocalnetChains> {
  return file === undefined ? localnet.CHAINS : (await readChainConfig(file)).chains;
}

/** Reads the chain file and the files to which it refers. Throws `ConfigError` and `CliError`. */
export async function loadChainConfig(
  { chainConfig, chainDir }: ChainConfigOptions & { readonly chainConfig: string },
  portOffset: number,
): Promise<ConfiguredLocalnet> {
  const { config } = loadDaemonConfig(chainConfigKind, chainConfig);
  const dir = chainDir ?? dirname(chainConfig);
  const folders = { dir, codeDir: resolve(dir, config.code_dir) };
  return configured(config, portOffset, (section) => modulesOf(section, folders));
}

async function configured(
  file: ChainFile,
  portOffset: number,
  modules: (section: ChainSection) => JsonObject,
): Promise<ConfiguredLocalnet> {
  const { icq, ibc_local: local, ibc_remote: remote } = file.relayers;
  return {
    chains: {
      local: await profileOf("local", file.local, modules(file.local)),
      remote: await profileOf("remote", file.remote, modules(file.remote)),
    },
    profile: file.profile,
    roles: { icqRelayer: icq, ibcRelayer: { local, remote } },
    validators: { local: powersOf(file.local), remote: powersOf(file.remote) },
    blockTimeMs: file.block_time,
    ports: portsOf(file.ports, portOffset),
  };
}

function powersOf({ validators }: ChainSection): readonly bigint[] {
  return validators.map(({ power }) => BigInt(power));
}

function portsOf(given: ChainFile["ports"], offset: number): Ports {
  const moved = Object.keys(DEFAULT_PORTS).map((key) => {
    const port = Number(given[keyOfPort(key)]) + offset;
    if (port > 65_535)
      throw new CliError(EXIT.usage, `--port-offset ${offset}: the port ${keyOfPort(key)} would be ${port}`);
    return [key, port] as const;
  });
  return { ...DEFAULT_PORTS, ...Object.fromEntries(moved) };
}

async function profileOf(
  part: localnet.ChainPart,
  section: ChainSection &
    Partial<Pick<ChainFile["local"], "admins" | "built_in_contracts" | "first_query" | "more_clients">>,
  modules: JsonObject,
): Promise<localnet.ChainProfile> {
  const { settings, chainName } = localnet.CHAINS[part];
  const {
    admins = [],
    built_in_contracts: builtInContracts = true,
    first_query: firstQuery = true,
  } = section;
  return {
    part,
    chainName,
    chainId: section.chain_id,
    denom: section.denom,
    bech32Prefix: section.bech32_prefix,
    keys: await Promise.all(section.accounts.map((one) => keyOf(one, section))),
    minGasPrices: section.min_gas_prices,
    simulationGas: section.simulation_gas,
    queryTimeMs: section.query_time,
    settings: {
      consensusParams: {
        ...settings.consensusParams,
        maxBytes: section.consensus.max_bytes,
        maxGas: section.consensus.max_gas,
      },
      denomMetadata: section.denom_metadata.map(jsonObject),
      operators: section.validators.map(({ operator }) => operator),
      genesisTransactions: section.genesis_transactions,
      admins: part === "local" ? admins : settings.admins,
      builtInContracts,
      firstQuery,
      moreClients: (section.more_clients ?? []).map(({ trusting_period: ms }) => BigInt(ms) * NS_PER_MS),
      modules,
    },
  };
}

async function keyOf(
  { name: own, mnemonic, balances }: ChainSection["accounts"][number],
  { bech32_prefix: prefix, chain_id: chainId }: ChainSection,
): Promise<localnet.ChainKey> {
  // Look up a test account's known address, because deriving an address from its mnemonic is slow.
  const known = localnet.CHAINS.local.keys.find((one) => one.mnemonic === mnemonic);
  const addressHex = known?.addressHex ?? (await addressOf({ name: own, mnemonic, prefix, chainId }));
  return {
    name: own,
    mnemonic,
    addressHex,
    ...(balances === undefined ? {} : { coins: balances.toSorted((a, b) => ascending(a.denom, b.denom)) }),
  };
}

async function addressOf(key: {
  readonly name: string;
  readonly mnemonic: string;
  readonly prefix: string;
  readonly chainId: string;
}): Promise<string> {
  try {
    const signer = await createSigner({ kind: "mnemonic", mnemonic: new Secret(key.mnemonic) }, key.prefix);
    return toHex(parseAddress(key.prefix, signer.address));
  } catch (cause) {
    const text = `account ${key.name} of ${key.chainId}: invalid mnemonic; expected 12 to 24 English BIP-39 words`;
    throw new CliError(EXIT.badConfig, text, { cause });
  }
}

interface Folders {
  readonly dir: string;
  readonly codeDir: string;
}

function modulesOf({ modules, modules_from: from }: ChainSection, { dir, codeDir }: Folders): JsonObject {
  const taken = from === undefined ? {} : takenModules(resolve(dir, from.file), from.modules);
  const all: Record<string, JsonValue> = { ...taken };
  for (const [key, state] of Object.entries(modules))
    all[key] = { ...asObject(all[key]), ...jsonObject(state) };
  const wasm = all["wasm"];
  return isRecord(wasm) ? { ...all, wasm: withCode(asObject(wasm), codeDir) } : all;
}

function takenModules(file: string, names: readonly string[]): JsonObject {
  const document = readDocument(file);
  const state = isRecord(document) && isRecord(document["app_state"]) ? document["app_state"] : undefined;
  if (state === undefined) throw new CliError(EXIT.badConfig, `${file} has no app_state`);
  return Object.fromEntries(
    names.map((one) => {
      const member = state[one];
      if (isRecord(member)) return [one, jsonObject(member)];
      throw new CliError(EXIT.badConfig, `${file} has no state for module ${one} in app_state`);
    }),
  );
}

function readDocument(file: string): unknown {
  try {
    return parseJson(readTextFile(file, MAX_GENESIS_BYTES));
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `cannot parse ${file} as JSON: ${errorText(cause)}`, { cause });
  }
}

/** In the Wasm genesis messages that store code, replaces `file:NAME` with the file's content in base64. */
function withCode(wasm: JsonObject, dir: string): JsonObject {
  const messages = wasm["gen_msgs"];
  if (!Array.isArray(messages)) return wasm;
  return { ...wasm, gen_msgs: messages.map((message: JsonValue) => withCodeOf(message, dir)) };
}

function withCodeOf(message: JsonValue, dir: string): JsonValue {
  const store = asObject(asObject(message)["store_code"]);
  const code = store["wasm_byte_code"];
  if (typeof code !== "string" || !code.startsWith(FILE)) return message;
  const file = resolve(dir, code.slice(FILE.length));
  return { store_code: { ...store, wasm_byte_code: toBase64(readCode(file)) } };
}

function readCode(file: string): Uint8Array {
  try {
    if (statSync(file).size > MAX_CODE_FILE_BYTES) throw new Error(`it exceeds ${MAX_CODE_FILE_BYTES} bytes`);
    return new Uint8Array(readFileSync(file));
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `cannot read the code ${file}: ${errorText(cause)}`, { cause });
  }
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isRecord(value) ? value : {};
}

/** Converts YAML values to JSON. Values that JSON cannot represent, such as infinity, become null. */
function jsonObject(value: Readonly<Record<string, unknown>>): JsonObject {
  const parsed: JsonObject = JSON.parse(JSON.stringify(value));
  return parsed;
}
