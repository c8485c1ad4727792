import { describe, expect, it } from "vitest";
import { createFaucet } from "../../../src/localnet/control/control-routes.ts";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import type { NodeView } from "../../../src/localnet/node/base/node-view.ts";
import { BaseAccount } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { QueryAccountResponse } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import { AuthInfo, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { createFakeView } from "../../support/fake-view.ts";

const TO = "neutron1x08wzqee2eukv72r0602zmnf4a8jr20t8l3hge";

interface FakeMempool {
  readonly view: NodeView;
  /** Sequences of the transactions that arrived. */
  readonly sequences: readonly bigint[];
}

/** A chain whose blocks include nothing. Its mempool accepts only the sequence that `accepts` returns. */
function stuckChain(committed: bigint, accepts: () => bigint): FakeMempool {
  const sequences: bigint[] = [];
  let height = 7n;
  const empty = createFakeView({});
  const account = BaseAccount.encode({
    address: "",
    pubKey: undefined,
    accountNumber: 3n,
    sequence: committed,
  }).finish();
  const value = QueryAccountResponse.encode({
    account: { typeUrl: "/cosmos.auth.v1beta1.BaseAccount", value: account },
  }).finish();
  const view = createFakeView({
    // A new block after each call, which does not include the pending transactions.
    status: () => ({ ...empty.status(), latestHeight: (height += 1n) }),
    query: (request) => ({ ...empty.query(request), code: 0, value }),
    broadcast: (tx) => {
      const { sequence } = AuthInfo.decode(TxRaw.decode(tx).authInfoBytes).signerInfos[0] ?? {};
      sequences.push(sequence ?? -1n);
      const isGood = sequence === accepts();
      const check = { code: isGood ? 0 : 32, codespace: isGood ? "" : "sdk", log: "sequence" };
      return {
        hash: new Uint8Array(32),
        check: { ...check, data: new Uint8Array(), info: "", gasWanted: 0n, gasUsed: 0n, events: [] },
      };
    },
  });
  return { view, sequences };
}

describe("createFaucet", () => {
  it("counts its pending transactions over blocks that do not include them", async () => {
    let expected = 5n;
    const { view, sequences } = stuckChain(5n, () => expected);
    const faucet = createFaucet(CHAINS.local);
    for (; expected < 8n; expected += 1n) await faucet.send(view, TO, 7n);
    expect(sequences).toEqual([5n, 6n, 7n]);
  });

  it("starts again at the committed sequence when the mempool has dropped its transactions", async () => {
    const { view, sequences } = stuckChain(5n, () => 5n);
    const faucet = createFaucet(CHAINS.local);
    await faucet.send(view, TO, 7n);
    await faucet.send(view, TO, 7n);
    expect(sequences).toEqual([5n, 6n, 5n]);
  });

  it("rejects with the error of the chain when no sequence is accepted", async () => {
    const { view, sequences } = stuckChain(5n, () => 9n);
    await expect(createFaucet(CHAINS.local).send(view, TO, 7n)).rejects.toMatchObject({
      facts: { code: "faucet-refused", abciCode: 32, codespace: "sdk" },
    });
    expect(sequences).toEqual([5n]);
  });
});
