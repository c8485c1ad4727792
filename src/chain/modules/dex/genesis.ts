import { GenesisState } from "../../../proto/gen/neutron/dex/genesis.ts";

export const DEX_GENESIS = GenesisState;
