import { DirectSecp256k1HdWallet, makeAuthInfoBytes, makeSignDoc } from "@cosmjs/proto-signing";
import { fromBase64 } from "../../platform/base/bytes.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { upperHex } from "../../platform/base/go-text.ts";
import { BaseAccount } from "../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import {
  QueryAccountRequest,
  QueryAccountResponse,
} from "../../cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import { MsgSend } from "../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { PubKey } from "../../cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { accountNamed } from "../network/accounts.ts";
import type { ChainProfile } from "../network/chains.ts";
import type { BroadcastResult, NodeView } from "../node/base/node-view.ts";

/** Thrown when the faucet cannot read its account, or when the chain rejects its transaction. */
export class FaucetError extends CodedError<{
  readonly code: "faucet-refused";
  readonly abciCode: number;
  readonly codespace: string;
}> {}

/** Sends coins of a test account to any address. */
export interface Faucet {
  /**
   * Sends an amount of the chain's denom. Resolves when the transaction is in the mempool, before its block. Rejects with
   * {@link FaucetError} or `MempoolError`.
   */
  readonly send: (
    view: NodeView,
    address: string,
    amount: bigint,
  ) => Promise<Readonly<Record<string, unknown>>>;
}

const GAS_LIMIT = 300_000n;
const FEE_AMOUNT = 10_000n;
/** `ErrWrongSequence` of the SDK. */
const WRONG_SEQUENCE = 32;

/** Creates the faucet of a chain. It pays from the public test account `faucet`. */
export function createFaucet(chain: ChainProfile): Faucet {
  const account = accountNamed(chain, "faucet");
  // Calls run one at a time. The next sequence is known only when the previous transaction is in the mempool.
  let last: Promise<unknown> = Promise.resolve();
  // The committed account does not count transactions in the mempool; this sequence does. It may stay ahead for several
  // blocks, since a block that is being made does not include a transaction that arrives now.
  let nextSequence = 0n;
  const broadcast = async (view: NodeView, message: Uint8Array): Promise<BroadcastResult> => {
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(account.mnemonic, {
      prefix: chain.bech32Prefix,
    });
    const { accountNumber, sequence: committed } = readAccount(view, account.address);
    const sequence = nextSequence > committed ? nextSequence : committed;
    const result = view.broadcast(await signTx(wallet, chain, { message, accountNumber, sequence }));
    const { code, codespace } = result.check;
    if (code === 0) nextSequence = sequence + 1n;
    if (codespace !== "sdk" || code !== WRONG_SEQUENCE || sequence === committed) return result;
    // The mempool dropped a pending transaction, so the sequence is too high. The committed one is right then.
    nextSequence = committed;
    return broadcast(view, message);
  };
  const send = async (view: NodeView, address: string, amount: bigint) => {
    const message = MsgSend.encode({
      fromAddress: account.address,
      toAddress: address,
      amount: [{ denom: chain.denom, amount: amount.toString() }],
    }).finish();
    const { hash, check } = await broadcast(view, message);
    if (check.code !== 0) {
      throw new FaucetError(
        { code: "faucet-refused", abciCode: check.code, codespace: check.codespace },
        `the chain rejected the transaction of the faucet: ${check.log}`,
      );
    }
    return { hash: upperHex(hash), amount: `${amount}${chain.denom}` };
  };
  return {
    send: (view, address, amount) => {
      const sent = last.then(() => send(view, address, amount));
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
    throw new FaucetError(
      { code: "faucet-refused", abciCode: response.code, codespace: response.codespace },
      `cannot read the account of the faucet: ${response.log}`,
    );
  }
  return BaseAccount.decode(account.value);
}

interface Unsigned {
  readonly message: Uint8Array;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/** Encodes and signs a transaction with one MsgSend in SIGN_MODE_DIRECT. */
async function signTx(
  wallet: DirectSecp256k1HdWallet,
  chain: ChainProfile,
  { message, accountNumber, sequence }: Unsigned,
): Promise<Uint8Array> {
  const [signer] = await wallet.getAccounts();
  if (signer === undefined) throw new Error("this is a bug: a wallet without an account");
  const pubkey = {
    typeUrl: "/cosmos.crypto.secp256k1.PubKey",
    value: PubKey.encode({ key: signer.pubkey }).finish(),
  };
  const bodyBytes = TxBody.encode({
    messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: message }],
    memo: "faucet",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  const authInfoBytes = makeAuthInfoBytes(
    [{ pubkey, sequence: Number(sequence) }],
    [{ denom: chain.denom, amount: FEE_AMOUNT.toString() }],
    Number(GAS_LIMIT),
    undefined,
    undefined,
  );
  const document = makeSignDoc(bodyBytes, authInfoBytes, chain.chainId, Number(accountNumber));
  const { signature } = await wallet.signDirect(signer.address, document);
  return TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [fromBase64(signature.signature)] }).finish();
}
