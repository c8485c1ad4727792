import { createVm } from "../../../src/localnet/vm/vm.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { rateLimiter } from "../../../src/localnet/chain/contracts/rate-limiter/rate-limiter.ts";
import { createAuthModule } from "../../../src/localnet/chain/modules/auth/module.ts";
import type { BankKeeper } from "../../../src/localnet/chain/modules/bank/keeper.ts";
import { createBankModule } from "../../../src/localnet/chain/modules/bank/module.ts";
import { ibcKeeper } from "../../../src/localnet/chain/modules/ibc/keeper.ts";
import type { IBCModule } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import type { Packet } from "../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { createContractManagerModule } from "../../../src/localnet/chain/modules/contractmanager/module.ts";
import { createFeeRefunderModule } from "../../../src/workbench/modules/feerefunder/module.ts";
import { ibcHooksMiddleware } from "../../../src/workbench/modules/ibc-hooks/middleware.ts";
import { createRateLimitModule } from "../../../src/localnet/chain/modules/ibc-rate-limit/module.ts";
import { createTransferModule } from "../../../src/localnet/chain/modules/transfer/module.ts";
import { classicContractAddress } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import type { ContractCode } from "../../../src/localnet/chain/modules/wasm/contract.ts";
import { createWasmModule } from "../../../src/localnet/chain/modules/wasm/module.ts";
import { formatAddress } from "../../../src/localnet/chain/runtime/address.ts";
import type { ChainModule } from "../../../src/localnet/chain/runtime/context.ts";
import type { LinkedChain, LinkedChainOptions, LinkedMessage } from "./linked-chain.ts";
import { createPair, type LinkedPair, openChannel, openConnection } from "./linked-pair.ts";

/** Coins of every account at genesis, in the denomination of its chain. */
export const FUNDS = 1_000_000n;
/** The end of the channel on both chains. */
export const CHANNEL = { portId: "transfer", channelId: "channel-0" };

/** A chain with coins and transfers. */
export interface TransferChain extends LinkedChain {
  readonly denom: string;
  readonly bank: BankKeeper;
  /** Accounts with coins of the chain. */
  readonly accounts: readonly Uint8Array[];
  readonly address: (account: number) => string;
  /** Creates MsgTransfer over the channel. */
  readonly transfer: (transfer: {
    readonly from: number;
    readonly receiver: string;
    readonly amount: bigint;
    readonly denom?: string;
    readonly timeoutNs?: bigint;
    readonly memo?: string;
  }) => LinkedMessage;
  /** The first contract of the chain, by default its limiter. */
  readonly limiter: string;
  readonly authority: string;
}

const ACCOUNTS = [1, 2, 3].map((byte) => new Uint8Array(20).fill(byte));
const MODULE_ACCOUNTS = { transfer: ["minter", "burner"], wasm: ["burner"], feerefunder: [] };

interface Settings {
  readonly chainId: string;
  readonly prefix: string;
  readonly denom: string;
  /** Paths of the limiter. Without them, nothing limits transfers. */
  readonly paths?: readonly JsonObject[];
  /** A contract instead of the limiter. */
  readonly contract?: ContractCode;
  /** Contracts pay relayers, with the chain's own MsgTransfer. */
  readonly takesFees?: boolean;
}

/** Starts two chains with an open channel of transfers. `paths`: quotas of the limiter on the first chain, which may also take fees of contracts. */
export function openTransferPair(
  paths?: readonly JsonObject[],
  contract?: ContractCode,
  takesFees = false,
): {
  readonly a: TransferChain;
  readonly b: TransferChain;
} {
  const first = prepare({
    chainId: "local-1",
    prefix: "neutron",
    denom: "untrn",
    ...(paths && { paths }),
    ...(contract && { contract }),
    takesFees,
  });
  const second = prepare({ chainId: "remote-1", prefix: "cosmos", denom: "uatom" });
  const pair: LinkedPair = createPair(first.options, second.options);
  openConnection(pair);
  openChannel(pair, { port: "transfer", id: "channel-0", ordering: "ORDER_UNORDERED", version: "ics20-1" });
  return { a: first.finish(pair.a), b: second.finish(pair.b) };
}

function prepare(settings: Settings): {
  readonly options: LinkedChainOptions;
  readonly finish: (chain: LinkedChain) => TransferChain;
} {
  const { chainId, prefix, denom, paths, contract, takesFees = false } = settings;
  const address = (account: number): string => formatAddress(prefix, ACCOUNTS[account] ?? new Uint8Array(20));
  const authority = formatAddress(prefix, new Uint8Array(20).fill(9));
  const names = { chainName: "neutron", bech32Prefix: prefix, denom, authority };
  const auth = createAuthModule({ bech32Prefix: prefix, moduleAccounts: MODULE_ACCOUNTS });
  const bank = createBankModule({ blockedModules: Object.keys(MODULE_ACCOUNTS) }, auth.keeper);
  const limiter = formatAddress(prefix, classicContractAddress(1n, 1n));
  const build: LinkedChainOptions["build"] = (ibc) => {
    const parse = auth.keeper.parseAddress;
    const wasm: ReturnType<typeof createWasmModule> = createWasmModule(
      { ...names, codes: [contract ?? rateLimiter], allowedQueries: [] },
      {
        channels: ibcKeeper,
        vm: createVm(),
        bank: {
          sendCoins: (context, from, to, coins) => bank.keeper.send(context, parse(from), parse(to), coins),
          requireSendEnabled: bank.keeper.requireSendEnabled,
          supply: bank.keeper.supply,
          balance: bank.keeper.balance,
          balances: bank.keeper.balances,
          burnCoins: () => undefined,
        },
        accounts: { ensureAccount: (context, text) => auth.keeper.ensure(context, parse(text)) },
        findMessage: (typeUrl) =>
          [...modules, ibc()].flatMap(({ messages }) => messages).find((one) => one.typeUrl === typeUrl),
        findQuery: () => undefined,
        customMessages: (context, sender, message) => manager.handleCustomMessage(context, sender, message),
      },
    );
    const fees = createFeeRefunderModule(names, { bank: bank.keeper, channels: ibcKeeper });
    const manager = createContractManagerModule(names, {
      contracts: wasm.host,
      ...(takesFees && { fees: fees.keeper }),
    });
    const limits = createRateLimitModule(names, { contracts: wasm.host });
    const transfer = createTransferModule(takesFees ? { ...names, ownMessages: names } : names, {
      ...(takesFees && { fees: { ...fees.keeper, isContract: wasm.host.isContract } }),
      bank: bank.keeper,
      channels: {
        channel: (context, end) => ibc().keeper.channel(context, end),
        nextSequenceSend: (context, end) => ibc().keeper.nextSequenceSend(context, end),
        sendPacket: (context, packet) =>
          limits.rateLimitICS4Wrapper(ibc().keeper).sendPacket(context, packet),
      },
    });
    const modules: readonly ChainModule[] = [auth, bank, transfer, wasm, manager, fees, limits];
    const limited = limits.rateLimitMiddleware(manager.callbacksMiddleware(transfer.application));
    const application = ibcHooksMiddleware(limited, { bech32Prefix: prefix, contracts: wasm.host });
    const applications = new Map<string, IBCModule>([["transfer", application]]);
    return { modules, applications, router: wasm.application };
  };
  const genesis = genesisOf({ address, denom, limiter, authority, contract }, paths);
  return {
    options: { chainId, bech32Prefix: prefix, genesis, build },
    finish: (chain) => ({
      ...chain,
      denom,
      bank: bank.keeper,
      accounts: ACCOUNTS,
      address,
      limiter,
      authority,
      transfer: ({
        from,
        receiver,
        amount,
        denom: sent = denom,
        timeoutNs = 86_400_000_000_000n,
        memo = "",
      }) => ({
        "@type": "/ibc.applications.transfer.v1.MsgTransfer",
        source_port: "transfer",
        source_channel: "channel-0",
        token: { denom: sent, amount: amount.toString() },
        sender: address(from),
        receiver,
        timeout_timestamp: (chain.timeNs() + timeoutNs).toString(),
        memo,
      }),
    }),
  };
}

function genesisOf(
  chain: {
    readonly address: (account: number) => string;
    readonly denom: string;
    readonly limiter: string;
    readonly authority: string;
    readonly contract: ContractCode | undefined;
  },
  paths: readonly JsonObject[] | undefined,
): JsonObject {
  const indexes = [...ACCOUNTS.keys()];
  return {
    auth: {
      accounts: indexes.map((index) => ({
        "@type": "/cosmos.auth.v1beta1.BaseAccount",
        address: chain.address(index),
        pub_key: null,
        account_number: index.toString(),
        sequence: "0",
      })),
    },
    bank: {
      balances: indexes.map((index) => ({
        address: chain.address(index),
        coins: [{ denom: chain.denom, amount: FUNDS.toString() }],
      })),
    },
    ...(chain.contract === undefined ? {} : contractGenesis(chain.contract, chain.address(0))),
    ...(paths === undefined
      ? {}
      : {
          wasm: {
            codes: [{ name: "rate-limiter", creator: chain.address(0) }],
            gen_msgs: [
              {
                instantiate_contract: {
                  sender: chain.address(0),
                  admin: chain.address(0),
                  code_id: "1",
                  label: "limiter",
                  msg: { gov_module: chain.authority, ibc_module: chain.authority, paths },
                  funds: [],
                },
              },
            ],
          },
          "rate-limited-ibc": { params: { contract_address: chain.limiter } },
        }),
  };
}

function contractGenesis({ name }: ContractCode, sender: string): JsonObject {
  const instance = { sender, admin: sender, code_id: "1", label: name, msg: {}, funds: [] };
  return {
    wasm: { codes: [{ name, creator: sender }], gen_msgs: [{ instantiate_contract: instance }] },
  };
}

/** Reads the packet of the last `send_packet` event of a transaction. */
export function sentPacket(result: ReturnType<LinkedChain["deliver"]>): Packet {
  const event = result.events.findLast(({ type }) => type === "send_packet");
  const value = (key: string): string => event?.attributes.find((one) => one.key === key)?.value ?? "";
  const [revisionNumber = "0", revisionHeight = "0"] = value("packet_timeout_height").split("-");
  return {
    sequence: BigInt(value("packet_sequence")),
    source: { portId: value("packet_src_port"), channelId: value("packet_src_channel") },
    destination: { portId: value("packet_dst_port"), channelId: value("packet_dst_channel") },
    data: utf8(value("packet_data")),
    timeout: {
      height: { revisionNumber: BigInt(revisionNumber), revisionHeight: BigInt(revisionHeight) },
      timestamp: BigInt(value("packet_timeout_timestamp")),
    },
  };
}

/** Reads the acknowledgement that a transaction wrote. */
export function writtenAcknowledgement(result: ReturnType<LinkedChain["deliver"]>): Uint8Array {
  const event = result.events.findLast(({ type }) => type === "write_acknowledgement");
  return utf8(event?.attributes.find(({ key }) => key === "packet_ack")?.value ?? "");
}
