import { MsgSend } from "../../proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { ChainClient } from "../chain-client.ts";
import { readAccount } from "./account.ts";
import { encodeForSimulation } from "./signed-transaction.ts";
import type { Signer } from "./signer.ts";
import { expectedSequence, simulateTransaction } from "./simulation.ts";

/**
 * Returns how many transactions of the account wait in the node's mempool, also those of an earlier process. The mempool
 * counts their sequences, and a simulation with the sequence of the last block says which one the mempool expects. Two
 * reads. Rejects with `ClientError`.
 */
export async function countPendingTransactions(
  client: Pick<ChainClient, "grpcQuery">,
  signer: Signer,
  denom: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { address } = signer;
  const { sequence } = await readAccount(client, address, signal);
  const coin = { denom, amount: "1" };
  const value = MsgSend.encode({ fromAddress: address, toAddress: address, amount: [coin] }).finish();
  const bytes = encodeForSimulation(
    {
      messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value }],
      memo: "",
      timeoutHeight: 0n,
      gasLimit: 0n,
      fee: { denom, amount: 0n },
      sequence,
    },
    signer,
  );
  const outcome = await simulateTransaction(client, bytes, signal);
  const expected = outcome.ok ? undefined : expectedSequence(outcome.log);
  return expected === undefined || expected < sequence ? 0n : expected - sequence;
}
