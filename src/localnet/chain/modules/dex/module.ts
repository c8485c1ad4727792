import { asDeployed, stateQueries, type Queries } from "./queries.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { queryHandlers, type MessageDefinition, messageHandlers } from "../../runtime/handlers.ts";
import { GO_ZERO_TIME_NS } from "../../../../platform/base/time.ts";
import { type Context, dryRun, type ChainModule, type MessageHandler } from "../../runtime/context.ts";
import { purgeHitGasLimit, tickCount, tradePairText, trancheUpdated } from "./events.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { MODULE_NAME, type DexBank, type DexOptions, type Expiration, type DexKeepers } from "./types.ts";
import { moduleParams } from "./params.ts";
import * as store from "./store.ts";
import { isPast } from "./tranche.ts";
import { wrapErrors, unregisteredError, GrpcCode, QueryError } from "../../runtime/errors.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { fromHex } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import { deposit, withdraw } from "./liquidity.ts";
import { ErrDexPaused, orPanic } from "./errors.ts";
import { cancelLimitOrder, withdrawFilled, placeLimitOrder } from "./limit-orders.ts";
import * as messages from "./messages.ts";
import { multiHopSwap, simulateMultiHopSwap } from "./swap.ts";

/** Creates the `dex` module: pools, limit orders and swaps. */
export function createDexModule(options: DexOptions, bank: DexBank): ChainModule {
  const keepers = { ...options, bank };
  const { chainName, bech32Prefix } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: queryHandlers(
      wire.Query,
      { ...stateQueries(keepers), ...simulations(keepers), ...estimates(keepers) },
      chainName,
    ).map((handler) => asDeployed(handler, chainName)),
    beginBlock: (context) => purgeExpired(context, chainName),
    endBlock: (context) => purgeJitOrders(context, chainName),
    initGenesis: (context, genesis) => initGenesis(context, genesis, bech32Prefix),
    exportGenesis: (context) => exportGenesis(context, bank),
  };
}

/**
 * Removes expired orders from the book at the start of a block, even while the module is paused. Stops when the gas allowance is
 * used up. Within the same second, expirations are sorted by tranche key instead of time. The purge can therefore stop at an order
 * that has not expired and miss an expired order that follows.
 */
function purgeExpired(context: Context, chainName: string): void {
  const walk = store.expirations.all(context);
  // Measure the gas from here, because the allowance covers reading the parameters, but not creating the iterator.
  let at = walk.next();
  const opened = context.gas.used();
  const cutoff = opened + moduleParams.get(context).goodTilPurgeAllowance;
  for (; at.done !== true; at = walk.next()) {
    const expiration = at.value;
    const isJitOrder = expiration.timeNs === GO_ZERO_TIME_NS;
    if (!isJitOrder && !isPast(context, expiration.timeNs)) return;
    if (!isJitOrder && context.gas.used() >= cutoff) {
      context.emit(purgeHitGasLimit(context.gas.used()));
      return;
    }
    purge(context, chainName, expiration);
  }
}

/**
 * Removes JIT orders from the book at the end of the block that placed them (dex.md, "States and transitions"). The deployed
 * chain removes JIT orders at the start of the next block.
 */
function purgeJitOrders(context: Context, chainName: string): void {
  store.clearJitsInBlock(context);
  if (context.profile.deployed("dexJitEnd")) return;
  for (const expiration of store.expirations.all(context)) {
    if (expiration.timeNs !== GO_ZERO_TIME_NS) break;
    purge(context, chainName, expiration);
  }
}

/** Moves a tranche from the book to the inactive tranches. The tranche keeps its funds until its owners withdraw or cancel their orders. */
function purge(context: Context, chainName: string, expiration: Expiration): void {
  const tranche = store.getActiveTrancheByRef(context, expiration.trancheRef);
  if (tranche !== undefined) {
    store.inactiveTranches.set(context, tranche.key, tranche);
    store.deleteActiveTranche(context, tranche.key);
    context.emit(trancheUpdated({ ...tranche, reservesMaker: 0n }));
  }
  store.expirations.delete(context, expiration);
  const pair = tranche === undefined ? "" : tradePairText(tranche.key.tradePairId);
  context.emit(tickCount(chainName, { action: "dec", kind: "limit_order", isExpiring: true, pair }));
}

/** Implementation of one message type: `parse` runs the stateless checks, and `run` executes the message. */
interface Operation<Message, Request, Response> {
  /** Throws `ModuleError`. */
  readonly parse: (message: Message, bech32Prefix: string) => Request;
  readonly run: (context: Context, request: Request, keepers: DexKeepers) => Response;
}

/** Implementations of the six user messages. The simulation queries use the same implementations. */
const OPERATIONS = {
  deposit: { parse: messages.parseDeposit, run: deposit },
  withdrawal: { parse: messages.parseWithdrawal, run: withdraw },
  placeLimitOrder: { parse: messages.parsePlaceLimitOrder, run: placeLimitOrder },
  withdrawFilledLimitOrder: { parse: messages.parseTrancheMessage, run: withdrawFilled },
  cancelLimitOrder: { parse: messages.parseTrancheMessage, run: cancelLimitOrder },
  multiHopSwap: { parse: messages.parseMultiHopSwap, run: multiHopSwap },
} as const;

function createHandlers(keepers: DexKeepers): readonly MessageHandler[] {
  return messageHandlers(
    tx.Msg,
    {
      Deposit: userMessage("MsgDeposit", OPERATIONS.deposit, keepers, ({ amountsA, amountsB }) =>
        messages.checkAmountTexts(...amountsA, ...amountsB),
      ),
      Withdrawal: userMessage("MsgWithdrawal", OPERATIONS.withdrawal, keepers, ({ sharesToRemove }) =>
        messages.checkAmountTexts(...sharesToRemove),
      ),
      PlaceLimitOrder: userMessage("MsgPlaceLimitOrder", OPERATIONS.placeLimitOrder, keepers, (message) => {
        messages.checkAmountTexts(message.amountIn, message.maxAmountOut);
        messages.checkDecimalTexts(message.limitSellPrice, message.minAverageSellPrice);
      }),
      WithdrawFilledLimitOrder: userMessage(
        "MsgWithdrawFilledLimitOrder",
        OPERATIONS.withdrawFilledLimitOrder,
        keepers,
      ),
      CancelLimitOrder: userMessage("MsgCancelLimitOrder", OPERATIONS.cancelLimitOrder, keepers),
      MultiHopSwap: userMessage("MsgMultiHopSwap", OPERATIONS.multiHopSwap, keepers, (message) => {
        messages.checkAmountTexts(message.amountIn);
        messages.checkDecimalTexts(message.exitLimitPrice);
      }),
      UpdateParams: (context, message) => updateParams(context, message, keepers),
    },
    keepers.chainName,
  );
}

/**
 * Creates a handler for a user message. `checkDecoded` checks the numbers that the message contains as text, in field order, and
 * throws a plain error for a malformed number. Go parses these numbers while decoding the transaction, so CheckTx already rejects
 * malformed numbers.
 */
function userMessage<Message, Request, Response>(
  name: string,
  { parse, run }: Operation<Message, Request, Response>,
  keepers: DexKeepers,
  checkDecoded?: (message: Message) => void,
): MessageDefinition<Message, Response> {
  return {
    ...(checkDecoded === undefined ? {} : { checkDecoded }),
    handle: (context, message) => {
      const request = wrapErrors(`failed to validate ${name}`, () => parse(message, keepers.bech32Prefix));
      if (moduleParams.get(context).paused) throw ErrDexPaused();
      return orPanic(() => run(context, request, keepers));
    },
  };
}

/** MsgUpdateParams: replaces all parameters, even while the module is paused. A message without parameters changes nothing. */
function updateParams(
  context: Context,
  message: tx.MsgUpdateParams,
  { authority, bech32Prefix }: DexKeepers,
): void {
  wrapErrors("failed to validate MsgUpdateParams", () => messages.checkUpdateParams(message, bech32Prefix));
  if (message.authority !== authority)
    throw unregisteredError(
      `rpc error: code = PermissionDenied desc = invalid authority; expected ${authority}, got ${message.authority}`,
    );
  if (message.params !== undefined) moduleParams.set(context, message.params);
}

// A simulation is a query that runs a message without changing the state.

/** Creator and receiver of simulated deposits, orders and swaps (x/dex `DummyAddress`). No whitelist contains this address. */
const DUMMY_ADDRESS = fromHex("083d2d0bb414b1f8f3655d10927f3ccc231d2d8f");

/**
 * Creates the simulation queries. Simulations move no coins, store nothing, emit no events, and work while the module is paused.
 */
function simulations(keepers: DexKeepers) {
  return {
    SimulateDeposit: simulation(OPERATIONS.deposit, keepers),
    SimulateWithdrawal: simulation({ isOfOwner: true, ...OPERATIONS.withdrawal }, keepers),
    SimulatePlaceLimitOrder: simulation({ ...OPERATIONS.placeLimitOrder, run: simulateOrder }, keepers),
    SimulateWithdrawFilledLimitOrder: simulation(
      { isOfOwner: true, ...OPERATIONS.withdrawFilledLimitOrder },
      keepers,
    ),
    SimulateCancelLimitOrder: simulation({ isOfOwner: true, ...OPERATIONS.cancelLimitOrder }, keepers),
    SimulateMultiHopSwap: simulation({ ...OPERATIONS.multiHopSwap, run: simulateMultiHopSwap }, keepers),
  } satisfies Queries;
}

/** Simulates a limit order. Unlike in the message's response, `coinIn` contains the denomination even if nothing is charged. */
function simulateOrder(
  context: Context,
  request: messages.OrderRequest,
  keepers: DexKeepers,
): tx.MsgPlaceLimitOrderResponse {
  const response = placeLimitOrder(context, request, keepers);
  return { ...response, coinIn: { denom: request.tokenIn, amount: response.coinIn?.amount ?? "0" } };
}

/** A query that runs a message and discards its state changes. */
interface Simulation<Message, Request, Response> extends Operation<Message, Request, Response> {
  /**
   * True if the message uses its creator's shares or orders. The simulation then runs with the given creator instead of the dummy
   * address.
   */
  readonly isOfOwner?: boolean;
}

function simulation<Message, Request, Response>(
  { isOfOwner = false, parse, run }: Simulation<Message, Request, Response>,
  keepers: DexKeepers,
) {
  const { bech32Prefix, bank } = keepers;
  return (context: Context, { msg }: { readonly msg: Message | undefined }): { resp: Response } => {
    // The deployed module dereferences the missing message and panics.
    if (msg === undefined)
      throw new QueryError(
        GrpcCode.Internal,
        "runtime error: invalid memory address or nil pointer dereference",
      );
    const dummy = formatAddress(bech32Prefix, DUMMY_ADDRESS);
    const request = parse(isOfOwner ? msg : { ...msg, creator: dummy, receiver: dummy }, bech32Prefix);
    return {
      resp: dryRun(context, (inner) => run(inner, request, { ...keepers, bank: withoutMoves(bank) })),
    };
  };
}

function withoutMoves(bank: DexBank): DexBank {
  return { ...bank, sendToModule: nothing, sendFromModule: nothing, mint: nothing, burn: nothing };
}

function nothing(): void {}

/** Creates the deprecated estimate queries. Unlike a simulation, an estimate fails if the creator cannot pay. */
function estimates(keepers: DexKeepers) {
  return {
    EstimateMultiHopSwap: (context, request) => {
      const { coinOut } = estimate(context, request, OPERATIONS.multiHopSwap, keepers);
      return { coinOut };
    },
    EstimatePlaceLimitOrder: (context, request) => {
      const message = { ...request, limitSellPrice: "", minAverageSellPrice: "" };
      const response = estimate(context, message, OPERATIONS.placeLimitOrder, keepers);
      const { coinIn, takerCoinIn, takerCoinOut } = response;
      return { totalInCoin: coinIn, swapInCoin: takerCoinIn, swapOutCoin: takerCoinOut };
    },
  } satisfies Queries;
}

/** Runs a message, including its payments, and then discards the state changes. */
function estimate<Message, Request, Response>(
  context: Context,
  message: Message,
  { parse, run }: Operation<Message, Request, Response>,
  keepers: DexKeepers,
): Response {
  const request = parse(message, keepers.bech32Prefix);
  return dryRun(context, (inner) => run(inner, request, keepers));
}
