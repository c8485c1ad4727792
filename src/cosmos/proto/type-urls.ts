import { ProtoError } from "./errors.ts";

/** The chain name in the definitions: the first part of the chain's own packages and REST paths. */
export const CANONICAL_CHAIN_NAME = "neutron";

/** First parts of the other packages in the definitions. A chain with one of these names would own foreign types. */
const RESERVED_ROOTS: ReadonlySet<string> = new Set(
  "amino connect cosmos cosmos_proto cosmwasm feemarket google grpc ibc relaywatch slinky tendermint".split(
    " ",
  ),
);

/** Type URLs that the program names. Those of the chain's own modules are canonical. */
export const TYPE_URL = {
  tx: "/cosmos.tx.v1beta1.Tx",
  secp256k1PubKey: "/cosmos.crypto.secp256k1.PubKey",
  ed25519PubKey: "/cosmos.crypto.ed25519.PubKey",
  multisigPubKey: "/cosmos.crypto.multisig.LegacyAminoPubKey",
  baseAccount: "/cosmos.auth.v1beta1.BaseAccount",
  moduleAccount: "/cosmos.auth.v1beta1.ModuleAccount",
  send: "/cosmos.bank.v1beta1.MsgSend",
  multiSend: "/cosmos.bank.v1beta1.MsgMultiSend",
  createClient: "/ibc.core.client.v1.MsgCreateClient",
  updateClient: "/ibc.core.client.v1.MsgUpdateClient",
  submitMisbehaviour: "/ibc.core.client.v1.MsgSubmitMisbehaviour",
  tendermintClientState: "/ibc.lightclients.tendermint.v1.ClientState",
  tendermintConsensusState: "/ibc.lightclients.tendermint.v1.ConsensusState",
  tendermintHeader: "/ibc.lightclients.tendermint.v1.Header",
  tendermintMisbehaviour: "/ibc.lightclients.tendermint.v1.Misbehaviour",
  transfer: "/ibc.applications.transfer.v1.MsgTransfer",
  storeCode: "/cosmwasm.wasm.v1.MsgStoreCode",
  instantiateContract: "/cosmwasm.wasm.v1.MsgInstantiateContract",
  executeContract: "/cosmwasm.wasm.v1.MsgExecuteContract",
  submitProposal: "/cosmos.adminmodule.adminmodule.MsgSubmitProposal",
  registerInterchainQuery: "/neutron.interchainqueries.MsgRegisterInterchainQuery",
  updateInterchainQuery: "/neutron.interchainqueries.MsgUpdateInterchainQueryRequest",
  removeInterchainQuery: "/neutron.interchainqueries.MsgRemoveInterchainQueryRequest",
  submitQueryResult: "/neutron.interchainqueries.MsgSubmitQueryResult",
  updateInterchainQueriesParams: "/neutron.interchainqueries.MsgUpdateParams",
  manageHookSubscription: "/neutron.harpoon.MsgManageHookSubscription",
  updateRateLimitParams: "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
} as const;

/** Returns `name` if it can be a chain's own name. Throws ProtoError `bad-chain-name` otherwise. */
export function parseChainName(name: string): string {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name) || RESERVED_ROOTS.has(name)) {
    throw new ProtoError(
      { code: "bad-chain-name", chainName: name },
      `${JSON.stringify(name)} cannot be a chain's own name: at most 32 lower-case letters and digits were expected, other than the package of a module`,
    );
  }
  return name;
}

/**
 * Translates a canonical type name (`neutron.x.Y`), type URL or gRPC path (`/neutron.x.Y`) to the chain's own name. Names of
 * other modules pass unchanged.
 */
export function toChainTypeUrl(canonical: string, chainName: string): string {
  return swapRoot(canonical, ".", CANONICAL_CHAIN_NAME, chainName);
}

/**
 * Translates a type name, type URL or gRPC path of the chain to its canonical name. Names of other modules pass unchanged.
 * Returns undefined for a canonical name on a chain of another name: that chain has no such type.
 */
export function toCanonicalTypeUrl(own: string, chainName: string): string | undefined {
  if (chainName !== CANONICAL_CHAIN_NAME && hasRoot(own, ".", CANONICAL_CHAIN_NAME)) return undefined;
  return swapRoot(own, ".", chainName, CANONICAL_CHAIN_NAME);
}

/**
 * Translates a canonical REST path, path template or file path (`/neutron/…`) to the chain's own name. Paths of other modules
 * pass unchanged.
 */
export function toChainRestPath(canonical: string, chainName: string): string {
  return swapRoot(canonical, "/", CANONICAL_CHAIN_NAME, chainName);
}

/** Returns the message name in a type URL: the part after the last slash, as in Go. Without a slash it is the whole string. */
export function typeNameOf(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

function hasRoot(path: string, separator: string, root: string): boolean {
  return path.startsWith(`${root}${separator}`) || path.startsWith(`/${root}${separator}`);
}

function swapRoot(path: string, separator: string, from: string, to: string): string {
  if (!hasRoot(path, separator, from)) return path;
  const start = path.startsWith("/") ? 1 : 0;
  return `${path.slice(0, start)}${to}${path.slice(start + from.length)}`;
}
