import { Params } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/params.ts";
import { fromUtf8, fromLossyUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { printGoJson, printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { isRecord, type JsonValue } from "../../../../platform/base/json.ts";
import { type Profile, SPECIFICATION } from "../../deviations/deviations.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, event, type ChainModule } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { type ParamsModuleOptions, requireAddress, checkUpdate } from "../../runtime/params-module.ts";
import type * as ics4 from "../ibc/channel/ibc-module.ts";
import { printGoHeight } from "../ibc/host/height.ts";
import type { Packet } from "../ibc/host/packet.ts";
import * as packets from "../transfer/packet.ts";
import type { ContractKeeper } from "../wasm/types.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/genesis.ts";
import { Query } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/query.ts";
import { Msg } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/tx.ts";
import { atPath, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";

/** Name of the module, its store, its error codespace and its event attribute. */
const MODULE_NAME = "rate-limited-ibc";

/** `contract_address` is the contract that limits transfers. An empty address (the default) leaves transfers unlimited. */
const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x01),
  type: Params,
  defaults: { contractAddress: "" },
});

interface RateLimitDeps {
  readonly contracts: Pick<ContractKeeper, "sudo">;
}

interface Keepers extends ParamsModuleOptions, RateLimitDeps {}

const register = errors.errorsOf(MODULE_NAME);
const ErrRateLimitExceeded = register(2, "rate limit exceeded");
const ErrBadMessage = register(3, "bad message");
const ErrContractError = register(4, "contract error");

/** Limit on the length of a packet's receiver. A packet is refused if its receiver has this many bytes or more. */
const MAX_RECEIVER_BYTES = 4096;
const EXCEEDED = "rate limit exceeded";

/** Wraps the channels with the rate limiter, so that transfers that exceed a limit are not sent. */
function rateLimitICS4Wrapper(inner: ics4.ICS4Wrapper, keepers: Keepers): ics4.ICS4Wrapper {
  return {
    sendPacket: (context, packet) => {
      requireAllowed(context, packet, keepers);
      return inner.sendPacket(context, packet);
    },
  };
}

/** Wraps an application with the rate limiter, which checks received packets and is notified if a sent packet fails. */
function rateLimitMiddleware(inner: ics4.IBCModule, keepers: Keepers): ics4.IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) => refusalOf(context, packet, keepers) ?? inner.onReceive(context, packet),
    onAcknowledge: (context, packet, acknowledgement) => {
      if (isErrorAcknowledgement(acknowledgement))
        undo(context, packet, keepers, { failure: "acknowledgment", acknowledgement });
      inner.onAcknowledge(context, packet, acknowledgement);
    },
    onTimeout: (context, packet) => {
      undo(context, packet, keepers, { failure: "timeout" });
      inner.onTimeout(context, packet);
    },
  };
}

/** Throws if the contract refuses a packet. Packets that are not transfers are always allowed. */
function requireAllowed(context: Context, packet: ics4.OutgoingPacket, keepers: Keepers): void {
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "" || !isTransfer(packet)) return;
  const destination = { portId: OMITTED, channelId: OMITTED };
  errors.wrapErrors("rate limit SendPacket failed to authorize transfer", () =>
    checkLimits(
      context,
      "send_packet",
      { contract, packet: { ...packet, sequence: 0n, destination } },
      keepers,
    ),
  );
}

function isTransfer({ data }: ics4.OutgoingPacket): boolean {
  try {
    const { denom, amount } = packets.readTransferData(data);
    return denom !== "" && amount !== "";
  } catch {
    return false;
  }
}

/** Returns the acknowledgement for a refused packet, or undefined if the packet is accepted. */
function refusalOf(
  context: Context,
  packet: ics4.RelayedPacket,
  keepers: Keepers,
): ics4.Acknowledgement | undefined {
  const invalid = receiverError(packet);
  if (invalid !== undefined) return refuse(context, ErrBadMessage(), [["error-context", invalid]]);
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "") return undefined;
  try {
    checkLimits(context, "recv_packet", { contract, packet }, keepers);
    return undefined;
  } catch (error) {
    if (!(error instanceof errors.ModuleError) || errors.isOutOfGas(error)) throw error;
    const isExceeded = error.message.includes(EXCEEDED);
    return refuse(context, isExceeded ? ErrRateLimitExceeded() : ErrContractError(error.message));
  }
}

function refuse(
  context: Context,
  error: errors.ModuleError,
  more: readonly (readonly [key: string, value: string])[] = [],
): ics4.Acknowledgement {
  context.emit(event("ibc-acknowledgement-error", [["error", error.message], ...more]));
  return packets.errorAcknowledgement(error);
}

/**
 * Returns the reason why a packet's receiver is invalid, or undefined if the receiver is valid. The receiver is checked even if no
 * contract is set.
 */
function receiverError({ data }: ics4.RelayedPacket): string | undefined {
  try {
    if (Buffer.byteLength(packets.readReceiver(data)) < MAX_RECEIVER_BYTES) return undefined;
  } catch (error) {
    return errorText(error);
  }
  return errors.ErrInvalidAddress(
    `IBC Receiver address too long. Max supported length is ${MAX_RECEIVER_BYTES}`,
  ).message;
}

/** Returns whether an acknowledgement is an error. Throws sdk/6 for bytes that are neither a JSON object nor null. */
function isErrorAcknowledgement(acknowledgement: Uint8Array): boolean {
  const json = errors.orThrow<unknown>(() => JSON.parse(fromUtf8(acknowledgement)), unreadable);
  if (json === null) return false;
  if (!isRecord(json) || "response" in json) throw unreadable("expected a result or an error");
  return typeof json["error"] === "string" && json["error"] !== "";
}

function unreadable(reason: string): errors.ModuleError {
  return errors.ErrUnknownRequest(`cannot unmarshal ICS-20 transfer packet acknowledgement: ${reason}`);
}

/**
 * Notifies the contract of a failed packet. If the contract call fails, only an event is emitted, because the refund must not
 * depend on the contract.
 */
function undo(
  context: Context,
  packet: ics4.RelayedPacket,
  keepers: Keepers,
  outcome: { readonly failure: "acknowledgment" | "timeout"; readonly acknowledgement?: Uint8Array },
): void {
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "") return;
  try {
    undoSend(context, { contract, packet }, keepers);
  } catch (error) {
    if (!(error instanceof errors.ModuleError) || errors.isOutOfGas(error)) throw error;
    const { failure, acknowledgement } = outcome;
    context.emit(
      event("bad_revert", [
        ["module", MODULE_NAME],
        ["failure_type", failure],
        ["packet", fromLossyUtf8(packet.data)],
        ...(acknowledgement === undefined
          ? []
          : [["acknowledgement", fromLossyUtf8(acknowledgement)] as const]),
      ]),
    );
  }
}

/**
 * Calls the contract, which checks a packet against its limits and adds the packet to its totals. Throws rate-limited-ibc/2 if the
 * contract rejects the packet or fails for any reason. Throws an unregistered `ModuleError` if the address or the data is invalid.
 */
function checkLimits(
  context: Context,
  call: Exclude<LimiterCall, "undo_send">,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  keepers: Keepers,
): void {
  errors.orThrow(() => parseAddress(keepers.bech32Prefix, contract), errors.unregisteredError);
  const data = dataOf(packet, "failed to CheckAndUpdateRateLimits");
  errors.wrapErrors(
    (error) => ErrRateLimitExceeded(error.message),
    () => keepers.contracts.sudo(context, contract, limiterMessage(call, packet, data, context.profile)),
  );
}

/** Notifies the contract of a sent packet that did not arrive. Throws `ModuleError` (rate-limited-ibc/4 if the contract fails). */
function undoSend(
  context: Context,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  keepers: Keepers,
): void {
  const words = "failed to UndoSendRateLimit";
  requireAddress(keepers.bech32Prefix, contract, words);
  const message = limiterMessage("undo_send", packet, dataOf(packet, words), context.profile);
  errors.wrapErrors(
    (error) => ErrContractError(error.message),
    () => keepers.contracts.sudo(context, contract, message),
  );
}

function dataOf({ data }: Packet, words: string): packets.TransferData {
  return errors.orThrowWith(errors.unregisteredError, words, () => packets.readTransferData(data));
}

/** Name of the sudo message that is sent to the contract. */
export type LimiterCall = "send_packet" | "recv_packet" | "undo_send";

/** Placeholder for the destination in the message to the contract, used while a packet is being sent. */
const OMITTED = "omitted";

/**
 * Builds the sudo message (chain-extension-modules.md, "IBC rate limit module"): compact JSON with its members in the
 * specification's order. As in Go, empty strings in the data and zero heights are omitted. 64-bit numbers are printed with all
 * their digits.
 */
export function limiterMessage(
  call: LimiterCall,
  packet: Packet,
  data: packets.TransferData,
  profile: Profile = SPECIFICATION,
): string {
  const { sequence, source, destination, timeout } = packet;
  const hasTime = timeout.timestamp > 0n || !profile.deployed("transferTimeout");
  const json = printGoObject([
    ["sequence", sequence.toString()],
    ["source_port", printGoString(source.portId)],
    ["source_channel", printGoString(source.channelId)],
    ["destination_port", printGoString(destination.portId)],
    ["destination_channel", printGoString(destination.channelId)],
    ["data", dataJson(data, profile)],
    ["timeout_height", printGoHeight(timeout.height)],
    ...(hasTime ? [["timeout_timestamp", timeout.timestamp.toString()] as const] : []),
  ]);
  return printGoObject([[call, printGoObject([["packet", json]])]]);
}

/** Formats the packet data as JSON. If the chain follows the specification, the memo is omitted. */
function dataJson(
  { denom, amount, sender, receiver, memo }: packets.TransferData,
  { deployed }: Profile,
): string {
  const specified = { denom, amount, sender, receiver };
  const members = Object.entries(deployed("transferMemo") ? { ...specified, memo } : specified);
  return printGoJson(Object.fromEntries(members.filter(([, text]) => text !== "")));
}

interface RateLimitModule extends ChainModule {
  /** Wraps a port's application with the rate limiter. */
  readonly rateLimitMiddleware: (inner: ics4.IBCModule) => ics4.IBCModule;
  /** Wraps an application's channels with the rate limiter. */
  readonly rateLimitICS4Wrapper: (inner: ics4.ICS4Wrapper) => ics4.ICS4Wrapper;
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.ibcratelimit.v1beta1.GenesisState", GenesisState);

/** Creates the `rate-limited-ibc` module, in which a contract decides which transfers are allowed. */
export function createRateLimitModule(options: ParamsModuleOptions, deps: RateLimitDeps): RateLimitModule {
  const keepers: Keepers = { ...options, ...deps };
  const { chainName, bech32Prefix, authority } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    // An empty contract address removes the limits.
    messages: messageHandlers(
      Msg,
      {
        UpdateParams: moduleParams.update({
          authority,
          signerError: errors.ErrInvalidRequest,
          check: checkUpdate(bech32Prefix, ({ contractAddress }) => {
            if (contractAddress !== "")
              requireAddress(bech32Prefix, contractAddress, "contract_address is invalid");
          }),
        }),
      },
      chainName,
    ),
    queries: queryHandlers(Query, { Params: moduleParams.query }, chainName),
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis: (context) => SCHEMA.print({ params: moduleParams.get(context) }),
    rateLimitMiddleware: (inner) => rateLimitMiddleware(inner, keepers),
    rateLimitICS4Wrapper: (inner) => rateLimitICS4Wrapper(inner, keepers),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const params = SCHEMA.read(json)?.params ?? { contractAddress: "" };
  atPath(`app_state.${MODULE_NAME}.params.contract_address`, () => {
    if (params.contractAddress !== "") parseAddress(bech32Prefix, params.contractAddress);
  });
  moduleParams.set(context, params);
}
