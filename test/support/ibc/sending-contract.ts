import { printMessageJson } from "../../../src/localnet/chain/modules/wasm/message-json.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../../src/platform/base/json.ts";
import {
  type ContractCode,
  ContractError,
  type ContractScope,
  NO_RESPONSE,
  subMessage,
} from "../../../src/localnet/chain/modules/wasm/contract.ts";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";

const TRANSFER = "ibc.applications.transfer.v1.MsgTransfer";
const TRANSFER_WITH_FEE = "neutron.transfer.MsgTransfer";

/** Where the contract stores the last callback that it accepted. */
export const SEEN = utf8("seen");
/** Where it stores what it does with the next one: "fail", "loop", "exit" (fails in a message of its own). Absent: accepts it. */
const MODE = utf8("mode");

/**
 * A contract that sends transfers and gets their callbacks. `execute`: `{"send": MsgTransfer}`, with the member
 * `fee` the chain's own one; `{"mode": "fail"}`, `{"resubmit": 0}`.
 */
export const sendingContract: ContractCode = {
  name: "sending",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => {
    if (!isRecord(message)) throw new ContractError("not an object");
    const { send, mode, resubmit } = message;
    if (typeof mode === "string") scope.storage.set(MODE, utf8(mode));
    if (isRecord(send)) {
      const type = send["fee"] === undefined ? TRANSFER : TRANSFER_WITH_FEE;
      const value = messageFromJson(type, { ...send, sender: scope.address });
      return withMessage({ kind: "any", typeUrl: `/${type}`, value });
    }
    if (resubmit === undefined) return NO_RESPONSE;
    return withMessage({ kind: "custom", message: { resubmit_failure: { failure_id: resubmit } } });
  },
  sudo: (scope, message) => {
    scope.storage.set(SEEN, utf8(printMessageJson(message)));
    const mode = scope.storage.get(MODE);
    act(scope, mode === undefined ? "" : Buffer.from(mode).toString("utf8"));
    if (Buffer.from(mode ?? []).toString("utf8") === "exit")
      return withMessage({ kind: "any", typeUrl: "/no.such.Msg", value: new Uint8Array(0) });
    return { ...NO_RESPONSE, attributes: [{ key: "got", value: Object.keys(message ?? {}).join() }] };
  },
  query: (): JsonValue => null,
};

function act({ storage }: ContractScope, mode: string): void {
  if (mode === "fail") throw new ContractError("I do not want it");
  if (mode !== "loop") return;
  for (let count = 0; ; count += 1) storage.set(utf8(`loop/${count}`), new Uint8Array(1000));
}

function withMessage(message: Parameters<typeof subMessage>[0]): ReturnType<ContractCode["instantiate"]> {
  return { ...NO_RESPONSE, messages: [subMessage(message)] };
}
