import { MsgCreateValidator } from "../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { PubKey } from "../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { createSigner, signTransaction } from "../../cosmos/client/tx/signer.ts";
import { messageToJson } from "../../cosmos/proto/json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { Secret } from "../../platform/base/secret.ts";
import type { Application } from "../chain/runtime/abci.ts";
import { formatAddress, parseAddress } from "../chain/runtime/address.ts";
import type { GenesisDoc } from "../node/base/genesis-doc.ts";
import { testValidatorSeed, validatorKey } from "../node/consensus/validators.ts";
import { accountNamed, type ChainProfile } from "../accounts/chains.ts";
import type { CreateModules } from "../chain/module-set.ts";
import type { ProfileName } from "../chain/deviations/deviations.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";

/** A set of optional modules, which a chain includes either completely or not at all. */
export interface ModuleSet {
  /** Names of the modules in a genesis document. Each module's store has the same name. */
  readonly names: readonly string[];
  readonly create: CreateModules;
}

/** The parts of a genesis document from which {@link chooseModules} decides whether the chain includes the optional modules. */
export interface ChoosingGenesis {
  readonly profile?: ProfileName | undefined;
  readonly appState: JsonObject;
}

/**
 * Returns the optional modules if the genesis or the saved state contains one of them, or if the genesis has binary contracts or
 * the profile `deployed`.
 */
export function chooseModules(
  set: ModuleSet | undefined,
  { profile, appState }: ChoosingGenesis,
  storage?: StateStorage,
): CreateModules | undefined {
  if (set === undefined) return undefined;
  const isNamed = set.names.some((name) => Object.hasOwn(appState, name));
  const isChosen =
    isNamed || profile === "deployed" || hasOwnContracts(appState["wasm"] ?? null) || isSaved(set, storage);
  return isChosen ? set.create : undefined;
}

function isSaved({ names }: ModuleSet, storage: StateStorage | undefined): boolean {
  const height = storage?.latestHeight();
  if (storage === undefined || height === undefined) return false;
  return storage.roots(height).some(({ store }) => names.includes(store));
}

/** Returns true if the state has binary contracts. Built-in contracts are written in TypeScript and have no code bytes. */
function hasOwnContracts(wasm: JsonValue): boolean {
  const has = (list: string, member: string): boolean => {
    const entries = isRecord(wasm) ? wasm[list] : undefined;
    return Array.isArray(entries) && entries.some((entry) => isRecord(entry) && Object.hasOwn(entry, member));
  };
  return has("codes", "code_bytes") || has("gen_msgs", "store_code");
}

/**
 * Applies a chain's module settings to its genesis state. Objects are merged. Any other value is replaced. If the settings have
 * `params`, missing params get the module's default values. The defaults are read from the application that `createApp` creates
 * with an empty state.
 */
export function withModules(chain: ChainProfile, doc: GenesisDoc, createApp: () => Application): GenesisDoc {
  const { modules } = chain.settings;
  const names = Object.keys(modules);
  if (names.length === 0) return doc;
  const state = doc.appState;
  const defaults = defaultState(chain, createApp());
  const merged = names.map((name) => {
    const given = modules[name] ?? null;
    const own = state[name] ?? {};
    const params = isObject(memberOf(given, "params")) ? memberOf(defaults[name] ?? null, "params") : null;
    const base = params === null ? own : merge({ params }, own);
    return [name, merge(base, given)] as const;
  });
  return { ...doc, appState: { ...state, ...Object.fromEntries(merged) } };
}

function merge(base: JsonValue, over: JsonValue): JsonValue {
  if (!isObject(base) || !isObject(over)) return over;
  const members = Object.entries(over).map(([key, value]) => [key, merge(base[key] ?? null, value)] as const);
  return { ...base, ...Object.fromEntries(members) };
}

function memberOf(value: JsonValue, key: string): JsonValue {
  return isObject(value) ? (value[key] ?? null) : null;
}

function isObject(value: JsonValue): value is JsonObject {
  return isRecord(value);
}

/** Returns the state exported from a chain that started with an empty genesis, which contains all modules' default params. */
function defaultState({ chainId }: ChainProfile, app: Application): JsonObject {
  const { publicKey, address } = validatorKey(testValidatorSeed(chainId, 0));
  const validators = [{ publicKey, power: 1n }];
  app.initChain({ chainId, timeNs: 0n, initialHeight: 1n, validators, appState: {} });
  app.finalizeBlock({
    height: 1n,
    timeNs: 0n,
    proposerAddress: address,
    nextValidatorsHash: new Uint8Array(32),
    txs: [],
    lastCommit: [],
    misbehavior: [],
  });
  app.commit();
  return app.exportState();
}

const COMMISSION = {
  rate: "100000000000000000",
  maxRate: "200000000000000000",
  maxChangeRate: "10000000000000000",
};

/** Tokens per unit of voting power. */
export const TOKENS = 1_000_000n;

/**
 * Creates the operators' genesis transactions (JSON) for validators with these powers, in order. Returns undefined if the chain's
 * settings do not request genesis transactions. Rejects with `UnknownAccountError` if an operator has no key.
 */
export async function createGenesisTxs(
  chain: ChainProfile,
  powers: readonly bigint[],
): Promise<readonly JsonValue[] | undefined> {
  if (!chain.settings.genesisTransactions) return undefined;
  return Promise.all(powers.map((power, index) => createValidatorTx(chain, power, index)));
}

async function createValidatorTx(chain: ChainProfile, power: bigint, index: number): Promise<JsonValue> {
  const { bech32Prefix, chainId, denom, settings } = chain;
  const { address, mnemonic } = accountNamed(chain, settings.operators[index] ?? `of validator ${index}`);
  const { publicKey } = validatorKey(testValidatorSeed(chainId, index));
  const value = MsgCreateValidator.encode({
    description: {
      moniker: `validator-${index}`,
      identity: "",
      website: "",
      securityContact: "",
      details: "",
    },
    commission: COMMISSION,
    minSelfDelegation: "1",
    delegatorAddress: "",
    validatorAddress: formatAddress(`${bech32Prefix}valoper`, parseAddress(bech32Prefix, address)),
    pubkey: {
      typeUrl: "/cosmos.crypto.ed25519.PubKey",
      value: PubKey.encode({ key: publicKey }).finish(),
    },
    value: { denom, amount: (power * TOKENS).toString() },
  }).finish();
  const draft = {
    messages: [{ typeUrl: "/cosmos.staking.v1beta1.MsgCreateValidator", value }],
    memo: "",
    timeoutHeight: 0n,
    gasLimit: 200_000n,
    fee: { denom, amount: 0n },
    sequence: 0n,
  };
  const signer = await createSigner({ kind: "mnemonic", mnemonic: new Secret(mnemonic) }, bech32Prefix);
  const { bytes } = await signTransaction(draft, { chainId, accountNumber: 0n }, signer);
  return messageToJson("cosmos.tx.v1beta1.Tx", bytes);
}
