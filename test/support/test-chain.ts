import { toBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../src/platform/base/json.ts";
import type {
  Application,
  FinalizeBlockRequest,
  FinalizeBlockResult,
} from "../../src/localnet/chain/runtime/abci.ts";
import { type AppOptions, createApp } from "../../src/localnet/chain/app.ts";
import { moduleAddress } from "../../src/localnet/chain/runtime/address.ts";
import type { CommitChanges } from "../../src/localnet/chain/store/multi-store.ts";
import type { TestKey } from "./test-keys.ts";

/** Proposer of every block. */
const PROPOSER = moduleAddress("proposer");

/** An account in the genesis state of a test. */
export interface GenesisAccount {
  readonly key: TestKey;
  readonly untrn: bigint;
  readonly number?: bigint;
  readonly sequence?: bigint;
  /** Whether the genesis state contains its public key. */
  readonly known?: boolean;
}

/** An application after its first block. */
export interface TestChain {
  readonly app: Application;
  /** Executes and commits the next block. */
  readonly block: (
    ...txs: readonly Uint8Array[]
  ) => FinalizeBlockResult & { readonly changes: CommitChanges };
  /** Returns the request of the next block, for tests that execute and commit it themselves. */
  readonly nextRequest: (...txs: readonly Uint8Array[]) => FinalizeBlockRequest;
}

const GENESIS_NS = 1_790_000_000_000_000_000n;

/** Returns a genesis state with these accounts. */
export function testGenesis(accounts: readonly GenesisAccount[], more: JsonObject = {}): JsonObject {
  return {
    auth: { accounts: accounts.map(toAccount) },
    bank: {
      balances: accounts
        .filter(({ untrn }) => untrn > 0n)
        .map(({ key, untrn }) => ({
          address: key.address,
          coins: [{ denom: "untrn", amount: untrn.toString() }],
        })),
    },
    ...more,
  };
}

function toAccount(account: GenesisAccount, index: number): JsonValue {
  const { key, number = BigInt(index), sequence = 0n, known = false } = account;
  return {
    "@type": "/cosmos.auth.v1beta1.BaseAccount",
    address: key.address,
    pub_key: known ? { "@type": "/cosmos.crypto.secp256k1.PubKey", key: toBase64(key.publicKey) } : null,
    account_number: number.toString(),
    sequence: sequence.toString(),
  };
}

export interface TestChainOptions extends Partial<AppOptions> {
  readonly chainId?: string;
  readonly initialHeight?: bigint;
  /** Receives the changes of the first block. */
  readonly onCommit?: (changes: CommitChanges) => void;
}

/** Starts an application with a genesis state and commits one empty block. */
export function startTestChain(appState: JsonObject, options: TestChainOptions = {}): TestChain {
  const { chainId = "test-1", initialHeight = 1n, onCommit, ...chosen } = options;
  const app = createApp({ kind: "local", denom: "untrn", ...chosen });
  app.initChain({ chainId, timeNs: GENESIS_NS, initialHeight, validators: [], appState });
  const chain = continueTestChain(app, initialHeight - 1n);
  const { changes } = chain.block();
  onCommit?.(changes);
  return chain;
}

/** Continues an application after its last committed height. The block time increases by one second per block. */
export function continueTestChain(app: Application, lastHeight: bigint): TestChain {
  let height = lastHeight;
  const nextRequest = (...txs: readonly Uint8Array[]): FinalizeBlockRequest => {
    height += 1n;
    const timeNs = GENESIS_NS + height * 1_000_000_000n;
    return { height, timeNs, proposerAddress: PROPOSER, txs, lastCommit: [] };
  };
  return {
    app,
    nextRequest,
    block: (...txs) => {
      const result = app.finalizeBlock(nextRequest(...txs));
      return { ...result, changes: app.commit() };
    },
  };
}
