import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { TxMsgData } from "../../../src/cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import {
  FIRST_HEIGHT,
  RECORDED_BLOCKS,
  RECORDED_TXS,
  type RecordedTx,
  replayStake,
} from "../../support/recorded-stake.ts";

// SOURCE: test/fixtures/modules, recorded on a real chain of release 6.0.3.

/** A message without a module (distribution), which the chain cannot decode. */
const NOT_OURS: readonly number[] = [58];
const FEE_BURNER = "neutron1m7kmeak80lq38pkrqnng96acdfjjd52luk06sm";

const replay = replayStake();
const txs = RECORDED_TXS.filter(({ seq }) => !NOT_OURS.includes(seq));
const blocks = RECORDED_BLOCKS.filter(
  ({ chain_id, height }) => chain_id === "test-1" && height >= FIRST_HEIGHT,
);

type Pairs = readonly (readonly [type: string, ...attributes: string[]])[];
interface AnyEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

function pairsOf(events: readonly AnyEvent[]): Pairs {
  return events.map(({ type, attributes }) => [
    type,
    ...attributes.filter(({ key }) => key !== "msg_index").map(({ key, value }) => `${key}=${value}`),
  ]);
}

/** The events that the messages of a transaction emitted themselves. */
function messageEvents({ events }: RecordedTx): Pairs {
  const ofMessages = events.filter(
    ({ attributes }) => attributes.some(({ key }) => key === "msg_index") && attributes[0]?.key !== "action",
  );
  return pairsOf(ofMessages);
}

/** Removes the message of a failed proposal: Go prints its fields, our module its type. */
function withoutMessage(text: string): string {
  return text.replace(/(failed to handle ).*( msg #0)/, "$1$2").replace(/ +msg #0/, " msg #0");
}

function isFee({ attributes }: AnyEvent): boolean {
  return attributes.some(({ value }) => value === FEE_BURNER);
}

describe("recorded staking, slashing, harpoon and admin transactions", () => {
  it("are 70, of which 69 belong to these modules", () => {
    expect([RECORDED_TXS.length, txs.length]).toEqual([70, 69]);
  });

  it.each(txs.map((tx) => [tx.seq, tx.name, tx] as const))("%d %s", (seq, _name, tx) => {
    const got = replay.txs.get(seq);
    expect(withoutMessage(tx.raw_log)).toContain(withoutMessage(got?.text ?? ""));
    if (tx.code === 0 || tx.codespace !== "undefined")
      expect([got?.code, got?.codespace]).toEqual([tx.code, tx.codespace]);
    else expect(got?.code).not.toBe(0);
    expect(pairsOf(got?.events ?? [])).toEqual(messageEvents(tx));
    if (tx.code === 0)
      expect(got?.responses).toEqual(
        TxMsgData.decode(fromBase64(tx.data)).msgResponses.map(({ value }) => value),
      );
  });
});

describe("recorded block events", () => {
  it("are 110 blocks", () => {
    expect([RECORDED_BLOCKS.length, blocks.length]).toEqual([110, 110]);
  });

  it.each(blocks.map((block) => [block.height, block] as const))("block %d", (height, block) => {
    const got = replay.blocks.get(height);
    expect(pairsOf(got?.events ?? [])).toEqual(
      pairsOf(block.finalize_block_events.filter((one) => !isFee(one))),
    );
    expect(got?.updates).toEqual(
      (block.validator_updates ?? []).map(({ pub_key, power }) => ({
        key: pub_key.Sum.value.ed25519,
        power: BigInt(power ?? "0"),
      })),
    );
  });
});
