/** What makes a local chain what it is. */
export interface ChainProfile {
  readonly part: LocalnetPart;
  readonly chainId: string;
  readonly denom: string;
  readonly bech32Prefix: string;
  /** Path segment, event type and type-URL prefix of the chain's own modules. */
  readonly chainName: string;
}

/** The chains of a localnet: one to which results are brought, one from which they come. */
export type LocalnetPart = "local" | "remote";

/** The two chains. */
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
