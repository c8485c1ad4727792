import { utf8 } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonValue, member } from "../../../../platform/base/json.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { asUintNumber } from "../interchainqueries/bindings/json-number.ts";
import { customFields } from "../wasm/custom-fields.ts";
import type { CustomMessageResult } from "../wasm/types.ts";
import { resubmitFailure } from "./handlers.ts";
import type { Environment } from "./types.ts";

/** Runs a contract's `{"resubmit_failure":{"failure_id":1}}`. Returns undefined for any other message. */
export function handleCustomMessage(
  context: Context,
  sender: string,
  message: JsonValue,
  environment: Environment,
): CustomMessageResult | undefined {
  const fields = isRecord(message) ? message["resubmit_failure"] : undefined;
  if (!isRecord(fields)) return undefined;
  const failureId = asUintNumber(member(customFields(fields), "failure_id"));
  wrapErrors(
    (error) => error.wrap("failed to resubmitFailure"),
    () => resubmitFailure(context, { sender, failureId }, environment),
  );
  const typeUrl = toChainTypeUrl(
    "/neutron.contractmanager.MsgResubmitFailureResponse",
    environment.chainName,
  );
  return {
    data: utf8(`{"failure_id":${failureId}}`),
    response: { typeUrl, response: new Uint8Array(0) },
  };
}
