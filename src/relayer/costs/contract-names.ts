import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import {
  QueryContractInfoRequest,
  QueryContractInfoResponse,
} from "../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import type { Clock } from "../../platform/base/clock.ts";

/** The chain's information about a contract. */
export interface ContractName {
  /** Label chosen by the creator; at most {@link MAX_LABEL} characters. */
  readonly label: string;
  /** Bech32 address; empty if the chain names none. */
  readonly creator: string;
  readonly admin: string;
}

/** Cached labels and admins of the contracts that own queries. Optional, since a chain need not support contracts. */
export interface ContractNames {
  /** Undefined until the contract has been read, or if the chain does not know it. */
  readonly of: (owner: string) => ContractName | undefined;
  /** Reads at most one contract: the next of these owners that is unknown or was read long ago. Rejects only on abort. */
  readonly readNext: (owners: readonly string[], signal: AbortSignal) => Promise<void>;
}

/** Maximum number of contracts in the cache. The oldest entries are dropped first. */
const MAX_CONTRACTS = 1_000;
const MAX_LABEL = 64;
/** Age at which an entry is read again, since the admin may change. */
const FRESH_MS = 6 * 3_600_000;
/** Time until the next read after a failure, or for an address that is not a contract. */
const RETRY_MS = 600_000;

/** Creates an empty cache. */
export function createContractNames(
  client: Pick<ChainClient, "grpcQuery">,
  clock: Pick<Clock, "monotonicMs">,
): ContractNames {
  const known = new Map<string, { readonly name: ContractName | undefined; readonly untilMs: number }>();
  const put = (owner: string, name: ContractName | undefined, freshMs: number): void => {
    known.delete(owner);
    known.set(owner, { name, untilMs: clock.monotonicMs() + freshMs });
    const [oldest] = known.keys();
    if (known.size > MAX_CONTRACTS && oldest !== undefined) known.delete(oldest);
  };
  return {
    of: (owner) => known.get(owner)?.name,
    readNext: async (owners, signal) => {
      const nowMs = clock.monotonicMs();
      const owner = owners
        .slice(0, MAX_CONTRACTS)
        .find((one) => one !== "" && (known.get(one)?.untilMs ?? nowMs) <= nowMs);
      if (owner === undefined) return;
      try {
        put(owner, await readContract(client, owner, signal), FRESH_MS);
      } catch (error) {
        signal.throwIfAborted();
        // The chain's answer is that it is no contract. Without an answer, the last one stays.
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

/** Anybody can choose a label, so it is reduced to a single line. */
function plain(text: string, length: number): string {
  const line = text.replaceAll(/\p{C}+/gu, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
