import { ProtoError } from "./errors.ts";

/** The chain name under which the definitions are written: the first part of its packages and REST paths. */
export const CANONICAL_CHAIN_NAME = "neutron";

/** First parts of packages and REST paths that other modules own, and so no chain's own name. */
const TAKEN: ReadonlySet<string> = new Set(
  "connect cosmos cosmos_proto cosmwasm feemarket google grpc ibc relaywatch slinky tendermint".split(" "),
);

/** Type URLs that code names; those of the chain's own modules are in canonical form. */
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

/** Checks a chain's own name: lower-case letters and digits, and no package root that other modules own. Throws. */
export function parseChainName(name: string): string {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name) || TAKEN.has(name)) {
    throw new ProtoError(
      { code: "bad-chain-name", chainName: name },
      `${JSON.stringify(name)} cannot be a chain's own name: lower-case letters and digits were expected, and no module's package`,
    );
  }
  return name;
}

/** Canonical to the chain's own: a type name (`neutron.x.Y`), a type URL or a gRPC path (`/neutron.x.Y`). Others pass unchanged. */
export function toChainTypeUrl(canonical: string, chainName: string): string {
  return swapRoot(canonical, ".", CANONICAL_CHAIN_NAME, chainName);
}

/**
 * The chain's own to canonical: a type name, a type URL or a gRPC path. Others pass unchanged, but a canonical one on a
 * chain of another name, which is undefined: no such type is there.
 */
export function toCanonicalTypeUrl(own: string, chainName: string): string | undefined {
  if (chainName !== CANONICAL_CHAIN_NAME && hasRoot(own, ".", CANONICAL_CHAIN_NAME)) return undefined;
  return swapRoot(own, ".", chainName, CANONICAL_CHAIN_NAME);
}

/** Canonical to the chain's own REST path or path template (`/neutron/…`). Others pass unchanged. */
export function toChainRestPath(canonical: string, chainName: string): string {
  return swapRoot(canonical, "/", CANONICAL_CHAIN_NAME, chainName);
}

/** The message name of a type URL: what follows the last slash, as Go resolves it. */
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
