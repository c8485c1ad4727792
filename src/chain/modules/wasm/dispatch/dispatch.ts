import type { Context } from "../../../runtime/context.ts";
import { createGasMeter } from "../../../runtime/gas.ts";
import { ModuleError } from "../../../runtime/module-error.ts";
import { ErrOutOfGas } from "../../../runtime/sdk-errors.ts";
import { isOutOfGas, wrapErrors } from "../../../runtime/wrap-errors.ts";
import type { ContractResponse, Reply, ReplyResult, SubMessage } from "../contract.ts";
import type { RunMessage } from "./message-runner.ts";

/** Runs the messages of a contract's answer; gives the data of the last reply that set some, else the answer's own. */
export type Dispatch = (
  context: Context,
  contract: string,
  response: ContractResponse,
) => Uint8Array | undefined;

/** How a contract hears about a message. */
type SendReply = (context: Context, contract: string, reply: Reply) => Uint8Array | undefined;

/**
 * Each message runs on a cache layer of its own, in order. A failure that the contract wants to hear about is undone and
 * told; any other fails the whole call as "dispatch: submessages: …".
 */
export function createDispatch(runMessage: RunMessage, sendReply: SendReply): Dispatch {
  return (context, contract, response) => {
    let { data } = response;
    for (const message of response.messages) {
      const result = outcome(context, contract, message, runMessage);
      if (!wantsReply(message, result)) continue;
      data = inDispatch(() => sendReply(context, contract, { id: message.id, result })) ?? data;
    }
    return data;
  };
}

function outcome(
  context: Context,
  contract: string,
  message: SubMessage,
  runMessage: RunMessage,
): ReplyResult {
  try {
    return limited(context, message.gasLimit, (metered) =>
      metered.atomically((inner) => runMessage(inner, contract, message.message)),
    );
  } catch (error) {
    if (!(error instanceof ModuleError) || ranOut(context)) throw error;
    if (message.replyOn === "never" || message.replyOn === "success") return inDispatch(() => rethrow(error));
    return { ok: false, error: `codespace: ${error.codespace}, code: ${error.code}` };
  }
}

/** Gives a message a gas limit of its own; what it used counts for the call as well. */
function limited<T>(context: Context, limit: bigint | undefined, work: (metered: Context) => T): T {
  if (limit === undefined) return work(context);
  const gas = createGasMeter(limit);
  try {
    return work(context.withGas(gas));
  } catch (error) {
    throw error instanceof ModuleError && isOutOfGas(error) ? ErrOutOfGas("SubMsg hit gas limit") : error;
  } finally {
    const used = gas.used();
    context.gas.consume(used < limit ? used : limit, "From limited Sub-Message");
  }
}

/** Whether the call's own gas is gone: then nothing can be told to anybody. */
function ranOut({ gas }: Context): boolean {
  return gas.limit !== undefined && gas.used() > gas.limit;
}

function wantsReply({ replyOn }: SubMessage, result: ReplyResult): boolean {
  return replyOn === "always" || replyOn === (result.ok ? "success" : "error");
}

function inDispatch<T>(work: () => T): T {
  return wrapErrors((error) => error.wrap("dispatch: submessages"), work);
}

function rethrow(error: Error): never {
  throw error;
}
