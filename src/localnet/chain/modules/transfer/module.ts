import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { DenomTrace } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/denomtrace.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/query.ts";
import * as tx from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import * as own from "../../../../cosmos/proto/gen/neutron/transfer/tx.ts";
import { TYPE_URL, toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { upperHex, utf8 } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import { areValidCoins, formatCoin, isDenom, parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "../../runtime/context.ts";
import { ErrInvalidAddress, GrpcCode, orThrow, QueryError, wrapErrors } from "../../runtime/errors.ts";
import { atPath, partOr, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { readPage } from "../../runtime/pagination.ts";
import type { IBCModule } from "../ibc/channel/ibc-module.ts";
import { validateChannelId, validatePortId } from "../ibc/host/identifiers.ts";
import { checkArgument, requireAuthority, requireFound, requireSigner } from "../ibc/host/signed-handler.ts";
import * as transfer from "./denom.ts";
import * as ibcErrors from "../ibc/host/errors.ts";
import {
  type Keepers,
  escrowAddress,
  escrows,
  port,
  traces,
  type TransferDeps,
  type TransferOptions,
} from "./keeper.ts";
import { escapeBytes, NO_FEE, validateFee } from "./packet.ts";
import { createTransferApplication, sendTransfer, coinOf } from "./application.ts";

export interface TransferModule extends ChainModule {
  /** The IBC application that handles packets and channels on the port `transfer`. */
  readonly application: IBCModule;
}

/** Creates the `transfer` module, which transfers coins over IBC (ICS-20). */
export function createTransferModule(options: TransferOptions, deps: TransferDeps): TransferModule {
  const keepers: Keepers = { ...options, ...deps };
  return {
    name: transfer.MODULE_NAME,
    stores: [transfer.MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueryHandlers(options.bech32Prefix),
    initGenesis,
    exportGenesis,
    application: createTransferApplication(keepers),
  };
}

function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  const { authority, bech32Prefix, ownMessages } = keepers;
  const validate = (message: tx.MsgTransfer): void => validateTransfer(message, bech32Prefix);
  const UpdateParams = (context: Context, message: tx.MsgUpdateParams): void => {
    requireAuthority(authority, message);
    transfer.moduleParams.set(context, message.params ?? { sendEnabled: false, receiveEnabled: false });
  };
  if (ownMessages === undefined) {
    const handle = (context: Context, message: tx.MsgTransfer): tx.MsgTransferResponse => ({
      sequence: sendTransfer(context, message, keepers),
    });
    return messageHandlers(tx.Msg, { Transfer: { validate, handle }, UpdateParams });
  }
  const handle = (context: Context, message: tx.MsgTransfer): own.MsgTransferResponse =>
    transferWithFee(context, { ...message, fee: undefined }, keepers);
  const { chainName } = ownMessages;
  return [
    ...messageHandlers(WITH_OWN_RESPONSE, { Transfer: { validate, handle }, UpdateParams }).map((handler) =>
      handler.typeUrl === TYPE_URL.transfer ? namingOwnResponse(handler, chainName) : handler,
    ),
    ...messageHandlers(
      own.Msg,
      { Transfer: (context, message) => transferWithFee(context, message, keepers), UpdateParams },
      chainName,
    ),
  ];
}

/** ibc-go's message service, but MsgTransfer returns the same response as the chain's own MsgTransfer. */
const WITH_OWN_RESPONSE = {
  ...tx.Msg,
  methods: {
    ...tx.Msg.methods,
    Transfer: { ...tx.Msg.methods.Transfer, response: own.MsgTransferResponse },
  },
};

function namingOwnResponse(handler: MessageHandler, chainName: string): MessageHandler {
  const typeUrl = toChainTypeUrl("/neutron.transfer.MsgTransferResponse", chainName);
  return { ...handler, handle: (context, message) => ({ ...handler.handle(context, message), typeUrl }) };
}

/** Handles the chain's own MsgTransfer, which locks a contract's fee for the relayer of the packet. Throws `ModuleError`. */
function transferWithFee(
  context: Context,
  message: own.MsgTransfer,
  keepers: Keepers,
): own.MsgTransferResponse {
  const { bech32Prefix, fees } = keepers;
  const sender = orThrow(
    () => parseAddress(bech32Prefix, message.sender),
    () => ErrInvalidAddress(`failed to parse address: ${message.sender}`),
  );
  const { fee = NO_FEE } = message;
  const isContract = fees?.isContract(context, message.sender) ?? false;
  wrapErrors("failed to validate MsgTransfer", () => {
    if (isContract) validateFee(fee);
    validateTransfer(message, bech32Prefix);
  });
  const source = { portId: message.sourcePort, channelId: message.sourceChannel };
  const sequenceId = sendTransfer(context, message, keepers, (sequence) => {
    if (isContract)
      wrapErrors(`failed to lock fees to pay for transfer msg: ${goText(message)}`, () =>
        fees?.lockFees(context, sender, { source, sequence }, fee),
      );
  });
  return { sequenceId, channel: message.sourceChannel };
}

/** Formats a message on one line in protobuf's text format, like Go prints messages in errors. */
function goText({ token, timeoutHeight, fee, ...message }: own.MsgTransfer): string {
  const { recvFee, ackFee, timeoutFee } = fee ?? NO_FEE;
  const fees = [
    ...recvFee.map((each) => goCoin("recv_fee", each)),
    ...ackFee.map((each) => goCoin("ack_fee", each)),
    ...timeoutFee.map((each) => goCoin("timeout_fee", each)),
  ];
  const height = timeoutHeight ?? { revisionNumber: 0n, revisionHeight: 0n };
  return [
    goField("source_port", message.sourcePort),
    goField("source_channel", message.sourceChannel),
    goCoin("token", token ?? { denom: "", amount: "" }),
    goField("sender", message.sender),
    goField("receiver", message.receiver),
    `timeout_height:<${goField("revision_number", height.revisionNumber)}${goField("revision_height", height.revisionHeight)}> `,
    goField("timeout_timestamp", message.timeoutTimestamp),
    goField("memo", message.memo),
    `fee:<${fees.join("")}> `,
  ].join("");
}

/** Formats a field in protobuf's text format, or as "" if it has no value. */
function goField(name: string, value: string | bigint): string {
  if (typeof value === "bigint") return value === 0n ? "" : `${name}:${value} `;
  return value === "" ? "" : `${name}:"${escapeBytes(utf8(value))}" `;
}

function goCoin(name: string, { denom, amount }: WireCoin): string {
  return `${name}:<${goField("denom", denom)}${goField("amount", amount === "" ? "0" : amount)}> `;
}

const MAX_RECEIVER_BYTES = 2048;
const MAX_MEMO_BYTES = 32_768;

/** Performs the stateless checks of MsgTransfer (`ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
function validateTransfer(message: tx.MsgTransfer, bech32Prefix: string): void {
  wrapErrors("invalid source port ID", () => validatePortId(message.sourcePort));
  wrapErrors("invalid source channel ID", () => validateChannelId(message.sourceChannel));
  const coin = coinOf(message);
  if (!isDenom(coin.denom) || coin.amount < 0n) throw ibcErrors.ErrIbcInvalidCoins(formatCoin(coin));
  if (coin.amount === 0n) throw ibcErrors.ErrIbcInsufficientFunds(formatCoin(coin));
  requireSigner(bech32Prefix, { signer: message.sender });
  if (trimGoSpace(message.receiver) === "") throw ibcErrors.ErrIbcInvalidAddress("missing recipient address");
  if (Buffer.byteLength(message.receiver) > MAX_RECEIVER_BYTES)
    throw ibcErrors.ErrIbcInvalidAddress(`recipient address must not exceed ${MAX_RECEIVER_BYTES} bytes`);
  if (Buffer.byteLength(message.memo) > MAX_MEMO_BYTES)
    throw transfer.ErrInvalidMemo(`memo must not exceed ${MAX_MEMO_BYTES} bytes`);
  transfer.validateSentDenom(coin.denom);
}

const SCHEMA = genesisSchema(transfer.MODULE_NAME, "ibc.applications.transfer.v1.GenesisState", GenesisState);

/** Stores the port, parameters, traces and escrow totals. Throws `GenesisError` for an invalid part or a trace that is listed twice. */
export function initGenesis(context: Context, json: JsonValue | undefined): void {
  const state = SCHEMA.read(json);
  const path = `app_state.${transfer.MODULE_NAME}`;
  const portId = state?.portId === undefined || state.portId === "" ? transfer.PORT_ID : state.portId;
  atPath(`${path}.port_id`, () => validatePortId(portId));
  port.set(context, portId);
  transfer.moduleParams.set(context, partOr(json, "params", state?.params, transfer.moduleParams.defaults));
  for (const [index, trace] of (state?.denomTraces ?? []).entries()) {
    atPath(`${path}.denom_traces[${index}]`, () => {
      transfer.validatePath(trace);
      if (trace.path === "") transfer.validateReceivedDenom(trace.baseDenom);
      const hash = transfer.traceHash(trace);
      if (traces.has(context, hash)) throw new Error("the trace is given twice");
      traces.set(context, hash, trace);
    });
  }
  atPath(`${path}.total_escrowed`, () => {
    const coins = parseCoins(state?.totalEscrowed ?? []);
    if (!areValidCoins(coins)) throw new Error("expected positive amounts of coins in ascending order");
    for (const { denom, amount } of coins) escrows.set(context, denom, amount);
  });
}

/** Exports the port, parameters, traces and escrow totals in the format that `initGenesis` reads. */
export function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    portId: port.get(context) ?? unreachable("the port is stored from genesis on"),
    denomTraces: [...traces.entries(context)].map(([, trace]) => trace),
    params: transfer.moduleParams.get(context),
    totalEscrowed: [...escrows.entries(context)].map(([denom, amount]) => toWireCoin({ denom, amount })),
  });
}

/** Creates the handlers for all queries of `ibc.applications.transfer.v1.Query`. */
function createQueryHandlers(bech32Prefix: string): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    Params: transfer.moduleParams.query,
    // Pages are in hash order. Within a page, traces are sorted by denomination.
    DenomTraces: (context, request) => {
      const range = traces.range(context);
      const { items, pagination } = readPage(range, request.pagination, (_key, value) =>
        DenomTrace.decode(value),
      );
      return {
        denomTraces: items.toSorted((a, b) => (transfer.fullDenom(a) < transfer.fullDenom(b) ? -1 : 1)),
        pagination,
      };
    },
    DenomTrace: (context, { hash }) => ({ denomTrace: traceOf(context, hash) }),
    DenomHash: (context, { trace }) => {
      const parsed = transfer.parseTrace(trace);
      checkArgument(() => transfer.validateTrace(parsed));
      const hash = transfer.traceHash(parsed);
      if (!traces.has(context, hash))
        throw new QueryError(GrpcCode.NotFound, transfer.ErrTraceNotFound(trace).message);
      return { hash: upperHex(hash) };
    },
    EscrowAddress: (_context, end) => ({ escrowAddress: formatAddress(bech32Prefix, escrowAddress(end)) }),
    TotalEscrowForDenom: (context, { denom }) => {
      if (!isDenom(denom)) throw new QueryError(GrpcCode.InvalidArgument, `invalid denom: ${denom}`);
      return { amount: { denom, amount: (escrows.get(context, denom) ?? 0n).toString() } };
    },
  });
}

/** Finds a trace by its hash, in upper or lower case, with or without the prefix "ibc/". */
function traceOf(context: Context, text: string): DenomTrace {
  // The hash is missing in ibc-go's error message, too.
  const prefix = "invalid denom trace hash: , error: ";
  const hash = checkArgument(() => transfer.parseTraceHash(transfer.hashOfVoucher(text) ?? text), prefix);
  return requireFound(traces.get(context, hash), () => transfer.ErrTraceNotFound(text));
}
