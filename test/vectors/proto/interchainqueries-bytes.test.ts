// SOURCE: byte vectors computed with the types of the deployed module. Address and values are those of its own tests.
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { RegisteredQuery } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { Params } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/params.ts";
import {
  MsgRegisterInterchainQuery,
  QueryResult,
} from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { ExecTxResult } from "../../../src/cosmos/proto/gen/tendermint/abci/types.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";

const ADDRESS = "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh";

const VECTORS = [
  {
    name: "registration of a KV query",
    bytes: MsgRegisterInterchainQuery.encode({
      queryType: "kv",
      keys: [{ path: "somepath", key: utf8("somedata") }],
      transactionsFilter: "",
      connectionId: "connection-0",
      updatePeriod: 1n,
      sender: ADDRESS,
    }),
    hex: "0a026b7612140a08736f6d65706174681208736f6d6564617461220c636f6e6e656374696f6e2d302801322e6e657574726f6e313764746c306d6a74337437376b70756867326564717a6a70737a756c7768677a636476616768",
  },
  {
    name: "registered TX query",
    bytes: RegisteredQuery.encode({
      id: 1n,
      owner: ADDRESS,
      queryType: "tx",
      keys: [],
      transactionsFilter: "[]",
      connectionId: "connection-0",
      updatePeriod: 1n,
      lastSubmittedResultLocalHeight: 0n,
      lastSubmittedResultRemoteHeight: undefined,
      deposit: [{ denom: "untrn", amount: "1000000" }],
      submitTimeout: 1_036_800n,
      registeredAtHeight: 10n,
    }),
    hex: "0801122e6e657574726f6e313764746c306d6a74337437376b70756867326564717a6a70737a756c7768677a6364766167681a0274782a025b5d320c636f6e6e656374696f6e2d30380152100a05756e74726e1207313030303030305880a43f600a",
  },
  {
    name: "default params",
    bytes: Params.encode({
      querySubmitTimeout: 1_036_800n,
      queryDeposit: [{ denom: "untrn", amount: "1000000" }],
      txQueryRemovalLimit: 10_000n,
      maxKvQueryKeysCount: 32n,
      maxTransactionsFilters: 32n,
    }),
    hex: "0880a43f12100a05756e74726e12073130303030303018904e20202820",
  },
  {
    name: "stored result without its proof",
    bytes: QueryResult.encode({
      kvResults: [{ storagePrefix: "bank", key: fromHex("01"), value: utf8("v"), Proof: undefined }],
      block: undefined,
      height: 100n,
      revision: 1n,
      allowKvCallbacks: false,
    }),
    hex: "0a0c0a0462616e6b1201011a017618642001",
  },
  {
    name: "the fields of a transaction result that its hash covers",
    bytes: ExecTxResult.encode({
      code: 0,
      data: fromHex("0a0b"),
      log: "",
      info: "",
      gasWanted: 200_000n,
      gasUsed: 150_000n,
      events: [],
      codespace: "",
    }),
    hex: "12020a0b28c09a0c30f09309",
  },
];

/** Proofs of the same source: existence in a one-leaf tree, the leaf of its store, absence between two leaves, and its store. */
const PROOFS = [
  "0a130a01011201761a0b0801180120012a03000202",
  "0a330a0462616e6b1220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa990341a090801180120012a0100",
  "1285010a010212400a01011201761a0b0801180120012a03000202222b08011204020402201a2120350ed89a3fa164045436736f0fe64783a16d12542fe222d3502713b2ff7caced1a3e0a01031201771a0b0801180120012a0300020222290801122502040220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa9903420",
  "0a330a0462616e6b1220884308cd2182dc6cef83a916b69f8eb14ddd37a477c971dd59710351456d2eb31a090801180120012a0100",
];

describe("interchain query bytes", () => {
  it.each(VECTORS)("$name", ({ bytes, hex }) => {
    expect(toHex(bytes.finish())).toBe(hex);
  });

  it.each(PROOFS)("proof %#", (hex) => {
    const json = messageToJson("cosmos.ics23.v1.CommitmentProof", fromHex(hex));
    expect(toHex(messageFromJson("cosmos.ics23.v1.CommitmentProof", json))).toBe(hex);
  });
});
