/** Identifiers of a local chain. */
export interface ChainProfile {
  readonly part: LocalnetPart;
  readonly chainId: string;
  readonly denom: string;
  readonly bech32Prefix: string;
  /** Path segment, event type and type-URL prefix of the chain's own modules. */
  readonly chainName: string;
}

/** `local` receives query results; `remote` is the chain that they come from. */
export type LocalnetPart = "local" | "remote";

export const CHAINS: Readonly<Record<LocalnetPart, ChainProfile>> = {
  local: {
    part: "local",
    chainId: "local-1",
    denom: "untrn",
    bech32Prefix: "neutron",
    chainName: "neutron",
  },
  remote: {
    part: "remote",
    chainId: "remote-1",
    denom: "uatom",
    bech32Prefix: "cosmos",
    chainName: "neutron",
  },
};
