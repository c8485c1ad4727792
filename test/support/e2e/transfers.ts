import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { SigningStargateClient } from "@cosmjs/stargate";
import { MsgTransfer } from "cosmjs-types/ibc/applications/transfer/v1/tx";
import { TxRaw } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { localDenom, parseTrace } from "../../../src/localnet/chain/modules/transfer/denom.ts";
import { accountNamed, CHAINS, type ChainPart } from "../../../src/localnet/accounts/chains.ts";
import { type CliHome, getJson, until } from "./cli-process.ts";
import { deep } from "./localnet-endpoints.ts";

const PORTS = { local: { rpc: 26_657, rest: 1_317 }, remote: { rpc: 26_757, rest: 1_417 } } as const;
/** Two chains start, and the IBC relayer opens a channel: four steps, each with blocks of both chains. */
const START_MS = 180_000;
const OTHER = { local: "remote", remote: "local" } as const;

/** Transfers over channel-0 between the chains of a running localnet, with stock CosmJS and REST. */
export interface Transfers {
  /** Broadcasts one transaction of alice with so many transfers of one micro coin each. Resolves before its block. */
  readonly broadcast: (from: ChainPart, count: number) => Promise<void>;
  /** Numbers of the packets that are on their way. */
  readonly inFlight: (from: ChainPart) => Promise<readonly string[]>;
  /** Coins of a chain in escrow, and their vouchers on the other chain. */
  readonly coins: (of: ChainPart) => Promise<{ readonly escrow: bigint; readonly vouchers: bigint }>;
  /** Number of packets that a chain has sent. */
  readonly sent: (from: ChainPart) => Promise<number>;
  /** Waits until the IBC relayer carries packets. */
  readonly untilCarrying: () => Promise<void>;
}

/** Creates the access to the localnet of a home. */
export function openTransfers({ portOffset }: CliHome): Transfers {
  const at = (port: number, path = ""): string => `http://127.0.0.1:${port + portOffset}${path}`;
  const rest = async (part: ChainPart, path: string, ...fields: readonly string[]): Promise<unknown> =>
    deep(await getJson(at(PORTS[part].rest, path)), fields);
  const channel = "/ibc/core/channel/v1/channels/channel-0/ports/transfer";
  return {
    broadcast: async (from, count) => {
      const { bech32Prefix: prefix, denom } = CHAINS[from];
      const { address, mnemonic } = accountNamed(CHAINS[from], "alice");
      const wallet = await DirectSecp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
      const client = await SigningStargateClient.connectWithSigner(at(PORTS[from].rpc), wallet);
      const value = MsgTransfer.fromPartial({
        sourcePort: "transfer",
        sourceChannel: "channel-0",
        token: { denom, amount: "1" },
        sender: address,
        receiver: accountNamed(CHAINS[OTHER[from]], "alice").address,
        timeoutTimestamp: BigInt(Date.now() + 3_600_000) * 1_000_000n,
      });
      const message = { typeUrl: "/ibc.applications.transfer.v1.MsgTransfer", value };
      const fee = { gas: (300_000 * count).toString(), amount: [{ denom, amount: `${60_000 * count}` }] };
      const signed = await client.sign(
        address,
        Array.from({ length: count }, () => message),
        fee,
        "",
      );
      await client.broadcastTxSync(TxRaw.encode(signed).finish());
      client.disconnect();
    },
    inFlight: async (from) => {
      const listed = await rest(from, `${channel}/packet_commitments?pagination.limit=1000`, "commitments");
      return Array.isArray(listed) ? listed.map((one: unknown) => String(deep(one, ["sequence"]))) : [];
    },
    coins: async (of) => {
      const { denom } = CHAINS[of];
      const voucher = localDenom(parseTrace(`transfer/channel-0/${denom}`));
      const escrow = await rest(of, `/ibc/apps/transfer/v1/denoms/${denom}/total_escrow`, "amount", "amount");
      const supply = `/cosmos/bank/v1beta1/supply/by_denom?denom=${encodeURIComponent(voucher)}`;
      const vouchers = await rest(OTHER[of], supply, "amount", "amount");
      return { escrow: BigInt(String(escrow)), vouchers: BigInt(String(vouchers)) };
    },
    sent: async (from) => Number(await rest(from, `${channel}/next_sequence_send`, "next_sequence_send")) - 1,
    untilCarrying: async () => {
      await until(
        "an IBC relayer that carries",
        async () =>
          deep(await getJson(at(9_997, "/ibc-relayer")), ["state"]) === "carrying" ? true : undefined,
        START_MS,
      );
    },
  };
}
