import { accountFromAny } from "@cosmjs/stargate";
import { QueryAccountRequest, QueryAccountResponse } from "../../proto/gen/cosmos/auth/v1beta1/query.ts";
import type { ChainClient } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { badResponse } from "../rpc/rpc-response.ts";

const ACCOUNT_PATH = "/cosmos.auth.v1beta1.Query/Account";

/** Account number and next sequence. */
export interface AccountState {
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/** Reads an account in the latest state, also a vesting or module account. Throws `no-account` when it does not exist. */
export async function readAccount(
  client: Pick<ChainClient, "grpcQuery">,
  address: string,
  signal: AbortSignal,
): Promise<AccountState> {
  const request = QueryAccountRequest.encode({ address }).finish();
  const response = await client.grpcQuery(ACCOUNT_PATH, request, signal).catch((error: unknown) => {
    throw isNotFound(error) ? noAccount(address, error) : error;
  });
  return decodeAccount(response);
}

/** Decodes a `QueryAccountResponse`. Throws `bad-answer` for an account type that CosmJS does not know. */
export function decodeAccount(response: Uint8Array): AccountState {
  const { account } = QueryAccountResponse.decode(response);
  if (account === undefined) throw badResponse("chain", "account", "is missing");
  try {
    const { accountNumber, sequence } = accountFromAny(account);
    return { accountNumber: BigInt(accountNumber), sequence: BigInt(sequence) };
  } catch {
    throw badResponse("chain", "account", `has an unknown type: ${account.typeUrl}`);
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "abci" && /not found/i.test(error.facts.log);
}

function noAccount(address: string, cause: unknown): ClientError {
  return new ClientError(
    { code: "no-account", address },
    `account ${address} does not exist on the chain yet: send some coins to it`,
    { cause },
  );
}
