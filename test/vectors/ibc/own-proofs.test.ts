import { beforeAll, describe, expect, it } from "vitest";
import { equalBytes } from "../../../src/platform/base/bytes.ts";
import type { DecodedTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { type Prover, withOwnProofs } from "../../support/ibc/own-proofs.ts";
import { startProvingChain } from "../../support/ibc/proving-chain.ts";
import { comparedParts, expectedParts } from "../../support/ibc/recorded-differences.ts";
import { readRecordedHeaders } from "../../support/ibc/recorded-headers.ts";
import {
  inOrderOfArrival,
  placeOf,
  RECORDED_TXS,
  type RecordedChainId,
  type ReplayedTx,
} from "../../support/ibc/recorded-packets.ts";

// SOURCE: test/fixtures/ibc/handshake-and-packets.json: the run of a relayer between two real chains of release 6.0.3. Here both
// chains run at the recorded heights and times, and prove to each other what they store themselves: no header and no proof of the
// recording is used.

function startProver(chainId: RecordedChainId): Prover {
  const recorded = readRecordedHeaders(chainId);
  return { recorded, chain: startProvingChain(chainId, recorded.first - 2n, recorded.timeOf) };
}

interface Replay {
  /** By the number of the transaction. */
  readonly results: ReadonlyMap<number, ReplayedTx>;
  /** How many messages have another header or proof than the recorded ones, by type. */
  readonly rebuilt: Readonly<Record<string, number>>;
}

/** Runs the transactions of both chains in order. */
function replay(): Replay {
  const provers = { "test-1": startProver("test-1"), "test-2": startProver("test-2") };
  const others = { "test-1": provers["test-2"], "test-2": provers["test-1"] };
  const results = new Map<number, ReplayedTx>();
  const rebuilt: Record<string, number> = {};
  for (const tx of inOrderOfArrival()) {
    const { chain } = provers[tx.chain_id];
    if (tx.height !== null) chain.advance(BigInt(tx.height));
    const place = placeOf(tx, chain.place());
    const rebuild = (decoded: DecodedTx): DecodedTx => {
      const own = withOwnProofs(decoded, tx.name, others[tx.chain_id]);
      for (const [index, { typeUrl, value }] of own.messages.entries()) {
        if (equalBytes(value, decoded.messages[index]?.value ?? value)) continue;
        const name = typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
        rebuilt[name] = (rebuilt[name] ?? 0) + 1;
      }
      return own;
    };
    results.set(tx.seq, chain.run(tx, place, rebuild));
  }
  return { results, rebuilt };
}

/** Hashes, roots and signatures are those of other chains. */
const HASH = /\b[0-9A-Fa-f]{40,}\b/g;
/** The header of an update, in hex. */
const HEADER = /^ {2}header=[0-9a-f]+$/m;

type Parts = ReturnType<typeof expectedParts>;

function withoutHashes({ log, events, ...parts }: Parts): Parts {
  return {
    ...parts,
    log: log?.replace(HASH, "<hash>"),
    events: events.map((event) => event.replace(HEADER, "  header=<header>")),
  };
}

describe("the recorded run of a relayer, with headers and proofs of our own", () => {
  let results: Replay["results"];
  let rebuilt: Replay["rebuilt"];
  beforeAll(() => {
    ({ results, rebuilt } = replay());
  }, 120_000);

  it("has 181 transactions, 110 of which succeed", () => {
    const succeeded = RECORDED_TXS.filter(({ code }) => code === 0);
    expect([results.size, succeeded.length]).toEqual([181, 110]);
  });

  it("has no header and no proof of the recording", () => {
    expect(rebuilt).toEqual({
      MsgCreateClient: 2,
      MsgUpdateClient: 55,
      MsgConnectionOpenTry: 8,
      MsgConnectionOpenAck: 2,
      MsgConnectionOpenConfirm: 1,
      MsgChannelOpenTry: 2,
      MsgChannelOpenAck: 2,
      MsgChannelOpenConfirm: 2,
      MsgRecvPacket: 50,
      MsgAcknowledgement: 36,
      MsgTimeout: 15,
    });
  });

  it.each(RECORDED_TXS.map((tx) => [tx.seq, `${tx.chain_id} ${tx.phase}: ${tx.name}`, tx] as const))(
    "%d %s",
    (seq, _name, tx) => {
      const parts = withoutHashes(comparedParts(tx, results.get(seq)));
      expect(parts).toEqual(withoutHashes(expectedParts(tx)));
    },
  );
});
