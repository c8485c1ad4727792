import { expect, it } from "vitest";
import * as wire from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { createMemoryStorage, KEPT } from "../../../support/memory-storage.ts";
import { continueTestChain, startTestChain, testGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx, type PackedMessage } from "../../../support/test-tx.ts";
import { buildEchoContract } from "../../../support/vm/wasm-builder.ts";

const key = createTestKey("uploader");
const OPTIONS = { kind: "local", denom: "untrn", keepRecent: KEPT } as const;

function packed<T>(
  name: string,
  type: { encode(message: T): { finish(): Uint8Array } },
  message: T,
): PackedMessage {
  return { typeUrl: `/cosmwasm.wasm.v1.${name}`, value: type.encode(message).finish() };
}

function transaction(sequence: bigint, message: PackedMessage): Uint8Array {
  const fee = [{ denom: "untrn", amount: "20000" }];
  return buildTx({
    key,
    accountNumber: 0n,
    sequence,
    chainId: "test-1",
    messages: [message],
    gas: 2_000_000n,
    fee,
  });
}

it("a chain that starts again from its storage has the code of its contracts", () => {
  const storage = createMemoryStorage();
  const chain = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]), {
    ...OPTIONS,
    onCommit: storage.save,
  });
  const code = { sender: key.address, wasmByteCode: buildEchoContract(), instantiatePermission: undefined };
  const uploaded = chain.block(transaction(0n, packed("MsgStoreCode", wire.MsgStoreCode, code)));
  expect(uploaded.txResults[0]).toMatchObject({ code: 0, log: "" });
  storage.save(uploaded.changes);
  const again = continueTestChain(createApp(OPTIONS, { storage }), 2n);
  const contract = {
    sender: key.address,
    admin: "",
    codeId: 1n,
    label: "echo",
    msg: utf8('{"ok":{}}'),
    funds: [],
  };
  const created = again.block(
    transaction(1n, packed("MsgInstantiateContract", wire.MsgInstantiateContract, contract)),
  );
  expect(created.txResults[0]).toMatchObject({ code: 0, log: "" });
  const call = {
    sender: key.address,
    contract: formatAddress("neutron", classicContractAddress(1n, 1n)),
    msg: utf8(
      JSON.stringify({
        ok: {
          attributes: [{ key: "a", value: "b" }],
          messages: [
            {
              id: 1,
              msg: { bank: { send: { to_address: key.address, amount: [{ denom: "untrn", amount: "5" }] } } },
              reply_on: "never",
            },
          ],
        },
      }),
    ),
    funds: [{ denom: "untrn", amount: "5" }],
  };
  const called = again.block(transaction(2n, packed("MsgExecuteContract", wire.MsgExecuteContract, call)));
  expect(called.txResults[0]).toMatchObject({ code: 0, log: "" });
  // Payments of calls and of contracts have no event of type message.
  const own = called.txResults[0]?.events.filter(({ attributes }) =>
    attributes.some((each) => each.key === "msg_index"),
  );
  const payment = ["coin_spent", "coin_received", "transfer"];
  expect(own?.map(({ type }) => type)).toEqual(["message", ...payment, "execute", "wasm", ...payment]);
});
