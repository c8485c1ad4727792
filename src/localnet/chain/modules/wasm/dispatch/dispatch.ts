import type { Context } from "../../../runtime/context.ts";
import { createGasMeter } from "../../../runtime/gas.ts";
import { ModuleError, ErrOutOfGas, isOutOfGas, wrapErrors } from "../../../runtime/errors.ts";
import type { ContractResponse, Reply, ReplyResult, SubMessage } from "../contract.ts";
import type { RunMessage } from "./message-runner.ts";

/**
 * Runs the messages of a contract's response. Returns the data of the last reply that set data, otherwise the data of
 * the response.
 */
export type Dispatch = (
  context: Context,
  contract: string,
  response: ContractResponse,
) => Uint8Array | undefined;

type SendReply = (context: Context, contract: string, reply: Reply) => Uint8Array | undefined;

/**
 * Creates the dispatch. It runs messages in order, each on a cache layer of its own. If a message fails and the contract
 * wants a reply on errors, its writes are dropped and the contract receives the error. Any other failure fails the
 * complete call with "dispatch: submessages: …".
 */
export function createDispatch(runMessage: RunMessage, sendReply: SendReply): Dispatch {
  return (context, contract, response) => {
    let { data } = response;
    for (const message of response.messages) {
      const result = runSubMessage(context, contract, message, runMessage);
      if (!wantsReply(message, result)) continue;
      data = wrapDispatch(() => sendReply(context, contract, { id: message.id, result })) ?? data;
    }
    return data;
  };
}

function runSubMessage(
  context: Context,
  contract: string,
  message: SubMessage,
  runMessage: RunMessage,
): ReplyResult {
  try {
    return withGasLimit(context, message.gasLimit, (metered) =>
      metered.atomically((inner) => runMessage(inner, contract, message.message)),
    );
  } catch (error) {
    // A contract must not catch the end of the call's own gas: the transaction is over.
    if (!(error instanceof ModuleError) || isExhausted(context)) throw error;
    if (message.replyOn === "never" || message.replyOn === "success")
      return wrapDispatch(() => rethrow(error));
    // wasmd redacts errors to codespace and code: texts may differ between nodes and must not reach the state.
    return { ok: false, error: `codespace: ${error.codespace}, code: ${error.code}` };
  }
}

/** Runs a message under a gas meter of its own. The call's meter then consumes the same gas, at most the limit. */
function withGasLimit<T>(context: Context, limit: bigint | undefined, work: (metered: Context) => T): T {
  if (limit === undefined) return work(context);
  const gas = createGasMeter(limit);
  try {
    return work(context.withGas(gas));
  } catch (error) {
    throw error instanceof ModuleError && isOutOfGas(error) ? ErrOutOfGas("SubMsg hit gas limit") : error;
  } finally {
    // A meter that ran over reports more than its limit.
    const used = gas.used();
    context.gas.consume(used < limit ? used : limit, "From limited Sub-Message");
  }
}

/** Whether the gas of the call itself ran out, as opposed to the limit of one message. */
function isExhausted({ gas }: Context): boolean {
  return gas.limit !== undefined && gas.used() > gas.limit;
}

function wantsReply({ replyOn }: SubMessage, result: ReplyResult): boolean {
  return replyOn === "always" || replyOn === (result.ok ? "success" : "error");
}

function wrapDispatch<T>(work: () => T): T {
  return wrapErrors((error) => error.wrap("dispatch: submessages"), work);
}

function rethrow(error: Error): never {
  throw error;
}
