import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import {
  QueryContractInfoRequest,
  QueryContractInfoResponse,
} from "../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import type { Clock } from "../../platform/base/clock.ts";

export interface ContractName {
  /** Label that the creator chose; at most {@link MAX_LABEL} characters. */
  readonly label: string;
  /** Bech32 address; empty if the chain returns none. */
  readonly creator: string;
  readonly admin: string;
}

/** Cached labels and admins of the contracts that own queries. A chain without contracts needs none. */
export type ContractNames = ReturnType<typeof createContractNames>;

/** Maximum number of cached contracts. The cache drops the oldest entries first. */
const MAX_CONTRACTS = 1_000;
const MAX_LABEL = 64;
/** Age at which the relayer reads an entry again, since a contract's admin may change. */
const FRESH_MS = 6 * 3_600_000;
/** Time until the next read after a failure, or for an address without a contract. */
const RETRY_MS = 600_000;

export function createContractNames(
  client: Pick<ChainClient, "grpcQuery">,
  clock: Pick<Clock, "monotonicMs">,
) {
  const known = new Map<string, { readonly name: ContractName | undefined; readonly untilMs: number }>();
  const put = (owner: string, name: ContractName | undefined, freshMs: number): void => {
    known.delete(owner);
    known.set(owner, { name, untilMs: clock.monotonicMs() + freshMs });
    const [oldest] = known.keys();
    if (known.size > MAX_CONTRACTS && oldest !== undefined) known.delete(oldest);
  };
  return {
    /** Undefined before the contract is read, or if the chain does not know the contract. */
    of: (owner: string): ContractName | undefined => known.get(owner)?.name,
    /** Reads at most one of these contracts: the next one that is unknown or out of date. Rejects only on abort. */
    readNext: async (owners: readonly string[], signal: AbortSignal): Promise<void> => {
      const nowMs = clock.monotonicMs();
      const owner = owners
        .slice(0, MAX_CONTRACTS)
        .find((one) => one !== "" && (known.get(one)?.untilMs ?? nowMs) <= nowMs);
      if (owner === undefined) return;
      try {
        put(owner, await readContract(client, owner, signal), FRESH_MS);
      } catch (error) {
        signal.throwIfAborted();
        // An ABCI error means that the address has no contract. After any other error, the cached entry stays.
        const isAnswer = error instanceof ClientError && error.facts.code === "abci";
        put(owner, isAnswer ? undefined : known.get(owner)?.name, RETRY_MS);
      }
    },
  };
}

async function readContract(
  client: Pick<ChainClient, "grpcQuery">,
  address: string,
  signal: AbortSignal,
): Promise<ContractName | undefined> {
  const request = QueryContractInfoRequest.encode({ address }).finish();
  const response = await client.grpcQuery("/cosmwasm.wasm.v1.Query/ContractInfo", request, signal);
  const { contractInfo } = QueryContractInfoResponse.decode(response);
  if (contractInfo === undefined) return undefined;
  const { label, creator, admin } = contractInfo;
  return { label: plain(label, MAX_LABEL), creator: plain(creator, 128), admin: plain(admin, 128) };
}

/** Reduces a label to a single line, since anybody can choose it. */
function plain(text: string, length: number): string {
  const line = text.replaceAll(/\p{C}+/gu, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
