import { createChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../../src/cosmos/client/tx/create-tx-sender.ts";
import { createSigner } from "../../../src/cosmos/client/tx/signer.ts";
import type { WireMessage } from "../../../src/cosmos/client/tx/tx-types.ts";
import { MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { MsgExecuteContract } from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { accountNamed, type ChainProfile, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { encodeBech32, sha256, utf8 } from "../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { consumerAddress } from "../../support/consumer-address.ts";

/** Messages of one transaction: well below the gas of a block. */
const CHUNK = 150;
const QUERY_DEPOSIT = "1000000";
const SENDER = "alice";

/** Where the chains of a localnet answer. */
export interface ChainUrls {
  readonly local: string;
  readonly remote: string;
}

/**
 * Gives fresh accounts of the remote chain a balance each, and registers a query for each on the local chain, through its
 * consumer contract. The ids are 2 … queries + 1.
 */
export async function createDemand(
  urls: ChainUrls,
  { queries, updatePeriod }: { readonly queries: number; readonly updatePeriod: number },
  signal: AbortSignal,
): Promise<void> {
  const accounts = Array.from({ length: queries }, (_, index) =>
    encodeBech32(CHAINS.remote.bech32Prefix, sha256(utf8(`bench account ${index}`)).subarray(0, 20)),
  );
  await Promise.all([
    sendAll(urls.remote, CHAINS.remote, accounts.map(fundMessage), signal),
    sendAll(
      urls.local,
      CHAINS.local,
      accounts.map((address) => registerMessage(address, updatePeriod)),
      signal,
    ),
  ]);
}

function fundMessage(address: string, index: number): WireMessage {
  const fromAddress = accountNamed(CHAINS.remote, SENDER).address;
  const amount = [{ denom: CHAINS.remote.denom, amount: String(1_000 + index) }];
  const value = MsgSend.encode({ fromAddress, toAddress: address, amount }).finish();
  return { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value };
}

function registerMessage(address: string, updatePeriod: number): WireMessage {
  const register = {
    connection_id: "connection-0",
    update_period: updatePeriod,
    addr: address,
    denom: CHAINS.remote.denom,
  };
  const value = MsgExecuteContract.encode({
    sender: accountNamed(CHAINS.local, SENDER).address,
    contract: consumerAddress(),
    msg: utf8(JSON.stringify({ register_balance_query: register })),
    funds: [{ denom: CHAINS.local.denom, amount: QUERY_DEPOSIT }],
  }).finish();
  return { typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract", value };
}

/** Sends the messages in a few transactions, one after the other, and waits until all are in blocks. */
async function sendAll(
  url: string,
  chain: ChainProfile,
  messages: readonly WireMessage[],
  signal: AbortSignal,
): Promise<void> {
  const deps = { clock: systemClock, random: Math.random, logger: silentLogger };
  const client = createChainClient(
    { endpoints: [{ url }], chainId: chain.chainId },
    { ...deps, observer: silentObserver },
  );
  try {
    const mnemonic = new Secret(accountNamed(chain, SENDER).mnemonic);
    const signer = await createSigner({ kind: "mnemonic", mnemonic }, chain.bech32Prefix);
    const gasPrice = {
      denom: chain.denom,
      multiplier: parseDec18("1.5"),
      cap: parseDec18("10"),
      fallback: parseDec18("0.01"),
    };
    const sender = createTxSender(
      { chainId: chain.chainId, memo: "", gasPrice, limits: { pollMs: 50 } },
      { ...deps, client, signer },
    );
    for (let at = 0; at < messages.length; at += CHUNK) {
      const chunk = messages.slice(at, at + CHUNK);
      const simulation = await sender.simulate(chunk, signal);
      if (!simulation.ok) throw new Error(`${chain.chainId} refused in simulation: ${simulation.log}`);
      const { confirmation } = await sender.send(chunk, (simulation.gasUsed * 13n) / 10n, signal);
      if (confirmation.kind !== "included")
        throw new Error(
          `${chain.chainId} did not take a transaction: ${JSON.stringify(confirmation, asText)}`,
        );
    }
  } finally {
    client.close();
  }
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
