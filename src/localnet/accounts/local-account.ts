import {
  QueryAccountRequest,
  QueryAccountResponse,
} from "../../cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import { BaseAccount } from "../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import {
  createSigner,
  type Signer,
  signTransaction,
  type TransactionDraft,
} from "../../cosmos/client/tx/signer.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { Secret } from "../../platform/base/secret.ts";
import type { BroadcastResult, NodeView } from "../node/base/node-view.ts";
import { accountNamed, type ChainProfile } from "./chains.ts";

/** Thrown if the account does not exist on the chain, e.g. because an earlier program version created the chain's home. */
export class LocalAccountError extends CodedError<{
  readonly code: "account-unreadable";
  readonly abciCode: number;
  readonly codespace: string;
}> {}

/** An unsigned transaction without a sequence number. */
export type LocalDraft = Pick<TransactionDraft, "messages" | "memo" | "gasLimit" | "fee">;

/** The result of a broadcast, with the signed transaction's bytes. */
interface LocalBroadcast extends BroadcastResult {
  readonly bytes: Uint8Array;
}

/** A test account that sends transactions through the mempool of a node in the same process. */
export type LocalAccount = ReturnType<typeof createLocalAccount>;

/** ABCI code of the SDK's `ErrWrongSequence`, which CheckTx returns for a stale or future sequence. */
const WRONG_SEQUENCE = 32;

/** Creates the test account with this name. Throws `UnknownAccountError`. */
export function createLocalAccount(chain: ChainProfile, name: string) {
  const { address, mnemonic } = accountNamed(chain, name);
  let signer: Promise<Signer> | undefined;
  // Run one call at a time, because the next sequence is unknown until the mempool contains the previous transaction.
  let last: Promise<unknown> = Promise.resolve();
  // Unlike the committed sequence, `nextSequence` includes transactions in the mempool. `nextSequence` can therefore exceed the
  // committed sequence for several blocks.
  let nextSequence = 0n;
  const broadcast = async (view: NodeView, draft: LocalDraft): Promise<LocalBroadcast> => {
    // Derive the key when the first transaction is signed, because deriving a key takes longer than signing.
    signer ??= createSigner({ kind: "mnemonic", mnemonic: new Secret(mnemonic) }, chain.bech32Prefix);
    const { accountNumber, sequence: committed } = readAccount(view, address);
    const sequence = maxInt(nextSequence, committed);
    const account = { chainId: chain.chainId, accountNumber };
    const { bytes } = await signTransaction({ ...draft, timeoutHeight: 0n, sequence }, account, await signer);
    const result = view.broadcast(bytes);
    const { code, codespace } = result.check;
    if (code === 0) nextSequence = sequence + 1n;
    if (codespace !== "sdk" || code !== WRONG_SEQUENCE || sequence === committed) return { ...result, bytes };
    // The mempool dropped a pending transaction, so the sequence is too high. Use the committed sequence instead.
    nextSequence = committed;
    return broadcast(view, draft);
  };
  return {
    /** Bech32 address of the account that signs the transactions. */
    address,
    /**
     * Signs a transaction with the next sequence and adds it to the mempool, one call at a time. Resolves even if CheckTx
     * rejects the transaction. Rejects with {@link LocalAccountError} or `MempoolError`.
     */
    broadcast: (view: NodeView, draft: LocalDraft): Promise<LocalBroadcast> => {
      const sent = last.then(() => broadcast(view, draft));
      last = sent.catch(() => {});
      return sent;
    },
  };
}

function readAccount(view: NodeView, address: string): BaseAccount {
  const data = QueryAccountRequest.encode({ address }).finish();
  const response = view.query({ path: "/cosmos.auth.v1beta1.Query/Account", data, height: 0n, prove: false });
  const account = response.code === 0 ? QueryAccountResponse.decode(response.value).account : undefined;
  if (account === undefined) {
    throw new LocalAccountError(
      { code: "account-unreadable", abciCode: response.code, codespace: response.codespace },
      `cannot read the account ${address}: ${response.log}`,
    );
  }
  return BaseAccount.decode(account.value);
}
